// SPDX-License-Identifier: BSD-2-Clause
#ifndef TAPER_TOOLS_KNOWN_LABELS_H
#define TAPER_TOOLS_KNOWN_LABELS_H

#include <stddef.h>

typedef struct known_labels {
    const char *set; // "ImageNet"
    const char *const *names;
    size_t count;
} known_labels;

// Those of the data set that has so many classes; NULL: none is known.
const known_labels *known_labels_of(size_t classes);

#endif
