#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# size.sh BUILD ONE OPTIONS: measures sizes and compares them with their limits: the stripped shared library of BUILD (it is linked with
# --gc-sections) by section; a program that only loads and runs, with the static library; the library of ONE, a build for one model. The
# cost of an option is the difference to OPTIONS/TAPER_WITH_….so, a stripped library with that option switched (files grow by whole pages).
# Exit status 1 if a size is above its limit.
#
# The size of an app is the size of its file and of every shared library that it needs, all stripped. Libraries that every system has do
# not count: the C library with its parts, and zlib, which Android's and Apple's systems offer to all apps.
set -eu
build=${1:-build-small} one=${2:-build-one} options=${3:-build-option}
WHOLE_LIMIT=1500000 ONE_LIMIT=297000
BEYOND="TAPER_WITH_NNAPI TAPER_WITH_PT2 TAPER_WITH_VULKAN TAPER_WITH_APP" # options whose bytes are not part of the whole library's limit
# limit_of OPTION: prints the number of bytes that OPTION may add. Every option of CMakeLists.txt has a line.
limit_of() {
    case $1 in
    TAPER_WITH_TORCHSCRIPT) echo 75000 ;;
    TAPER_WITH_PT2) echo 74000 ;;
    TAPER_WITH_FLATBUFFER) echo 20000 ;;
    TAPER_WITH_PASSES) echo 140000 ;; # passes and drafts, which need the passes
    TAPER_WITH_DRAFTS) echo 140000 ;;
    TAPER_WITH_LAPACK) echo 5000 ;;
    TAPER_WITH_NNAPI) echo 145000 ;;
    TAPER_WITH_VULKAN) echo 900000 ;;
    TAPER_WITH_OPERATORS) echo 12300 ;;
    TAPER_WITH_GRADIENTS) echo 120000 ;;
    TAPER_WITH_APP) echo 16400 ;;
    TAPER_WITH_ZLIB) echo 4100 ;;
    *) echo 0 ;;
    esac
}
SYSTEM='libc|libm|libdl|libpthread|librt|libz|ld-.*'
status=0
cc=${CC:-cc}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
bytes() { wc -c <"$1" | tr -d ' '; }

# row BYTES LIMIT LABEL: prints the size BYTES, its limit, LABEL, and whether the size is above the limit.
row() {
    verdict=ok
    if [ "$1" -gt "$2" ]; then
        verdict="TOO LARGE"
        status=1
    fi
    printf '%10d  %s (limit %d: %s)\n' "$1" "$3" "$2" "$verdict"
}

# library BUILD LIMIT LABEL: prints one sum, the size of BUILD's libtaper.so and the libraries that it needs, with LIMIT
# and LABEL. Then prints the size of each needed library.
library() {
    strip -s -o "$scratch/libtaper.so" "$1/lib/libtaper.so"
    total=$(bytes "$scratch/libtaper.so")
    : >"$scratch/needed"
    for name in $(readelf -dW "$scratch/libtaper.so" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | grep -vE "^($SYSTEM)\.so" || true); do
        path=$(ldd "$1/lib/libtaper.so" | awk -v name="$name" '$1 == name { print $3 }')
        strip -s -o "$scratch/needed.so" "$path"
        printf '%10d    %s\n' "$(bytes "$scratch/needed.so")" "$name" >>"$scratch/needed"
        total=$((total + $(bytes "$scratch/needed.so")))
    done
    row "$total" "$2" "$3"
    cat "$scratch/needed"
}

strip -s -o "$scratch/whole.so" "$build/lib/libtaper.so"
whole=$(bytes "$scratch/whole.so")
beyond=0
for option in $BEYOND; do
    [ ! -e "$options/$option.so" ] || beyond=$((beyond + whole - $(bytes "$options/$option.so")))
done
library "$build" $((WHOLE_LIMIT + beyond)) "libtaper.so with everything, stripped"
size -A "$scratch/libtaper.so" | awk '$2 + 0 >= 4096 { printf "%10d    %s\n", $2, $1 }'

sed 's/, .compiler = taper_compiler()//; s/taper_compile.h/taper.h/' examples/run_model.c >"$scratch/run_model.c"
if "$cc" -Os -Iinclude "$scratch/run_model.c" "$build/lib/libtaper.a" -Wl,--gc-sections -lz -lm -lpthread \
    -o "$scratch/run_model" 2>/dev/null; then
    strip -s "$scratch/run_model"
    printf '%10d  a program with the static library, without the compiler, stripped\n' "$(bytes "$scratch/run_model")"
fi

if [ -e "$one/lib/libtaper.so" ]; then
    library "$one" $ONE_LIMIT "libtaper.so for one model, levels $(sed -n 's/^TAPER_CPU_LEVELS:STRING=//p' "$one/CMakeCache.txt")"
fi

for switched in "$options"/TAPER_WITH_*.so; do
    [ -e "$switched" ] || continue
    option=$(basename "$switched" .so)
    adds=$((whole - $(bytes "$switched")))
    row ${adds#-} "$(limit_of "$option")" "$option"
done
exit $status
