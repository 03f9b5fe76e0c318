#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# size.sh BUILD ONE: the stripped shared library of BUILD (it is linked with --gc-sections) by section and against its limit;
# cpuinfo, which a phone's app carries too, added; and what a program that only loads and runs takes with
# the static library. Then the library of ONE, a build for one model, against its limit. Exit status 1 when one is above.
set -eu
build=${1:-build-small} one=${2:-build-one}
WHOLE_LIMIT=1500000 ONE_LIMIT=300000
status=0
cc=${CC:-cc}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
bytes() { wc -c <"$1" | tr -d ' '; }

# library BUILD LIMIT WHAT: prints a library against its limit and leaves its size in $total.
library() {
    strip -s -o "$scratch/libtaper.so" "$1/lib/libtaper.so"
    total=$(bytes "$scratch/libtaper.so")
    verdict=ok
    if [ "$total" -gt "$2" ]; then
        verdict="TOO LARGE"
        status=1
    fi
    printf '%10d  %s, stripped (limit %d: %s)\n' "$total" "$3" "$2" "$verdict"
}

library "$build" $WHOLE_LIMIT "libtaper.so with everything"
size -A "$scratch/libtaper.so" | awk '$2 + 0 >= 4096 { printf "%10d    %s\n", $2, $1 }'
library=$(ldd "$build/lib/libtaper.so" | sed -n "s/^.*libcpuinfo\.so[^ ]* => \([^ ]*\).*/\1/p")
if [ -n "$library" ]; then
    strip -s -o "$scratch/cpuinfo" "$library"
    part=$(bytes "$scratch/cpuinfo")
    printf '%10d  libcpuinfo.so, stripped\n' "$part"
    total=$((total + part))
fi
printf '%10d  together\n' "$total"

sed 's/, .compiler = taper_compiler()//; s/taper_compile.h/taper.h/' examples/run_model.c >"$scratch/run_model.c"
if "$cc" -Os -Iinclude "$scratch/run_model.c" "$build/lib/libtaper.a" -Wl,--gc-sections -lz -lm -lpthread \
    -o "$scratch/run_model" 2>/dev/null; then
    strip -s "$scratch/run_model"
    printf '%10d  a program with the static library, without the compiler, stripped\n' "$(bytes "$scratch/run_model")"
fi

if [ -e "$one/lib/libtaper.so" ]; then
    library "$one" $ONE_LIMIT "libtaper.so for one model, levels $(sed -n 's/^TAPER_CPU_LEVELS:STRING=//p' "$one/CMakeCache.txt")"
fi
exit $status
