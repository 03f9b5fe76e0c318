#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# run_wasm.sh [arguments of kernel_check]: builds the kernel checks for WebAssembly and runs them in Node.js. Exit 77 (skipped) if
# Emscripten or Node.js is missing.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
for tool in emcc node cmake; do
    if ! command -v "$tool" >/dev/null 2>&1; then
        echo "SKIPPED: the kernel checks for WebAssembly need $tool (packages emscripten nodejs)"
        exit 77
    fi
done
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
cd "$root"
cmake -DTAPER_ARCHITECTURE=wasm -P cmake/TaperIsa.cmake >"$out/list"
definitions=$(sed -n 's/^definitions //p' "$out/list")
# Like the kernels, all other code of the package is compiled with vectors (cmake/TaperCompile.cmake).
kernels=$(sed -n 's/^\(src[^ ]*\).*/\1/p' "$out/list")
# shellcheck disable=SC2086
emcc -std=c11 -O2 -msimd128 -Wall -Wextra -Werror $definitions -I. -Iinclude -Isrc -Ibench/kernels $kernels \
    src/ops/kernels/kernel_select.c src/ops/kernels/scalar/*_pack.c src/platform/isa.c tests/kernels/*.c bench/kernels/bench.c \
    -lm -sSTANDALONE_WASM -sALLOW_MEMORY_GROWTH=1 -o "$out/kernel_check.wasm"
cat >"$out/run.mjs" <<'END'
import {readFileSync} from 'node:fs';
import {WASI} from 'node:wasi';
const [file, ...args] = process.argv.slice(2);
const wasi = new WASI({version: 'preview1', args: [file, ...args], returnOnExit: true});
const imports = {wasi_snapshot_preview1: wasi.wasiImport, env: {emscripten_notify_memory_growth() {}}};
process.exit(wasi.start((await WebAssembly.instantiate(readFileSync(file), imports)).instance));
END
# Node 18 has WASI only with this option.
node --no-warnings --experimental-wasi-unstable-preview1 "$out/run.mjs" "$out/kernel_check.wasm" "$@"
