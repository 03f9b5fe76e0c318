#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# abi.sh [--update] [FOLDER]: builds the shared library with debug records in FOLDER and compares its interface (functions and the types
# that they use) with packaging/abi/libtaper.abi. --update writes that file. Needs libabigail (Debian: abigail-tools). Exit status 1 if
# the interface changed, except by added functions.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
update=0
if [ "${1:-}" = --update ]; then
    update=1
    shift
fi
if ! command -v abidw >/dev/null || ! command -v abidiff >/dev/null; then
    echo "SKIPPED: the interface's check needs abidw and abidiff (Debian: abigail-tools)"
    exit 77
fi
folder=${1:-$root/build/abi}
committed=$root/packaging/abi/libtaper.abi
mkdir -p "$folder"
{
    cmake -S "$root" -B "$folder" -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS=-O0 -DTAPER_CPU_LEVELS=scalar -DTAPER_WITH_VULKAN=OFF \
        -DTAPER_BUILD_TOOLS=OFF -DTAPER_BUILD_TESTS=OFF -DTAPER_BUILD_BENCH=OFF -DTAPER_WITH_PYTHON=OFF &&
        cmake --build "$folder" -j "${JOBS:-2}" --target taper_shared
} >"$folder/log" 2>&1 || {
    tail -n 40 "$folder/log"
    exit 1
}
# The record contains only names that the public headers declare, and no path of the machine that built the library.
abidw --headers-dir "$root/include/taper" --drop-private-types --drop-undefined-syms --no-corpus-path --no-comp-dir-path --no-show-locs \
    --no-elf-needed "$folder/lib/libtaper.so" | sed "s| path='[^']*/src/| path='src/|" >"$folder/now.abi"
if [ $update = 1 ]; then
    cp "$folder/now.abi" "$committed"
    echo "$committed: $(grep -c '<function-decl' "$committed") functions"
    exit 0
fi
compare() { abidiff --no-added-syms "$1" "$folder/now.abi" >"$folder/changes" 2>&1; }
# The loop checks that abidiff finds differences: it must notice a renamed function, and an enumerator with another
# value.
for change in 's/taper_version/taper_gone/g' "s/'TAPER_ERROR_RAISED' value='6'/'TAPER_ERROR_RAISED' value='16'/"; do
    sed "$change" "$committed" >"$folder/other.abi"
    if compare "$folder/other.abi"; then
        echo "FAILED: abidiff does not notice $change"
        exit 1
    fi
done
result=0
compare "$committed" || result=$?
cat "$folder/changes"
if [ $result != 0 ]; then
    echo "FAILED: the interface is not that of packaging/abi/libtaper.abi. Members at the end of a struct with struct_size and further numbers"
    echo "of an enum are fine, and what else is meant is said in CHANGELOG.md; then scripts/abi.sh --update writes the file"
    exit 1
fi
echo "the interface is the committed one, or more"
