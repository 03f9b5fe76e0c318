// SPDX-License-Identifier: BSD-2-Clause
// Taper runs PyTorch's model files (.pt, .ptl, .pt2) in browsers, workers and node.
//
// Memory: what goes in and what comes out is copied, so tensors and results are JavaScript's, like any other object. A
// model's weights lie in WebAssembly's memory: model.free() gives it back, and so does the garbage collector, later.
// Work: run(), classify() and segment() compute in the calling thread until they are done. A page that must not stand
// still meanwhile calls them in a Worker. No headers for isolation are needed: there is one thread.

export type DType = 'float32' | 'float64' | 'float16' | 'bfloat16' | 'int64' | 'int32' | 'int16' | 'int8' | 'uint8' |
    'bool' | 'complex64' | 'complex128';

/** float16 and bfloat16 are their bits; of complex numbers real and imaginary parts follow each other; bool is 0 or 1. */
export type TensorData = Float32Array | Float64Array | BigInt64Array | Int32Array | Int16Array | Int8Array | Uint8Array |
    Uint8ClampedArray | Uint16Array;

export type Nested<T> = T | readonly Nested<T>[];

export class Tensor {
    /** `data` is kept, not copied; `sizes` is copied, and fixed. sizes: PyTorch's; without them one dimension. dtype: what the array stands for. */
    constructor(data: TensorData, sizes?: readonly number[], dtype?: DType);
    readonly data: TensorData;
    readonly sizes: readonly number[];
    readonly dtype: DType;
    toArray(): Nested<number | bigint | boolean | {re: number, im: number}>;
}

/** As torch.tensor: int64 of whole numbers, bool of booleans, otherwise float32. A RangeError where one does not fit. tensor([[1, 2], [3, 4]], 'float32') */
export function tensor(nested: Nested<number | bigint | boolean>, dtype?: DType): Tensor;

/** An array that a method gets as a tuple. Methods that declare a tuple take plain arrays, too. */
export class Tuple extends Array<Value> {}
export function tuple(...items: Value[]): Tuple;

/** What models take and give. A number is an int where it is whole, unless the method declares a float; ints have 64 bits.
 *  What lists, tuples and dicts hold is of the types that the method declares, however deep. Dicts come back
 *  as maps, named tuples and objects as objects, ints beyond 2^53 as bigints, quantized tensors as float32. */
export type Value = null | undefined | boolean | number | bigint | string | Tensor | TensorData | {re: number, im: number} |
    Value[] | Map<Value, Value> | {[name: string]: Value};

export interface InitOptions {
    /** taper.wasm, where it does not lie beside taper.js: its bytes, the module, or an answer of fetch(). */
    wasm?: BufferSource | WebAssembly.Module | Response | Promise<BufferSource | WebAssembly.Module | Response>;
    /** Lines that a model prints; console.log. */
    print?: (line: string) => void;
    /** Its warnings, and Taper's remarks; console.warn. */
    warn?: (line: string) => void;
}
/** Loads taper.wasm, once for this page or worker. loadModel() does it by itself. */
export function init(options?: InitOptions): Promise<void>;
/** Taper's version. */
export function version(): Promise<string>;

export interface LoadOptions {
    /** Bytes so far, and all of them where the server says how many there are. */
    onProgress?: (loaded: number, total: number | undefined) => void;
    /** Ends the download. */
    signal?: AbortSignal;
    /** Module.eval() first; true. */
    evaluation?: boolean;
    /** Optimize the model while it loads; true. */
    optimize?: boolean;
    /** Check inputs of an exported program against the sizes it was exported for; true. */
    guards?: boolean;
    /** Compare the checksums of all records first; false. */
    verify?: boolean;
    /** A run that takes longer ends in an error; 0: no limit. */
    seconds?: number;
    /** So does one whose values take more bytes at once; 0: no limit. */
    memory?: number;
}
export type ModelSource = string | URL | Request | Response | Blob | BufferSource;
/** A model of its bytes, of a File or Blob, an answer of fetch(), or of where it is; in node a string may be a path. */
export function loadModel(source: ModelSource, options?: LoadOptions): Promise<Model>;

export interface Method {
    name: string;
    arguments: {name: string, type: string}[];
    /** How many of them have no default. */
    required: number;
    returns: string | undefined;
}

export interface Facts {
    name: string;
    /** Saved in training mode, and loaded with evaluation: false. */
    training: boolean;
    /** Of its taper.json. */
    task: string;
    labels: string[];
    extraFiles: string[];
}

/** RGBA, a row behind the other: an ImageData, or what has its members. */
export interface Picture {
    data: Uint8ClampedArray | Uint8Array;
    width: number;
    height: number;
}

/** How a picture becomes an input, where the model's taper.json says nothing, or something else. Without either it is as
 *  torchvision does it for ImageNet: shorter side 256, 224 x 224 of the middle. */
export interface Preparation {
    size?: [width: number, height: number];
    resize?: number;
    /** Of red, green and blue, in 0..1. */
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
    /** forward(...inputs) */
    run(...inputs: Value[]): Value;
    runMethod(name: string, inputs?: Value[]): Value;
    classify(picture: Picture, options?: {top?: number, labels?: readonly string[], preparation?: Preparation}): Class[];
    /** int16 [height, width]: the class of each pixel. */
    segment(picture: Picture, options?: {preparation?: Preparation}): Tensor;
    extraFile(name: string): Uint8Array;
    /** "layer1.0.weight" */
    attribute(path: string): Value;
    /** torch.manual_seed */
    seed(number: number | bigint): void;
    /** Gives the model's memory back, after which it cannot be used. */
    free(): void;
}

export type Status = 'argument' | 'file' | 'unsupported' | 'resource' | 'device' | 'raised' | 'cancelled' | 'internal';
export class TaperError extends Error {
    readonly status: Status;
    /** More lines: operators that are missing, where in the model's code it happened. */
    readonly detail: string;
    /** The byte of the file, or -1. */
    readonly offset: number;
}
