"""What the benches share."""

from importlib.util import find_spec

if find_spec("psutil") is None:
    raise SystemExit("the benches need psutil and more: pip install '.[bench]'")
