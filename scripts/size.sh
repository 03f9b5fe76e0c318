#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# size.sh BUILD: the shared library, stripped (it is linked with --gc-sections), by section; pthreadpool and cpuinfo, which a
# phone's app carries too, added; and what a program that only loads and runs takes with the static library.
set -eu
build=${1:-build}
cc=${CC:-cc}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
bytes() { wc -c <"$1" | tr -d ' '; }

strip -s -o "$scratch/libtaper.so" "$build/lib/libtaper.so"
total=$(bytes "$scratch/libtaper.so")
printf '%10d  libtaper.so, stripped\n' "$total"
size -A "$scratch/libtaper.so" | awk '$2 + 0 >= 4096 { printf "%10d    %s\n", $2, $1 }'
for name in pthreadpool cpuinfo; do
    library=$(ldd "$build/lib/libtaper.so" | sed -n "s/^.*lib$name\.so[^ ]* => \([^ ]*\).*/\1/p")
    [ -n "$library" ] || continue
    strip -s -o "$scratch/$name" "$library"
    part=$(bytes "$scratch/$name")
    printf '%10d  lib%s.so, stripped\n' "$part" "$name"
    total=$((total + part))
done
printf '%10d  together\n' "$total"

sed 's/, .compiler = taper_compiler()//; s/taper_compile.h/taper.h/' examples/run_model.c >"$scratch/run_model.c"
if "$cc" -Os -Iinclude "$scratch/run_model.c" "$build/lib/libtaper.a" -Wl,--gc-sections -lpthreadpool -lcpuinfo -lz -lm -lpthread \
    -o "$scratch/run_model" 2>/dev/null; then
    strip -s "$scratch/run_model"
    printf '%10d  a program with the static library, without the compiler, stripped\n' "$(bytes "$scratch/run_model")"
fi
