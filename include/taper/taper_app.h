/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What apps do around a model: find its sample inputs and its settings, make tensors of pictures, read classes and
 * masks out of results. All of it is experimental, and none of it is needed to run a model. The conventions of taper.h
 * hold here. A value that a function returns is a new reference. Sizes of pictures are in pixels.
 */
#ifndef TAPER_TAPER_APP_H
#define TAPER_TAPER_APP_H

#include <taper/taper_compile.h> /* for taper_model_open, which 0.1 declared here */

#ifdef __cplusplus
extern "C" {
#endif

/* ---- inputs bundled with a model (torch.utils.bundled_inputs, `taper bundle`) ---- */

/* Returns the name of method number `index` that has bundled inputs, or NULL after the last. It belongs to the model.
 */
TAPER_API TAPER_EXPERIMENTAL const char *taper_bundled_method(const taper_model *model, size_t index);
/* Sets *count to the number of samples of a method (NULL: "forward"), 0 if it has none. The model makes the samples in
 * a run of the session. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_bundled_count(taper_session *session, const char *method,
                                                                             size_t *count, taper_error *error);
/* Returns the inputs of sample `index`, for taper_session_run: *count of them, each a new reference, in inputs[0] to
 * inputs[room - 1]. If there are more than `room`, only *count is set and the status is TAPER_ERROR_ARGUMENT. If there
 * is no such sample, *count is 0 and the status is TAPER_ERROR_ARGUMENT. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_bundled_inputs(taper_session *session,
                                                                              const char *method, size_t index,
                                                                              taper_value **inputs, size_t room,
                                                                              size_t *count, taper_error *error);

/* ---- inputs that a model refuses ---- */

/* Finds out why a model refused the inputs of a run that failed with TAPER_ERROR_ARGUMENT, and adds lines to the detail
 * of `error`, which is the error of that run. If one change to one input makes the run succeed, one line names it. The
 * changes are a batch dimension, the channels before height and width, and float32:
 * "input 0 is float64 [1, 3, 96, 96]; the model takes it converted: float32 [1, 3, 96, 96]".
 * Otherwise each tensor has a line, which names the layer that refused if it can be found:
 * "input 0 (x) was float32 [1, 4, 96, 96], refused in features.0.0".
 * The method runs several times, in sessions of its own, at most ten seconds each time, and what it prints is dropped;
 * operators that the host added are called again. An error of another status, or NULL, stays as it is. This function is
 * absent from a library that is built without drafts and programs. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_session_advise(taper_session *session,
                                                                              const char *method,
                                                                              taper_value *const *inputs, size_t count,
                                                                              taper_error *error);

/* ---- values ---- */

/* Finds the value of a dict by its key; the time does not depend on the size of the dict. A key that the dict does not
 * have is TAPER_ERROR_ARGUMENT, and the detail of the error lists the keys. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_value_find(const taper_value *dict, const char *key,
                                                                          taper_value **item, taper_error *error);
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_value_find_int(const taper_value *dict, int64_t key,
                                                                              taper_value **item, taper_error *error);
/* Copies a tensor into contiguous memory of its own, with the same dtype, scale and zero point. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_value_contiguous(taper_context *context,
                                                                                const taper_value *tensor,
                                                                                taper_value **copy, taper_error *error);
/* Copies a tensor as contiguous float32. Integers and bools become their values, quantized elements the numbers that
 * they stand for. A complex tensor is TAPER_ERROR_ARGUMENT. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_value_floats(taper_context *context,
                                                                            const taper_value *tensor,
                                                                            taper_value **copy, taper_error *error);

/* ---- taper.json: what the makers of a model say about its pictures and classes ----
 *   {"task": "classify", "size": [224, 224], "resize": 256, "mean": [0.485, 0.456, 0.406],
 *    "std": [0.229, 0.224, 0.225], "labels": ["cat", …], "colors": ["#ff9f1c", …],
 *    "inputs": [{"dtype": "quint8", "scale": 0.0187, "zero_point": 114}, null, …]}
 * Each member may be missing; members of other names are ignored. docs/c.md describes them. */

typedef struct taper_settings taper_settings;

/* Reads the extra file taper.json of the model, or the file at `path` if the model carries none. If `path` is NULL too,
 * the settings are empty, and every function below returns its default. The settings do not keep the model. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_settings_read(taper_model *model, const char *path,
                                                                             taper_settings **settings,
                                                                             taper_error *error);
/* Reads settings from text in memory, which is copied. name: the name of the file for errors; NULL: "taper.json". */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_settings_parse(taper_context *context, const char *name,
                                                                              const void *text, size_t size,
                                                                              taper_settings **settings,
                                                                              taper_error *error);
TAPER_API TAPER_EXPERIMENTAL void taper_settings_release(taper_settings *settings);

/* Returns the task, "" if the settings name none. It belongs to the settings, as labels do. */
TAPER_API TAPER_EXPERIMENTAL const char *taper_settings_task(const taper_settings *settings);
TAPER_API TAPER_EXPERIMENTAL size_t taper_settings_label_count(const taper_settings *settings);
/* Returns the name of a class, or NULL if it has none. Control characters of the file are replaced by "?". */
TAPER_API TAPER_EXPERIMENTAL const char *taper_settings_label(const taper_settings *settings, size_t index);
/* Writes the colour of a class as red, green and blue and returns 1, or returns 0 if the settings give none. */
TAPER_API TAPER_EXPERIMENTAL int taper_settings_color(const taper_settings *settings, size_t index,
                                                      unsigned char rgb[3]);
/* Quantizes a float32 tensor for input `index` of forward, if the settings say that the input is quantized. Otherwise,
 * and for another value, *quantized is a new reference to the value itself. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_settings_quantize(taper_context *context,
                                                                                 const taper_settings *settings,
                                                                                 size_t index, taper_value *value,
                                                                                 taper_value **quantized,
                                                                                 taper_error *error);

/* ---- pictures ---- */

/* How the bytes of a picture are stored. Y'CbCr is that of Android's and iOS's cameras: BT.601, Y from 16 to 235. Its
 * planes of Cb and Cr have half the width and half the height, rounded up. */
typedef enum taper_pixel_format {
    TAPER_PIXELS_RGB = 0,
    TAPER_PIXELS_BGR = 1,
    TAPER_PIXELS_RGBA = 2, /* alpha is ignored in this format and in the next two */
    TAPER_PIXELS_BGRA = 3,
    TAPER_PIXELS_ARGB = 4,
    TAPER_PIXELS_GRAY = 5,
    TAPER_PIXELS_NV12 = 6, /* planes: Y; Cb and Cr alternating */
    TAPER_PIXELS_NV21 = 7, /* planes: Y; Cr and Cb alternating */
    TAPER_PIXELS_I420 = 8  /* planes: Y, Cb, Cr */
} taper_pixel_format;

/* A picture in the caller's memory, which is read during the call only. */
typedef struct taper_picture {
    size_t struct_size; /* sizeof(taper_picture) */
    taper_pixel_format format;
    int width, height;     /* of the stored picture, before it is turned; 1 to 16384 each */
    const void *planes[3]; /* the first pixel of each plane that the format has */
    size_t strides[3];     /* bytes from one row of a plane to the next; 0: rows follow one another */
    int orientation;       /* EXIF orientation, 1 to 8, by which the picture is turned and mirrored; 0: it is not */
} taper_picture;

/* How a picture becomes a tensor, in the order of torchvision's transforms: the shorter side is resized to `resize`
 * pixels, antialiased and bilinear, bit for bit as PIL does; width x height pixels are cut out of the middle; each
 * channel, from 0 to 1, becomes (channel - mean) / std. */
typedef struct taper_preparation {
    size_t struct_size; /* sizeof(taper_preparation) */
    int width, height;  /* of the tensor; 0: nothing is cut */
    int resize;         /* pixels; 0: the whole picture is resized to width x height */
    float mean[3];      /* red, green, blue */
    float std[3];       /* red, green, blue */
} taper_preparation;

/* Fills *preparation from the settings, with the defaults for what they do not give or if settings is NULL: resize 256
 * and 224 x 224, or for the task "segment" resize 520 without a cut; mean 0.485 0.456 0.406; std 0.229 0.224 0.225.
 * task NULL: the task of the settings. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_settings_preparation(const taper_settings *settings,
                                                                                    const char *task,
                                                                                    taper_preparation *preparation,
                                                                                    taper_error *error);
/* Makes a contiguous float32 tensor [1, 3, height, width] of a picture. preparation NULL: the defaults. The time grows
 * with the size of the picture, and the call cannot be cancelled. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_picture_tensor(taper_context *context,
                                                                              const taper_picture *picture,
                                                                              const taper_preparation *preparation,
                                                                              taper_value **tensor, taper_error *error);

/* ---- classes ---- */

/* Finds the tensor of scores in a result: the result itself; the entry "out", "logits" or else the first entry of a
 * dict; the first item of a tuple or list. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_scores_find(const taper_value *result,
                                                                           taper_value **scores, taper_error *error);
/* Computes softmax along the last dimension, as a contiguous float32 tensor of the same sizes. Rows that are
 * probabilities already (none below 0 or above 1, with a sum of 1) are copied, and so are rows of one score. NaN stays
 * NaN. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_scores_softmax(taper_context *context,
                                                                              const taper_value *scores,
                                                                              taper_value **probabilities,
                                                                              taper_error *error);
typedef struct taper_ranked {
    size_t index; /* of the class */
    float score;  /* of the class */
} taper_ranked;
/* Ranks the elements of a tensor [classes] or [1, classes], the best first, equal ones by their index, NaN last. Fills
 * at most `room` entries of ranked and sets *count to their number. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_scores_top(taper_context *context,
                                                                          const taper_value *scores,
                                                                          taper_ranked *ranked, size_t room,
                                                                          size_t *count, taper_error *error);
/* Returns the class of each pixel as a contiguous int16 tensor [height, width]. scores: floats [classes, h, w] or
 * [1, classes, h, w], which are resized bilinearly, and the best class of each pixel is taken; or integers [h, w] or
 * [1, h, w], which are classes already. With one class a pixel is of class 1 if its logit is above 0 or its probability
 * above one half, and otherwise of class 0. There are at most 4096 classes, and sides have 1 to 16384 pixels. *classes,
 * unless classes is NULL, becomes the number of classes. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_scores_mask(taper_context *context,
                                                                           const taper_value *scores, int width,
                                                                           int height, taper_value **mask,
                                                                           size_t *classes, taper_error *error);

#ifdef __cplusplus
}
#endif
#endif
