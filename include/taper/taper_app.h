/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Helpers for apps. They read a model's sample inputs and settings, convert pictures to tensors, and extract classes
 * and masks from results. All of them are experimental, and a model runs without them. The conventions of taper.h hold
 * here. A value that a function returns is a new reference. Sizes of pictures are in pixels.
 */
#ifndef TAPER_TAPER_APP_H
#define TAPER_TAPER_APP_H

#include <taper/taper_compile.h> /* for taper_model_open, which version 0.1 declared in this header */

#ifdef __cplusplus
extern "C" {
#endif

/* ---- inputs bundled with a model (torch.utils.bundled_inputs, `taper bundle`) ---- */

/* Lists the methods that have bundled inputs: returns the name of method `index` of the list, or NULL if index is past
 * its end. The text is valid as long as the model. */
TAPER_API TAPER_EXPERIMENTAL const char *taper_bundled_method(const taper_model *model, size_t index);
/* Sets *count to the number of samples bundled with a method (NULL: "forward"), or 0 if it has none. A sample is the
 * inputs of one run. The function runs a method of the model in the session, so the rules and errors of
 * taper_session_run apply. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_bundled_count(taper_session *session, const char *method,
                                                                             size_t *count, taper_error *error);
/* Writes the inputs of sample `index` to inputs[0] to inputs[*count - 1], for taper_session_run; each is a new
 * reference. room is the number of elements of inputs. If room is too small, the function sets *count to the number of
 * inputs and fails with TAPER_ERROR_ARGUMENT. If there is no such sample, it sets *count to 0 and fails with
 * TAPER_ERROR_ARGUMENT. A function that fails sets all elements of inputs to NULL. The function runs a method of the
 * model in the session. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_bundled_inputs(taper_session *session,
                                                                              const char *method, size_t index,
                                                                              taper_value **inputs, size_t room,
                                                                              size_t *count, taper_error *error);

/* ---- inputs that a model refuses ---- */

/* Explains why a run failed with TAPER_ERROR_ARGUMENT. Pass the method and the inputs of that run, and the error that
 * the run filled. The function adds lines to the error's detail. The status and the message of the error stay, unless
 * an argument of this function is wrong.
 *
 * The function changes one input at a time and tries whether the model then runs. It adds a batch dimension, moves the
 * channels before height and width, or converts to float32. If a change helps, the detail gets one line:
 *   input 0 is float64 [1, 3, 96, 96]; the model takes it converted: float32 [1, 3, 96, 96]
 * If no change helps, the detail gets one line for each input tensor. The line names the layer that refused, if known:
 *   input 0 (x) was float32 [1, 4, 96, 96], refused in features.0.0
 *
 * The method runs several times in new sessions, for at most ten seconds in all. Its prints are dropped, and the
 * inputs stay as they are. Operators that the program registered are called again. The function returns:
 * - TAPER_OK if it could try the changes, also if it found nothing;
 * - TAPER_OK if error is NULL or has another status than TAPER_ERROR_ARGUMENT; the function then does nothing;
 * - TAPER_ERROR_ARGUMENT if session or an input is NULL; the function then replaces the contents of the error;
 * - TAPER_ERROR_RESOURCE if memory is exhausted; the error then stays as it is;
 * - TAPER_ERROR_UNSUPPORTED if the library lacks the function; the error then stays as it is. A library lacks it only
 *   if it was built without drafts (CMake: TAPER_WITH_DRAFTS=OFF) and without the command-line programs
 *   (TAPER_BUILD_TOOLS=OFF). */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_session_advise(taper_session *session,
                                                                              const char *method,
                                                                              taper_value *const *inputs, size_t count,
                                                                              taper_error *error);

/* ---- values ---- */

/* Returns the value that a dict has for a string key. The time does not depend on the size of the dict. The function
 * fails with TAPER_ERROR_ARGUMENT if the dict does not have the key; the detail of the error lists its keys. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_value_find(const taper_value *dict, const char *key,
                                                                          taper_value **item, taper_error *error);
/* Returns the value that a dict has for an int key. It fails like taper_value_find. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_value_find_int(const taper_value *dict, int64_t key,
                                                                              taper_value **item, taper_error *error);
/* Copies a tensor to a contiguous tensor with memory of its own, and with the same dtype, scale and zero point. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_value_contiguous(taper_context *context,
                                                                                const taper_value *tensor,
                                                                                taper_value **copy, taper_error *error);
/* Copies a tensor to a contiguous float32 tensor. Integers and bools are converted, quantized elements are dequantized.
 * The function fails with TAPER_ERROR_ARGUMENT if the tensor is complex. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_value_floats(taper_context *context,
                                                                            const taper_value *tensor,
                                                                            taper_value **copy, taper_error *error);

/* ---- taper.json: settings of a model's pictures and classes, written by the makers of the model ----
 *   {"task": "classify", "size": [224, 224], "resize": 256, "mean": [0.485, 0.456, 0.406],
 *    "std": [0.229, 0.224, 0.225], "labels": ["cat", …], "colors": ["#ff9f1c", …],
 *    "inputs": [{"dtype": "quint8", "scale": 0.0187, "zero_point": 114}, null, …]}
 * Each member may be missing; members of other names are ignored. docs/c.md describes the members. */

/* The settings of one model. They never change, so several threads may use them at once. They hold a reference to their
 * context and none to the model. */
typedef struct taper_settings taper_settings;

/* Reads the model's extra file taper.json, or the file at `path` if the model has no such extra file. If the model has
 * no taper.json and path is NULL, the settings are empty, and every function below returns its default. The function
 * fails with TAPER_ERROR_FILE if the file is wrong or cannot be read. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_settings_read(taper_model *model, const char *path,
                                                                             taper_settings **settings,
                                                                             taper_error *error);
/* Reads settings from `size` bytes of text, which the function copies. name is the file's name in errors; NULL:
 * "taper.json". */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_settings_parse(taper_context *context, const char *name,
                                                                              const void *text, size_t size,
                                                                              taper_settings **settings,
                                                                              taper_error *error);
TAPER_API TAPER_EXPERIMENTAL void taper_settings_release(taper_settings *settings);

/* Returns the task, or "" if the settings name no task. The settings own the text. */
TAPER_API TAPER_EXPERIMENTAL const char *taper_settings_task(const taper_settings *settings);
/* Returns the number of labels, which are the names of classes. */
TAPER_API TAPER_EXPERIMENTAL size_t taper_settings_label_count(const taper_settings *settings);
/* Returns the name of class `index`, or NULL if the settings name no such class. The settings own the text. Control
 * characters of the file are replaced by "?". */
TAPER_API TAPER_EXPERIMENTAL const char *taper_settings_label(const taper_settings *settings, size_t index);
/* Writes the colour of class `index` to rgb, as red, green and blue, and returns 1. Returns 0 if the class has no
 * colour. */
TAPER_API TAPER_EXPERIMENTAL int taper_settings_color(const taper_settings *settings, size_t index,
                                                      unsigned char rgb[3]);
/* Quantizes a value for input `index` of forward, if the settings say that the input is quantized and the value is a
 * float32 tensor. Otherwise *quantized is a new reference to the value itself. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_settings_quantize(taper_context *context,
                                                                                 const taper_settings *settings,
                                                                                 size_t index, taper_value *value,
                                                                                 taper_value **quantized,
                                                                                 taper_error *error);

/* ---- pictures ---- */

/* The layout of a picture's bytes in memory, one byte for each channel. The last three formats are the Y'CbCr of
 * Android's and iOS's cameras: BT.601, with Y from 16 to 235. Their planes of Cb and Cr have half the picture's width
 * and half its height, rounded up. */
typedef enum taper_pixel_format {
    TAPER_PIXELS_RGB = 0,
    TAPER_PIXELS_BGR = 1,
    TAPER_PIXELS_RGBA = 2, /* alpha is ignored in this format and in the next two */
    TAPER_PIXELS_BGRA = 3,
    TAPER_PIXELS_ARGB = 4,
    TAPER_PIXELS_GRAY = 5,
    TAPER_PIXELS_NV12 = 6, /* planes: Y; Cb and Cr, which alternate */
    TAPER_PIXELS_NV21 = 7, /* planes: Y; Cr and Cb, which alternate */
    TAPER_PIXELS_I420 = 8  /* planes: Y, Cb, Cr */
} taper_pixel_format;

/* A picture in the program's memory. A function reads it during the call only. */
typedef struct taper_picture {
    size_t struct_size; /* sizeof(taper_picture) */
    taper_pixel_format format;
    int width, height;     /* size of the stored picture, before it is turned, 1 to 16384 pixels each */
    const void *planes[3]; /* first pixel of each plane that the format has */
    size_t strides[3];     /* bytes from one row of a plane to the next row; 0: rows follow one another without gaps */
    /* EXIF orientation, 1 to 8, by which Taper turns and mirrors the picture; 0: it does neither. */
    int orientation;
} taper_picture;

/* Parameters of the conversion of a picture to a tensor, which does what torchvision's transforms do:
 * 1. It resizes the picture so that its shorter side has `resize` pixels. The result equals PIL's antialiased bilinear
 *    resize bit for bit.
 * 2. It cuts width x height pixels out of the middle. It fails with TAPER_ERROR_ARGUMENT if the resized picture is
 *    smaller.
 * 3. It scales each channel to 0 to 1 and computes (channel - mean) / std. */
typedef struct taper_preparation {
    size_t struct_size; /* sizeof(taper_preparation) */
    int width, height;  /* size of the tensor in pixels; both 0: step 2 is left out */
    /* Pixels of the shorter side. 0: instead of steps 1 and 2, the whole picture is resized to width x height. If width
     * and height are 0 too, the picture keeps its size. */
    int resize;
    float mean[3]; /* mean of red, green and blue */
    float std[3];  /* standard deviation of red, green and blue, not 0 */
} taper_preparation;

/* Fills *preparation from the settings; set preparation->struct_size first. A member that the settings do not give gets
 * its default, and so do all members if settings is NULL. Defaults: 224 x 224 pixels, resize 256, mean 0.485 0.456
 * 0.406, std 0.229 0.224 0.225. Defaults for the task "segment": resize 520 and no cut. If the settings give a size and
 * no resize, resize is 0. task NULL means the task of the settings. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_settings_preparation(const taper_settings *settings,
                                                                                    const char *task,
                                                                                    taper_preparation *preparation,
                                                                                    taper_error *error);
/* Converts a picture to a contiguous float32 tensor [1, 3, height, width], with the channels red, green and blue.
 * preparation NULL means the defaults of taper_settings_preparation. The time grows with the size of the picture, and
 * the call cannot be cancelled. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_picture_tensor(taper_context *context,
                                                                              const taper_picture *picture,
                                                                              const taper_preparation *preparation,
                                                                              taper_value **tensor, taper_error *error);

/* ---- classes ---- */

/* Returns the tensor of scores of a result. If the result is a tensor, it is returned. If it is a dict, its entry "out"
 * is returned, otherwise its entry "logits", otherwise its first entry. If it is a tuple or a list, its first item is
 * returned. The function fails with TAPER_ERROR_ARGUMENT if this finds no tensor. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_scores_find(const taper_value *result,
                                                                           taper_value **scores, taper_error *error);
/* Computes softmax along the last dimension, as a contiguous float32 tensor of the same sizes. A row is one line of
 * that dimension. Rows that are probabilities already are copied: all scores are from 0 to 1, and their sum is 1 within
 * 0.001. Rows of one score are copied too. NaN stays NaN. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_scores_softmax(taper_context *context,
                                                                              const taper_value *scores,
                                                                              taper_value **probabilities,
                                                                              taper_error *error);
typedef struct taper_ranked {
    size_t index; /* number of the class, from 0 */
    float score;  /* score of the class */
} taper_ranked;
/* Ranks the elements of a tensor [classes] or [1, classes]: the best first, equal elements by their index, NaN last.
 * Writes the best `room` classes to ranked, or all classes if there are fewer, and sets *count to the number of classes
 * written. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_scores_top(taper_context *context,
                                                                          const taper_value *scores,
                                                                          taper_ranked *ranked, size_t room,
                                                                          size_t *count, taper_error *error);
/* Makes a mask of width x height pixels: a contiguous int16 tensor [height, width] with the class of each pixel. width
 * and height are 1 to 16384 pixels. If classes is not NULL, *classes is set to the number of classes, at most 4096.
 * - Float or quantized scores [classes, h, w] or [1, classes, h, w] are resized bilinearly. Then the class with the
 *   highest score is taken.
 * - If there is one score for each pixel, *classes is 2. The class is 1 if the resized score is above 0.5, or above
 *   0 if the scores are logits. Scores are logits if any of them is outside of 0 to 1.
 * - Integers and bools [h, w] or [1, h, w] are classes. They are resized to the nearest pixel, and *classes is the
 *   greatest of them plus 1. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_scores_mask(taper_context *context,
                                                                           const taper_value *scores, int width,
                                                                           int height, taper_value **mask,
                                                                           size_t *classes, taper_error *error);

#ifdef __cplusplus
}
#endif
#endif
