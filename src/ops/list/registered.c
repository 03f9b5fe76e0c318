// SPDX-License-Identifier: BSD-2-Clause
// The host's own operators. The list belongs to the process, because a schema means the same in every context. All
// other data belongs to contexts. The list only grows, at its end, so reading needs no lock. Overloads of one name
// remain in the order of registration.
#include "ops/list/registered.h"

#include <stdio.h>

#include "ir/storage.h"
#include "ops/call/fit.h"
#include "ops/list/op_table.h"

typedef struct registered {
    taper_op op; // must be the first member, because its address identifies the operator
    _Atomic(struct registered *) next;
    taper_operator_function function;
    void *user;
    size_t name_length; // number of characters of the name in text, for example of "my_ops::warp"
    char text[];
} registered;

static _Atomic(registered *) first;
static taper_spin adding = ATOMIC_FLAG_INIT;

static registered *of(const taper_op *op)
{
    return (registered *)(uintptr_t)op;
}

static const taper_op *find(registered *at, const char *name, size_t length)
{
    while (at != NULL && (at->name_length != length || memcmp(at->text, name, length) != 0)) {
        at = atomic_load_explicit(&at->next, memory_order_acquire);
    }
    return at != NULL ? &at->op : NULL;
}

const taper_op *taper_registered_first(const char *name)
{
    return find(atomic_load_explicit(&first, memory_order_acquire), name, strlen(name));
}

const taper_op *taper_registered_next(const taper_op *op)
{
    registered *r = of(op);
    return find(atomic_load_explicit(&r->next, memory_order_acquire), r->text, r->name_length);
}

const char *taper_registered_text(const taper_op *op)
{
    return of(op)->text;
}

bool taper_registered_names(const char *name)
{
    static const char letters[] = TAPER_NAME_LETTERS ".";
    const size_t length = strlen(name);
    for (registered *r = atomic_load_explicit(&first, memory_order_acquire); r != NULL;
         r = atomic_load_explicit(&r->next, memory_order_acquire)) {
        for (const char *at = strstr(r->text, name); at != NULL; at = strstr(at + 1, name)) {
            if (strspn(at, letters) == length && at != r->text && strchr(letters, at[-1]) == NULL) {
                return true;
            }
        }
    }
    return false;
}

// ---- adding an operator

// Returns the end of the list, or NULL if the list already contains the name and overload of `made`.
static _Atomic(registered *) *end_without(const registered *made)
{
    const size_t length = strcspn(made->text, "(") + 1;
    _Atomic(registered *) *link = &first;
    for (registered *r; (r = atomic_load_explicit(link, memory_order_relaxed)) != NULL; link = &r->next) {
        if (strncmp(r->text, made->text, length) == 0) {
            return NULL;
        }
    }
    return link;
}

taper_status taper_registered_append(const char *schema, const taper_op *op, taper_operator_function function,
                                     void *user, taper_error *error)
{
    const size_t length = strlen(schema), size = sizeof(registered) + length + 1;
    registered *made = taper_alloc_zeroed(&taper_allocator_system, size);
    if (made == NULL) {
        return taper_fail_memory(error);
    }
    memcpy(made->text, schema, length + 1);
    made->name_length = strcspn(schema, ".(");
    made->function = function;
    made->user = user;
    made->op = *op;
    taper_spin_lock(&adding);
    _Atomic(registered *) *end = end_without(made);
    if (end != NULL) {
        atomic_store_explicit(end, made, memory_order_release);
    }
    taper_spin_unlock(&adding);
    if (end == NULL) {
        taper_free(&taper_allocator_system, made, size);
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "operator %.*s is registered already", (int)strcspn(schema, "("),
                   schema);
    }
    return TAPER_OK;
}

// ---- calling an operator

static taper_status box(taper_call *call, size_t i, taper_value **boxed)
{
    taper_run *run = call->run;
    const taper_schema_arg *declared = &call->schema->args[i];
    taper_val value = call->args[i];
    TAPER_TRY(taper_fit(declared, "argument", i, &value, run->error));
    if (declared->written && value.tag == TAPER_TENSOR) {
        TAPER_TRY(taper_storage_write(value.as.tensor->storage, run->error));
    }
    *boxed = taper_box_new(run->heap, taper_val_retain(value));
    if (*boxed == NULL) {
        taper_val_release(value);
        return taper_fail_memory(run->error);
    }
    return TAPER_OK;
}

// Fails with the status that the function returned, and with the message that it put into the error.
static TAPER_COLD taper_status failed(const registered *r, taper_status status, taper_error *error)
{
    if ((unsigned)status > TAPER_ERROR_INTERNAL) {
        TAPER_FAIL(error, TAPER_ERROR_INTERNAL, "its function returned %d, which is not a status", (int)status);
    }
    char words[512];
    const char *message = taper_error_message(error);
    snprintf(words, sizeof words, "%s", message[0] != '\0' ? message : "its function failed and did not say why");
    if (status == TAPER_ERROR_RAISED) { // the executor does not change the message of a raised error
        TAPER_FAIL(error, status, "%.*s: %s", (int)strcspn(r->text, "("), r->text, words);
    }
    TAPER_FAIL(error, status, "%s", words);
}

static taper_status take_results(taper_call *call, taper_value *const *results)
{
    for (size_t i = 0; i < call->ret_count; i++) {
        if (results[i] == NULL) {
            TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "its function gave no result %zu", i);
        }
        taper_val value = results[i]->val;
        TAPER_TRY(taper_fit(&call->schema->rets[i], "result", i, &value, call->run->error));
        taper_ret(call, i, taper_val_retain(value));
    }
    return TAPER_OK;
}

taper_status taper_op_registered(taper_call *call)
{
    const registered *r = of(call->op);
    taper_run *run = call->run;
    const size_t count = call->arg_count, all = count + call->ret_count, bytes = (all + 1) * sizeof(taper_value *);
    if (run->context == NULL || count != call->schema->arg_count || call->ret_count != call->schema->ret_count) {
        TAPER_FAIL(run->error, TAPER_ERROR_UNSUPPORTED, "an operator of the host cannot be called in this way");
    }
    taper_value **boxes = taper_heap_alloc(run->heap, bytes), **results = boxes + count;
    if (boxes == NULL) {
        return taper_fail_memory(run->error);
    }
    memset((void *)boxes, 0, bytes);
    taper_status status = TAPER_OK;
    for (size_t i = 0; status == TAPER_OK && i < count; i++) {
        status = box(call, i, &boxes[i]);
    }
    if (status == TAPER_OK) {
        taper_error_clear(run->error);
        status = r->function(r->user, run->context, boxes, count, results, call->ret_count, run->error);
        if (status != TAPER_OK) {
            status = failed(r, status, run->error);
        } else {
            taper_error_clear(run->error); // removes errors that the function ignored
            status = take_results(call, results);
        }
    }
    for (size_t i = 0; i < all; i++) {
        taper_value_release(boxes[i]);
    }
    taper_heap_free(run->heap, (void *)boxes, bytes);
    return status;
}
