// SPDX-License-Identifier: BSD-2-Clause
// Scores for apps (taper_app.h): finds the tensor of scores in a result, converts it to probabilities, and finds the
// best classes.
#include <taper/taper_app.h>

#include <math.h>
#include <string.h>

#include "app/app_values.h"
#include "base/arguments.h"
#include "runtime/context.h"

// ---- the tensor in a result

// Returns the index of the entry that contains the scores.
static size_t choose_entry(const taper_dict *dict)
{
    static const char *const names[] = {"out", "logits"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        for (size_t i = 0; i < dict->count; i++) {
            const taper_val key = taper_dict_key(dict, i);
            if (key.tag == TAPER_STRING && strcmp(key.as.string->data, names[k]) == 0) {
                return i;
            }
        }
    }
    return 0;
}

taper_status taper_scores_find(const taper_value *result, taper_value **scores, taper_error *error)
{
    TAPER_NEED_OUT(scores, error);
    TAPER_NEED(result, error);
    const taper_tag tag = result->val.tag;
    if (tag == TAPER_TENSOR) {
        *scores = taper_value_retain((taper_value *)(uintptr_t)result);
        return TAPER_OK;
    }
    if ((tag == TAPER_DICT || tag == TAPER_TUPLE || tag == TAPER_LIST) && taper_value_count(result) != 0) {
        const size_t at = tag == TAPER_DICT ? choose_entry(result->val.as.dict) : 0;
        TAPER_TRY(taper_value_item(result, at, scores, error));
        if ((*scores)->val.tag == TAPER_TENSOR) {
            return TAPER_OK;
        }
        taper_value_release(*scores);
        *scores = NULL;
    }
    char type[256];
    taper_value_type(result, type, sizeof type);
    TAPER_FAIL(error, TAPER_ERROR_ARGUMENT,
               "the result is %s; a tensor of scores is needed, alone, as entry \"out\" or first", type);
}

// ---- probabilities

static bool are_probabilities(const float *scores, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        if (!(scores[i] >= -1e-6f && scores[i] <= 1 + 1e-6f)) {
            return false;
        }
        sum += (double)scores[i];
    }
    return fabs(sum - 1) < 1e-3;
}

static void softmax(float *scores, size_t count)
{
    if (count < 2 || are_probabilities(scores, count)) {
        return;
    }
    double largest = -INFINITY, sum = 0;
    for (size_t i = 0; i < count; i++) {
        largest = (double)scores[i] > largest ? (double)scores[i] : largest;
    }
    for (size_t i = 0; i < count; i++) {
        const double e = exp((double)scores[i] - largest);
        sum += isnan(e) ? 0 : e;
    }
    for (size_t i = 0; i < count; i++) {
        scores[i] = (float)(exp((double)scores[i] - largest) / sum);
    }
}

taper_status taper_scores_softmax(taper_context *context, const taper_value *scores, taper_value **probabilities,
                                  taper_error *error)
{
    taper_tensor_info info = {.struct_size = sizeof info};
    TAPER_NEED_OUT(probabilities, error);
    TAPER_NEED(context, error);
    TAPER_NEED(scores, error);
    TAPER_TRY(taper_value_floats(context, scores, probabilities, error));
    taper_tensor *tensor = (*probabilities)->val.as.tensor;
    const size_t count = (size_t)taper_tensor_numel(tensor);
    const size_t row = tensor->rank != 0 ? (size_t)tensor->sizes[tensor->rank - 1] : 1;
    float *numbers = taper_tensor_mutable(tensor);
    for (size_t i = 0; i < count; i += row) {
        softmax(numbers + i, row);
    }
    return TAPER_OK;
}

// ---- finding the best scores

// Returns true if score a is better than score b. NaN is the worst score.
static bool better(float a, float b)
{
    return isnan(b) ? !isnan(a) : a > b;
}

static size_t choose_best(const float *scores, size_t count, taper_ranked *ranked, size_t room)
{
    size_t kept = 0;
    for (size_t i = 0; i < count && room != 0; i++) {
        if (kept == room && !better(scores[i], ranked[kept - 1].score)) {
            continue;
        }
        size_t at = kept < room ? kept++ : kept - 1;
        while (at > 0 && better(scores[i], ranked[at - 1].score)) {
            ranked[at] = ranked[at - 1];
            at--;
        }
        ranked[at] = (taper_ranked){i, scores[i]};
    }
    return kept;
}

taper_status taper_scores_top(taper_context *context, const taper_value *scores, taper_ranked *ranked, size_t room,
                              size_t *count, taper_error *error)
{
    taper_tensor *floats;
    TAPER_NEED(count, error);
    *count = 0;
    TAPER_NEED(context, error);
    TAPER_NEED(scores, error);
    TAPER_NEED_ARRAY(ranked, room, error);
    TAPER_TRY(taper_app_floats(context, scores, &floats, error));
    *count = choose_best(taper_tensor_data(floats), (size_t)taper_tensor_numel(floats), ranked, room);
    taper_obj_release(&floats->head);
    return TAPER_OK;
}
