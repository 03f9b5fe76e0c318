// SPDX-License-Identifier: BSD-2-Clause
// Any bytes as a NumPy array file: the elements that the header promises are there, and no more.
#include <stdlib.h>

#include "common/npy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    npy_array array;
    if (!npy_parse("fuzz", data, size, &array)) {
        return 0;
    }
    if (array.rank > TAPER_MAX_RANK || array.offset > size || array.bytes > size - array.offset) {
        abort();
    }
    size_t bytes = taper_dtype_size(array.dtype);
    for (size_t i = 0; i < array.rank; i++) {
        if (array.sizes[i] < 0) {
            abort();
        }
        bytes *= (size_t)array.sizes[i];
    }
    if (bytes != array.bytes) {
        abort();
    }
    return 0;
}
