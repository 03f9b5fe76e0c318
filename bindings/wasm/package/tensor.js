// SPDX-License-Identifier: BSD-2-Clause
// JavaScript's tensors: typed arrays with sizes and a dtype, contiguous, in JavaScript's own memory.

import {isInt64} from './types.js';

// number: PyTorch's number of the dtype; parts: array elements for each element of the tensor. float16 and bfloat16 are
// stored as their bits.
export const dtypes = {
    float32: {number: 6, array: Float32Array, parts: 1},
    float64: {number: 7, array: Float64Array, parts: 1},
    int64: {number: 4, array: BigInt64Array, parts: 1},
    int32: {number: 3, array: Int32Array, parts: 1},
    int16: {number: 2, array: Int16Array, parts: 1},
    int8: {number: 1, array: Int8Array, parts: 1},
    uint8: {number: 0, array: Uint8Array, parts: 1},
    bool: {number: 11, array: Uint8Array, parts: 1},
    float16: {number: 5, array: Uint16Array, parts: 1},
    bfloat16: {number: 15, array: Uint16Array, parts: 1},
    complex64: {number: 9, array: Float32Array, parts: 2},
    complex128: {number: 10, array: Float64Array, parts: 2},
};

function dtypeOf(data) {
    if (data instanceof Uint8ClampedArray) {
        return 'uint8';
    }
    const name = Object.keys(dtypes).find(key => data instanceof dtypes[key].array && !key.includes('float16'));
    if (name === undefined) {
        throw new TypeError(`say the dtype: there is none that ${data?.constructor?.name ?? typeof data} stands for`);
    }
    return name;
}

function knownDtype(dtype) {
    if (!Object.keys(dtypes).includes(dtype)) {
        throw new TypeError(`there is no dtype "${dtype}"; there are ${Object.keys(dtypes).join(', ')}`);
    }
    return dtypes[dtype];
}

/** Returns {data, sizes, dtype} of a tensor, with a copy of the sizes. Throws if these do not fit together. */
export function checked(data, given, dtype) {
    const {array, parts} = knownDtype(dtype), sizes = Array.from(given);
    const clamped = data instanceof Uint8ClampedArray && array === Uint8Array;
    if (!(data instanceof array) && !clamped) {
        throw new TypeError(`a tensor of ${dtype} has its elements in a ${array.name}, ` +
            `not in ${data?.constructor?.name ?? typeof data}`);
    }
    if (!sizes.every(size => Number.isSafeInteger(size) && size >= 0)) {
        throw new TypeError(`sizes are whole numbers from 0 on, not [${sizes}]`);
    }
    const count = sizes.reduce((product, size) => product * size, parts);
    if (count !== data.length) {
        throw new RangeError(`sizes [${sizes}] of ${dtype} are ${count} numbers, and there are ${data.length}`);
    }
    return {data, sizes: Object.freeze(sizes), dtype};
}

export class Tensor {
    constructor(data, sizes = [data.length], dtype = dtypeOf(data)) {
        for (const [name, value] of Object.entries(checked(data, sizes, dtype))) {
            Object.defineProperty(this, name, {value, enumerable: true});
        }
    }

    /** Returns nested arrays of the numbers, or the number if the tensor has rank 0. */
    toArray() {
        const {parts} = dtypes[this.dtype], one = at => {
            const x = this.data[at * parts];
            return this.dtype === 'bool' ? x !== 0 : parts === 2 ? {re: x, im: this.data[at * parts + 1]} : x;
        };
        const level = (depth, at, step) => depth === this.sizes.length ? one(at)
            : Array.from({length: this.sizes[depth]}, (_, i) => {
                const inner = step / this.sizes[depth];
                return level(depth + 1, at + i * inner, inner);
            });
        return level(0, 0, this.sizes.reduce((product, size) => product * size, 1));
    }
}

// Converts a number to an element of an integer array, as torch.tensor does: truncates it, and wraps negative numbers
// for unsigned dtypes. Throws an error if the number does not fit.
function wholeNumber(x, dtype, {array}) {
    if (array === BigInt64Array) {
        const whole = typeof x === 'number' ? BigInt(Math.trunc(x)) : BigInt(x);
        if (isInt64(whole)) {
            return whole;
        }
    } else {
        const whole = Math.trunc(Number(x)), bits = 8 * array.BYTES_PER_ELEMENT;
        const isSigned = array !== Uint8Array, most = 2 ** (bits - (isSigned ? 1 : 0)) - 1;
        if (whole <= most && whole >= (isSigned ? -most - 1 : -most)) {
            return whole;
        }
    }
    throw new RangeError(`${x} does not fit into ${dtype}`);
}

/**
 * Makes a tensor from nested arrays like torch.tensor: int64 for whole numbers or bigints, bool for booleans, otherwise
 * float32.
 */
export function tensor(nested, dtype) {
    const sizes = [], flat = [];
    for (let at = nested; Array.isArray(at); at = at[0]) {
        sizes.push(at.length);
    }
    const walk = (item, depth) => {
        if (depth === sizes.length) {
            if (Array.isArray(item)) {
                throw new TypeError('the arrays are nested to different depths');
            }
            flat.push(item);
        } else if (!Array.isArray(item) || item.length !== sizes[depth]) {
            throw new TypeError(`the arrays of level ${depth + 1} differ in length`);
        } else {
            item.forEach(inner => walk(inner, depth + 1));
        }
    };
    walk(nested, 0);
    const isWhole = x => typeof x === 'bigint' || Number.isSafeInteger(x);
    dtype ??= flat.length === 0 ? 'float32' : flat.every(x => typeof x === 'boolean') ? 'bool'
        : flat.every(isWhole) ? 'int64' : 'float32';
    const known = knownDtype(dtype), {array, parts} = known;
    if (parts !== 1 || array === Uint16Array) {
        throw new TypeError(`nested arrays make no ${dtype}: give a ${array.name} and sizes to new Tensor`);
    }
    const element = dtype === 'bool' ? x => Number(Boolean(x))
        : dtype.startsWith('float') ? Number : x => wholeNumber(x, dtype, known);
    return new Tensor(array.from(flat, element), sizes, dtype);
}
