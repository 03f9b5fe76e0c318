// SPDX-License-Identifier: BSD-2-Clause
// Reads NumPy's .npy files as tensors.
import {readFileSync} from 'node:fs';

const KINDS = {
    '<f4': ['float32', Float32Array], '<f8': ['float64', Float64Array], '<i8': ['int64', BigInt64Array],
    '<i4': ['int32', Int32Array], '<i2': ['int16', Int16Array], '|i1': ['int8', Int8Array], '|u1': ['uint8', Uint8Array],
    '|b1': ['bool', Uint8Array],
};

export function readNpy(path, Tensor) {
    const file = readFileSync(path), head = file.readUInt16LE(8), said = file.toString('latin1', 10, 10 + head);
    const [dtype, array] = KINDS[/'descr': '([^']+)'/.exec(said)[1]];
    const sizes = /'shape': \(([^)]*)\)/.exec(said)[1].split(',').filter(text => text.trim()).map(Number);
    if (/'fortran_order': True/.test(said)) {
        throw new Error(`${path}: columns first`);
    }
    const bytes = file.subarray(10 + head);
    return new Tensor(new array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length)), sizes, dtype);
}
