// SPDX-License-Identifier: BSD-2-Clause
// Reads recordings (recording.py writes them): cases of operators with their models, inputs and what PyTorch answered.
//
// A value is a letter and what belongs to it, numbers little-endian, texts with their length (4 bytes) before them:
//   N  none                         b  1 byte            i  8 bytes        d  a double       c  two doubles    s  text
//   l  type, count, items           t  count, items      m  key type, value type, count, keys and values in turn
//   T  dtype, rank, quantized (1 byte each), sizes, strides (8 bytes each), scale and zero point if quantized, number
//   of
//      the elements' blob; of a result also how it agrees: 1 byte, relative and absolute allowance (doubles)
// Elements of inputs lie in the order of memory, of results in that of the indices.
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
    const unsigned char *at, *end; // the next thing to read
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

// Print what is wrong and end the program, since a recording that is not whole is no test's finding.
void recording_open(const char *path, recording *r);
void recording_close(recording *r);

unsigned char recording_byte(recording *r);
uint32_t recording_count(recording *r);
int64_t recording_int(recording *r);
double recording_double(recording *r);
blob recording_text(recording *r);
blob recording_blob(recording *r);
recorded_tensor recording_tensor(recording *r, bool result);

// The next value, as an input of a run; NULL with error set when the library refuses to make it. Its bytes are read
// all the same.
taper_value *recording_input(recording *r, taper_context *context, taper_error *error);

// Reads past what PyTorch answered: a value, or 'E' and what was raised.
void recording_skip_outcome(recording *r);

#endif
