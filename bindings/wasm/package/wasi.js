// SPDX-License-Identifier: BSD-2-Clause
// The imports of the module: a clock and two output streams. The module reads models from memory and needs no files;
// all other system calls are refused.

const DENIED = 52; // WASI's error code for "not supported"
const decoder = new TextDecoder();

// Output comes in pieces, but the console takes lines.
function lineWriter(write) {
    let pending = '';
    return text => {
        const lines = (pending + text).split('\n');
        pending = lines.pop();
        lines.forEach(line => write(line));
    };
}

// Returns the imports of a module. `memory` is called after the module is instantiated; `print` and `warn` are called
// with lines.
export function imports(module, memory, print, warn) {
    const streams = {1: lineWriter(print), 2: lineWriter(warn)};
    const known = {
        clock_time_get(clock, precision, to) {
            const milliseconds = clock === 0 ? Date.now() : performance.now();
            new DataView(memory().buffer).setBigUint64(to >>> 0, BigInt(Math.round(milliseconds * 1e6)), true);
            return 0;
        },
        fd_write(stream, parts, count, written) {
            const view = new DataView(memory().buffer);
            let bytes = 0;
            for (let i = 0; i < count; i++) {
                const at = view.getUint32(parts + 8 * i, true), size = view.getUint32(parts + 8 * i + 4, true);
                streams[stream]?.(decoder.decode(new Uint8Array(memory().buffer, at, size), {stream: true}));
                bytes += size;
            }
            view.setUint32(written, bytes, true);
            return 0;
        },
        proc_exit(code) {
            throw new WebAssembly.RuntimeError(`the module ended with ${code}`);
        },
        emscripten_notify_memory_growth() {},
    };
    const all = {};
    for (const {module: from, name, kind} of WebAssembly.Module.imports(module)) {
        if (kind === 'function') {
            (all[from] ??= {})[name] = known[name] ?? (() => DENIED);
        }
    }
    return all;
}
