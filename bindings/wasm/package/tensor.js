// SPDX-License-Identifier: BSD-2-Clause
// Tensors of JavaScript: typed arrays with sizes and a dtype, contiguous, in JavaScript's own memory.

// number: PyTorch's; parts: numbers of JavaScript for one of the tensor. Halves are their bits.
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

export class Tensor {
    constructor(data, sizes = [data.length], dtype = dtypeOf(data)) {
        const known = dtypes[dtype];
        if (known === undefined) {
            throw new TypeError(`there is no dtype "${dtype}"; there are ${Object.keys(dtypes).join(', ')}`);
        }
        const clamped = data instanceof Uint8ClampedArray && known.array === Uint8Array;
        if (!(data instanceof known.array) && !clamped) {
            throw new TypeError(`a tensor of ${dtype} has its elements in a ${known.array.name}, ` +
                `not in ${data?.constructor?.name ?? typeof data}`);
        }
        if (!sizes.every(size => Number.isSafeInteger(size) && size >= 0)) {
            throw new TypeError(`sizes are whole numbers from 0 on, not [${sizes}]`);
        }
        const count = sizes.reduce((product, size) => product * size, known.parts);
        if (count !== data.length) {
            throw new RangeError(`sizes [${sizes}] of ${dtype} are ${count} numbers, and there are ${data.length}`);
        }
        this.data = data;
        this.sizes = Array.from(sizes);
        this.dtype = dtype;
    }

    /** Nested arrays of its numbers; of a tensor without dimensions the number. */
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

/** A tensor of nested arrays, as torch.tensor makes it: int64 of whole numbers or bigints, bool, else float32. */
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
    if (dtypes[dtype] === undefined) {
        throw new TypeError(`there is no dtype "${dtype}"; there are ${Object.keys(dtypes).join(', ')}`);
    }
    const {array, parts} = dtypes[dtype];
    if (parts !== 1 || array === Uint16Array) {
        throw new TypeError(`nested arrays make no ${dtype}: give a ${array.name} and sizes to new Tensor`);
    }
    return new Tensor(array.from(flat, array === BigInt64Array ? BigInt : Number), sizes, dtype);
}
