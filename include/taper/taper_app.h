/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What apps do around a model: open it, find its sample inputs and its settings, make tensors of pictures, read classes
 * and masks out of results. All of it is experimental; none of it is needed to run a model.
 *
 * What stands in the conventions of taper.h holds here. Values that come back are new references, their memory is the
 * context's or, of what is found inside another value, that value's. Sizes of pictures are in pixels.
 */
#ifndef TAPER_TAPER_APP_H
#define TAPER_TAPER_APP_H

#include <taper/taper.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- inputs bundled with a model (torch.utils.bundled_inputs, `taper bundle`) ---- */

/* The name of method number `index` that has bundled inputs, NULL behind the last. Borrowed from the model. */
TAPER_API TAPER_EXPERIMENTAL const char *taper_bundled_method(const taper_model *model, size_t index);
/* How many samples a method (NULL: "forward") has; 0 where it has none. The model makes all of them for it, in a run of
 * the session. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_bundled_count(taper_session *session, const char *method,
                                                                             size_t *count, taper_error *error);
/* The inputs of sample `index`, as taper_session_run takes them: *count of them, each a new reference, in
 * inputs[0] to inputs[room - 1]. Where there are more than `room`, nothing but *count is set, and the status is
 * TAPER_ERROR_ARGUMENT; so it is for a sample that there is not, with *count 0. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_bundled_inputs(taper_session *session,
                                                                              const char *method, size_t index,
                                                                              taper_value **inputs, size_t room,
                                                                              size_t *count, taper_error *error);

/* ---- values ---- */

/* The value of a dict under a key, found by its hash. A key that it has not is TAPER_ERROR_ARGUMENT; the error's detail
 * lists those that it has. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_value_find(const taper_value *dict, const char *key,
                                                                          taper_value **item, taper_error *error);
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_value_find_int(const taper_value *dict, int64_t key,
                                                                              taper_value **item, taper_error *error);
/* A tensor's elements in memory of their own, one behind the other in the order of the dimensions, whatever the strides
 * were; dtype and quantizer stay. Of count * taper_dtype_size(dtype) bytes at taper_tensor_info.data. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_value_contiguous(taper_context *context,
                                                                                const taper_value *tensor,
                                                                                taper_value **copy, taper_error *error);
/* The same as float32: of integers and bools their values, of quantized tensors what they stand for. Complex ones are
 * refused. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_value_floats(taper_context *context,
                                                                            const taper_value *tensor,
                                                                            taper_value **copy, taper_error *error);

/* ---- taper.json: what a model's makers say about its pictures and classes ----
 *   {"task": "classify", "size": [224, 224], "resize": 256, "mean": [0.485, 0.456, 0.406],
 *    "std": [0.229, 0.224, 0.225], "labels": ["cat", …], "colors": ["#ff9f1c", …],
 *    "inputs": [{"dtype": "quint8", "scale": 0.0187, "zero_point": 114}, null, …]}
 * Each member may be missing, others are passed over. */

typedef struct taper_settings taper_settings;

/* From the model's extra file taper.json. Where it carries none, from the file at `path`, beside the model say; path
 * NULL, and there is none either: nothing is said, all is as described below. The settings do not need the model any
 * more. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_settings_read(taper_model *model, const char *path,
                                                                             taper_settings **settings,
                                                                             taper_error *error);
/* From text in memory, which is copied. name: of the file, for errors; NULL: "taper.json". */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_settings_parse(taper_context *context, const char *name,
                                                                              const void *text, size_t size,
                                                                              taper_settings **settings,
                                                                              taper_error *error);
TAPER_API TAPER_EXPERIMENTAL void taper_settings_release(taper_settings *settings);

/* "" where nothing is said. Borrowed, as the labels are. */
TAPER_API TAPER_EXPERIMENTAL const char *taper_settings_task(const taper_settings *settings);
TAPER_API TAPER_EXPERIMENTAL size_t taper_settings_label_count(const taper_settings *settings);
/* The name of a class; NULL where there is none. Control characters of the file are "?". */
TAPER_API TAPER_EXPERIMENTAL const char *taper_settings_label(const taper_settings *settings, size_t index);
/* The colour that a class is drawn in: red, green, blue. Returns 0 where none is said. */
TAPER_API TAPER_EXPERIMENTAL int taper_settings_color(const taper_settings *settings, size_t index,
                                                      unsigned char rgb[3]);
/* For a model that takes integers: input `index` of forward, given as a float32 tensor, as the quantized one that the
 * model wants; the value itself where nothing is said of that input, or it is no float32 tensor. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_settings_quantize(taper_context *context,
                                                                                 const taper_settings *settings,
                                                                                 size_t index, taper_value *value,
                                                                                 taper_value **quantized,
                                                                                 taper_error *error);

/* ---- pictures ---- */

/* How the bytes of a picture lie. Y'CbCr is that of Android's and iOS's cameras (BT.601, Y from 16 to 235), its two
 * other planes have half the width and height, rounded up. */
typedef enum taper_pixel_format {
    TAPER_PIXELS_RGB = 0,
    TAPER_PIXELS_BGR = 1,
    TAPER_PIXELS_RGBA = 2, /* A of these is passed over */
    TAPER_PIXELS_BGRA = 3,
    TAPER_PIXELS_ARGB = 4,
    TAPER_PIXELS_GRAY = 5,
    TAPER_PIXELS_NV12 = 6, /* planes: Y; Cb and Cr in turns */
    TAPER_PIXELS_NV21 = 7, /* planes: Y; Cr and Cb in turns */
    TAPER_PIXELS_I420 = 8  /* planes: Y, Cb, Cr */
} taper_pixel_format;

/* A picture in memory of the caller, which is only read, and only during the call. */
typedef struct taper_picture {
    size_t struct_size; /* sizeof(taper_picture) */
    taper_pixel_format format;
    int width, height; /* as the bytes lie: each 1 to 16384 */
    const void *planes[3];
    size_t strides[3]; /* bytes from a row of a plane to the next one; 0: they follow each other */
    /* EXIF's: how the picture is to be turned and mirrored, 1 to 8; 0: not. 6 is what phones held upright say. */
    int orientation;
} taper_picture;

/* From a picture to a tensor, as torchvision's transforms do it: first the shorter side becomes `resize` pixels (0: the
 * whole picture becomes width x height), antialiased and bilinear as PIL's resize() is, to the bit; then width x height
 * are cut out of its middle (0: all of it is kept); then each channel, in 0..1, becomes (channel - mean) / std. */
typedef struct taper_preparation {
    size_t struct_size; /* sizeof(taper_preparation) */
    int width, height, resize;
    float mean[3], std[3]; /* red, green, blue */
} taper_preparation;

/* What the settings say, and for the rest, or with settings NULL, what torchvision does: resize 256 and 224 x 224, or
 * where the task is "segment" resize 520 and all of the picture; mean 0.485 0.456 0.406, std 0.229 0.224 0.225. task
 * NULL: what the settings say it is. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_settings_preparation(const taper_settings *settings,
                                                                                    const char *task,
                                                                                    taper_preparation *preparation,
                                                                                    taper_error *error);
/* A float32 tensor [1, 3, height, width], contiguous. preparation NULL: as taper_settings_preparation has it for
 * nothing said. Its time grows with the picture's size; it cannot be cancelled. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_picture_tensor(taper_context *context,
                                                                              const taper_picture *picture,
                                                                              const taper_preparation *preparation,
                                                                              taper_value **tensor, taper_error *error);

/* ---- classes ---- */

/* The tensor of scores in a result: the result itself; of a dict the entry "out", "logits" or else the first; of a
 * tuple or list the first item. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_scores_find(const taper_value *result,
                                                                           taper_value **scores, taper_error *error);
/* Softmax along the last dimension: a contiguous float32 tensor of the scores' sizes. A row that is probabilities
 * already, none below 0 or above 1 with a sum of 1, stays as it is, and so does one of a single score. NaN stays NaN.
 */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_scores_softmax(taper_context *context,
                                                                              const taper_value *scores,
                                                                              taper_value **probabilities,
                                                                              taper_error *error);
typedef struct taper_ranked {
    size_t index; /* of the class */
    float score;
} taper_ranked;
/* The best of all elements of the tensor, [classes] or [1, classes], best first, equal ones by their index, NaN last:
 * at most `room` in ranked, *count of them. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_scores_top(taper_context *context,
                                                                          const taper_value *scores,
                                                                          taper_ranked *ranked, size_t room,
                                                                          size_t *count, taper_error *error);
/* The class of each pixel of a picture: an int16 tensor [height, width], contiguous. scores: floats [classes, h, w] or
 * [1, classes, h, w], of which each pixel's best after bilinear resizing is taken (classes 1: class 1 where a logit is
 * above 0, or a probability above one half); or integers [h, w] or [1, h, w], which are classes already. At most 4096
 * classes, sides of 1 to 16384. *classes, unless classes is NULL: how many there are. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_scores_mask(taper_context *context,
                                                                           const taper_value *scores, int width,
                                                                           int height, taper_value **mask,
                                                                           size_t *classes, taper_error *error);

#ifdef __cplusplus
}
#endif
#endif
