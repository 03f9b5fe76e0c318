// SPDX-License-Identifier: BSD-2-Clause
// Decides how a picture becomes a model's input, and finds the labels of the model's classes. Options override the
// model's extra file taper.json (taper_app.h), which overrides torchvision's presets.
#ifndef TAPER_TOOLS_VISION_H
#define TAPER_TOOLS_VISION_H

#include <taper/taper_app.h>

#include "common/image.h"
#include "taper/known_labels.h"
#include "taper/opened_model.h"

typedef struct vision_options {
    const char *labels; // path of the file with labels, or NULL
    int size[2];        // width and height in pixels; 0 without the option
    double mean[3], std[3];
    long megapixels; // limit for pictures, in megapixels; 0 for the default of image.h
} vision_options;

// Rows of options for commands whose inputs are all pictures.
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
    taper_settings *settings; // settings in the model
    taper_preparation preparation;
    size_t most_pixels; // limit for pictures, in pixels; 0 for the default of image.h
    char **labels;      // labels from the file of --labels
    size_t label_count;
    bool has_labels; // true if --labels was given; labels from --labels override the labels of the model
    const char *labels_path;
    // Labels of the data set with this number of classes, if neither --labels nor the model gives labels; NULL
    // otherwise.
    const known_labels *known;
    bool checked; // true after vision_check_classes was called
} vision;

// Sets *options to the defaults. Call this before args_parse. NaN means that --mean or --std was not given.
void vision_options_init(vision_options *options);
// Reads the model's settings and applies the options. segment: true to use the preset for segmentation. Failures are
// reported.
bool vision_create(const opened_model *opened, const vision_options *options, bool segment, vision *v);
void vision_release(vision *v);

// Reads a picture. If it is much larger than the model's input, it is reduced while it is decoded (image.h), unless
// `whole` is true or the size of the input depends on the size of the picture. Failures are reported.
bool vision_read(const vision *v, const char *path, bool whole, image *picture);
// Makes a 1x3xHxW float tensor, or a quantized tensor if the model's settings declare the input as quantized
// (settings.h). Failures are reported.
bool vision_prepare(const vision *v, const opened_model *opened, const char *path, const image *picture,
                    taper_value **input);
// Call this when the number of classes is known; only the first call has an effect. Selects the labels of a known data
// set if none are given, and prints a note on stderr if the number of labels differs. counted: true if `classes` is the
// number of classes, false if it is 1 + the largest class that occurs in a map.
void vision_check_classes(vision *v, const opened_model *opened, size_t classes, bool counted);
size_t vision_label_count(const vision *v);
// Returns the label of the class. If the class has no label, writes a text such as "class 7" to buffer and returns
// buffer.
const char *vision_label(const vision *v, size_t index, char buffer[32]);

// Finds the scores in a result (taper_scores_find). *tensor is a new reference; failures are reported.
bool vision_scores(const opened_model *opened, const taper_value *result, taper_value **tensor);

#endif
