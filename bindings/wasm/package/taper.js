// SPDX-License-Identifier: BSD-2-Clause
// Runs PyTorch's model files in browsers and node: taper.wasm, and what JavaScript sees of it. taper.d.ts says what is
// promised. Everything that goes in or comes out is copied; what a model holds lies in the module's memory until free().
import {Tensor, dtypes, tensor} from './tensor.js';
import {imports} from './wasi.js';

export {Tensor, tensor} from './tensor.js';

const STATUS = ['ok', 'argument', 'file', 'unsupported', 'resource', 'device', 'raised', 'cancelled', 'internal'];
const [NONE, BOOL, INT, DOUBLE, COMPLEX, , STRING, TENSOR, LIST, TUPLE, DICT, OBJECT] = Array(12).keys();
const MOST_RANK = 16, MOST_ITEMS = 1 << 20;
const decoder = new TextDecoder(), encoder = new TextEncoder();

/** What Taper says went wrong. */
export class TaperError extends Error {
    constructor(message, status, detail = '', offset = -1) {
        super(detail ? `${message}\n${detail}` : message);
        this.name = 'TaperError';
        this.status = status;
        this.detail = detail;
        this.offset = offset;
    }
}

/** Items that a method wants as a tuple; an array is a list. */
export class Tuple extends Array {}
export const tuple = (...items) => Tuple.from(items);

// ---- the module

let loading; // a promise of the one module of this page or worker

async function moduleBytes() {
    const url = new URL('taper.wasm', import.meta.url);
    if (url.protocol === 'file:') { // node, where fetch knows no files
        const {readFile} = await import('node:fs/promises');
        return readFile(url);
    }
    const response = await fetch(url);
    if (!response.ok) {
        throw new TaperError(`${url}: the server answers ${response.status}`, 'file');
    }
    return response.arrayBuffer();
}

async function start({wasm, print = line => console.log(line), warn = line => console.warn(line)}) {
    const given = await (wasm ?? moduleBytes());
    const module = given instanceof WebAssembly.Module ? given
        : await WebAssembly.compile(given instanceof Response ? await given.arrayBuffer() : given);
    let exports;
    const instance = await WebAssembly.instantiate(module, imports(module, () => exports.memory, print, warn));
    exports = instance.exports;
    exports._initialize?.();
    return new Runtime(exports);
}

/** Loads taper.wasm, once; loadModel() does so by itself. */
export function init(options = {}) {
    loading ??= start(options).catch(error => {
        loading = undefined; // the next one tries again
        throw error;
    });
    return loading.then(() => undefined);
}

// The bytes of a buffer or of a view of one.
const asBytes = given => new Uint8Array(given.buffer ?? given, given.byteOffset ?? 0, given.byteLength);

// The module's functions, and its memory, which moves when it grows: no view of it outlives a call.
class Runtime {
    constructor(exports) {
        this.exports = exports;
        this.error = exports.taper_error_create();
        this.cell = exports.js_allocate(8 * (4 + MOST_RANK)); // for results by address
        this.context = exports.js_context_create(this.error);
        this.depth = this.left = 0;
        if (this.context === 0) {
            throw this.failure();
        }
    }

    view() {
        return new DataView(this.exports.memory.buffer);
    }

    bytes(at, size) {
        return new Uint8Array(this.exports.memory.buffer, at >>> 0, size);
    }

    // NUL-terminated; undefined: there is none.
    text(at) {
        if (at === 0) {
            return undefined;
        }
        const memory = new Uint8Array(this.exports.memory.buffer);
        return decoder.decode(memory.subarray(at >>> 0, memory.indexOf(0, at >>> 0)));
    }

    failure() {
        const x = this.exports;
        return new TaperError(this.text(x.taper_error_message(this.error)),
            STATUS[x.taper_error_status(this.error)] ?? 'internal', this.text(x.taper_error_detail(this.error)),
            Number(x.taper_error_offset(this.error)));
    }

    allocate(size) {
        const at = this.exports.js_allocate(size) >>> 0;
        if (at === 0) {
            throw new TaperError(`there is no memory for ${size} bytes`, 'resource');
        }
        return at;
    }

    // A copy of the bytes, which the caller frees.
    place(bytes) {
        const at = this.allocate(bytes.byteLength);
        this.bytes(at, bytes.byteLength).set(asBytes(bytes));
        return at;
    }

    // f(address) of a text's copy, or of no text.
    withText(text, f) {
        if (text === undefined) {
            return f(0);
        }
        const at = this.place(encoder.encode(`${text}\0`));
        try {
            return f(at);
        } finally {
            this.exports.js_free(at);
        }
    }

    // Calls a function whose last two parameters are where the result goes, and the error.
    result(name, ...parameters) {
        if (this.exports[name](...parameters, this.cell, this.error) !== 0) {
            throw this.failure();
        }
        return this.view().getUint32(this.cell, true);
    }

    // ---- values of JavaScript to Taper's

    // `type`: as the method declares it, or undefined; it tells ints from floats.
    value(given, type) {
        const context = this.context;
        if (given === null || given === undefined) {
            return this.result('taper_value_none', context);
        }
        switch (typeof given) {
        case 'boolean':
            return this.result('taper_value_bool', context, Number(given));
        case 'bigint':
            return this.result('taper_value_int', context, BigInt.asIntN(64, given));
        case 'number': {
            const isFloat = /^(Optional\[)?float\b/.test(type ?? '') || !Number.isSafeInteger(given);
            return isFloat ? this.result('taper_value_double', context, given)
                : this.result('taper_value_int', context, BigInt(given));
        }
        case 'string': {
            const bytes = encoder.encode(given);
            return this.withPlaced(bytes, at => this.result('taper_value_string', context, at, bytes.length));
        }
        }
        if (given instanceof Tensor) {
            return this.tensor(given);
        }
        if (ArrayBuffer.isView(given) && !(given instanceof DataView)) {
            return this.tensor(new Tensor(given, [given.length]));
        }
        const item = elementType(type);
        if (given instanceof Tuple || (Array.isArray(given) && /^(Optional\[)?Tuple\[/.test(type ?? ''))) {
            return this.withValues(given, undefined, (at, count) =>
                this.result('taper_value_tuple', context, at, count));
        }
        if (Array.isArray(given)) {
            return this.withText(item, name => this.withValues(given, item, (at, count) =>
                this.result('taper_value_list', context, name, at, count)));
        }
        const isPlain = Object.getPrototypeOf(given) === Object.prototype;
        if (!(given instanceof Map) && !isPlain) {
            throw new TaperError(`a model takes no ${given.constructor?.name ?? typeof given}: ` +
                'give tensors, numbers, texts, arrays, maps or null', 'argument');
        }
        const pairs = isPlain ? Object.entries(given) : [...given];
        return this.withValues(pairs.map(([key]) => key), undefined, (keys, count) =>
            this.withValues(pairs.map(([, value]) => value), undefined, values =>
                this.result('taper_value_dict', context, 0, 0, keys, values, count)));
    }

    withPlaced(bytes, f) {
        const at = this.place(bytes);
        try {
            return f(at);
        } finally {
            this.exports.js_free(at);
        }
    }

    // f(), one level deeper in a value. An array may hold one array twice, and so on in each level: what lies deeper than
    // the items of inputs and results themselves has a limit.
    deeper(f) {
        if (this.depth++ === 0) {
            this.left = MOST_ITEMS;
        }
        try {
            return f();
        } finally {
            this.depth--;
        }
    }

    countItem() {
        if (this.depth > 2 && this.left-- <= 0) {
            throw new TaperError(`a value holds more than ${MOST_ITEMS} items, each counted as often as it is held`,
                'resource');
        }
    }

    // f(address, count) of an array of values, which are released afterwards: whoever keeps them has them, too.
    withValues(items, type, f) {
        const values = [];
        let at = 0;
        try {
            this.deeper(() => {
                for (const item of items) {
                    this.countItem();
                    values.push(this.value(item, type instanceof Array ? type[values.length] : type));
                }
            });
            at = this.place(Uint32Array.from(values));
            return f(at, values.length);
        } finally {
            if (at !== 0) {
                this.exports.js_free(at);
            }
            values.forEach(value => this.exports.taper_value_release(value));
        }
    }

    tensor(given) {
        const sizes = BigInt64Array.from(given.sizes, BigInt);
        const value = this.withPlaced(sizes, at =>
            this.result('taper_value_tensor', this.context, dtypes[given.dtype].number, sizes.length, at));
        const {address} = this.facts(value);
        const data = given.data;
        this.bytes(address, data.byteLength).set(asBytes(data));
        return value;
    }

    // ---- and back

    facts(value) {
        if (this.exports.js_tensor_facts(value, this.cell, this.error) !== 0) {
            throw this.failure();
        }
        const view = this.view(), at = index => view.getFloat64(this.cell + 8 * index, true);
        const sizes = Array.from({length: at(1)}, (_, i) => at(4 + i));
        return {number: at(0), sizes, address: at(2), quantized: at(3) !== 0};
    }

    readTensor(value) {
        const {number, quantized} = this.facts(value);
        const known = Object.keys(dtypes).find(name => dtypes[name].number === number);
        const name = quantized || known === undefined ? 'taper_value_floats' : 'taper_value_contiguous';
        const copy = this.result(name, this.context, value);
        try {
            const {sizes, address} = this.facts(copy);
            const dtype = name === 'taper_value_floats' ? 'float32' : known;
            const {array, parts} = dtypes[dtype];
            const data = new array(sizes.reduce((product, size) => product * size, parts));
            new Uint8Array(data.buffer).set(this.bytes(address, data.byteLength));
            return new Tensor(data, sizes, dtype);
        } finally {
            this.exports.taper_value_release(copy);
        }
    }

    items(value, name = 'taper_value_item') {
        return this.deeper(() => Array.from({length: this.exports.taper_value_count(value)}, (_, i) => {
            this.countItem();
            const item = this.result(name, value, i);
            try {
                return this.read(item);
            } finally {
                this.exports.taper_value_release(item);
            }
        }));
    }

    read(value) {
        const x = this.exports, kind = x.taper_value_kind(value);
        switch (kind) {
        case NONE:
            return null;
        case BOOL:
            return this.result('taper_value_get_bool', value) !== 0;
        case INT: {
            this.result('taper_value_get_int', value);
            const number = this.view().getBigInt64(this.cell, true);
            return Number.isSafeInteger(Number(number)) ? Number(number) : number;
        }
        case DOUBLE:
            this.result('taper_value_get_double', value);
            return this.view().getFloat64(this.cell, true);
        case COMPLEX:
            this.result('taper_value_get_complex', value, this.cell + 8);
            return {re: this.view().getFloat64(this.cell + 8, true), im: this.view().getFloat64(this.cell, true)};
        case STRING: {
            const text = this.result('taper_value_get_string', value, this.cell + 8);
            return decoder.decode(this.bytes(this.view().getUint32(this.cell + 8, true), text));
        }
        case TENSOR:
            return this.readTensor(value);
        case LIST:
            return this.items(value);
        case TUPLE:
        case OBJECT: {
            const items = this.items(value);
            const names = items.map((_, i) => this.text(x.taper_value_field(value, i)));
            return items.length === 0 || names[0] === undefined ? Tuple.from(items)
                : Object.fromEntries(items.map((item, i) => [names[i], item]));
        }
        case DICT: {
            const keys = this.items(value, 'taper_value_key'), values = this.items(value);
            return new Map(keys.map((key, i) => [key, values[i]]));
        }
        }
        throw new TaperError('the result is of a kind that JavaScript has nothing for', 'unsupported');
    }
}

// "int" of "List[int]"
function elementType(type) {
    return /^(?:Optional\[)?List\[(.*?)\]+$/.exec(type ?? '')?.[1];
}

// ---- models

// Whatever a file may be given as.
async function fileBytes(source, {onProgress, signal}) {
    if (source instanceof ArrayBuffer || ArrayBuffer.isView(source)) {
        return source;
    }
    if (typeof Blob !== 'undefined' && source instanceof Blob) {
        return source.arrayBuffer();
    }
    const isResponse = typeof Response !== 'undefined' && source instanceof Response;
    if (!isResponse && typeof process !== 'undefined' && process.versions?.node !== undefined &&
        (source.protocol === 'file:' || (typeof source === 'string' && !/^(https?|data|blob):/.test(source)))) {
        const {readFile} = await import('node:fs/promises');
        return readFile(source, {signal}).catch(error => {
            throw error.name === 'AbortError' ? error : new TaperError(`${source}: ${error.message}`, 'file');
        });
    }
    const response = isResponse ? source : await fetch(source, {signal});
    if (!response.ok) {
        throw new TaperError(`${response.url || source}: the server answers ${response.status}`, 'file');
    }
    // Of an encoded answer the length is that of what was sent.
    const length = response.headers.get('content-encoding') ? 0 : Number(response.headers.get('content-length'));
    const parts = [];
    let loaded = 0;
    for (const reader = response.body.getReader();;) {
        const {done, value} = await reader.read();
        if (done) {
            break;
        }
        parts.push(value);
        loaded += value.length;
        onProgress?.(loaded, length || undefined);
    }
    const all = new Uint8Array(loaded);
    parts.reduce((at, part) => (all.set(part, at), at + part.length), 0);
    return all;
}

/** Loads a .pt, .ptl or .pt2 file: its bytes, a Blob or File, an answer of fetch(), or where it is. */
export async function loadModel(source, options = {}) {
    const [bytes] = await Promise.all([fileBytes(source, options), init()]);
    return new Model(await loading, bytes, options);
}

// Models that nobody holds any more, and were not freed.
const forgotten = new FinalizationRegistry(parts => release(...parts));

export class Model {
    #runtime;
    #model = 0;
    #session = 0;
    #settings = 0;
    #methods;

    constructor(runtime, bytes, options) {
        const {evaluation = true, optimize = true, guards = true, verify = false, seconds = 0, memory = 0} = options;
        const x = runtime.exports;
        this.#runtime = runtime;
        const flags = Number(evaluation) | Number(!optimize) << 1 | Number(!guards) << 2 | Number(verify) << 3;
        const at = runtime.place(bytes); // the model's from here on
        this.#model = runtime.result('js_model_load', runtime.context, at, bytes.byteLength, flags);
        try {
            this.#session = runtime.result('js_session_create', this.#model, seconds, memory);
            this.#settings = runtime.result('taper_settings_read', this.#model, 0);
        } catch (error) {
            this.free();
            throw error;
        }
        forgotten.register(this, [x, this.#model, this.#session, this.#settings], this);
    }

    /** Gives the module's memory of this model back. Results stay valid; the model does not. */
    free() {
        if (this.#model !== 0) {
            forgotten.unregister(this);
            release(this.#runtime.exports, this.#model, this.#session, this.#settings);
            this.#model = 0;
        }
    }

    [Symbol.dispose ?? Symbol.for('dispose')]() {
        this.free();
    }

    #alive() {
        if (this.#model === 0) {
            throw new TaperError('the model was freed', 'argument');
        }
        return this.#runtime;
    }

    /** The methods, each with the names and types of its arguments. */
    get methods() {
        const r = this.#alive(), x = r.exports, model = this.#model;
        this.#methods ??= Array.from({length: x.taper_model_method_count(model)}, (_, i) => {
            const at = x.taper_model_method_name(model, i);
            const count = Math.max(x.taper_model_method_arguments(model, at), 0);
            return {
                name: r.text(at),
                arguments: Array.from({length: count}, (_, k) => ({
                    name: r.text(x.taper_model_argument_name(model, at, k)),
                    type: r.text(x.taper_model_argument_type(model, at, k)),
                })),
                required: Math.max(x.taper_model_method_required(model, at), 0),
                returns: r.text(x.taper_model_return_type(model, at)),
            };
        });
        return this.#methods;
    }

    /** What the file says of itself. */
    get facts() {
        const r = this.#alive(), x = r.exports;
        return {
            name: r.text(x.taper_model_name(this.#model)),
            training: x.taper_model_is_training(this.#model) !== 0,
            task: r.text(x.taper_settings_task(this.#settings)),
            labels: Array.from({length: x.taper_settings_label_count(this.#settings)},
                (_, i) => r.text(x.taper_settings_label(this.#settings, i))),
            extraFiles: Array.from({length: x.taper_model_extra_count(this.#model)},
                (_, i) => r.text(x.taper_model_extra_name(this.#model, i))),
        };
    }

    /** The bytes of a file that was saved beside the model. */
    extraFile(name) {
        const r = this.#alive();
        return r.withText(name, at => {
            const size = r.cell + 8; // the address first, then the size
            if (r.exports.taper_model_extra(this.#model, at, r.cell, size, r.error) !== 0) {
                throw r.failure();
            }
            return r.bytes(r.view().getUint32(r.cell, true), r.view().getUint32(size, true)).slice();
        });
    }

    /** An attribute of the model, as "layer1.0.weight". */
    attribute(path) {
        const r = this.#alive();
        return this.#read(r.withText(path, at => r.result('taper_session_attribute', this.#session, at)));
    }

    /** torch.manual_seed */
    seed(number) {
        this.#alive().exports.taper_session_seed(this.#session, BigInt.asUintN(64, BigInt(number)));
    }

    run(...inputs) {
        return this.runMethod('forward', inputs);
    }

    runMethod(name, inputs = []) {
        return this.#read(this.#run(name, inputs));
    }

    #run(name, inputs) {
        const r = this.#alive();
        const types = this.methods.find(method => method.name === name)?.arguments.map(({type}) => type);
        return r.withText(name, at => r.withValues(inputs, types ?? [], (values, count) =>
            r.result('taper_session_run', this.#session, at, values, count)));
    }

    #read(value) {
        try {
            return this.#runtime.read(value);
        } finally {
            this.#runtime.exports.taper_value_release(value);
        }
    }

    // forward's result for a picture; f(result) reads it.
    #seen({data, width, height}, task, {size = [], resize = NaN, mean = [], std = []} = {}, f) {
        const r = this.#alive();
        if (data?.byteLength !== 4 * width * height || !(width > 0 && height > 0)) {
            throw new TaperError('a picture is {data, width, height} with four bytes of RGBA for each pixel, ' +
                'as ImageData has it', 'argument');
        }
        const filled = (given, count) => Array.from({length: count}, (_, i) => given[i] ?? NaN);
        const numbers = Float32Array.of(...filled(size, 2), resize, ...filled(mean, 3), ...filled(std, 3));
        let input = 0, result = 0;
        try {
            input = r.withText(task, name => r.withPlaced(data, pixels => r.withPlaced(numbers, at =>
                r.result('js_picture', r.context, this.#settings, name, pixels, width, height, at))));
            result = r.withPlaced(Uint32Array.of(input), at => r.result('taper_session_run', this.#session, 0, at, 1));
            return f(r, result);
        } finally {
            r.exports.taper_value_release(result);
            r.exports.taper_value_release(input);
        }
    }

    /** The classes that the model sees in a picture, best first. */
    classify(picture, {top = 5, labels, preparation} = {}) {
        const name = (r, index) =>
            labels?.[index] ?? r.text(r.exports.taper_settings_label(this.#settings, index)) ?? `class ${index}`;
        return this.#seen(picture, 'classify', preparation, (r, result) =>
            r.withPlaced(new Float64Array(2 * top), at => {
                const count = r.result('js_classes', r.context, result, at, top);
                return Array.from({length: count}, (_, i) => {
                    const view = r.view(), index = view.getFloat64(at + 16 * i, true);
                    return {label: name(r, index), index, probability: view.getFloat64(at + 16 * i + 8, true)};
                });
            }));
    }

    /** The class of each pixel of a picture. */
    segment(picture, {preparation} = {}) {
        return this.#seen(picture, 'segment', preparation, (r, result) =>
            this.#read(r.result('js_mask', r.context, result, picture.width, picture.height)));
    }
}

function release(exports, model, session, settings) {
    exports.taper_settings_release(settings);
    exports.taper_session_destroy(session);
    exports.taper_model_release(model);
}

/** Taper's version, "0.1.0"; after init() or loadModel(). */
export async function version() {
    await init();
    const runtime = await loading;
    return runtime.text(runtime.exports.taper_version());
}
