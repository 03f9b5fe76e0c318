// SPDX-License-Identifier: BSD-2-Clause
// web.mjs PACKAGE MODEL.pt MODEL.onnx [ROUNDS]: compares Taper's module with ONNX Runtime's (npm: onnxruntime-web) on
// the same network in Node.js, with one thread each, alternating, for an input of 1 x 3 x 224 x 224. Prints the median
// time of each, the median of the ratios, and the largest difference of the results. Run it where Node.js finds
// onnxruntime-web, for example in a folder with node_modules.
import {readFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {join, resolve} from 'node:path';
import {pathToFileURL} from 'node:url';

const [, , folder, file, onnx, rounds = '60'] = process.argv;
const {loadModel, Tensor} = await import(pathToFileURL(resolve(folder, 'taper.js')));
const found = createRequire(join(process.cwd(), 'x.js')).resolve('onnxruntime-web');
const ort = (await import(pathToFileURL(found))).default;
ort.env.wasm.numThreads = 1;

const sizes = [1, 3, 224, 224], data = new Float32Array(3 * 224 * 224).map((_, i) => Math.sin(i / 100));
const model = await loadModel(file);
const session = await ort.InferenceSession.create(readFileSync(onnx), {executionProviders: ['wasm']});
const input = new Tensor(data, sizes), feeds = {[session.inputNames[0]]: new ort.Tensor('float32', data, sizes)};
const median = values => values.toSorted((a, b) => a - b)[values.length >> 1];

const taken = {taper: [], peer: []};
let ours, theirs;
for (let i = -10; i < Number(rounds); i++) { // the first rounds warm up the JIT compiler
    let begin = performance.now();
    ours = model.run(input).data;
    const between = performance.now() - begin;
    begin = performance.now();
    theirs = (await session.run(feeds))[session.outputNames[0]].data;
    if (i >= 0) {
        taken.taper.push(between);
        taken.peer.push(performance.now() - begin);
    }
}
const apart = ours.reduce((most, x, i) => Math.max(most, Math.abs(x - theirs[i])), 0);
const ratio = median(taken.taper.map((time, i) => time / taken.peer[i]));
console.log(`${file}: ${median(taken.taper).toFixed(1)} ms, ONNX Runtime ${median(taken.peer).toFixed(1)} ms, ` +
    `${ratio.toFixed(2)} of it; ${apart.toExponential(1)} apart`);
process.exit(0); // ends ONNX Runtime's worker, which would keep the process alive
