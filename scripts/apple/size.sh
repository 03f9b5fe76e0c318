#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# size.sh OUT: measures the size of Taper in a minimal app: examples/run_model.c with the static library of OUT/macos-…, without dead code
# and symbols, for each processor; and with a library for the demo's classifier alone, which is built in OUT/one-…. Exit status 1 if a size
# is above its limit.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
here=$root/scripts/apple
out=$(cd "$1" && pwd)
taper=${BUILD:-$root/build}/bin/taper
# limit_of WHAT-CPU: prints the size limit in bytes, which is two percent above the measured size.
limit_of() {
    case $1 in
    whole-arm64) echo 2053000 ;;
    whole-x86_64) echo 2309000 ;;
    one-*) echo 400000 ;;
    esac
}
status=0
strip=$(command -v strip)
command -v xcrun >/dev/null || strip=$(command -v llvm-strip)
ZIG_GLOBAL_CACHE_DIR=$root/build/zig-cache ZIG_LOCAL_CACHE_DIR=$root/build/zig-cache
export ZIG_GLOBAL_CACHE_DIR ZIG_LOCAL_CACHE_DIR

# row FOLDER LIMIT LABEL: links the example program with the library in FOLDER, and prints its size with LIMIT and
# LABEL.
row() {
    compiler=$(sed -n 's/^TAPER_APPLE_CC:[A-Z]*=//p' "$1/CMakeCache.txt" | tr ';' ' ')
    sysroot=$(sed -n 's/^TAPER_APPLE_SYSROOT:[A-Z]*=//p' "$1/CMakeCache.txt")
    # shellcheck disable=SC2086
    $compiler -Os -I"$root/include" "$root/examples/run_model.c" "$1/lib/libtaper.a" "$sysroot/usr/lib/libz.tbd" -Wl,-dead_strip -o "$1/run_model"
    "$strip" "$1/run_model"
    bytes=$(wc -c <"$1/run_model" | tr -d ' ')
    verdict=ok
    if [ "$bytes" -gt "$2" ]; then
        verdict="TOO LARGE"
        status=1
    fi
    printf '%10d  %s (limit %d: %s)\n' "$bytes" "$3" "$2" "$verdict"
}

mkdir -p "$out/one"
"$taper" ops "$root/examples/demo/classifier.ptl" --config >"$out/one/config.new"
cmp -s "$out/one/config.new" "$out/one/config.h" || mv "$out/one/config.new" "$out/one/config.h"
for cpu in arm64 x86_64; do
    row "$out/macos-$cpu" "$(limit_of whole-$cpu)" "an app with everything, $cpu, stripped"
    levels="neon;neondot"
    [ $cpu = arm64 ] || levels=avx2
    "$here/slice.sh" macos-$cpu "$out/one/$cpu" -DTAPER_OP_CONFIG="$out/one/config.h" -DTAPER_CPU_LEVELS="$levels" -DTAPER_PROFILE=one
    row "$out/one/$cpu" "$(limit_of one-$cpu)" "an app for one model, $cpu, stripped"
done
exit $status
