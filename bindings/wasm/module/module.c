// SPDX-License-Identifier: BSD-2-Clause
// Functions for JavaScript, in addition to the functions of taper.h in exports.txt, which take only numbers and
// addresses. The functions here replace functions that take structs, so that JavaScript does not depend on the layout
// of structs. Only package/taper.js calls them.
#include <math.h>
#include <stdlib.h>

#include <taper/taper_app.h>
#include <taper/taper_compile.h>

#define EXPORT(name) __attribute__((export_name(#name))) name

void *EXPORT(js_allocate)(size_t size);
void EXPORT(js_free)(void *memory);
taper_context *EXPORT(js_context_create)(taper_error *error);
taper_status EXPORT(js_model_load)(taper_context *context, void *bytes, size_t size, int flags, taper_model **model,
                                   taper_error *error);
taper_status EXPORT(js_session_create)(taper_model *model, double seconds, double bytes, taper_session **session,
                                       taper_error *error);
taper_status EXPORT(js_tensor_facts)(const taper_value *tensor, double *facts, taper_error *error);
taper_status EXPORT(js_picture)(taper_context *context, const taper_settings *settings, const char *task,
                                const void *pixels, int width, int height, const float *own, taper_value **tensor,
                                taper_error *error);
taper_status EXPORT(js_classes)(taper_context *context, const taper_value *result, double *ranked, size_t room,
                                size_t *count, taper_error *error);
taper_status EXPORT(js_mask)(taper_context *context, const taper_value *result, int width, int height,
                             taper_value **mask, taper_error *error);

void *js_allocate(size_t size)
{
    return malloc(size != 0 ? size : 1);
}

void js_free(void *memory)
{
    free(memory);
}

taper_context *js_context_create(taper_error *error)
{
    const taper_context_options options = {.struct_size = sizeof options, .threads = 1};
    taper_context *context;
    return taper_context_create(&options, &context, error) == TAPER_OK ? context : NULL;
}

// Loads a model from bytes allocated by js_allocate. The model owns the bytes; after a failure they are freed.
taper_status js_model_load(taper_context *context, void *bytes, size_t size, int flags, taper_model **model,
                           taper_error *error)
{
    enum { EVALUATION = 1, PLAIN = 2, NO_GUARDS = 4, VERIFY = 8 };
    const taper_load_options options = {.struct_size = sizeof options,
                                        .compiler = (flags & PLAIN) != 0 ? NULL : taper_compiler(),
                                        .flags = ((flags & EVALUATION) != 0 ? TAPER_LOAD_EVALUATION : 0) |
                                                 ((flags & NO_GUARDS) != 0 ? TAPER_LOAD_NO_GUARDS : 0) |
                                                 ((flags & VERIFY) != 0 ? TAPER_LOAD_VERIFY : 0)};
    const taper_status status = taper_model_load_memory(context, bytes, size, free, bytes, &options, model, error);
    if (status != TAPER_OK) {
        free(bytes);
    }
    return status;
}

// seconds and bytes are the budgets of a run; 0 means no limit.
taper_status js_session_create(taper_model *model, double seconds, double bytes, taper_session **session,
                               taper_error *error)
{
    const taper_session_options options = {.struct_size = sizeof options,
                                           .time_budget = seconds,
                                           .memory_budget = bytes < (double)SIZE_MAX ? (size_t)bytes : SIZE_MAX};
    return taper_session_create(model, &options, session, error);
}

// Fills `facts`, an array of 4 + TAPER_MAX_RANK numbers: dtype, rank, address, 1 for a quantized tensor, then the
// sizes.
taper_status js_tensor_facts(const taper_value *tensor, double *facts, taper_error *error)
{
    taper_tensor_info info = {.struct_size = sizeof info};
    const taper_status status = taper_value_get_tensor(tensor, &info, error);
    if (status == TAPER_OK) {
        facts[0] = (double)info.dtype;
        facts[1] = (double)info.rank;
        facts[2] = (double)(uintptr_t)info.data;
        facts[3] = info.quantized != 0;
        for (size_t i = 0; i < info.rank; i++) {
            facts[4 + i] = (double)info.sizes[i];
        }
    }
    return status;
}

// Converts RGBA pixels to the input that the settings describe. own: width, height, resize, mean and std from the page;
// NaN selects the value of the settings.
taper_status js_picture(taper_context *context, const taper_settings *settings, const char *task, const void *pixels,
                        int width, int height, const float *own, taper_value **tensor, taper_error *error)
{
    taper_preparation p = {.struct_size = sizeof p};
    *tensor = NULL;
    taper_status status = taper_settings_preparation(settings, task, &p, error);
    if (status != TAPER_OK) {
        return status;
    }
    p.width = isnan(own[0]) ? p.width : (int)own[0];
    p.height = isnan(own[1]) ? p.height : (int)own[1];
    p.resize = isnan(own[2]) ? p.resize : (int)own[2];
    for (int i = 0; i < 3; i++) {
        p.mean[i] = isnan(own[3 + i]) ? p.mean[i] : own[3 + i];
        p.std[i] = isnan(own[6 + i]) ? p.std[i] : own[6 + i];
    }
    const taper_picture picture = {.struct_size = sizeof picture,
                                   .format = TAPER_PIXELS_RGBA,
                                   .width = width,
                                   .height = height,
                                   .planes = {pixels}};
    taper_value *floats;
    status = taper_picture_tensor(context, &picture, &p, &floats, error);
    if (status == TAPER_OK) {
        status = taper_settings_quantize(context, settings, 0, floats, tensor, error);
        taper_value_release(floats);
    }
    return status;
}

// Fills `ranked` with pairs of class and probability, the most probable first.
taper_status js_classes(taper_context *context, const taper_value *result, double *ranked, size_t room, size_t *count,
                        taper_error *error)
{
    taper_value *scores = NULL, *probabilities = NULL;
    taper_ranked *best = calloc(room != 0 ? room : 1, sizeof *best);
    *count = 0;
    taper_status status = best != NULL ? taper_scores_find(result, &scores, error) : TAPER_ERROR_RESOURCE;
    if (status == TAPER_OK) {
        status = taper_scores_softmax(context, scores, &probabilities, error);
    }
    if (status == TAPER_OK) {
        status = taper_scores_top(context, probabilities, best, room, count, error);
    }
    for (size_t i = 0; status == TAPER_OK && i < *count; i++) {
        ranked[2 * i] = (double)best[i].index;
        ranked[2 * i + 1] = (double)best[i].score;
    }
    taper_value_release(probabilities);
    taper_value_release(scores);
    free(best);
    return status;
}

taper_status js_mask(taper_context *context, const taper_value *result, int width, int height, taper_value **mask,
                     taper_error *error)
{
    taper_value *scores;
    *mask = NULL;
    taper_status status = taper_scores_find(result, &scores, error);
    if (status == TAPER_OK) {
        status = taper_scores_mask(context, scores, width, height, mask, NULL, error);
        taper_value_release(scores);
    }
    return status;
}
