// SPDX-License-Identifier: BSD-2-Clause
// The structures of DLPack 1.0, and the older structure without a version number. The names of members are our own.
#ifndef TAPER_PYTHON_DLPACK_H
#define TAPER_PYTHON_DLPACK_H

#include <stdbool.h>
#include <stdint.h>

enum { DLPACK_CPU = 1, DLPACK_CUDA_HOST = 3 };    // devices whose memory the CPU can read
enum { DLPACK_READ_ONLY = 1, DLPACK_COPIED = 2 }; // flags of a versioned DLPack tensor
// DLPack's codes of element types.
enum { DLPACK_INT, DLPACK_UINT, DLPACK_FLOAT, DLPACK_BFLOAT = 4, DLPACK_COMPLEX, DLPACK_BOOL };
enum { DLPACK_MAJOR = 1, DLPACK_MINOR = 0 }; // version of DLPack that exported tensors have

typedef struct dlpack_tensor {
    void *data;
    struct {
        int32_t type, id;
    } device;
    int32_t rank;
    struct {
        uint8_t code, bits;
        uint16_t lanes;
    } dtype;
    int64_t *sizes, *strides; // sizes and strides in elements; strides is NULL for a contiguous tensor
    uint64_t offset;          // offset of the first element from `data`, in bytes
} dlpack_tensor;

typedef struct dlpack_managed { // content of a capsule "dltensor"
    dlpack_tensor tensor;
    void *user;
    void (*deleter)(struct dlpack_managed *self);
} dlpack_managed;

typedef struct dlpack_versioned { // content of a capsule "dltensor_versioned"
    uint32_t major, minor;
    void *user;
    void (*deleter)(struct dlpack_versioned *self);
    uint64_t flags;
    dlpack_tensor tensor;
} dlpack_versioned;

static inline void dlpack_delete(void *managed, bool versioned)
{
    if (versioned) {
        dlpack_versioned *const m = managed;
        if (m->deleter != NULL) {
            m->deleter(m);
        }
    } else {
        dlpack_managed *const m = managed;
        if (m->deleter != NULL) {
            m->deleter(m);
        }
    }
}

#endif
