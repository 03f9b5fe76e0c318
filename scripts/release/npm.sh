#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# npm.sh OUT: writes the npm package taper-wasm to OUT, as an archive. scripts/wasm.sh makes the archive. npm_contents.py compares the files
# in the archive with the files that package.json names. tests/wasm/npm_test.sh installs the archive and calls the package. The exit status is
# 77 if Emscripten, node or npm is missing.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "${1:?usage: npm.sh OUT}"
out=$(cd "$1" && pwd)
for tool in emcc node npm; do
    command -v $tool >/dev/null || { echo "SKIPPED: the npm package is made with $tool, which is not here"; exit 77; }
done
work=$root/build/wasm
rm -f "$work"/taper-wasm-*.tgz
"$root/scripts/wasm.sh" "$work"
python3 "$root/scripts/release/npm_contents.py" "$work"/taper-wasm-*.tgz
sh "$root/tests/wasm/npm_test.sh" "$work" "$root"
echo "checked: installed by npm and run in node"
cp "$work"/taper-wasm-*.tgz "$out"
