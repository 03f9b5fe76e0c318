#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# npm_test.sh WASM SOURCE: installs the archive of `npm pack` in a new folder, as a user does, imports the package by its name, and
# compares its declarations with the package.
set -eu
archive=$(ls "$(cd "$1" && pwd)"/taper-wasm-*.tgz 2>/dev/null) || { echo "SKIPPED: npm is not there, so there is no archive"; exit 77; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
echo '{"name": "app", "private": true, "type": "module"}' >package.json
npm install --silent --offline --no-audit --no-fund "$archive"
cp "$2/examples/demo/classifier.ptl" .
cat >app.js <<'END'
import {readFileSync} from 'node:fs';
import * as taper from 'taper-wasm';
const model = await taper.loadModel('classifier.ptl');
const picture = {data: new Uint8ClampedArray(4 * 64 * 48).fill(200), width: 64, height: 48};
const classes = model.classify(picture, {top: 2});
if (classes.length !== 2 || !(classes[0].probability >= classes[1].probability)) {
    throw new Error(JSON.stringify(classes));
}
const declared = readFileSync(new URL('node_modules/taper-wasm/taper.d.ts', import.meta.url), 'utf8');
const names = [...declared.matchAll(/^export (?:class|function) (\w+)/gm)].map(([, name]) => name).sort();
const real = Object.keys(taper).sort();
if (names.join() !== real.join()) {
    throw new Error(`declared: ${names}; there: ${real}`);
}
const members = [...declared.match(/^export class Model \{([^]*?)^\}/m)[1].matchAll(/^    (?:readonly )?(\w+)[(:]/gm)].map(([, name]) => name);
for (const name of members) {
    if (!(name in taper.Model.prototype)) {
        throw new Error(`Model has no ${name}`);
    }
}
console.log(`${real.length + members.length} names, ${classes[0].label}`);
END
node app.js
