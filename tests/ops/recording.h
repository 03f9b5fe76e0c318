// SPDX-License-Identifier: BSD-2-Clause
// Reads recordings written by recording.py: cases of operators with their models, inputs and PyTorch's results.
//
// A value is a letter followed by its contents. Numbers are little-endian; a text follows its length (4 bytes).
// N  none                         b  1 byte            i  8 bytes        d  a double       c  two doubles    s  text
// l  type, count, items           t  count, items      m  key type, value type, count, alternating keys and values
// T  dtype, rank, quantized (1 byte each), sizes, strides (8 bytes each), scale and zero point if quantized, number of
//    the elements' blob; a result also has how it is compared: 1 byte, relative and absolute tolerance (doubles)
// Elements of inputs are in the order of memory, elements of results in the order of the indices.
#ifndef TAPER_TESTS_RECORDING_H
#define TAPER_TESTS_RECORDING_H

#include <stdbool.h>
#include <taper/taper.h>

typedef struct blob {
    const unsigned char *data;
    size_t size;
} blob;

typedef struct recording {
    unsigned char *bytes;
    blob *blobs;
    size_t blob_count, case_count;
    const unsigned char *at, *end; // next byte of the recording, and its end
} recording;

enum agreement { AGREE_EXACTLY, AGREE_EACH, AGREE_WHOLE };

typedef struct recorded_tensor {
    taper_dtype dtype;
    size_t rank;
    int64_t sizes[TAPER_MAX_RANK], strides[TAPER_MAX_RANK];
    bool quantized;
    double scale;
    int64_t zero_point;
    blob elements;
    enum agreement agreement;
    double relative, absolute;
} recorded_tensor;

// These functions open and close a recording. If the recording is damaged, recording_open prints an error and ends the
// program, because this is not the failure of a test.
void recording_open(const char *path, recording *r);
void recording_close(recording *r);

unsigned char recording_byte(recording *r);
uint32_t recording_count(recording *r);
int64_t recording_int(recording *r);
double recording_double(recording *r);
blob recording_text(recording *r);
blob recording_blob(recording *r);
recorded_tensor recording_tensor(recording *r, bool result);

// Reads the next value and makes an input of a run from it. Returns NULL with error set if the library refuses to make
// it; the value's bytes are skipped also in this case.
taper_value *recording_input(recording *r, taper_context *context, taper_error *error);

// Skips PyTorch's outcome, which is a value, or 'E' and the exception.
void recording_skip_outcome(recording *r);

#endif
