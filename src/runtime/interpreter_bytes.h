// SPDX-License-Identifier: BSD-2-Clause
// A part of interpreter.c: counts the bytes that a profiled call reads and writes.
#ifndef TAPER_RUNTIME_INTERPRETER_BYTES_H
#define TAPER_RUNTIME_INTERPRETER_BYTES_H

static double bytes_of(const taper_val *values, size_t count)
{
    double bytes = 0;
    for (size_t i = 0; i < count; i++) {
        if (values[i].tag == TAPER_TENSOR) {
            bytes += (double)taper_tensor_numel(values[i].as.tensor) *
                     (double)taper_dtype_size((taper_dtype)values[i].as.tensor->dtype);
        }
    }
    return bytes;
}

static void count_bytes(taper_profile_site *site, const taper_call *call)
{
    site->bytes = bytes_of(call->args, call->arg_count) + bytes_of(call->rets, call->ret_count);
}

#endif
