// SPDX-License-Identifier: BSD-2-Clause
// Explains why a model refused its inputs. First the model runs again with one changed input, once for each conversion
// that people often forget. Then the model as it was saved runs up to the operator that fails.
#include <taper/taper_app.h>
#include <taper/taper_inspect.h>

#include "base/arguments.h"
#include "ir/tensor_def.h"
#include "platform/platform.h"
#include "runtime/session.h"

typedef struct advice {
    taper_context *context;
    taper_session *session; // separate session, so that the state of the host's session does not change
    double until;           // time by which the runs must have ended, as taper_clock returns it
    const char *method;
    taper_value **inputs; // inputs of the call; this struct owns the array, not the values
    taper_value **twins;  // array for copies of the `count` inputs
    size_t count;
    taper_error *error; // error of the failed run
} advice;

static void say_nothing(void *user, taper_log_level level, const char *text, size_t length)
{
    (void)user, (void)level, (void)text, (void)length;
}

enum {
    MOST_SECONDS = 10
}; // limit for all runs together, because the user waits for the error message during these runs

// Creates a session whose runs are limited and print nothing.
static taper_status open_session(taper_model *model, taper_session **session)
{
    const taper_session_options limits = {.struct_size = sizeof limits, .time_budget = MOST_SECONDS};
    const taper_status status = taper_session_create(model, &limits, session, NULL);
    if (status == TAPER_OK) {
        (*session)->run.log = say_nothing;
    }
    return status;
}

// Copies the inputs, so that a run that writes to them, or appends to a list, does not change the originals.
static taper_status make_twins(const advice *a, taper_session *session, size_t *made)
{
    taper_clone_memo *memo;
    TAPER_TRY(taper_clone_begin(session->heap, &memo, NULL));
    taper_status status = TAPER_OK;
    while (status == TAPER_OK && *made < a->count) {
        taper_val twin;
        status = taper_clone_value(memo, a->inputs[*made]->val, &twin, NULL);
        if (status == TAPER_OK) {
            a->twins[*made] = taper_box_new(session->heap, twin);
            if (a->twins[*made] != NULL) {
                (*made)++;
            } else {
                taper_val_release(twin);
                status = TAPER_ERROR_RESOURCE;
            }
        }
    }
    taper_clone_end(memo);
    return status;
}

static taper_status try_run(const advice *a, taper_session *session)
{
    size_t made = 0;
    taper_value *result = NULL;
    const double left = a->until - taper_clock();
    if (left <= 0) {
        return TAPER_ERROR_RESOURCE;
    }
    session->time_budget = left;
    taper_status status = make_twins(a, session, &made);
    if (status == TAPER_OK) {
        status = taper_session_run(session, a->method, a->twins, made, &result, NULL);
    }
    taper_value_release(result);
    while (made != 0) {
        taper_value_release(a->twins[--made]);
    }
    return status;
}

// ---- one change to one tensor

// Makes the tensor that the user may have meant. It may share the memory of `given`. Returns NULL if the change does
// not apply.
typedef taper_value *(*change)(const advice *a, const taper_tensor_info *old, taper_value *given);

static taper_value *make_view(const advice *a, const taper_tensor_info *old, size_t rank, const int64_t *sizes,
                              const int64_t *strides)
{
    taper_value *value;
    return taper_value_tensor_from(a->context, old->dtype, rank, sizes, strides, old->data, old->bytes, 1, NULL, NULL,
                                   &value, NULL) == TAPER_OK
               ? value
               : NULL;
}

static taper_value *add_batch(const advice *a, const taper_tensor_info *old, taper_value *given)
{
    int64_t sizes[TAPER_MAX_RANK], strides[TAPER_MAX_RANK];
    (void)given;
    if (old->quantized != 0 || old->rank == 0 || old->rank >= TAPER_MAX_RANK) {
        return NULL;
    }
    sizes[0] = 1;
    strides[0] = old->sizes[0] * old->strides[0];
    memcpy(sizes + 1, old->sizes, old->rank * sizeof *sizes);
    memcpy(strides + 1, old->strides, old->rank * sizeof *strides);
    return make_view(a, old, old->rank + 1, sizes, strides);
}

static taper_value *channels_first(const advice *a, const taper_tensor_info *old, taper_value *given)
{
    static const size_t order[] = {2, 0, 1}; // order of dimensions of a [height, width, channels] tensor
    const size_t rank = old->rank, first = rank == 4 ? 1 : 0;
    int64_t sizes[4] = {1, 0, 0, 0}, strides[4] = {0};
    (void)given;
    if (old->quantized != 0 || rank < 3 || rank > 4 || old->sizes[rank - 1] > 4) {
        return NULL;
    }
    for (size_t i = 0; i < 3; i++) {
        sizes[i + 1] = old->sizes[first + order[i]];
        strides[i + 1] = old->strides[first + order[i]];
    }
    if (rank == 4) {
        sizes[0] = old->sizes[0];
        strides[0] = old->strides[0];
    }
    return make_view(a, old, 4, sizes, strides);
}

static taper_value *to_float(const advice *a, const taper_tensor_info *old, taper_value *given)
{
    const taper_dtype dtype = old->dtype;
    taper_value *value = NULL;
    const bool other = dtype == TAPER_F64 || dtype == TAPER_U8 || dtype == TAPER_I32 || dtype == TAPER_I64;
    return other && taper_value_floats(a->context, given, &value, NULL) == TAPER_OK ? value : NULL;
}

static const struct {
    change make;
    const char *what;
} changes[] = {
    {add_batch, "with a batch dimension"},
    {channels_first, "with the channels before height and width"},
    {to_float, "converted"},
};

// Writes a description such as "float32 [1, 3, 96, 96]".
static void describe(const taper_tensor_info *info, taper_text *text)
{
    taper_text_format(text, "%s [", taper_dtype_name(info->dtype));
    for (size_t i = 0; i < info->rank; i++) {
        taper_text_format(text, "%s%lld", i != 0 ? ", " : "", (long long)info->sizes[i]);
    }
    taper_text_string(text, "]");
}

static bool try_change(const advice *a, size_t index, size_t number)
{
    taper_tensor_info old = {.struct_size = sizeof old}, new = {.struct_size = sizeof new};
    taper_value *const given = a->inputs[index];
    if (taper_value_kind(given) != TAPER_KIND_TENSOR || taper_value_get_tensor(given, &old, NULL) != TAPER_OK) {
        return false;
    }
    taper_value *const changed = changes[number].make(a, &old, given);
    if (changed == NULL) {
        return false;
    }
    a->inputs[index] = changed;
    const bool found = taper_value_get_tensor(changed, &new, NULL) == TAPER_OK && try_run(a, a->session) == TAPER_OK;
    a->inputs[index] = given;
    if (found) {
        taper_text before = taper_text_make(&a->context->allocator), after = before;
        describe(&old, &before);
        describe(&new, &after);
        taper_error_add_detail(a->error, "input %zu is %s; the model takes it %s: %s\n", index, taper_text_get(&before),
                               changes[number].what, taper_text_get(&after));
        taper_text_free(&before);
        taper_text_free(&after);
    }
    taper_value_release(changed);
    return found;
}

// ---- the failing layer

typedef struct failing {
    const char *method;
    const taper_node *last; // last node that produced a result
    taper_text module;
} failing;

static void note_last(void *user, const taper_observation *seen)
{
    failing *f = user;
    const char *dot = strrchr(seen->method, '.');
    if (dot != NULL && strcmp(dot + 1, f->method) == 0) {
        f->last = seen->node;
    }
}

static void take_module(void *user, const char *text, size_t length)
{
    taper_text_append(&((failing *)user)->module, text, length);
}

// Finds the node that failed. The failed node follows the last node that produced a result.
static void find_module(failing *f, const taper_model *model)
{
    const taper_function *function = taper_model_find(model, taper_model_name(model), f->method);
    const taper_graph *graph = function != NULL ? function->program.graph : NULL;
    const taper_node *node = f->last != NULL ? f->last->next : graph != NULL ? graph->body->first : NULL;
    while (node != NULL && (node->kind == TAPER_NODE_CONSTANT || node->kind == TAPER_NODE_GET_ATTR)) {
        node = node->next;
    }
    if (node != NULL && taper_inspect_place(model, node, TAPER_PLACE_MODULE, take_module, f, NULL) != TAPER_OK) {
        f->module.length = 0;
    }
}

// Runs the model as it was saved, up to the operator that fails.
static void find_layer(const advice *a, failing *f)
{
    const taper_blob *blob = (const taper_blob *)a->session->model->module.blob;
    const taper_load_options as_saved = {.struct_size = sizeof as_saved, .flags = TAPER_LOAD_EVALUATION};
    taper_model *model;
    taper_session *session;
    if (blob == NULL || taper_clock() >= a->until ||
        taper_model_load_memory(a->context, blob->data, blob->size, NULL, NULL, &as_saved, &model, NULL) != TAPER_OK) {
        return;
    }
    if (open_session(model, &session) == TAPER_OK) {
        taper_session_observe(session, note_last, f);
        if (try_run(a, session) == TAPER_ERROR_ARGUMENT) {
            find_module(f, model);
        }
        taper_session_destroy(session);
    }
    taper_model_release(model);
}

static void tell_inputs(const advice *a)
{
    failing f = {.method = a->method, .module = taper_text_make(&a->context->allocator)};
    find_layer(a, &f);
    for (size_t i = 0; i < a->count; i++) {
        taper_tensor_info info = {.struct_size = sizeof info};
        taper_text text = taper_text_make(&a->context->allocator);
        const char *name = taper_model_argument_name(a->session->model, a->method, i);
        if (taper_value_kind(a->inputs[i]) == TAPER_KIND_TENSOR &&
            taper_value_get_tensor(a->inputs[i], &info, NULL) == TAPER_OK) {
            describe(&info, &text);
            taper_error_add_detail(a->error, "input %zu%s%s%s was %s%s%s\n", i, name != NULL ? " (" : "",
                                   name != NULL ? name : "", name != NULL ? ")" : "", taper_text_get(&text),
                                   f.module.length != 0 ? ", refused in " : "", taper_text_get(&f.module));
        }
        taper_text_free(&text);
    }
    taper_text_free(&f.module);
}

taper_status taper_session_advise(taper_session *session, const char *method, taper_value *const *inputs, size_t count,
                                  taper_error *error)
{
    TAPER_NEED(session, error);
    TAPER_TRY(taper_check_items(inputs, "inputs", count, error));
    if (taper_error_status(error) != TAPER_ERROR_ARGUMENT) {
        return TAPER_OK; // the run ended by a limit of time or memory, or by an error that the model itself raises
    }
    const taper_allocator *allocator = &session->model->context->allocator;
    advice a = {.context = session->model->context,
                .method = method != NULL ? method : "forward",
                .inputs = taper_alloc(allocator, (2 * count + 1) * sizeof *a.inputs),
                .count = count,
                .error = error,
                .until = taper_clock() + MOST_SECONDS};
    taper_status status = a.inputs != NULL ? open_session(session->model, &a.session) : TAPER_ERROR_RESOURCE;
    if (status == TAPER_OK) {
        a.twins = a.inputs + count;
        for (size_t i = 0; i < count; i++) {
            a.inputs[i] = inputs[i];
        }
        bool found = false;
        for (size_t number = 0; !found && number < sizeof changes / sizeof *changes; number++) {
            for (size_t i = 0; !found && i < count; i++) {
                found = try_change(&a, i, number);
            }
        }
        if (!found) {
            tell_inputs(&a);
        }
        taper_session_destroy(a.session);
    }
    taper_free(allocator, a.inputs, (2 * count + 1) * sizeof *a.inputs);
    return status;
}
