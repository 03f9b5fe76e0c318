#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# abi.sh [--update] [FOLDER]: builds the shared library with debug records in FOLDER and holds its interface, functions and the types that
# they use, against packaging/abi/libtaper.abi; --update writes that file anew. Needs libabigail (Debian: abigail-tools). Exit status 1
# when a program that was built for the committed interface would not run with this one; functions that were added are fine.
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
# Only what the public headers declare, and nothing that says where this was built.
abidw --headers-dir "$root/include/taper" --drop-private-types --drop-undefined-syms --no-corpus-path --no-comp-dir-path --no-show-locs \
    --no-elf-needed "$folder/lib/libtaper.so" | sed 's/ path=.[^ >]*.//' >"$folder/now.abi"
if [ $update = 1 ]; then
    cp "$folder/now.abi" "$committed"
    echo "$committed: $(grep -c '<function-decl' "$committed") functions"
    exit 0
fi
result=0
abidiff --no-added-syms "$committed" "$folder/now.abi" >"$folder/changes" || result=$?
cat "$folder/changes"
if [ $result != 0 ]; then
    echo "FAILED: programs built for packaging/abi/libtaper.abi would not run with this library. Where that is meant, say so in CHANGELOG.md, and"
    echo "scripts/abi.sh --update writes the file"
    exit 1
fi
echo "the interface is the committed one, or more"
