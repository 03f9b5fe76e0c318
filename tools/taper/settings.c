// SPDX-License-Identifier: BSD-2-Clause
#include "taper/settings.h"

#include <stdlib.h>
#include <string.h>

#include <taper/taper_app.h>

#include "common/errors.h"

const char settings_name[] = "taper.json";

static bool is_present(const taper_model *model)
{
    for (size_t i = 0; i < taper_model_extra_count(model); i++) {
        if (strcmp(taper_model_extra_name(model, i), settings_name) == 0) {
            return true;
        }
    }
    return false;
}

bool settings_read(const opened_model *opened, json_value **settings)
{
    const void *data;
    size_t size;
    char subject[512];
    *settings = NULL;
    if (!is_present(opened->model)) {
        return true;
    }
    if (taper_model_extra(opened->model, settings_name, &data, &size, opened->error) != TAPER_OK) {
        return error_report_library(opened->path, opened->error);
    }
    snprintf(subject, sizeof subject, "%s: %s", opened->path, settings_name);
    *settings = json_parse(subject, data, size);
    return *settings != NULL;
}

// ---- inputs of a quantized model

// Returns true if taper.json may describe inputs. A file of this name from another program is ignored, even if it is
// invalid.
static bool mentions_inputs(const opened_model *opened)
{
    static const char key[] = "\"inputs\"";
    const size_t length = sizeof key - 1;
    const void *data;
    size_t size;
    if (!is_present(opened->model) || taper_model_extra(opened->model, settings_name, &data, &size, NULL) != TAPER_OK) {
        return false;
    }
    for (const char *at = data; size >= length; at++, size--) {
        if (*at == '"' && memcmp(at, key, length) == 0) {
            return true;
        }
    }
    return false;
}

bool settings_quantize_input(const opened_model *opened, size_t index, taper_value **value)
{
    taper_settings *settings;
    taper_value *made = NULL;
    if (!mentions_inputs(opened)) {
        return true;
    }
    const bool done =
        taper_settings_read(opened->model, NULL, &settings, opened->error) == TAPER_OK &&
        taper_settings_quantize(opened->context, settings, index, *value, &made, opened->error) == TAPER_OK;
    taper_settings_release(settings);
    if (!done) {
        return error_report_library(opened->path, opened->error);
    }
    taper_value_release(*value);
    *value = made;
    return true;
}

// ---- writing

static void put_inputs(FILE *stream, const taper_calibrator *calibrator, size_t count)
{
    fputs("\"inputs\": [", stream);
    for (size_t i = 0; i < count; i++) {
        double scale;
        int64_t zero_point;
        fputs(i != 0 ? ", " : "", stream);
        if (taper_calibrator_input(calibrator, i, &scale, &zero_point)) {
            fputs("{\"dtype\": \"quint8\", \"scale\": ", stream);
            json_put_double(stream, scale);
            fprintf(stream, ", \"zero_point\": %lld}", (long long)zero_point);
        } else {
            fputs("null", stream);
        }
    }
    fputs("]", stream);
}

// Returns the index of the last quantized input plus one.
static size_t count_inputs(const opened_model *opened, const taper_calibrator *calibrator)
{
    const int arguments = taper_model_method_arguments(opened->model, "forward");
    double scale;
    int64_t zero_point;
    size_t count = 0;
    for (size_t i = 0; i < (arguments > 0 ? (size_t)arguments : 64); i++) {
        count = taper_calibrator_input(calibrator, i, &scale, &zero_point) ? i + 1 : count;
    }
    return count;
}

static void put_members(FILE *stream, const json_value *settings)
{
    for (size_t i = 0; settings != NULL && i < settings->count; i++) {
        if (strcmp(settings->items[i].key, "inputs") != 0) {
            json_put_text(stream, settings->items[i].key, settings->items[i].key_length);
            fputs(": ", stream);
            json_put(stream, &settings->items[i]);
            fputs(", ", stream);
        }
    }
}

// Opens a stream that writes to memory. Returns NULL after reporting a failure.
static FILE *open_text(const char *subject, char **text, size_t *size)
{
#if defined(__ANDROID__) && __ANDROID_API__ < 23
    (void)text;
    (void)size;
    (void)error_report(subject,
                       "the scales of inputs are not written by programs for Android before API 23: quantize on "
                       "another machine");
    return NULL;
#else
    FILE *stream = open_memstream(text, size);
    if (stream == NULL) {
        (void)error_report_memory(subject);
    }
    return stream;
#endif
}

bool settings_with_inputs(const opened_model *opened, const taper_calibrator *calibrator, char **text, size_t *size)
{
    const size_t count = count_inputs(opened, calibrator);
    json_value *settings = NULL;
    *text = NULL;
    if (count == 0) {
        return true;
    }
    if (!settings_read(opened, &settings)) {
        return false;
    }
    if (settings != NULL && settings->kind != JSON_OBJECT) {
        json_free(settings);
        return error_report(opened->path, "%s: must hold an object, to which the scales of inputs can be added",
                            settings_name);
    }
    FILE *stream = open_text(opened->path, text, size);
    if (stream == NULL) {
        json_free(settings);
        return false;
    }
    fputs("{", stream);
    put_members(stream, settings);
    put_inputs(stream, calibrator, count);
    fputs("}\n", stream);
    bool done = ferror(stream) == 0;
    done = fclose(stream) == 0 && done;
    json_free(settings);
    if (!done) {
        free(*text);
        *text = NULL;
        return error_report_memory(opened->path);
    }
    return true;
}
