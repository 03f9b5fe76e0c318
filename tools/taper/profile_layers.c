// SPDX-License-Identifier: BSD-2-Clause
#include "taper/profile_layers.h"

#include <stdlib.h>
#include <string.h>

#include "common/errors.h"

typedef struct finding {
    const opened_model *plain;
    profile_layers *layers;
    char path[1024];
} finding;

static void take_module(void *user, const char *text, size_t length)
{
    // PyTorch's quantized linear layers store their weights in this attribute, which is not a module.
    static const char packed[] = "._packed_params";
    const size_t end = sizeof packed - 1;
    finding *f = user;
    length -= length > end && memcmp(text + length - end, packed, end) == 0 ? end : 0;
    snprintf(f->path, sizeof f->path, "%.*s", (int)(length < 1000 ? length : 1000), text);
}

// Takes the module name from a text such as "Module
// hierarchy:top(Net)::forward.features(Sequential)::forward.0(Conv2d)::forward.aten::conv2d". The module name consists
// of the names before the parentheses, without the first name: "features.0".
static void take_hierarchy(void *user, const char *text, size_t length)
{
    static const char begin[] = "Module hierarchy:top(";
    finding *f = user;
    size_t used = 0;
    if (length < sizeof begin - 1 || memcmp(text, begin, sizeof begin - 1) != 0) {
        return;
    }
    const char *end = memchr(text, '\n', length);
    end = end != NULL ? end : text + length;
    f->path[0] = '\0';
    for (const char *at = text + sizeof begin - 1; at < end;) {
        const char *close = memchr(at, ')', (size_t)(end - at));
        const char *dot = close != NULL ? memchr(close, '.', (size_t)(end - close)) : NULL;
        const char *open = dot != NULL ? memchr(dot, '(', (size_t)(end - dot)) : NULL;
        if (open == NULL || used + (size_t)(open - dot) >= sizeof f->path) {
            return;
        }
        used += (size_t)snprintf(f->path + used, sizeof f->path - used, "%s%.*s", used != 0 ? "." : "",
                                 (int)(open - dot - 1), dot + 1);
        at = open + 1;
    }
}

static bool add(profile_layers *layers, const char *method, uint32_t value, const char *module)
{
    if (layers->count == layers->capacity) {
        const size_t capacity = layers->capacity != 0 ? 2 * layers->capacity : 256;
        named_value *items = realloc(layers->items, capacity * sizeof *items);
        if (items == NULL) {
            return false;
        }
        layers->items = items;
        layers->capacity = capacity;
    }
    named_value *item = &layers->items[layers->count];
    *item = (named_value){strdup(method), value, strdup(module)};
    layers->count++;
    return item->method != NULL && item->module != NULL;
}

static void observe(void *user, const taper_observation *o)
{
    finding *f = user;
    f->path[0] = '\0';
    if (f->layers->failed || strncmp(o->name, "prim::GetAttr", o->name_length) == 0 ||
        taper_inspect_place(f->plain->model, o->node, TAPER_PLACE_MODULE, take_module, f, NULL) != TAPER_OK) {
        return;
    }
    if (f->path[0] == '\0' &&
        taper_inspect_place(f->plain->model, o->node, TAPER_PLACE_SOURCE, take_hierarchy, f, NULL) != TAPER_OK) {
        return;
    }
    if (f->path[0] != '\0') {
        f->layers->failed = !add(f->layers, o->method, o->value, f->path);
    }
}

static int by_value(const void *a, const void *b)
{
    const named_value *x = a, *y = b;
    const int methods = strcmp(x->method, y->method);
    return methods != 0 ? methods : (x->value > y->value) - (x->value < y->value);
}

bool profile_layers_find(const opened_model *opened, const model_options *options, const char *method,
                         const call_inputs *inputs, profile_layers *layers)
{
    opened_model plain = {.path = opened->path};
    taper_load_options load = {.struct_size = sizeof load,
                               .flags = (options->evaluation ? TAPER_LOAD_EVALUATION : 0) |
                                        (options->no_guards ? TAPER_LOAD_NO_GUARDS : 0)};
    load_limits_apply(&options->limits, &load);
    taper_value *result = NULL;
    *layers = (profile_layers){0};
    if (taper_model_load(opened->context, opened->path, &load, &plain.model, NULL) == TAPER_OK &&
        taper_session_create(plain.model, options->session.struct_size != 0 ? &options->session : NULL, &plain.session,
                             NULL) == TAPER_OK) {
        finding f = {.plain = &plain, .layers = layers};
        taper_session_observe(plain.session, observe, &f);
        if (taper_session_run(plain.session, method, inputs->values, inputs->count, &result, NULL) == TAPER_OK) {
            taper_value_release(result);
        }
    }
    taper_session_destroy(plain.session);
    taper_model_release(plain.model);
    if (layers->failed) {
        profile_layers_release(layers);
        return error_report_memory(opened->path);
    }
    if (layers->count != 0) {
        qsort(layers->items, layers->count, sizeof *layers->items, by_value);
    }
    return true;
}

void profile_layers_release(profile_layers *layers)
{
    for (size_t i = 0; i < layers->count; i++) {
        free(layers->items[i].method);
        free(layers->items[i].module);
    }
    free(layers->items);
    *layers = (profile_layers){0};
}

const char *profile_layers_module(const profile_layers *layers, const taper_profile_item *item)
{
    const named_value key = {(char *)(uintptr_t)(item->method != NULL ? item->method : ""), item->value, NULL};
    const named_value *found =
        layers->count != 0 ? bsearch(&key, layers->items, layers->count, sizeof key, by_value) : NULL;
    return found != NULL ? found->module : "";
}
