// SPDX-License-Identifier: BSD-2-Clause
// Runs PyTorch's model files (.pt, .ptl, .pt2) in browsers, workers and Node.js.
//
// Memory: inputs and results are copied, so that tensors and results are ordinary JavaScript objects. A model's weights
// are in WebAssembly's memory, until model.free() frees them or the garbage collector frees the model.
// Work: run(), classify() and segment() block the calling thread until they finish. A page that must stay responsive
// calls them in a Worker. Isolation headers are not needed, because Taper uses one thread here.

export type DType = 'float32' | 'float64' | 'float16' | 'bfloat16' | 'int64' | 'int32' | 'int16' | 'int8' | 'uint8' |
    'bool' | 'complex64' | 'complex128';

/**
 * The array type of each dtype. float16 and bfloat16 are stored as their bits. A complex number is its real part
 * followed by its imaginary part. bool is 0 or 1.
 */
export type TensorData = Float32Array | Float64Array | BigInt64Array | Int32Array | Int16Array | Int8Array | Uint8Array |
    Uint8ClampedArray | Uint16Array;

export type Nested<T> = T | readonly Nested<T>[];

export class Tensor {
    /**
     * Makes a tensor over `data`, which is not copied. `sizes` are copied; without them the tensor has one dimension.
     * `dtype` is the dtype of the elements; without it the type of the array decides.
     */
    constructor(data: TensorData, sizes?: readonly number[], dtype?: DType);
    readonly data: TensorData;
    readonly sizes: readonly number[];
    readonly dtype: DType;
    toArray(): Nested<number | bigint | boolean | {re: number, im: number}>;
}

/**
 * Makes a tensor like torch.tensor: int64 for whole numbers, bool for booleans, otherwise float32. Throws a RangeError
 * for a number that does not fit. Example: tensor([[1, 2], [3, 4]], 'float32')
 */
export function tensor(nested: Nested<number | bigint | boolean>, dtype?: DType): Tensor;

/** An array that is passed to a method as a tuple. A method that declares a tuple also accepts plain arrays. */
export class Tuple extends Array<Value> {}
export function tuple(...items: Value[]): Tuple;

/**
 * Inputs and results of models. A whole number is an int, unless the method declares a float; ints have 64 bits. Items
 * of lists, tuples and dicts have the types that the method declares, at any depth. In results, dicts are Maps, named
 * tuples and objects are objects, ints beyond 2^53 are bigints, and quantized tensors are float32.
 */
export type Value = null | undefined | boolean | number | bigint | string | Tensor | TensorData | {re: number, im: number} |
    Value[] | Map<Value, Value> | {[name: string]: Value};

export interface InitOptions {
    /**
     * The file taper.wasm, if it is not in the folder of taper.js: its bytes, the compiled module, or a Response of
     * fetch().
     */
    wasm?: BufferSource | WebAssembly.Module | Response | Promise<BufferSource | WebAssembly.Module | Response>;
    /** Called with each line that a model prints; default console.log. */
    print?: (line: string) => void;
    /** Called with warnings of the model and notes of Taper; default console.warn. */
    warn?: (line: string) => void;
}
/** Loads taper.wasm, once for this page or worker. loadModel() calls this if necessary. */
export function init(options?: InitOptions): Promise<void>;
/** Returns the version of Taper. */
export function version(): Promise<string>;

export interface LoadOptions {
    /** Called with the number of bytes loaded, and the total number if the server sends it. */
    onProgress?: (loaded: number, total: number | undefined) => void;
    /** Aborts the download. */
    signal?: AbortSignal;
    /** Call Module.eval() after loading; default true. */
    evaluation?: boolean;
    /** Optimize the model while it is loaded; default true. */
    optimize?: boolean;
    /** Check the inputs of an exported program against the sizes of its export; default true. */
    guards?: boolean;
    /** Check the checksums of all records of the file before loading; default false. */
    verify?: boolean;
    /** Time limit in seconds. A run that takes longer fails. Default 0: no limit. */
    seconds?: number;
    /** Memory limit in bytes for a run's values. A run that needs more fails. Default 0: no limit. */
    memory?: number;
}
export type ModelSource = string | URL | Request | Response | Blob | BufferSource;
/** Loads a model from bytes, a File or Blob, a Response of fetch(), or a URL. In Node.js a string may be a path. */
export function loadModel(source: ModelSource, options?: LoadOptions): Promise<Model>;

export interface Method {
    name: string;
    arguments: {name: string, type: string}[];
    /** Number of the arguments that have no default. */
    required: number;
    returns: string | undefined;
}

export interface Facts {
    name: string;
    /** True if the model was saved in training mode and loaded with evaluation: false. */
    training: boolean;
    /** The next two members come from the model's taper.json. */
    task: string;
    labels: string[];
    extraFiles: string[];
}

/** RGBA pixels, row by row: an ImageData, or an object with the same members. */
export interface Picture {
    data: Uint8ClampedArray | Uint8Array;
    width: number;
    height: number;
}

/**
 * How a picture becomes an input. These values override the model's taper.json. Without either, torchvision's preset
 * for ImageNet applies: resize the shorter side to 256, then crop the central 224 x 224.
 */
export interface Preparation {
    size?: [width: number, height: number];
    resize?: number;
    /** Means and standard deviations of red, green and blue, for colours in 0..1. */
    mean?: [number, number, number];
    std?: [number, number, number];
}

export interface Class {
    label: string;
    index: number;
    probability: number;
}

export class Model {
    private constructor();
    readonly methods: Method[];
    readonly facts: Facts;
    /** Runs forward(...inputs). */
    run(...inputs: Value[]): Value;
    runMethod(name: string, inputs?: Value[]): Value;
    classify(picture: Picture, options?: {top?: number, labels?: readonly string[], preparation?: Preparation}): Class[];
    /** Returns an int16 tensor [height, width] with the class of each pixel. */
    segment(picture: Picture, options?: {preparation?: Preparation}): Tensor;
    extraFile(name: string): Uint8Array;
    /** Returns an attribute by its path, for example "layer1.0.weight". */
    attribute(path: string): Value;
    /** Seeds the random numbers, like torch.manual_seed. */
    seed(number: number | bigint): void;
    /** Frees the model's memory. The model cannot be used afterwards. */
    free(): void;
}

export type Status = 'argument' | 'file' | 'unsupported' | 'resource' | 'device' | 'raised' | 'cancelled' | 'internal';
export class TaperError extends Error {
    readonly status: Status;
    /** Further lines, such as missing operators or the place in the model's code. */
    readonly detail: string;
    /** Position of the error in the file in bytes, or -1 if the error has no position. */
    readonly offset: number;
}
