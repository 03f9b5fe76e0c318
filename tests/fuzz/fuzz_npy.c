// SPDX-License-Identifier: BSD-2-Clause
// Reads any bytes as a NumPy array file: the file must have exactly the elements that the header declares. A header
// that is written for the same array must be read identically.
#include <stdlib.h>
#include <string.h>

#include "common/npy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_BYTES = 1 << 16 };

static void need(bool holds)
{
    if (!holds) {
        abort();
    }
}

static void write_again(const npy_array *array)
{
    char header[NPY_HEADER_MAX];
    const char *descr = npy_descr(array->dtype);
    need(descr != NULL && npy_descr((taper_dtype)(TAPER_QU2X4 + 1)) == NULL);
    const size_t length = npy_header(header, descr, array->rank, array->sizes);
    need(length % 64 == 0 && length <= sizeof header && array->bytes <= MOST_BYTES);
    unsigned char *file = calloc(1, length + array->bytes);
    need(file != NULL);
    memcpy(file, header, length);
    npy_array again;
    need(npy_parse("again", file, length + array->bytes, &again));
    need(again.dtype == array->dtype && again.rank == array->rank && again.offset == length &&
         again.bytes == array->bytes);
    need(!again.fortran_order && !again.swapped && memcmp(again.sizes, array->sizes, sizeof again.sizes) == 0);
    // The call must fail, because the last byte is missing.
    need(array->bytes == 0 || !npy_parse("again", file, length + array->bytes - 1, &again));
    free(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    npy_array array;
    if (!npy_parse("fuzz", data, size, &array)) {
        return 0;
    }
    need(array.rank <= TAPER_MAX_RANK && array.offset <= size && array.bytes <= size - array.offset);
    size_t bytes = taper_dtype_size(array.dtype);
    for (size_t i = 0; i < array.rank; i++) {
        need(array.sizes[i] >= 0);
        bytes *= (size_t)array.sizes[i];
    }
    need(bytes == array.bytes);
    if (array.bytes <= MOST_BYTES) {
        write_again(&array);
    }
    return 0;
}
