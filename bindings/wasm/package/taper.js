// SPDX-License-Identifier: BSD-2-Clause
// Runs PyTorch's model files in browsers and Node.js: loads taper.wasm and implements the interface in taper.d.ts.
// Inputs and results are copied. The data of a model is in the module's memory until free().
import {Tensor, checked, dtypes} from './tensor.js';
import {isInt64, itemOf, typeOf, unknownType} from './types.js';
import {imports} from './wasi.js';

export {Tensor, tensor} from './tensor.js';

const STATUS = ['ok', 'argument', 'file', 'unsupported', 'resource', 'device', 'raised', 'cancelled', 'internal'];
const [NONE, BOOL, INT, DOUBLE, COMPLEX, , STRING, TENSOR, LIST, TUPLE, DICT, OBJECT] = Array(12).keys();
const MOST_RANK = 16, MOST_ITEMS = 1 << 20, MOST_DEPTH = 64;
const decoder = new TextDecoder(), encoder = new TextEncoder();

/** An error reported by Taper. */
export class TaperError extends Error {
    constructor(message, status, detail = '', offset = -1) {
        super(detail ? `${message}\n${detail}` : message);
        this.name = 'TaperError';
        this.status = status;
        this.detail = detail;
        this.offset = offset;
    }
}

/** An array that is passed to a method as a tuple; other arrays are lists. */
export class Tuple extends Array {}
export const tuple = (...items) => Tuple.from(items);

// ---- the module

let loading; // promise of the one module of this page or worker

async function moduleBytes() {
    const url = new URL('taper.wasm', import.meta.url);
    if (url.protocol === 'file:') { // Node.js cannot fetch files
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

/** Loads taper.wasm once; loadModel() calls this if necessary. */
export function init(options = {}) {
    loading ??= start(options).catch(error => {
        loading = undefined; // the next call tries again
        throw error;
    });
    return loading.then(() => undefined);
}

// Returns the bytes of a buffer or of a view.
const asBytes = given => new Uint8Array(given.buffer ?? given, given.byteOffset ?? 0, given.byteLength);

// The module's functions and memory. Memory moves when it grows. Therefore no view of the memory is kept after a call.
class Runtime {
    constructor(exports) {
        this.exports = exports;
        this.error = exports.taper_error_create();
        this.cell = exports.js_allocate(8 * (4 + MOST_RANK)); // memory for results returned by address
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

    // Returns the NUL-terminated text at an address, or undefined for address 0.
    text(at) {
        if (at === 0) {
            return undefined;
        }
        const memory = new Uint8Array(this.exports.memory.buffer);
        return decoder.decode(memory.subarray(at >>> 0, memory.indexOf(0, at >>> 0)));
    }

    // Returns a declared type of the library (types.js).
    type(at) {
        return typeOf(this.exports, at, type => {
            const size = this.exports.taper_type_text(type, 0, 0) + 1, buffer = this.allocate(size);
            try {
                this.exports.taper_type_text(type, buffer, size);
                return this.text(buffer);
            } finally {
                this.exports.js_free(buffer);
            }
        });
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

    // Copies bytes to the module's memory. The caller frees the copy.
    place(bytes) {
        const at = this.allocate(bytes.byteLength);
        this.bytes(at, bytes.byteLength).set(asBytes(bytes));
        return at;
    }

    // Calls f with the address of a copy of the text, or with 0 if the text is undefined.
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

    // Calls a function whose last two parameters are the address for the result, and the error.
    result(name, ...parameters) {
        if (this.exports[name](...parameters, this.cell, this.error) !== 0) {
            throw this.failure();
        }
        return this.view().getUint32(this.cell, true);
    }

    // ---- values of JavaScript to values of Taper

    // Converts a value. `type` is the type that the method declares (types.js); it decides how arrays, maps and numbers
    // are converted.
    value(given, type = unknownType()) {
        while (type.name === 'Optional' && given !== null && given !== undefined) {
            type = itemOf(type, 0);
        }
        if (type.name === 'Union') {
            type = memberFor(given, type);
        }
        const context = this.context;
        if (given === null || given === undefined) {
            return this.result('taper_value_none', context);
        }
        switch (typeof given) {
        case 'boolean':
            return this.result('taper_value_bool', context, Number(given));
        case 'bigint':
        case 'number':
            return this.number(given, type);
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
        return Array.isArray(given) ? this.array(given, type) : this.mapping(given, type);
    }

    number(given, type) {
        const context = this.context;
        if (type.name === 'complex') {
            return this.result('taper_value_complex', context, Number(given), 0);
        }
        if (type.name === 'int' && Number.isInteger(given) && !Number.isSafeInteger(given)) {
            throw new TaperError(`${given} is not exact: give a bigint for an int beyond 2^53`, 'argument');
        }
        if (type.name === 'float' || (typeof given === 'number' && !Number.isSafeInteger(given))) {
            return this.result('taper_value_double', context, Number(given));
        }
        const whole = BigInt(given);
        if (!isInt64(whole)) {
            throw new TaperError(`an int of a model has 64 bits: ${whole} does not fit`, 'argument');
        }
        return this.result('taper_value_int', context, whole);
    }

    // Converts an array to a list or a tuple. A class name such as "__torch__.Pair" means a named tuple.
    array(given, type) {
        const {name} = type;
        if (name === 'Tuple' && given.length !== type.items.length) {
            throw new TaperError(`the method takes a tuple of ${type.items.length} here, this has ${given.length}`,
                'argument');
        }
        if (name === 'Tuple' || name.includes('.') || (given instanceof Tuple && name !== 'List')) {
            return this.withValues(given, i => itemOf(type, i), (at, count) =>
                this.result('taper_value_tuple', this.context, at, count));
        }
        const item = name === 'List' ? itemOf(type, 0) : unknownType();
        // TorchScript gives [] the type List[Tensor].
        const text = item.text ?? (given.length === 0 ? 'Tensor' : undefined);
        return this.withText(text, element => this.withValues(given, () => item, (at, count) =>
            this.result('taper_value_list', this.context, element, at, count)));
    }

    mapping(given, type) {
        const isPlain = [Object.prototype, null].includes(Object.getPrototypeOf(given));
        if (!(given instanceof Map) && !isPlain) {
            throw new TaperError(`a model takes no ${given.constructor?.name ?? typeof given}: ` +
                'give tensors, numbers, texts, arrays, maps or null', 'argument');
        }
        if (type.name === 'complex' && isPlain) {
            return this.result('taper_value_complex', this.context, Number(given.re), Number(given.im));
        }
        const pairs = isPlain ? Object.entries(given) : [...given];
        // TorchScript gives {} the type Dict[str, Tensor].
        const isDict = type.name === 'Dict', isEmpty = pairs.length === 0;
        const [key, item] = isDict ? [itemOf(type, 0), itemOf(type, 1)] : [unknownType(), unknownType()];
        // The keys of an object are strings.
        const keyOf = name => !isPlain ? name : key.name === 'int' && /^-?\d+$/.test(name) ? BigInt(name)
            : key.name === 'float' && name !== '' ? Number(name) : name;
        return this.withText(key.text ?? (isEmpty ? 'str' : undefined), keyText =>
            this.withText(item.text ?? (isEmpty ? 'Tensor' : undefined), itemText =>
                this.withValues(pairs.map(([name]) => keyOf(name)), () => key, (keys, count) =>
                    this.withValues(pairs.map(([, value]) => value), () => item, values =>
                        this.result('taper_value_dict', this.context, keyText, itemText, keys, values, count)))));
    }

    withPlaced(bytes, f) {
        const at = this.place(bytes);
        try {
            return f(at);
        } finally {
            this.exports.js_free(at);
        }
    }

    // Calls f(), which converts the items of a container one level of nesting deeper. An array may contain one array
    // twice on each level, so the number of visits could grow exponentially. MOST_ITEMS limits the visits below the
    // first level of inputs and results.
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

    // Calls f(address, count) with an array of values and releases them afterwards; f retains the values it keeps.
    // typeAt(i) is the type of item i.
    withValues(items, typeAt, f) {
        const values = [];
        let at = 0;
        try {
            this.deeper(() => {
                if (this.depth > MOST_DEPTH) {
                    throw new TaperError(`a value is nested more than ${MOST_DEPTH} deep, or holds itself`, 'argument');
                }
                for (const item of items) {
                    this.countItem();
                    values.push(this.value(item, typeAt(values.length)));
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

    // The array may have been transferred or resized since the tensor was made, so it is checked again.
    tensor(given) {
        const {data, sizes, dtype} = checked(given.data, given.sizes, given.dtype), bytes = asBytes(data);
        const value = this.withPlaced(BigInt64Array.from(sizes, BigInt), at =>
            this.result('taper_value_tensor', this.context, dtypes[dtype].number, sizes.length, at));
        this.bytes(this.facts(value).address, bytes.length).set(bytes);
        return value;
    }

    // ---- values of Taper to values of JavaScript

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

// Returns true if a value may stand for a member of a Union.
function mayBe(given, {name}) {
    return given === null || given === undefined ? ['NoneType', 'None', 'Optional'].includes(name)
        : typeof given === 'boolean' ? name === 'bool'
            : typeof given === 'bigint' || Number.isSafeInteger(given) ? name === 'int' || name === 'float'
                : typeof given === 'number' ? name === 'float'
                    : typeof given === 'string' ? name === 'str'
                        : given instanceof Tensor || ArrayBuffer.isView(given) ? name === 'Tensor'
                            : Array.isArray(given) ? name === 'List' || name === 'Tuple' || name.includes('.')
                                : name === 'Dict' || name === 'complex';
}

// Returns the member of a Union that fits. int is preferred to float for an int, and list to tuple for an array.
function memberFor(given, union) {
    const fitting = union.items.filter(item => mayBe(given, item));
    const best = Array.isArray(given) ? (given instanceof Tuple ? 'Tuple' : 'List') : 'int';
    return fitting.find(({name}) => name === best) ?? fitting[0] ?? unknownType();
}

// ---- models

// Returns the bytes of a file in any of the forms that loadModel accepts.
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
    // For an encoded response, content-length is the length of the encoded bytes.
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

/** Loads a .pt, .ptl or .pt2 file from its bytes, a Blob or File, a Response of fetch(), or a URL. */
export async function loadModel(source, options = {}) {
    const [bytes] = await Promise.all([fileBytes(source, options), init()]);
    return new Model(await loading, bytes, options);
}

// Frees models that are unreachable and were not freed.
const forgotten = new FinalizationRegistry(parts => release(...parts));

export class Model {
    #runtime;
    #model = 0;
    #session = 0;
    #settings = 0;
    #methods;
    #types = new Map(); // declared types of the arguments, by method

    constructor(runtime, bytes, options) {
        const {evaluation = true, optimize = true, guards = true, verify = false, seconds = 0, memory = 0} = options;
        const x = runtime.exports;
        this.#runtime = runtime;
        const flags = Number(evaluation) | Number(!optimize) << 1 | Number(!guards) << 2 | Number(verify) << 3;
        const at = runtime.place(bytes); // the model owns the bytes from here on
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

    /** Frees the model's memory in the module. Results stay valid; the model does not. */
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
                    type: r.text(x.taper_model_argument_text(model, at, k)),
                })),
                required: Math.max(x.taper_model_method_required(model, at), 0),
                returns: r.text(x.taper_model_return_text(model, at)),
            };
        });
        return this.#methods;
    }

    /** Facts about the file. */
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

    /** Returns the bytes of a file that was saved with the model. */
    extraFile(name) {
        const r = this.#alive();
        return r.withText(name, at => {
            const size = r.cell + 8; // the address is stored first, then the size
            if (r.exports.taper_model_extra(this.#model, at, r.cell, size, r.error) !== 0) {
                throw r.failure();
            }
            return r.bytes(r.view().getUint32(r.cell, true), r.view().getUint32(size, true)).slice();
        });
    }

    /** Returns an attribute of the model by its path, for example "layer1.0.weight". */
    attribute(path) {
        const r = this.#alive();
        return this.#read(r.withText(path, at => r.result('taper_session_attribute', this.#session, at)));
    }

    /** Seeds the random numbers, like torch.manual_seed. */
    seed(number) {
        const seed = BigInt(number);
        if (!isInt64(seed) && BigInt.asUintN(64, seed) !== seed) {
            throw new TaperError(`a seed has 64 bits: ${seed} does not fit`, 'argument');
        }
        this.#alive().exports.taper_session_seed(this.#session, BigInt.asUintN(64, seed));
    }

    run(...inputs) {
        return this.runMethod('forward', inputs);
    }

    runMethod(name, inputs = []) {
        return this.#read(this.#run(name, inputs));
    }

    #typesOf(name) {
        const r = this.#alive(), x = r.exports, model = this.#model;
        if (!this.#types.has(name)) {
            this.#types.set(name, r.withText(name, at =>
                Array.from({length: Math.max(x.taper_model_method_arguments(model, at), 0)},
                    (_, k) => r.type(x.taper_model_argument_type(model, at, k)))));
        }
        return this.#types.get(name);
    }

    #run(name, inputs) {
        const r = this.#alive();
        const declared = this.#typesOf(name);
        return r.withText(name, at => r.withValues(inputs, i => declared[i] ?? unknownType(), (values, count) => {
            try {
                return r.result('taper_session_run', this.#session, at, values, count);
            } catch (error) {
                throw error.status === 'argument' ? this.#advised(at, values, count) : error;
            }
        }));
    }

    // Returns the error of the last run, with the library's advice about the inputs.
    #advised(name, values, count) {
        const r = this.#runtime;
        r.exports.taper_session_advise(this.#session, name, values, count, r.error);
        return r.failure();
    }

    #read(value) {
        try {
            return this.#runtime.read(value);
        } finally {
            this.#runtime.exports.taper_value_release(value);
        }
    }

    // Runs forward for a picture; f(result) reads the result.
    #seen({data, width, height}, task, {size = [], resize = NaN, mean = [], std = []} = {}, f) {
        const r = this.#alive();
        const isSize = size => Number.isSafeInteger(size) && size > 0;
        if (data?.byteLength !== 4 * width * height || !isSize(width) || !isSize(height)) {
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

    /** Returns the most probable classes of a picture, best first. */
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

    /** Returns the class of each pixel of a picture. */
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

/** Returns the version of Taper, for example "0.2.0". */
export async function version() {
    await init();
    const runtime = await loading;
    return runtime.text(runtime.exports.taper_version());
}
