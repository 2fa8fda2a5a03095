"""Builds the C core. Everything that is not about C is in pyproject.toml.

Switches, read from the environment:

  CORTEXT_WERROR=1                     every compiler warning is an error
  CORTEXT_SANITIZE=address,undefined   or thread: instrument the core
  CORTEXT_COVERAGE=1                   gcov counters, no optimisation

The CPU of the build machine is never asked about: the core picks its kernels when it is loaded.
"""

from __future__ import annotations

import os
import sys
import sysconfig
import tempfile
from pathlib import Path

from setuptools import find_packages, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py

HERE = Path(__file__).resolve().parent
CSRC = HERE / "csrc"

NEEDS_COMPILER = (
    "Cortext needs a C compiler to build: apt-get install g++ (Debian/Ubuntu), "
    "dnf install gcc-c++ (Fedora), xcode-select --install (macOS)"
)
NEEDS_PYTHON = (
    "Cortext needs the Python headers to build: apt-get install python3-dev (Debian/Ubuntu), "
    "dnf install python3-devel (Fedora)"
)
NEEDS_SQLITE = (
    "Cortext needs the SQLite headers to build: apt-get install libsqlite3-dev (Debian/Ubuntu), "
    "dnf install sqlite-devel (Fedora), brew install sqlite (macOS)"
)
NEEDS_POSIX = "Cortext builds on Linux and macOS: on Windows, use it inside WSL"


def relative(pattern: str) -> list[str]:
    """Return the sources that match, as setuptools wants them: relative and in a stable order."""
    return sorted(path.relative_to(HERE).as_posix() for path in CSRC.rglob(pattern))


def flags() -> tuple[list[str], list[str], list[tuple[str, str | None]]]:
    """Return compiler flags, linker flags and macros for the switches in the environment."""
    compile_args = ["-std=c11", "-fvisibility=hidden", "-Wall", "-Wextra", "-Wshadow"]
    link_args: list[str] = []
    macros: list[tuple[str, str | None]] = [("_GNU_SOURCE", None)]
    optimise = "-O3"

    if os.environ.get("CORTEXT_WERROR") == "1":
        compile_args += ["-Werror"]
    else:
        compile_args += ["-Werror=implicit"]

    sanitize = os.environ.get("CORTEXT_SANITIZE")
    if sanitize:
        both = [f"-fsanitize={sanitize}", "-fno-omit-frame-pointer"]
        compile_args += [*both, "-g", "-U_FORTIFY_SOURCE", "-fno-sanitize-recover=all"]
        link_args += both
        optimise = "-O1"
    if os.environ.get("CORTEXT_COVERAGE") == "1":
        compile_args += ["--coverage"]
        link_args += ["--coverage"]
        optimise = "-O0"
    return [*compile_args, optimise], link_args, macros


class BuildCore(build_ext):
    """Says in one sentence what the machine lacks, before the compiler says it in forty lines."""

    def finalize_options(self) -> None:
        super().finalize_options()
        compile_args, link_args, macros = flags()
        for ext in self.extensions:
            if "csrc" in ext.include_dirs:  # an editable build finalizes the options twice
                continue
            ext.sources += relative("*.c")
            ext.depends += relative("*.h")
            ext.include_dirs += ["csrc"]
            ext.define_macros += macros
            ext.libraries += ["sqlite3", "pthread", "m"]
            ext.extra_compile_args += compile_args
            ext.extra_link_args += link_args
        # The same output may be left over from a build with other switches.
        self.force = True

    def build_extensions(self) -> None:
        if sys.platform == "win32":
            raise SystemExit(NEEDS_POSIX)
        with tempfile.TemporaryDirectory() as folder:
            self.probe(Path(folder))
        super().build_extensions()

    def probe(self, folder: Path) -> None:
        python = [sysconfig.get_path(name) for name in ("include", "platinclude")]
        extra = [path for ext in self.extensions for path in ext.include_dirs]
        include = [*python, *extra, *(self.include_dirs or [])]
        if not self.links(folder, "int main(void) { return 0; }"):
            raise SystemExit(NEEDS_COMPILER)
        if not self.links(folder, "#include <Python.h>\nint main(void) { return 0; }", include):
            raise SystemExit(NEEDS_PYTHON)
        sqlite = "#include <sqlite3.h>\nint main(void) { return sqlite3_libversion_number() < 0; }"
        if not self.links(folder, sqlite, include, ["sqlite3"]):
            raise SystemExit(NEEDS_SQLITE)

    def links(
        self,
        folder: Path,
        text: str,
        include: list[str] | None = None,
        libraries: list[str] | None = None,
    ) -> bool:
        """Return whether a program compiles and links, without a word on the terminal."""
        source = folder / "probe.c"
        source.write_text(text, encoding="ascii")
        sys.stdout.flush()
        sys.stderr.flush()
        saved = os.dup(1), os.dup(2)
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1)
        os.dup2(quiet, 2)
        try:
            objects = self.compiler.compile(
                [str(source)], output_dir=str(folder), include_dirs=include or []
            )
            self.compiler.link_executable(
                objects,
                str(folder / "probe"),
                libraries=libraries or [],
                library_dirs=[path for ext in self.extensions for path in ext.library_dirs],
            )
        except Exception:  # noqa: BLE001  (what a compiler's absence raises varies by setuptools)
            return False
        finally:
            os.dup2(saved[0], 1)
            os.dup2(saved[1], 2)
            for descriptor in (*saved, quiet):
                os.close(descriptor)
        return True


class BuildPython(build_py):
    """Leaves the scripts that make the bundled model out of the wheel; the sdist has them."""

    def find_package_modules(self, package: str, package_dir: str) -> list[tuple[str, str, str]]:
        found = super().find_package_modules(package, package_dir)  # type: ignore[no-untyped-call]
        keep = {"__init__"} if package == "cortext.models.bundled" else None
        return [module for module in found if keep is None or module[1] in keep]


# A free-threaded interpreter has no stable ABI before 3.15: build for that interpreter alone.
abi3 = not sysconfig.get_config_var("Py_GIL_DISABLED")

setup(
    packages=[*find_packages(include=["cortext", "cortext.*"]), "cortext.models.bundled"],
    package_dir={"cortext.models.bundled": "models"},
    cffi_modules=["cortext/_native/ffi_build.py:make"],
    cmdclass={"build_ext": BuildCore, "build_py": BuildPython},
    options={"bdist_wheel": {"py_limited_api": "cp310"}} if abi3 else {},
)
