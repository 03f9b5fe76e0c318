// SPDX-License-Identifier: BSD-2-Clause
// binding_test.mjs PACKAGE SOURCE: the package in node. Every sample of tests/data/samples, in every form of file, gives
// what PyTorch gave; values go in and come out as they are; what is wrong is said.
import assert from 'node:assert/strict';
import {readFileSync, readdirSync, statSync} from 'node:fs';
import {createServer} from 'node:http';
import {join} from 'node:path';
import {test} from 'node:test';
import {pathToFileURL} from 'node:url';
import {readNpy} from './npy.mjs';

const [, , folder, source] = process.argv;
const taper = await import(pathToFileURL(join(folder, 'taper.js')));
const {Model, TaperError, Tensor, Tuple, init, loadModel, tensor, tuple, version} = taper;
const samples = join(source, 'tests/data/samples'), demo = join(source, 'examples/demo');
const printed = [], warned = [];
await init({print: line => printed.push(line), warn: line => warned.push(line)});

const readers = {
    tensor: ({npy}) => readNpy(join(samples, npy), Tensor),
    int: ({v}) => v, float: ({v}) => v, bool: ({v}) => v, str: ({v}) => v,
    list: ({v}) => v.map(item => read(item)),
    tuple: ({v}) => tuple(...v.map(item => read(item))),
    dict: ({v}) => new Map(v.map(([key, value]) => [read(key), read(value)])),
};
const read = said => readers[said.t](said);

function same(got, wanted, where) {
    if (wanted instanceof Tensor) {
        assert.ok(got instanceof Tensor, where);
        assert.deepEqual([got.dtype, got.sizes], [wanted.dtype, wanted.sizes], where);
        if (!wanted.dtype.startsWith('float')) {
            assert.deepEqual(got.data, wanted.data, where);
            return;
        }
        const most = wanted.data.reduce((m, x) => Math.max(m, Math.abs(x)), 0), allowed = 1e-4 * most + 1e-5;
        wanted.data.forEach((x, i) => assert.ok(Object.is(x, got.data[i]) || Math.abs(x - got.data[i]) <= allowed,
            `${where}: ${got.data[i]} at ${i}, not ${x}`));
    } else if (wanted instanceof Map) {
        assert.ok(got instanceof Map, where);
        assert.deepEqual([...got.keys()], [...wanted.keys()], where);
        wanted.forEach((value, key) => same(got.get(key), value, `${where}[${key}]`));
    } else if (Array.isArray(wanted)) {
        assert.deepEqual([got instanceof Tuple, got.length], [wanted instanceof Tuple, wanted.length], where);
        wanted.forEach((value, i) => same(got[i], value, `${where}[${i}]`));
    } else {
        assert.deepEqual(got, wanted, where);
    }
}

// Whose message holds all of the words.
function says(f, status, ...words) {
    const check = error => {
        assert.ok(error instanceof TaperError, String(error));
        assert.equal(error.status, status, error.message);
        words.forEach(word => assert.ok(error.message.includes(word), `${error.message}: not "${word}"`));
        return true;
    };
    return typeof f === 'function' ? assert.throws(f, check) : assert.rejects(f, check);
}

const INFINITE = '1e999'; // as JSON has it
for (const sample of JSON.parse(readFileSync(join(samples, 'manifest.json'), 'utf8').replace(/: Infinity/g, `: ${INFINITE}`))) {
    for (const file of sample.models) {
        for (const optimize of [true, false]) {
            test(`${file}${optimize ? '' : ', not optimized'}`, async () => {
                const model = await loadModel(join(samples, file), {optimize, evaluation: false});
                for (const {method, args, ret, raises} of sample.calls) {
                    const inputs = args.map(read), run = () => model.runMethod(method, inputs);
                    if (raises !== undefined) {
                        says(run, 'raised', raises.split(': ').at(-1));
                    } else {
                        same(run(), read(ret), `${file}.${method}`);
                    }
                }
                model.free();
            });
        }
    }
}

test('what a model is', async () => {
    assert.match(await version(), /^\d+\.\d+\.\d+$/);
    const model = await loadModel(join(demo, 'classifier.ptl'));
    assert.equal(model.methods[0].name, 'forward');
    assert.deepEqual(model.methods[0].arguments, [{name: 'x', type: 'Tensor'}]);
    assert.equal(model.methods[0].returns, 'Tensor');
    assert.deepEqual([model.facts.task, model.facts.labels.length, model.facts.training], ['classify', 20, false]);
    assert.deepEqual(model.facts.extraFiles, ['taper.json']);
    assert.equal(JSON.parse(new TextDecoder().decode(model.extraFile('taper.json'))).labels[0], model.facts.labels[0]);
    const plain = await loadModel(join(demo, 'classifier.pt'), {optimize: false}), weight = plain.attribute('features.0.0.weight');
    assert.deepEqual([weight.dtype, weight.sizes], ['float32', [16, 3, 3, 3]]);
    plain.free();
    says(() => model.attribute('absent.weight'), 'argument', 'absent');
    says(() => model.extraFile('absent'), 'argument', 'absent');
    model.free();
});

test('files come in any form', async () => {
    const path = join(demo, 'classifier.ptl'), bytes = readFileSync(path);
    const wanted = (await loadModel(path)).run(new Tensor(new Float32Array(3 * 96 * 96).fill(0.25), [1, 3, 96, 96]));
    const server = createServer((request, response) => {
        response.writeHead(request.url === '/absent' ? 404 : 200, {'content-length': bytes.length});
        response.end(bytes);
    }).listen(0);
    const url = `http://localhost:${server.address().port}`, steps = [];
    const onProgress = (loaded, total) => steps.push([loaded, total]);
    const shifted = new Uint8Array(bytes.length + 3);
    shifted.set(bytes, 3);
    for (const source of [bytes, new Uint8Array(bytes).buffer, shifted.subarray(3), new Blob([bytes]), pathToFileURL(path),
        `${url}/model`, new URL(url), fetch(url)]) {
        const model = await loadModel(await source, {onProgress});
        same(model.run(new Tensor(new Float32Array(3 * 96 * 96).fill(0.25), [1, 3, 96, 96])), wanted, 'classifier');
        model.free();
    }
    assert.deepEqual(steps.at(-1), [bytes.length, bytes.length]);
    await says(loadModel(`${url}/absent`), 'file', '404');
    await says(loadModel(join(demo, 'absent.ptl')), 'file', 'absent.ptl');
    await assert.rejects(loadModel(url, {signal: AbortSignal.abort()}), {name: 'AbortError'});
    server.close();
});

test('tensors', () => {
    assert.deepEqual(tensor([[1, 2], [3, 4]]).toArray(), [[1n, 2n], [3n, 4n]]);
    assert.equal(tensor([[1, 2.5]]).dtype, 'float32');
    assert.equal(tensor([true, false]).dtype, 'bool');
    assert.deepEqual([tensor(3).sizes, tensor(3).toArray()], [[], 3n]);
    assert.deepEqual([tensor([[], []]).sizes, tensor([[], []]).dtype], [[2, 0], 'float32']);
    assert.deepEqual(tensor([1, 2], 'int16').data, Int16Array.of(1, 2));
    assert.throws(() => tensor([[1], [2, 3]]), /differ in length/);
    assert.throws(() => tensor([1], 'float8'), /there is no dtype "float8"/);
    assert.throws(() => new Tensor(new Float32Array(5), [2, 3]), /are 6 numbers, and there are 5/);
    assert.throws(() => new Tensor(new Float32Array(1), [-1]), /whole numbers/);
    assert.throws(() => new Tensor(new Float64Array(1), [1], 'float32'), /Float32Array/);
    assert.throws(() => new Tensor(new Uint16Array(1), [1]), /say the dtype/);
});

test('wrong uses are said', async () => {
    const model = await loadModel(join(demo, 'classifier.ptl'));
    says(() => model.run(), 'argument', 'forward');
    says(() => model.run(3), 'argument', 'Tensor');
    says(() => model.run(new Date()), 'argument', 'Date');
    says(() => model.runMethod('absent'), 'argument', 'absent');
    says(() => model.run(tensor([1, 2], 'float32')), 'argument', '4 dimensions', 'Classifier.forward');
    says(() => model.classify({data: new Uint8Array(3), width: 1, height: 1}), 'argument', 'RGBA');
    says(() => model.segment({data: new Uint8Array(4), width: 1, height: 1}), 'argument');
    model.free();
    model.free();
    says(() => model.run(tensor([1], 'float32')), 'argument', 'freed');
    await says(loadModel(new Uint8Array(0)), 'file');
    await says(loadModel(new TextEncoder().encode('not a model')), 'file');
    const damaged = Uint8Array.from(readFileSync(join(demo, 'classifier.ptl')));
    damaged[damaged.length >> 1] ^= 1;
    await says(loadModel(damaged, {verify: true}), 'file', 'checksum');
    const slow = await loadModel(join(demo, 'classifier.ptl'), {seconds: 1e-6});
    says(() => slow.run(new Tensor(new Float32Array(3 * 224 * 224), [1, 3, 224, 224])), 'resource');
    assert.ok(model instanceof Model);
});

test('memory comes back', async () => {
    const path = join(demo, 'classifier.ptl'), bytes = readFileSync(path);
    const x = new Tensor(new Float32Array(3 * 224 * 224), [1, 3, 224, 224]);
    const once = async () => {
        const model = await loadModel(bytes);
        model.run(x);
        says(() => model.run(tensor([1], 'float32')), 'argument');
        model.free();
    };
    await once();
    const before = process.memoryUsage().rss;
    for (let i = 0; i < 60; i++) {
        await once();
    }
    const more = process.memoryUsage().rss - before; // 60 models that stay are far more
    assert.ok(more < 30 * statSync(path).size, `${more} bytes`);
});

test('broken files are refused, each in words', async () => {
    const folder = join(source, 'tests/fuzz/corpus'), files = readdirSync(folder, {recursive: true}).map(name => join(folder, name));
    let refused = 0, loaded = 0;
    for (const file of files.filter(name => statSync(name).isFile())) {
        try {
            (await loadModel(file)).free();
            loaded++;
        } catch (error) { // anything else is a trap: the module would be lost
            assert.ok(error instanceof TaperError, `${file}: ${error}`);
            refused++;
        }
    }
    assert.ok(refused > 500 && loaded > 20, `${refused} refused, ${loaded} loaded`);
});

test('values whose parts are shared', async () => {
    const model = await loadModel(join(source, 'tests/models/data/any.ptl'));
    const shared = levels => Array.from({length: levels}).reduce(value => tuple(value, value), 1);
    assert.equal(model.run(shared(10)).length, 2);
    says(() => model.run(shared(60)), 'resource', 'holds more than');
    says(() => model.runMethod('twice', [shared(19)]), 'resource', 'holds more than');
    model.free();
});

test('what a model prints goes line by line', () => {
    assert.deepEqual(printed.filter(line => line.includes('\n')), []);
});
