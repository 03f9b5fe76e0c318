// SPDX-License-Identifier: BSD-2-Clause
#ifndef TAPER_TOOLS_KNOWN_LABELS_H
#define TAPER_TOOLS_KNOWN_LABELS_H

#include <stddef.h>

typedef struct known_labels {
    const char *set; // name of the data set, for example "ImageNet"
    const char *const *names;
    size_t count;
} known_labels;

// Returns the labels of the known data set with that number of classes, or NULL if no known data set has that number.
const known_labels *known_labels_of(size_t classes);

#endif
