// SPDX-License-Identifier: BSD-2-Clause
// Runs methods and puts their results in the host's memory. The planner places results there directly if it can
// (planner.h); otherwise they are copied.
#include "runtime/run_into.h"

#include "base/arguments.h"
#include "ir/tensor.h"
#include "runtime/planner.h"

// ---- checks before the run

enum { MOST = 256, MOST_LOOKS = 1 << 16 };

typedef struct destination {
    const taper_output *outputs;
    size_t needed[MOST]; // for each output: size of its elements in bytes
    size_t count;
    bool is_apart; // true if no output overlaps the memory of an input tensor
} destination;

static taper_status check_output(const taper_output *output, size_t index, size_t *needed, taper_error *error)
{
    const size_t item = taper_dtype_size(output->dtype);
    if (item == 0 || (output->dtype >= TAPER_QI8 && output->dtype <= TAPER_QI32)) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "output %zu: no result can be left as dtype %s", index,
                   taper_dtype_name(output->dtype));
    }
    if (output->rank > TAPER_MAX_RANK || (output->sizes == NULL && output->rank != 0)) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "output %zu should have up to %d sizes", index, TAPER_MAX_RANK);
    }
    size_t bytes = item;
    for (size_t d = 0; d < output->rank; d++) {
        if (output->sizes[d] < 0 || (uint64_t)output->sizes[d] > SIZE_MAX ||
            !taper_mul_size(bytes, (size_t)output->sizes[d], &bytes)) {
            TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "output %zu: size %zu is %lld", index, d,
                       (long long)output->sizes[d]);
        }
    }
    if (bytes > output->bytes || (output->data == NULL && bytes != 0)) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "output %zu has room for %zu bytes, its sizes need %zu", index,
                   output->data != NULL ? output->bytes : 0, bytes);
    }
    *needed = bytes;
    return TAPER_OK;
}

static bool overlap(const void *a, size_t a_bytes, const void *b, size_t b_bytes)
{
    const uintptr_t x = (uintptr_t)a, y = (uintptr_t)b;
    return a_bytes != 0 && b_bytes != 0 && (x <= y ? y - x < a_bytes : x - y < b_bytes);
}

// Searches the inputs for a tensor that an output overlaps. Shared containers may be reached on many paths, so the
// number of visits is limited.
typedef struct search {
    const destination *to;
    size_t left;  // number of values that may still be visited; 0 if the search was ended early
    size_t found; // index of the output that overlaps a tensor; to->count if there is none
} search;

static void look(search *s, taper_val value, int depth)
{
    if (s->left == 0 || depth > TAPER_LIMIT_VALUE_DEPTH) {
        s->left = 0;
        return;
    }
    s->left--;
    if (value.tag == TAPER_TENSOR) {
        const taper_storage *storage = value.as.tensor->storage;
        for (size_t i = 0; i < s->to->count && s->found == s->to->count; i++) {
            if (overlap(s->to->outputs[i].data, s->to->needed[i], storage->data, storage->bytes)) {
                s->found = i;
            }
        }
    } else if (value.tag >= TAPER_LIST && value.tag <= TAPER_OBJECT) {
        size_t count;
        const taper_val *items = taper_container_items((taper_container *)value.as.obj, &count);
        for (size_t i = 0; i < count && s->found == s->to->count && s->left != 0; i++) {
            look(s, items[i], depth + 1);
        }
    }
}

static taper_status check_apart(destination *to, taper_value *const *inputs, size_t input_count, taper_error *error)
{
    for (size_t i = 0; i < to->count; i++) {
        for (size_t k = 0; k < i; k++) {
            if (overlap(to->outputs[i].data, to->needed[i], to->outputs[k].data, to->needed[k])) {
                TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "outputs %zu and %zu overlap", k, i);
            }
        }
    }
    search s = {.to = to, .left = MOST_LOOKS, .found = to->count};
    for (size_t k = 0; k < input_count; k++) {
        look(&s, inputs[k]->val, 0);
        if (s.found != to->count) {
            TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "output %zu overlaps input %zu", s.found, k);
        }
    }
    to->is_apart = s.left != 0;
    return TAPER_OK;
}

static uint64_t layout_of(const taper_output *output)
{
    uint64_t h = (uint64_t)output->dtype * 31 + output->rank;
    for (size_t d = 0; d < output->rank; d++) {
        h = (h ^ (uint64_t)output->sizes[d]) * UINT64_C(0x9E3779B97F4A7C15);
        h ^= h >> 29;
    }
    return h;
}

// ---- copying results to the outputs after the run

typedef struct results {
    const taper_val *items;
    size_t count;
    bool shared; // true if other code also holds the list or tuple
} results;

static results results_of(const taper_value *value)
{
    const taper_val val = value->val;
    if (val.tag == TAPER_LIST || val.tag == TAPER_TUPLE) {
        taper_container *container = (taper_container *)val.as.obj;
        results r = {.shared = taper_refs_count(&val.as.obj->refs) != 1};
        r.items = taper_container_items(container, &r.count);
        return r;
    }
    return (results){&value->val, 1, false};
}

// Returns true if nothing except the result holds the tensor and its memory.
static bool is_own(const results *r, const taper_tensor *t)
{
    const int kind = t->storage->kind;
    return !r->shared && taper_refs_count(&t->head.refs) == 1 && taper_refs_count(&t->storage->head.refs) == 1 &&
           (kind == TAPER_STORAGE_OWNED || kind == TAPER_STORAGE_PLANNED || kind == TAPER_STORAGE_HOST) &&
           t->storage->release == NULL;
}

static bool is_mine(const void *user, const taper_storage *storage)
{
    const results *r = user;
    for (size_t i = 0; i < r->count; i++) {
        if (r->items[i].tag == TAPER_TENSOR && r->items[i].as.tensor->storage == storage) {
            return is_own(r, r->items[i].as.tensor);
        }
    }
    return false;
}

static TAPER_COLD taper_status wrong_result(const taper_output *output, size_t index, const taper_val result,
                                            taper_error *error)
{
    taper_text is = taper_text_make(&taper_allocator_system), wanted = is;
    taper_text_format(&wanted, "%s", taper_dtype_name(output->dtype));
    for (size_t d = 0; d < output->rank; d++) {
        taper_text_format(&wanted, "%s%lld", d == 0 ? " " : "x", (long long)output->sizes[d]);
    }
    if (result.tag == TAPER_TENSOR) {
        const taper_tensor *t = result.as.tensor;
        taper_text_format(&is, "%s", taper_dtype_name((taper_dtype)t->dtype));
        for (size_t d = 0; d < t->rank; d++) {
            taper_text_format(&is, "%s%lld", d == 0 ? " " : "x", (long long)t->sizes[d]);
        }
    } else {
        taper_val_type_print(result, &is);
    }
    const taper_status status = taper_fail(error, TAPER_ERROR_ARGUMENT, "output %zu is %s, the result is %s", index,
                                           taper_text_get(&wanted), taper_text_get(&is));
    taper_text_free(&is);
    taper_text_free(&wanted);
    return status;
}

static taper_status check_result(const results *r, size_t index, const taper_output *output, taper_error *error)
{
    const taper_val result = r->items[index];
    const taper_tensor *t = result.tag == TAPER_TENSOR ? result.as.tensor : NULL;
    bool fits = t != NULL && t->dtype == output->dtype && t->rank == output->rank;
    for (size_t d = 0; fits && d < output->rank; d++) {
        fits = t->sizes[d] == output->sizes[d];
    }
    if (!fits) {
        return wrong_result(output, index, result, error);
    }
    if (!is_own(r, t)) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT,
                   "result %zu shares its memory with an input, the model's state or another result: taper_session_run "
                   "gives it as a value",
                   index);
    }
    return TAPER_OK;
}

// Copies the elements contiguously to `data`, unless they are already at `data`.
static taper_status copy_result(taper_session *session, taper_tensor *t, void *data, size_t bytes, taper_error *error)
{
    taper_tensor *whole;
    if (bytes == 0 || taper_tensor_data(t) == data) {
        session->placed_results += bytes != 0;
        return TAPER_OK;
    }
    TAPER_TRY(taper_tensor_contiguous(session->heap, t, &whole, error));
    memcpy(data, taper_tensor_data(whole), bytes);
    taper_obj_release(&whole->head);
    return TAPER_OK;
}

static bool is_whole(const taper_tensor *t, size_t bytes)
{
    return bytes != 0 && t->storage->bytes == bytes && taper_tensor_data(t) == t->storage->data &&
           taper_tensor_is_contiguous(t);
}

static taper_status take_results(taper_session *session, const taper_function *function, const results *r,
                                 const destination *to, taper_error *error)
{
    const taper_output *const outputs = to->outputs;
    const size_t *const needed = to->needed, count = to->count;
    if (r->count != count) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "the method gives %zu results, there are %zu outputs", r->count, count);
    }
    for (size_t i = 0; i < count; i++) {
        TAPER_TRY(check_result(r, i, &outputs[i], error));
    }
    taper_result remembered[TAPER_MOST_LENT];
    for (size_t i = 0; i < count; i++) {
        taper_tensor *t = r->items[i].as.tensor;
        if (i < TAPER_MOST_LENT) {
            remembered[i] = (taper_result){is_whole(t, needed[i]) ? t->storage : NULL, layout_of(&outputs[i])};
        }
        TAPER_TRY(copy_result(session, t, outputs[i].data, needed[i], error));
    }
    if (count <= TAPER_MOST_LENT && taper_program_repeats(&function->program)) {
        taper_planner_remember_results(session->planner, remembered, count);
    }
    return TAPER_OK;
}

// ---- the run

// Runs the method with the outputs as lent memory. If outputs overlap inputs, an operator could write to memory that
// another one still reads, so all results are copied instead.
static taper_status run_into(taper_session *session, const taper_function *function, const char *method,
                             taper_value *const *inputs, size_t count, const destination *to, taper_error *error)
{
    taper_lease leases[TAPER_MOST_LENT];
    const taper_output *const outputs = to->outputs;
    const size_t lent = session->observe != NULL || to->count > TAPER_MOST_LENT || !to->is_apart ? 0 : to->count;
    for (size_t i = 0; i < lent; i++) {
        const bool aligned = (uintptr_t)outputs[i].data % TAPER_ALIGNMENT == 0;
        leases[i] = (taper_lease){outputs[i].data, aligned ? to->needed[i] : 0, layout_of(&outputs[i])};
    }
    session->placed_results = 0;
    taper_planner_lend(session->planner, leases, lent);
    taper_value *value;
    taper_status status = taper_session_call(session, method, inputs, count, &value, error);
    results r = {0};
    if (status == TAPER_OK) {
        r = results_of(value);
    }
    const taper_status back = taper_planner_take_back(session->planner, is_mine, &r, status == TAPER_OK ? error : NULL);
    if (status == TAPER_OK) {
        status = back;
    }
    // Copies results that have stayed on a device to the host.
    for (size_t i = 0; status == TAPER_OK && i < r.count; i++) {
        status = r.items[i].tag == TAPER_TENSOR ? taper_tensor_settle(r.items[i].as.tensor, error) : TAPER_OK;
    }
    if (status == TAPER_OK) {
        status = take_results(session, function, &r, to, error);
    }
    taper_value_release(value);
    return status;
}

taper_status taper_session_run_into(taper_session *session, const char *method, taper_value *const *inputs,
                                    size_t count, const taper_output *outputs, size_t output_count, taper_error *error)
{
    destination to; // not initialized, because most of this large struct is not used
    TAPER_NEED(session, error);
    TAPER_TRY(taper_check_items(inputs, "inputs", count, error));
    TAPER_NEED_ARRAY(outputs, output_count, error);
    if (output_count > MOST) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "there are more than %d outputs", MOST);
    }
    to.outputs = outputs;
    to.count = output_count;
    for (size_t i = 0; i < output_count; i++) {
        TAPER_TRY(check_output(&outputs[i], i, &to.needed[i], error));
    }
    TAPER_TRY(check_apart(&to, inputs, count, error));
    TAPER_TRY(taper_session_enter(session, error));
    const taper_function *function;
    taper_status status = taper_session_find(session, method, &function, error);
    if (status == TAPER_OK) {
        status = run_into(session, function, method, inputs, count, &to, error);
    }
    taper_session_leave(session);
    return status;
}
