// SPDX-License-Identifier: BSD-2-Clause
#include "taper/inputs.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/errors.h"
#include "common/input.h"
#include "common/suggest.h"
#include "taper/settings.h"
#include "taper/vision.h"

void inputs_release(call_inputs *inputs)
{
    for (size_t i = 0; i < inputs->count; i++) {
        taper_value_release(inputs->values[i]);
    }
    free(inputs->values);
    *inputs = (call_inputs){0};
}

static bool inputs_create(size_t count, call_inputs *inputs)
{
    *inputs = (call_inputs){calloc(count + 1, sizeof *inputs->values), 0};
    return inputs->values != NULL || error_report_memory(NULL);
}

static bool check_method(const opened_model *opened, const char *method, size_t count)
{
    const char *name = method != NULL ? method : "forward";
    if (!model_has_method(opened, name)) {
        suggestion near = suggest_for(name, strlen(name));
        for (size_t i = 0; i < taper_model_method_count(opened->model); i++) {
            suggest_among(&near, taper_model_method_name(opened->model, i));
        }
        return error_report(opened->path, "the model has no method \"%s\"%s", name,
                            near.best != NULL ? suggest_text(&near) : "; `taper inspect` lists what it has");
    }
    const int takes = taper_model_method_arguments(opened->model, name);
    return takes < 0 || count <= (size_t)takes ||
           error_report(opened->path, "%s takes %d inputs, %zu were given", name, takes, count);
}

// Writes "input 1 (mask)" or "call 2, input 1 (mask)" to text.
static void describe(const opened_model *opened, const char *method, const char *call, size_t index, char *text,
                     size_t size)
{
    const char *name = taper_model_argument_name(opened->model, method != NULL ? method : "forward", index);
    snprintf(text, size, "%sinput %zu%s%s%s", call, index, name != NULL ? " (" : "", name != NULL ? name : "",
             name != NULL ? ")" : "");
}

bool inputs_quantize(const opened_model *opened, const char *method, call_inputs *inputs)
{
    bool done = true;
    for (size_t i = 0; done && i < inputs->count && (method == NULL || strcmp(method, "forward") == 0); i++) {
        done = settings_quantize_input(opened, i, &inputs->values[i]);
    }
    if (!done) {
        inputs_release(inputs);
    }
    return done;
}

static bool picture_tensor(void *user, const char *path, taper_value **value)
{
    const opened_model *opened = user;
    vision_options options;
    vision v;
    image picture;
    vision_options_init(&options);
    if (!vision_create(opened, opened->vision != NULL ? opened->vision : &options, false, &v)) {
        return false;
    }
    bool done = vision_read(&v, path, false, &picture);
    if (done) {
        done = vision_prepare(&v, opened, path, &picture, value);
        image_release(&picture);
    }
    vision_release(&v);
    return done;
}

static input_source make_source(const opened_model *opened, const char *subject, const char *folder, size_t index)
{
    return (input_source){.context = opened->context,
                          .error = opened->error,
                          .subject = subject,
                          .folder = folder,
                          .number = index,
                          .picture = picture_tensor,
                          .user = (void *)(uintptr_t)opened};
}

bool inputs_from_texts(const opened_model *opened, const char *method, const arg_texts *texts, call_inputs *inputs)
{
    *inputs = (call_inputs){0};
    if (!check_method(opened, method, texts->count) || !inputs_create(texts->count, inputs)) {
        return false;
    }
    for (size_t i = 0; i < texts->count; i++) {
        char subject[256];
        describe(opened, method, "", i, subject, sizeof subject);
        const input_source source = make_source(opened, subject, NULL, i);
        const taper_type *type = taper_model_argument_type(opened->model, method != NULL ? method : "forward", i);
        if (!input_from_text(&source, texts->items[i], type, &inputs->values[i])) {
            inputs_release(inputs);
            return false;
        }
        inputs->count++;
    }
    return inputs_quantize(opened, method, inputs);
}

bool inputs_from_json(const opened_model *opened, const char *method, const json_value *items, const char *folder,
                      size_t call, call_inputs *inputs)
{
    char prefix[64];
    snprintf(prefix, sizeof prefix, "call %zu, ", call);
    *inputs = (call_inputs){0};
    if (!check_method(opened, method, items->count) || !inputs_create(items->count, inputs)) {
        return false;
    }
    for (size_t i = 0; i < items->count; i++) {
        char subject[256];
        describe(opened, method, prefix, i, subject, sizeof subject);
        const input_source source = make_source(opened, subject, folder, i);
        const taper_type *type = taper_model_argument_type(opened->model, method != NULL ? method : "forward", i);
        if (!input_from_json(&source, &items->items[i], type, &inputs->values[i])) {
            inputs_release(inputs);
            return false;
        }
        inputs->count++;
    }
    return inputs_quantize(opened, method, inputs);
}

// Takes the inputs of sample `index` from the result of get_all_bundled_inputs.
static bool take_sample(const opened_model *opened, const taper_value *all, size_t index, call_inputs *inputs)
{
    const size_t samples = taper_value_count(all);
    taper_value *sample = NULL;
    if (taper_value_kind(all) != TAPER_KIND_LIST || index >= samples) {
        return error_report(opened->path, "the model has only %zu bundled inputs, number %zu was asked for", samples,
                            index);
    }
    if (taper_value_item(all, index, &sample, opened->error) != TAPER_OK) {
        return error_report_library(opened->path, opened->error);
    }
    const size_t count = taper_value_count(sample);
    bool done = inputs_create(count, inputs);
    while (done && inputs->count < count) {
        done = taper_value_item(sample, inputs->count, &inputs->values[inputs->count], opened->error) == TAPER_OK ||
               error_report_library(opened->path, opened->error);
        inputs->count += done;
    }
    taper_value_release(sample);
    if (!done) {
        inputs_release(inputs);
    }
    return done;
}

// Writes the name of the method that returns the samples of `name`. Returns false if there is no such method.
static bool find_getter(const opened_model *opened, const char *name, char getter[512])
{
    snprintf(getter, 512, "get_all_bundled_inputs");
    if (strcmp(name, "forward") != 0 || !model_has_method(opened, getter)) {
        snprintf(getter, 512, "get_all_bundled_inputs_for_%.400s", name);
    }
    return model_has_method(opened, getter);
}

long inputs_default(const opened_model *opened, const char *method)
{
    const char *name = method != NULL ? method : "forward";
    char getter[512];
    // A file without schemas does not tell how many arguments a method requires.
    if (taper_model_method_required(opened->model, name) == 0 || !find_getter(opened, name, getter)) {
        return -1;
    }
    fputs("no input is given: the model's bundled input 0 is used\n", stderr);
    return 0;
}

bool inputs_from_bundle(const opened_model *opened, const char *method, size_t index, call_inputs *inputs)
{
    const char *name = method != NULL ? method : "forward";
    char getter[512];
    *inputs = (call_inputs){0};
    if (!find_getter(opened, name, getter)) {
        return error_report(opened->path, "the model carries no bundled inputs for %s; give inputs with -i", name);
    }
    taper_value *all;
    if (!model_run(opened, getter, NULL, 0, &all)) {
        return false;
    }
    const bool done = take_sample(opened, all, index, inputs);
    taper_value_release(all);
    return done;
}
