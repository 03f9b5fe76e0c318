#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# run_arm.sh arm64|armhf [arguments of kernel_check]: builds the kernel checks for that system and runs them under qemu as several
# processors. Exit 77 (skipped) if the cross compiler or the emulator is missing.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
system=$1
shift
case $system in
arm64) cc=aarch64-linux-gnu-gcc qemu=qemu-aarch64 architecture=arm cpus="cortex-a53 cortex-a76 max" package=gcc-aarch64-linux-gnu ;;
armhf) cc=arm-linux-gnueabihf-gcc qemu=qemu-arm architecture=arm32 cpus="cortex-a9 cortex-a15" package=gcc-arm-linux-gnueabihf ;;
*) exit 2 ;;
esac
for tool in "$cc" "$qemu"; do
    if ! command -v "$tool" >/dev/null 2>&1; then
        echo "SKIPPED: $system kernel checks need $tool (packages $package libc6-dev-$system-cross qemu-user)"
        exit 77
    fi
done
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
cd "$root"
cmake -DTAPER_ARCHITECTURE=$architecture -P cmake/TaperIsa.cmake >"$out/list"
definitions=$(sed -n 's/^definitions //p' "$out/list")
common="src/ops/kernels/kernel_select.c $(ls src/ops/kernels/scalar/*_pack.c) src/platform/isa.c"
# compile OUT [flags]: compiles and links the kernel checks as OUT
compile() {
    to=$1
    shift
    # shellcheck disable=SC2086
    set -- -std=c11 -O2 -static -Wall -Wextra -Werror $definitions "$@" -I. -Iinclude -Isrc -Ibench/kernels
    # Each kernel is compiled with the flags of its instruction set.
    grep '^src/' "$out/list" | while read -r source flags; do
        # shellcheck disable=SC2086
        "$cc" "$@" $flags -c "$source" -o "$out/$(basename "$source").o" || exit 1
    done
    # shellcheck disable=SC2086
    "$cc" "$@" $common "$out"/*.o tests/kernels/*.c bench/kernels/bench.c -lm -o "$to"
}
compile "$out/kernel_check"
for cpu in $cpus; do
    printf '%s: ' "$cpu"
    "$qemu" -cpu "$cpu" "$out/kernel_check" "$@"
done
# Small builds replace some kernels by those in src/lean, which are checked after all other kernels.
compile "$out/kernel_check" -Isrc/lean
printf 'small: '
"$qemu" -cpu "$cpu" "$out/kernel_check" gemm_f32
printf 'small: '
"$qemu" -cpu "$cpu" "$out/kernel_check" gemm_half
printf 'small: '
"$qemu" -cpu "$cpu" "$out/kernel_check" winograd_i8
