// SPDX-License-Identifier: BSD-2-Clause
// How a picture becomes a model's input and what the result's numbers are called: from the model's extra file
// taper.json
// (taper_app.h) and from options, which win. Without a file torchvision's presets hold.
#ifndef TAPER_TOOLS_VISION_H
#define TAPER_TOOLS_VISION_H

#include <taper/taper_app.h>

#include "common/image.h"
#include "taper/known_labels.h"
#include "taper/opened_model.h"

typedef struct vision_options {
    const char *labels; // a file
    int size[2];        // 0: not given
    double mean[3], std[3];
    long megapixels; // that a picture may have; 0: image.h's default
} vision_options;

// Of verbs that only take pictures as inputs.
#define PICTURE_OPTION_ROWS(o)                                                                                         \
    {"--size", 0, ARG_SIZE, (o).size, 0, 0}, {"--mean", 0, ARG_TRIPLE, (o).mean, 0, 0},                                \
        {"--std", 0, ARG_TRIPLE, (o).std, 0, 0},                                                                       \
    {                                                                                                                  \
        "--load-pixels", 0, ARG_COUNT, &(o).megapixels, 1, IMAGE_MEGAPIXELS_MOST                                       \
    }

#define VISION_OPTION_ROWS(o) {"--labels", 0, ARG_TEXT, &(o).labels, 0, 0}, PICTURE_OPTION_ROWS(o)

#define VISION_OPTION_USAGE                                                                                            \
    "  --labels FILE       names of the classes, one a line or a JSON array (default: the model's, or of ImageNet,\n"  \
    "                      COCO or VOC by their number)\n" PICTURE_OPTION_USAGE
#define PICTURE_OPTION_USAGE                                                                                           \
    "  --size WxH          size of the model's input, for pictures\n"                                                  \
    "  --mean R,G,B        subtracted from the channels, which are in 0..1\n"                                          \
    "  --std R,G,B         the channels are divided by it\n"                                                           \
    "  --load-pixels M     millions of pixels that a picture may have (default: 134); one of over 16 that is much\n"   \
    "                      larger than the model's input is reduced while it is read\n"

typedef struct vision {
    taper_settings *settings; // of the model
    taper_preparation preparation;
    size_t most_pixels; // of a picture; 0: image.h's default
    char **labels;      // of the file that --labels names
    size_t label_count;
    bool has_labels; // that file wins
    const char *labels_path;
    const known_labels *known; // of the data set that has so many classes, where neither names any
    bool checked;              // vision_check_classes was called
} vision;

// Call before args_parse: not-a-number tells that --mean or --std was not given.
void vision_options_init(vision_options *options);
// Failures are reported. `segment` chooses the preset.
bool vision_create(const opened_model *opened, const vision_options *options, bool segment, vision *v);
void vision_release(vision *v);

// Reads a picture. One that is much larger than what the model takes is reduced while it is decoded (image.h), unless
// `whole` or the size of the model's input depends on the picture's. Failures are reported.
bool vision_read(const vision *v, const char *path, bool whole, image *picture);
// A 1x3xHxW float tensor, or a quantized one where the model takes that (settings.h).
bool vision_prepare(const vision *v, const opened_model *opened, const char *path, const image *picture,
                    taper_value **input);
// Once it is known how many classes there are: chooses labels where none are given, and says on stderr when there are
// more or fewer of them. The first call counts.
// counted: it is their number, not the greatest that was seen in a map of classes.
void vision_check_classes(vision *v, const opened_model *opened, size_t classes, bool counted);
size_t vision_label_count(const vision *v);
// "label", or "class 7" written to buffer.
const char *vision_label(const vision *v, size_t index, char buffer[32]);

// The tensor in a result (taper_scores_find). A new reference; failures are reported.
bool vision_scores(const opened_model *opened, const taper_value *result, taper_value **tensor);

#endif
