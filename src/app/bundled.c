// SPDX-License-Identifier: BSD-2-Clause
// Inputs in a model's file (taper_app.h). torch.utils.bundled_inputs adds a method get_all_bundled_inputs_for_NAME for
// each method that has inputs, and get_all_bundled_inputs for forward. Older files have only get_all_bundled_inputs.
#include <taper/taper_app.h>

#include <stdio.h>
#include <string.h>

#include "base/arguments.h"
#include "runtime/session.h"

static const char prefix[] = "get_all_bundled_inputs_for_", plain[] = "get_all_bundled_inputs";

static bool has_method(const taper_model *model, const char *name)
{
    for (size_t i = 0; i < taper_model_method_count(model); i++) {
        if (strcmp(taper_model_method_name(model, i), name) == 0) {
            return true;
        }
    }
    return false;
}

const char *taper_bundled_method(const taper_model *model, size_t index)
{
    for (size_t i = 0; i < taper_model_method_count(model); i++) {
        const char *name = taper_model_method_name(model, i);
        const bool alone = strcmp(name, plain) == 0 && !has_method(model, "get_all_bundled_inputs_for_forward");
        if (alone || strncmp(name, prefix, sizeof prefix - 1) == 0) {
            if (index == 0) {
                return alone ? "forward" : name + sizeof prefix - 1;
            }
            index--;
        }
    }
    return NULL;
}

// Gets all bundled samples of a method as a list. *all is NULL if the model has no samples for the method.
static taper_status samples(taper_session *session, const char *method, taper_value **all, taper_error *error)
{
    char getter[512];
    *all = NULL;
    const int length = snprintf(getter, sizeof getter, "%s%s", prefix, method != NULL ? method : "forward");
    const taper_model *model = session->model;
    if (length < 0 || (size_t)length >= sizeof getter) {
        return TAPER_OK; // no method has such a name
    }
    const char *name = getter;
    if (!has_method(model, name)) {
        name = plain;
        if ((method != NULL && strcmp(method, "forward") != 0) || !has_method(model, name)) {
            return TAPER_OK;
        }
    }
    TAPER_TRY(taper_session_run(session, name, NULL, 0, all, error));
    if (taper_value_kind(*all) != TAPER_KIND_LIST) {
        taper_value_release(*all);
        *all = NULL;
        TAPER_FAIL(error, TAPER_ERROR_FILE, "the model's method %s gives no list", name);
    }
    return TAPER_OK;
}

taper_status taper_bundled_count(taper_session *session, const char *method, size_t *count, taper_error *error)
{
    taper_value *all;
    TAPER_NEED(count, error);
    *count = 0;
    TAPER_NEED(session, error);
    TAPER_TRY(samples(session, method, &all, error));
    *count = taper_value_count(all);
    taper_value_release(all);
    return TAPER_OK;
}

static taper_status take(const taper_value *sample, taper_value **inputs, size_t room, size_t *count,
                         taper_error *error)
{
    const taper_kind kind = taper_value_kind(sample);
    if (kind != TAPER_KIND_TUPLE && kind != TAPER_KIND_LIST) {
        TAPER_FAIL(error, TAPER_ERROR_FILE, "the model's bundled input is no tuple of arguments");
    }
    *count = taper_value_count(sample);
    if (*count > room) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "the sample has %zu inputs, there is room for %zu", *count, room);
    }
    for (size_t i = 0; i < *count; i++) {
        const taper_status status = taper_value_item(sample, i, &inputs[i], error);
        if (status != TAPER_OK) {
            for (size_t k = 0; k < i; k++) {
                taper_value_release(inputs[k]);
                inputs[k] = NULL;
            }
            *count = 0;
            return status;
        }
    }
    return TAPER_OK;
}

taper_status taper_bundled_inputs(taper_session *session, const char *method, size_t index, taper_value **inputs,
                                  size_t room, size_t *count, taper_error *error)
{
    taper_value *all, *sample;
    TAPER_NEED(count, error);
    *count = 0;
    TAPER_NEED_ARRAY(inputs, room, error);
    for (size_t i = 0; i < room; i++) {
        inputs[i] = NULL;
    }
    TAPER_NEED(session, error);
    TAPER_TRY(samples(session, method, &all, error));
    const size_t there = taper_value_count(all);
    if (index >= there) {
        taper_value_release(all);
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "%s has %zu bundled inputs, number %zu was asked for",
                   method != NULL ? method : "forward", there, index);
    }
    taper_status status = taper_value_item(all, index, &sample, error);
    taper_value_release(all);
    if (status == TAPER_OK) {
        status = take(sample, inputs, room, count, error);
        taper_value_release(sample);
    }
    return status;
}
