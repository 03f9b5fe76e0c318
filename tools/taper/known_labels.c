// SPDX-License-Identifier: BSD-2-Clause
// The class names of widely used data sets.
#include "taper/known_labels.h"

static const char *const imagenet[] = {
#include "taper/labels_imagenet.inc"
};
static const char *const coco[] = {
#include "taper/labels_coco.inc"
};
static const char *const voc[] = {
#include "taper/labels_voc.inc"
};

static const known_labels sets[] = {
    {"ImageNet", imagenet, sizeof imagenet / sizeof *imagenet},
    {"COCO", coco, sizeof coco / sizeof *coco},
    {"VOC", voc, sizeof voc / sizeof *voc},
};

_Static_assert(sizeof imagenet / sizeof *imagenet == 1000 && sizeof coco / sizeof *coco == 91 &&
                   sizeof voc / sizeof *voc == 21,
               "so many classes the sets have");

const known_labels *known_labels_of(size_t classes)
{
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        if (sets[i].count == classes) {
            return &sets[i];
        }
    }
    return NULL;
}
