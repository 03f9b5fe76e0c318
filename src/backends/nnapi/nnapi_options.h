// SPDX-License-Identifier: BSD-2-Clause
// What may be said of NNAPI: "NAME=VALUE,…", for a load (device_options) and for a file (backend_options).
#ifndef TAPER_BACKENDS_NNAPI_OPTIONS_H
#define TAPER_BACKENDS_NNAPI_OPTIONS_H

#include "base/status.h"

typedef enum taper_nnapi_layout {
    TAPER_NNAPI_IMAGES,         // images are [N, H, W, C]
    TAPER_NNAPI_PYTORCH,        // all as PyTorch's converter does it, images as they come
    TAPER_NNAPI_PYTORCH_IMAGES, // and marked nnapi_nhwc
} taper_nnapi_layout;

typedef enum taper_nnapi_flexible {
    TAPER_NNAPI_FIXED,
    TAPER_NNAPI_ANY_BATCH, // the first dimension of each input
    TAPER_NNAPI_ANY_SIZES, // and an image's height and width
} taper_nnapi_flexible;

typedef struct taper_nnapi_options {
    int preference; // ANEURALNETWORKS_PREFER_
    int level;      // nothing newer is used, 27 to 31
    bool relax;     // floats may be computed as halves
    // Of files.
    taper_nnapi_layout layout;
    taper_nnapi_flexible flexible;
} taper_nnapi_options;

// NULL: none. The caller has filled in what holds where nothing is said.
TAPER_MUST_USE taper_status taper_nnapi_options_read(const char *text, bool of_file, taper_nnapi_options *options,
                                                     taper_error *error);

#endif
