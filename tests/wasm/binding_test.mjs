// SPDX-License-Identifier: BSD-2-Clause
// binding_test.mjs PACKAGE SOURCE: tests the package in Node.js. Every sample of tests/data/samples, in every file
// format, must give PyTorch's results; values must be converted in both directions without loss; errors must be
// reported.
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

// Checks that f throws an error with the status and a message that contains all of the words.
function says(f, status, ...words) {
    const check = error => {
        assert.ok(error instanceof TaperError, String(error));
        assert.equal(error.status, status, error.message);
        words.forEach(word => assert.ok(error.message.includes(word), `${error.message}: not "${word}"`));
        return true;
    };
    return typeof f === 'function' ? assert.throws(f, check) : assert.rejects(f, check);
}

const INFINITE = '1e999'; // how JSON can represent infinity
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

test('inputs that are refused', async () => {
    const model = await loadModel(join(demo, 'classifier.ptl'));
    says(() => model.run(new Tensor(new Float64Array(3 * 96 * 96), [1, 3, 96, 96])), 'argument',
        'input 0 is float64 [1, 3, 96, 96]; the model takes it converted: float32 [1, 3, 96, 96]');
    model.free();
    const plain = await loadModel(join(demo, 'classifier.pt')); // this file contains the names of its layers
    says(() => plain.run(new Tensor(new Float32Array(4 * 96 * 96), [1, 4, 96, 96])), 'argument',
        'input 0 (x) was float32 [1, 4, 96, 96], refused in features.0.0');
    plain.free();
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

test('types within types', async () => {
    const model = await loadModel(join(source, 'tests/data/nested/nested.pt'));
    const run = (name, ...inputs) => model.runMethod(name, inputs);
    assert.deepEqual(run('ints', [[1, 2], []]), [[1, 2], [], [2]]);
    assert.deepEqual(run('ints', []), [[0]]);
    assert.deepEqual(run('floats', [[1, 2], []]), [[1, 2], [], [0.5]]);
    assert.equal(run('deep', [[['a', 'b'], []], []]), 2);
    assert.deepEqual(run('pairs', [[1, 'a'], tuple(2, 'b')]), [tuple('a', 1), tuple('b', 2)]);
    assert.deepEqual(run('optionals', [null, 3, undefined]), [-1, 3, -1]);
    assert.deepEqual(run('masks', [null, tensor([1, 2, 3])]), [-1, 3]);
    assert.deepEqual(run('table', {a: [1, 2], b: []}), new Map([['a', [1, 2]], ['b', []], ['size', [2]]]));
    assert.deepEqual(run('table', {}), new Map([['size', [0]]]));
    const numbered = new Map([[5, new Map([['a', [1]], ['b', []]])], [6, new Map()], [2, new Map([['new', [7]]])]]);
    assert.deepEqual(run('numbered', new Map([[5, {a: [1], b: []}], [6, {}]])), numbered);
    assert.deepEqual(new Set(run('numbered', {5: {a: [1], b: []}, 6: {}}).keys()), new Set([5, 6, 2]));
    assert.equal(run('mixed', [{a: [[1, null, 2.5], 3]}, {}]), 10.5);
    assert.deepEqual(run('both', [[1], [2, [3]]]), tuple([1], tuple(2, [3])));
    assert.deepEqual([run('maybe'), run('maybe', null), run('maybe', [[1], []])], [-1, -1, 2]);
    assert.deepEqual(run('maybe_inner', [null, [1], []]), [-1, 1, 0]);
    assert.deepEqual(run('points', [[1, 'a'], tuple(2, 'b')]), [{x: 2, name: 'a!'}, {x: 3, name: 'b!'}]);
    assert.deepEqual(run('points', []), []);
    assert.deepEqual(run('complexes', [{re: 1, im: 2}, 3]), [{re: 2, im: 4}, {re: 6, im: 0}]);
    assert.deepEqual([1, ['a'], {a: [1]}].map(x => run('either', x)), ['int', 'list', 'dict']);
    says(() => run('ints', [[1.5]]), 'argument', 'should be int');
    says(() => run('ints', [1]), 'argument', 'List[int]');
    says(() => run('pairs', [[1, 'a', 2]]), 'argument', 'tuple of 2');
    says(() => run('points', [[1, 2]]), 'argument', 'Point');
    const endless = [];
    endless.push(endless);
    says(() => run('ints', endless), 'argument', 'holds itself');
    model.free();
});

test('ints have 64 bits', async () => {
    const model = await loadModel(join(source, 'tests/data/nested/nested.pt'));
    const run = (name, ...inputs) => model.runMethod(name, inputs);
    assert.deepEqual(run('ints', [[-(2n ** 63n), 2n ** 63n - 1n]])[0], [-(2n ** 63n), 2n ** 63n - 1n]);
    for (const wrong of [2n ** 64n, 2n ** 63n, -(2n ** 63n) - 1n]) {
        says(() => run('ints', [[wrong]]), 'argument', '64 bits');
        says(() => run('numbered', new Map([[wrong, {}]])), 'argument', '64 bits');
        says(() => run('optionals', [wrong]), 'argument', '64 bits');
        assert.throws(() => tensor([wrong]), {name: 'RangeError', message: /does not fit/});
        assert.throws(() => tensor([[wrong]], 'int64'), /does not fit/);
    }
    says(() => run('ints', [[2 ** 60]]), 'argument', 'bigint');
    says(() => run('numbered', {[String(2n ** 64n)]: {}}), 'argument', '64 bits');
    says(() => model.seed(2n ** 64n), 'argument', '64 bits');
    says(() => model.seed(-(2n ** 63n) - 1n), 'argument', '64 bits');
    model.seed(2n ** 64n - 1n);
    model.seed(-(2n ** 63n));
    for (const [number, dtype] of [[300, 'uint8'], [-256, 'uint8'], [128, 'int8'], [2 ** 31, 'int32'], [NaN, 'int32'], [40000, 'int16']]) {
        assert.throws(() => tensor([number], dtype), new RegExp(`does not fit into ${dtype}`));
    }
    assert.deepEqual([...tensor([-1, 255], 'uint8').data, ...tensor([2.5], 'int64').data, ...tensor([3, 0], 'bool').data], [255, 255, 2n, 1, 0]);
    assert.equal(tensor([2n ** 70n], 'float32').data[0], 2 ** 70);
    model.free();
});

test('a tensor stays what it was made as', async () => {
    const model = await loadModel(join(source, 'tests/data/nested/nested.pt'));
    const sizes = [2, 3], x = new Tensor(new Float32Array(6).fill(0.5), sizes);
    sizes[0] = 1000;
    assert.deepEqual(x.sizes, [2, 3]);
    assert.throws(() => x.sizes[0] = 1, TypeError);
    assert.throws(() => x.sizes.push(2), TypeError);
    assert.throws(() => x.sizes = [1], TypeError);
    assert.throws(() => x.data = new Float32Array(600), TypeError);
    assert.throws(() => x.dtype = 'uint8', TypeError);
    same(model.run(x), x, 'x');
    const copy = structuredClone(x); // a copy such as a worker receives in a message
    same(model.run(new Tensor(copy.data, copy.sizes, copy.dtype)), x, 'x');
    structuredClone(x.data, {transfer: [x.data.buffer]}); // from here on, the array of x is empty
    assert.throws(() => model.run(x), {name: 'RangeError', message: /6 numbers, and there are 0/});
    const forged = Object.create(Tensor.prototype, {
        data: {value: new Float32Array(600)}, sizes: {value: [1]}, dtype: {value: 'float32'}});
    assert.throws(() => model.run(forged), RangeError);
    if (ArrayBuffer.prototype.resize !== undefined) {
        const buffer = new ArrayBuffer(16, {maxByteLength: 1 << 20}), growing = new Tensor(new Float32Array(buffer));
        buffer.resize(1 << 20);
        assert.throws(() => model.run(growing), RangeError);
    }
    model.free();
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
    const more = process.memoryUsage().rss - before; // growth of memory after loading and freeing 60 models; if none were freed, it would be much larger
    assert.ok(more < 30 * statSync(path).size, `${more} bytes`);
});

test('broken files are refused, each in words', async () => {
    const folder = join(source, 'tests/fuzz/corpus'), files = readdirSync(folder, {recursive: true}).map(name => join(folder, name));
    let refused = 0, loaded = 0;
    for (const file of files.filter(name => statSync(name).isFile())) {
        try {
            (await loadModel(file)).free();
            loaded++;
        } catch (error) { // an error that is no TaperError is a trap, after which the module is unusable
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
