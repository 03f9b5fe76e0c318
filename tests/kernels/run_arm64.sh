#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Builds the kernel checks for arm64 and runs them under qemu as three processors. Exit 77 (skipped) where the cross
# compiler or the emulator is missing.  run_arm64.sh [arguments of kernel_check]
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
cc=${ARM64_CC:-aarch64-linux-gnu-gcc}
qemu=${ARM64_QEMU:-qemu-aarch64}
for tool in "$cc" "$qemu"; do
    if ! command -v "$tool" >/dev/null 2>&1; then
        echo "SKIPPED: arm64 kernel checks need $tool (packages gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user)"
        exit 77
    fi
done
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
cd "$root"
cmake -DTAPER_ARCHITECTURE=arm -P cmake/TaperIsa.cmake >"$out/list"
definitions=$(sed -n 's/^definitions //p' "$out/list")
common="src/ops/kernels/kernel_select.c $(ls src/ops/kernels/scalar/*_pack.c) src/platform/isa.c"
# compile OUT [flags]
compile() {
    to=$1
    shift
    # shellcheck disable=SC2086
    set -- -std=c11 -O2 -static -Wall -Wextra -Werror $definitions "$@" -I. -Iinclude -Isrc -Ibench/kernels
    # Kernels have flags of their own, those of their instruction sets.
    grep '^src/' "$out/list" | while read -r source flags; do
        # shellcheck disable=SC2086
        "$cc" "$@" $flags -c "$source" -o "$out/$(basename "$source").o" || exit 1
    done
    # shellcheck disable=SC2086
    "$cc" "$@" $common "$out"/*.o tests/kernels/*.c bench/kernels/bench.c -lm -o "$to"
}
compile "$out/kernel_check"
for cpu in cortex-a53 cortex-a76 max; do
    printf '%s: ' "$cpu"
    "$qemu" -cpu "$cpu" "$out/kernel_check" "$@"
done
# What builds for size have instead.
compile "$out/kernel_check" -DTAPER_SMALL=1
printf 'small: '
"$qemu" -cpu max "$out/kernel_check" gemm_f32
printf 'small: '
"$qemu" -cpu max "$out/kernel_check" gemm_half
