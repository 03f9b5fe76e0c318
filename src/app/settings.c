// SPDX-License-Identifier: BSD-2-Clause
// Reads taper.json (taper_app.h), which describes the pictures and classes of a model. All data is in one arena of the
// settings. If a member occurs several times, the last one applies.
#include <taper/taper_app.h>

#include <math.h>
#include <string.h>

#include "app/settings.h"
#include "base/arguments.h"
#include "base/json.h"
#include "platform/platform.h"
#include "runtime/model.h"

enum { DEPTH_LIMIT = 64, ITEM_LIMIT = 1 << 20 };
static const uint64_t size_limit = UINT64_C(1) << 26;
static const char settings_name[] = "taper.json";

typedef struct input_settings {
    bool said;
    double scale;
    int64_t zero_point;
} input_settings;

struct taper_settings {
    taper_context *context;
    taper_arena arena;
    const char *task;
    int size[2], resize; // sides in pixels; 0 if the file does not give them
    bool has_resize, has_mean, has_std;
    float mean[3], std[3];
    const char **labels;
    unsigned char (*colors)[3];
    input_settings *inputs;
    size_t label_count, color_count, input_count;
};

typedef struct reading {
    taper_settings *settings;
    taper_json *json;
    const char *name;
    taper_error *error;
} reading;

static TAPER_COLD taper_status wrong(const reading *r, const char *words)
{
    return taper_fail(r->error, TAPER_ERROR_FILE, "%s: %s", r->name, words);
}

// ---- reading members

// Counts the items of the array that starts at the reader's position, which does not change.
static taper_status count_items(const reading *r, size_t *count)
{
    taper_json ahead = *r->json;
    bool more;
    *count = 0;
    TAPER_TRY(taper_json_enter(&ahead, TAPER_JSON_ARRAY));
    TAPER_TRY(taper_json_next(&ahead, &more));
    while (more) {
        TAPER_TRY(taper_json_skip(&ahead));
        ++*count;
        TAPER_TRY(taper_json_next(&ahead, &more));
    }
    return *count <= ITEM_LIMIT ? TAPER_OK : wrong(r, "an array has more than a million items");
}

// Sets *is to true if the next value has this kind.
static taper_status is_next(const reading *r, taper_json_kind kind, bool *is)
{
    taper_json_kind found;
    TAPER_TRY(taper_json_peek(r->json, &found));
    *is = found == kind;
    return TAPER_OK;
}

// Reads an array of exactly `wanted` numbers. Fails with the message `words` if the value is anything else.
static taper_status take_numbers(const reading *r, size_t wanted, taper_json_number *numbers, const char *words)
{
    bool is;
    size_t count = 0;
    TAPER_TRY(is_next(r, TAPER_JSON_ARRAY, &is));
    if (is) {
        TAPER_TRY(count_items(r, &count));
    }
    if (count != wanted) {
        return wrong(r, words);
    }
    TAPER_TRY(taper_json_enter(r->json, TAPER_JSON_ARRAY));
    for (size_t i = 0; i < wanted; i++) {
        TAPER_TRY(taper_json_next(r->json, &is));
        TAPER_TRY(is_next(r, TAPER_JSON_INT, &is));
        if (!is) {
            return wrong(r, words);
        }
        TAPER_TRY(taper_json_take_number(r->json, &numbers[i]));
    }
    return taper_json_next(r->json, &is);
}

static bool is_side(const taper_json_number *number)
{
    return number->whole && number->integer >= 1 && number->integer <= TAPER_PICTURE_SIDE;
}

static taper_status take_size(const reading *r)
{
    static const char words[] = "\"size\" must be [width, height]";
    taper_json_number numbers[2];
    TAPER_TRY(take_numbers(r, 2, numbers, words));
    for (size_t i = 0; i < 2; i++) {
        if (!is_side(&numbers[i])) {
            return wrong(r, words);
        }
        r->settings->size[i] = (int)numbers[i].integer;
    }
    return TAPER_OK;
}

static taper_status take_resize(const reading *r)
{
    bool is;
    taper_json_number number = {.whole = false};
    TAPER_TRY(is_next(r, TAPER_JSON_INT, &is));
    if (is) {
        TAPER_TRY(taper_json_take_number(r->json, &number));
    }
    if (!is_side(&number)) {
        return wrong(r, "\"resize\" must be a number of pixels");
    }
    r->settings->resize = (int)number.integer;
    r->settings->has_resize = true;
    return TAPER_OK;
}

static taper_status take_triple(const reading *r, float triple[3], bool *has, const char *words)
{
    taper_json_number numbers[3];
    TAPER_TRY(take_numbers(r, 3, numbers, words));
    for (size_t i = 0; i < 3; i++) {
        triple[i] = (float)numbers[i].number;
        if (!isfinite(triple[i])) {
            return wrong(r, words);
        }
    }
    *has = true;
    return TAPER_OK;
}

// Reads a string into the arena. Fails if it contains control characters, because they could control a terminal.
static taper_status take_string(const reading *r, const char **string)
{
    taper_json_text text;
    TAPER_TRY(taper_json_take_text(r->json, &text));
    char *made = taper_arena_array(&r->settings->arena, text.length + 1, 1);
    if (made == NULL) {
        return taper_fail_memory(r->error);
    }
    const size_t length = taper_json_decode(&text, made);
    for (size_t i = 0; i < length; i++) {
        made[i] = (unsigned char)made[i] < 32 || made[i] == 127 ? '?' : made[i];
    }
    made[length] = '\0';
    *string = made;
    return TAPER_OK;
}

static taper_status take_task(const reading *r)
{
    bool is;
    TAPER_TRY(is_next(r, TAPER_JSON_TEXT, &is));
    return is ? take_string(r, &r->settings->task) : wrong(r, "\"task\" must be a string");
}

static taper_status take_labels(const reading *r)
{
    bool is;
    taper_settings *s = r->settings;
    TAPER_TRY(is_next(r, TAPER_JSON_ARRAY, &is));
    if (!is) {
        return wrong(r, "\"labels\" must be an array of strings");
    }
    TAPER_TRY(count_items(r, &s->label_count));
    s->labels = taper_arena_array(&s->arena, s->label_count + 1, sizeof *s->labels);
    if (s->labels == NULL) {
        return taper_fail_memory(r->error);
    }
    TAPER_TRY(taper_json_enter(r->json, TAPER_JSON_ARRAY));
    for (size_t i = 0; i < s->label_count; i++) {
        TAPER_TRY(taper_json_next(r->json, &is));
        TAPER_TRY(is_next(r, TAPER_JSON_TEXT, &is));
        if (!is) {
            return wrong(r, "\"labels\" must be an array of strings");
        }
        TAPER_TRY(take_string(r, &s->labels[i]));
    }
    return taper_json_next(r->json, &is);
}

static bool is_color(const char *text, unsigned char rgb[3])
{
    static const char digits[] = "0123456789abcdef";
    if (text[0] != '#' || strlen(text) != 7) {
        return false;
    }
    for (size_t i = 0; i < 6; i++) {
        const char lower = text[i + 1] >= 'A' && text[i + 1] <= 'F' ? (char)(text[i + 1] + 32) : text[i + 1];
        const char *digit = strchr(digits, lower);
        if (digit == NULL) {
            return false;
        }
        rgb[i / 2] = (unsigned char)((i % 2 == 0 ? 0 : rgb[i / 2] * 16) + (digit - digits));
    }
    return true;
}

static taper_status take_colors(const reading *r)
{
    static const char words[] = "\"colors\" must be strings like \"#ff9f1c\"";
    bool is;
    taper_settings *s = r->settings;
    TAPER_TRY(is_next(r, TAPER_JSON_ARRAY, &is));
    if (!is) {
        return wrong(r, words);
    }
    size_t count;
    TAPER_TRY(count_items(r, &count));
    s->color_count = 0;
    s->colors = taper_arena_array(&s->arena, count + 1, sizeof *s->colors);
    if (s->colors == NULL) {
        return taper_fail_memory(r->error);
    }
    TAPER_TRY(taper_json_enter(r->json, TAPER_JSON_ARRAY));
    for (size_t i = 0; i < count; i++) {
        const char *text;
        TAPER_TRY(taper_json_next(r->json, &is));
        TAPER_TRY(is_next(r, TAPER_JSON_TEXT, &is));
        if (!is) {
            return wrong(r, words);
        }
        TAPER_TRY(take_string(r, &text));
        if (!is_color(text, s->colors[i])) {
            return wrong(r, words);
        }
    }
    s->color_count = count;
    return taper_json_next(r->json, &is);
}

static TAPER_COLD taper_status wrong_input(const reading *r, size_t index)
{
    return taper_fail(r->error, TAPER_ERROR_FILE,
                      "%s: input %zu must be null, or have \"dtype\": \"quint8\", \"scale\", a number, and "
                      "\"zero_point\", an integer",
                      r->name, index);
}

// Reads {"dtype": "quint8", "scale": S, "zero_point": Z}, or null.
static taper_status take_input(const reading *r, size_t index, input_settings *input)
{
    bool is, dtype = false, scale = false, point = false, more;
    TAPER_TRY(is_next(r, TAPER_JSON_NULL, &is));
    if (is) {
        return taper_json_take_null(r->json);
    }
    TAPER_TRY(is_next(r, TAPER_JSON_OBJECT, &is));
    if (!is) {
        return wrong_input(r, index);
    }
    taper_json_text name;
    TAPER_TRY(taper_json_enter(r->json, TAPER_JSON_OBJECT));
    TAPER_TRY(taper_json_member(r->json, &name, &more));
    while (more) {
        taper_json_kind kind;
        taper_json_number number;
        TAPER_TRY(taper_json_peek(r->json, &kind));
        if (kind == TAPER_JSON_TEXT && taper_json_is(&name, "dtype")) {
            taper_json_text text;
            TAPER_TRY(taper_json_take_text(r->json, &text));
            dtype = taper_json_is(&text, "quint8");
        } else if (kind == TAPER_JSON_INT && taper_json_is(&name, "scale")) {
            TAPER_TRY(taper_json_take_number(r->json, &number));
            input->scale = number.number;
            scale = true;
        } else if (kind == TAPER_JSON_INT && taper_json_is(&name, "zero_point")) {
            TAPER_TRY(taper_json_take_number(r->json, &number));
            input->zero_point = number.integer;
            point = number.whole;
        } else {
            TAPER_TRY(taper_json_skip(r->json));
        }
        TAPER_TRY(taper_json_member(r->json, &name, &more));
    }
    input->said = dtype && scale && point;
    return input->said ? TAPER_OK : wrong_input(r, index);
}

static taper_status take_inputs(const reading *r)
{
    bool is;
    taper_settings *s = r->settings;
    TAPER_TRY(is_next(r, TAPER_JSON_ARRAY, &is));
    if (!is) {
        return wrong(r, "\"inputs\" must be an array");
    }
    TAPER_TRY(count_items(r, &s->input_count));
    s->inputs = taper_arena_array(&s->arena, s->input_count + 1, sizeof *s->inputs);
    if (s->inputs == NULL) {
        return taper_fail_memory(r->error);
    }
    TAPER_TRY(taper_json_enter(r->json, TAPER_JSON_ARRAY));
    for (size_t i = 0; i < s->input_count; i++) {
        TAPER_TRY(taper_json_next(r->json, &is));
        TAPER_TRY(take_input(r, i, &s->inputs[i]));
    }
    return taper_json_next(r->json, &is);
}

static taper_status take_member(const reading *r, const taper_json_text *name)
{
    taper_settings *s = r->settings;
    return taper_json_is(name, "task")     ? take_task(r)
           : taper_json_is(name, "size")   ? take_size(r)
           : taper_json_is(name, "resize") ? take_resize(r)
           : taper_json_is(name, "mean")   ? take_triple(r, s->mean, &s->has_mean, "\"mean\" must be three numbers")
           : taper_json_is(name, "std")    ? take_triple(r, s->std, &s->has_std, "\"std\" must be three numbers")
           : taper_json_is(name, "labels") ? take_labels(r)
           : taper_json_is(name, "colors") ? take_colors(r)
           : taper_json_is(name, "inputs") ? take_inputs(r)
                                           : taper_json_skip(r->json);
}

static taper_status take_all(const reading *r)
{
    bool is, more;
    taper_json_text name;
    TAPER_TRY(is_next(r, TAPER_JSON_OBJECT, &is));
    if (!is) {
        return wrong(r, "must hold an object");
    }
    TAPER_TRY(taper_json_enter(r->json, TAPER_JSON_OBJECT));
    TAPER_TRY(taper_json_member(r->json, &name, &more));
    while (more) {
        TAPER_TRY(take_member(r, &name));
        TAPER_TRY(taper_json_member(r->json, &name, &more));
    }
    return taper_json_end(r->json);
}

// ---- creating and releasing settings

static taper_status create(taper_context *context, taper_settings **settings, taper_error *error)
{
    taper_settings *made = taper_alloc_zeroed(&context->allocator, sizeof *made);
    if (made == NULL) {
        return taper_fail_memory(error);
    }
    taper_context_retain(context);
    made->context = context;
    made->task = "";
    taper_arena_init(&made->arena, &context->allocator);
    *settings = made;
    return TAPER_OK;
}

taper_status taper_settings_parse(taper_context *context, const char *name, const void *text, size_t size,
                                  taper_settings **settings, taper_error *error)
{
    taper_settings *made;
    TAPER_NEED_OUT(settings, error);
    TAPER_NEED(context, error);
    TAPER_NEED_ARRAY(text, size, error);
    name = name != NULL ? name : settings_name;
    if (size > size_limit) {
        TAPER_FAIL(error, TAPER_ERROR_RESOURCE, "%s: has more than 64 MiB", name);
    }
    TAPER_TRY(create(context, &made, error));
    taper_json json = taper_json_make(text, size, 0, name, DEPTH_LIMIT, error);
    const reading r = {made, &json, name, error};
    const taper_status status = take_all(&r);
    if (status != TAPER_OK) {
        taper_settings_release(made);
        return status;
    }
    *settings = made;
    return TAPER_OK;
}

static taper_status read_file(taper_context *context, const char *path, taper_settings **settings, taper_error *error)
{
    int fd;
    void *block;
    size_t size;
    taper_status status = taper_open_file(path, &fd, error);
    if (status == TAPER_OK) {
        status = taper_read_fd(&context->allocator, fd, 0, 0, &block, &size, error);
        taper_close_file(fd);
    }
    if (status != TAPER_OK) {
        taper_error_prefix(error, "%s: ", path);
    } else {
        status = taper_settings_parse(context, path, block, size, settings, error);
        taper_free(&context->allocator, block, size);
    }
    return status;
}

taper_status taper_settings_read(taper_model *model, const char *path, taper_settings **settings, taper_error *error)
{
    const void *data;
    size_t size;
    TAPER_NEED_OUT(settings, error);
    TAPER_NEED(model, error);
    for (size_t i = 0; i < taper_model_extra_count(model); i++) {
        if (strcmp(taper_model_extra_name(model, i), settings_name) == 0) {
            TAPER_TRY(taper_model_extra(model, settings_name, &data, &size, error));
            return taper_settings_parse(model->context, NULL, data, size, settings, error);
        }
    }
    return path != NULL ? read_file(model->context, path, settings, error) : create(model->context, settings, error);
}

void taper_settings_release(taper_settings *settings)
{
    if (settings != NULL) {
        taper_context *context = settings->context;
        taper_arena_free(&settings->arena);
        taper_free(&context->allocator, settings, sizeof *settings);
        taper_context_release(context);
    }
}

// ---- reading the parsed settings

const char *taper_settings_task(const taper_settings *settings)
{
    return settings != NULL ? settings->task : "";
}

size_t taper_settings_label_count(const taper_settings *settings)
{
    return settings != NULL ? settings->label_count : 0;
}

const char *taper_settings_label(const taper_settings *settings, size_t index)
{
    return settings != NULL && index < settings->label_count ? settings->labels[index] : NULL;
}

int taper_settings_color(const taper_settings *settings, size_t index, unsigned char rgb[3])
{
    if (settings == NULL || rgb == NULL || index >= settings->color_count) {
        return 0;
    }
    memcpy(rgb, settings->colors[index], 3);
    return 1;
}

taper_status taper_settings_quantize(taper_context *context, const taper_settings *settings, size_t index,
                                     taper_value *value, taper_value **quantized, taper_error *error)
{
    taper_tensor_info info = {.struct_size = sizeof info};
    TAPER_NEED_OUT(quantized, error);
    TAPER_NEED(context, error);
    TAPER_NEED(settings, error);
    TAPER_NEED(value, error);
    const input_settings *input = index < settings->input_count ? &settings->inputs[index] : NULL;
    bool wanted = input != NULL && input->said && taper_value_kind(value) == TAPER_KIND_TENSOR;
    if (wanted) {
        TAPER_TRY(taper_value_get_tensor(value, &info, error));
        wanted = info.dtype == TAPER_F32;
    }
    if (wanted) {
        const taper_status status =
            taper_value_quantize(context, value, TAPER_QU8, input->scale, input->zero_point, quantized, error);
        if (status != TAPER_OK) {
            taper_error_prefix(error, "%s: input %zu: ", settings_name, index);
        }
        return status;
    }
    *quantized = taper_value_retain(value);
    return TAPER_OK;
}

taper_status taper_settings_preparation(const taper_settings *settings, const char *task,
                                        taper_preparation *preparation, taper_error *error)
{
    TAPER_NEED(preparation, error);
    taper_preparation full = {
        .width = 224, .height = 224, .resize = 256, .mean = {0.485f, 0.456f, 0.406f}, .std = {0.229f, 0.224f, 0.225f}};
    if (strcmp(task != NULL ? task : taper_settings_task(settings), "segment") == 0) {
        full.width = full.height = 0;
        full.resize = 520;
    }
    if (settings != NULL) {
        if (settings->size[0] != 0) {
            full.width = settings->size[0];
            full.height = settings->size[1];
            full.resize = 0;
        }
        full.resize = settings->has_resize ? settings->resize : full.resize;
        memcpy(full.mean, settings->has_mean ? settings->mean : full.mean, sizeof full.mean);
        memcpy(full.std, settings->has_std ? settings->std : full.std, sizeof full.std);
    }
    return taper_struct_write(preparation, "taper_preparation", &full, sizeof full, error);
}
