#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# wasm.sh OUT: makes the npm package taper-wasm as OUT/package and OUT/taper-wasm-VERSION.tgz. OUT/site gets the page of examples/web with
# the package, the demo's classifier and its pictures; any web server can serve this folder. Needs Emscripten (Debian: emscripten; set
# EMSCRIPTEN_ROOT if it is not found), and npm for the archive. Exit status 77 if Emscripten is missing.
set -eu
cd "$(dirname "$0")/.."
out=${1:?usage: wasm.sh OUT}
toolchain=${EMSCRIPTEN_ROOT:-$(em-config EMSCRIPTEN_ROOT 2>/dev/null || true)}/cmake/Modules/Platform/Emscripten.cmake
if ! command -v emcc >/dev/null || [ ! -e "$toolchain" ]; then
    echo "SKIPPED: WebAssembly needs Emscripten (package emscripten)"
    exit 77
fi
mkdir -p "$out"
out=$(cd "$out" && pwd)
generator="Unix Makefiles"
command -v ninja >/dev/null && generator=Ninja
# A page has no files, threads, other devices or libraries to open.
[ -e "$out/CMakeCache.txt" ] || cmake -S . -B "$out" -G "$generator" -DCMAKE_TOOLCHAIN_FILE="$toolchain" -DCMAKE_BUILD_TYPE=Release \
    -DTAPER_BUILD_TOOLS=OFF -DTAPER_BUILD_TESTS=OFF -DTAPER_BUILD_BENCH=OFF -DTAPER_WITH_ZLIB=OFF \
    -DTAPER_WITH_LAPACK=OFF -Wno-dev >"$out/configure.log" 2>&1 || {
    cat "$out/configure.log"
    rm -f "$out/CMakeCache.txt"
    exit 1
}
cmake --build "$out" -j "${JOBS:-2}" --target taper_wasm_package >"$out/build.log" 2>&1 || {
    tail -n 40 "$out/build.log"
    exit 1
}
rm -rf "$out/site"
mkdir -p "$out/site"
cp -R examples/web/. "$out/site"
cp -R "$out/package" "$out/site/taper-wasm"
cp examples/demo/classifier.ptl "$out/site"
cp -R examples/demo/images "$out/site/images"
printf 'taper.wasm: %s bytes, %s compressed\n' "$(wc -c <"$out/package/taper.wasm" | tr -d ' ')" \
    "$(gzip -9 <"$out/package/taper.wasm" | wc -c | tr -d ' ')"
if command -v npm >/dev/null; then
    (cd "$out" && npm pack --silent ./package)
else
    echo "without npm there is no archive: $out/package is the package"
fi
echo "the page: python3 -m http.server --directory $out/site"
