#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# wasm.sh FOLDER: builds the library and the package for WebAssembly in FOLDER (scripts/wasm.sh). Node.js then runs the checks of the kernels
# and the recorded operator cases. Exit 77 (skipped) if Emscripten or Node.js is missing.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "$1"
out=$(cd "$1" && pwd)
for tool in emcc node cmake; do
    if ! command -v "$tool" >/dev/null 2>&1; then
        echo "SKIPPED: the tests for WebAssembly need $tool (packages emscripten nodejs)"
        exit 77
    fi
done
cd "$root"
scripts/wasm.sh "$out"

# ---- the checks of the kernels

work=$out/kernels
mkdir -p "$work"
cmake -DTAPER_ARCHITECTURE=wasm -P cmake/TaperIsa.cmake >"$work/list"
definitions=$(sed -n 's/^definitions //p' "$work/list")
# Like the kernels, all other code of the package is compiled with vectors (cmake/TaperCompile.cmake).
kernels=$(sed -n 's/^\(src[^ ]*\).*/\1/p' "$work/list")
# shellcheck disable=SC2086
emcc -std=c11 -O2 -msimd128 -Wall -Wextra -Werror $definitions -I. -Iinclude -Isrc -Ibench/kernels $kernels \
    src/ops/kernels/kernel_select.c src/ops/kernels/scalar/*_pack.c src/platform/isa.c tests/kernels/*.c bench/kernels/bench.c \
    -lm -sSTANDALONE_WASM -sALLOW_MEMORY_GROWTH=1 -o "$work/kernel_check.wasm"
cat >"$work/run.mjs" <<'END'
import {readFileSync} from 'node:fs';
import {WASI} from 'node:wasi';
const [file, ...args] = process.argv.slice(2);
const wasi = new WASI({version: 'preview1', args: [file, ...args], returnOnExit: true});
const imports = {wasi_snapshot_preview1: wasi.wasiImport, env: {emscripten_notify_memory_growth() {}}};
process.exit(wasi.start((await WebAssembly.instantiate(readFileSync(file), imports)).instance));
END
# Node 18 has WASI only with this option.
node --no-warnings --experimental-wasi-unstable-preview1 "$work/run.mjs" "$work/kernel_check.wasm" >"$work/kernels.said" 2>&1 || {
    tail -n 20 "$work/kernels.said"
    echo "FAILED: kernel_check"
    exit 1
}

# ---- the recorded operator cases

sh tests/wasm/recorded_test.sh "$out" "$root" >"$work/recorded.said" 2>&1 || {
    tail -n 20 "$work/recorded.said"
    echo "FAILED: recorded_cases"
    exit 1
}
# Adds the counts in the last line of each program.
for said in kernels recorded; do tail -n 1 "$work/$said.said"; done | awk '
    { passed += $1; for (i = 2; i <= NF; i++) if ($i ~ /^skipped/) skipped += $(i - 1) }
    END { printf "%d passed, 0 failed", passed; if (skipped) printf ", %d skipped", skipped; printf "\n"; exit NR < 2 }'
