#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# recorded_test.sh WASM SOURCE: compares every operator case with PyTorch's results (tests/data/recorded), with the WebAssembly library in
# Node.js. Cases that a browser cannot run are counted as skipped: LAPACK, and flushing denormal numbers to zero.
set -eu
wasm=$1 source=$2
command -v emcc >/dev/null || { echo "SKIPPED: emcc is not there (package emscripten)"; exit 77; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$source"
# -O1 does not optimize the JavaScript, for which Emscripten would need acorn.
emcc -O1 -msimd128 -std=c11 -D_POSIX_C_SOURCE=200809L -Isrc -Iinclude -I. tests/ops/recorded_cases.c tests/ops/recording.c \
    "$wasm/lib/libtaper.a" -sNODERAWFS=1 -sEXIT_RUNTIME=1 -sALLOW_MEMORY_GROWTH=1 -o "$scratch/recorded_cases.js"
# Emscripten's code assumes a browser if fetch() exists.
status=0
node --no-experimental-fetch "$scratch/recorded_cases.js" tests/data/recorded/*.rec >"$scratch/said" || status=$?
grep -v '^FAILED' "$scratch/said" || true
[ $status = 0 ] || { grep '^FAILED' "$scratch/said" | head; exit 1; }
passed=$(sed -n '$s/^\([0-9]*\) passed.*/\1/p' "$scratch/said")
[ "${passed:-0}" -gt 25000 ] || { echo "only ${passed:-none} passed"; exit 1; }
