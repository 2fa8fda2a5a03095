#!/usr/bin/env bash
# The kernels of another CPU, compiled for it and run by an emulator: tests/cross/run.sh [aarch64]
# Needs a cross compiler and QEMU (Debian: gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user).
# Without an argument the kernels of this machine are run, for what the test itself is worth.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
sources=(tests/cross/kernels.c csrc/simd/*.c csrc/base/*.c csrc/encoder/ct_linear.c csrc/encoder/ct_tensor.c)

build() {
    "$@" -O3 -std=c11 -D_GNU_SOURCE -Wall -Wextra -Wshadow -Werror -Icsrc "${sources[@]}" \
        -lpthread -lm -o "$folder/kernels"
}

case ${1:-} in
aarch64)
    build aarch64-linux-gnu-gcc -static
    echo "--- a CPU that has the products of bytes, then one that has not"
    qemu-aarch64 -cpu max "$folder/kernels"
    qemu-aarch64 -cpu cortex-a53 "$folder/kernels"
    ;;
"")
    build "${CC:-cc}"
    "$folder/kernels"
    ;;
*)
    echo "usage: $0 [aarch64]" >&2
    exit 2
    ;;
esac
