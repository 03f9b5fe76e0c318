// SPDX-License-Identifier: BSD-2-Clause
// The host's own operators: a list of the process, since schemas mean the same to every context. It only grows, at its
// end, so that it is read without a lock; overloads of one name stay in the order in which they came. It is the one
// thing here that a process has and not a context.
#include "ops/list/registered.h"

#include <stdio.h>

#include "ir/storage.h"
#include "ops/call/fit.h"
#include "ops/list/op_rows.h"

typedef struct registered {
    taper_op op; // the first: operators are known by its address
    _Atomic(struct registered *) next;
    taper_operator_function function;
    void *user;
    size_t name_length; // of "my_ops::warp" in text
    char text[];
} registered;

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789"

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
    static const char letters[] = LETTERS ".";
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

// ---- adding

static taper_status bad(const char *schema, const char *why, taper_error *error)
{
    TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "\"%.200s\" is no schema for an operator: %s", schema, why);
}

// What the parser of our own schemas need not expect.
static const char *bad_text(const char *text)
{
    enum { LONGEST = 2000, DIGITS = 2 };
    const size_t length = strlen(text), space = strspn(text, LETTERS);
    if (length > LONGEST || strspn(text, LETTERS "!\"'()*+,-.:<=>?[] |") != length) {
        return "it is too long, or has a character that no schema has";
    }
    const size_t base = strncmp(text + space, "::", 2) == 0 ? strspn(text + space + 2, LETTERS) : 0;
    const char *end = text + space + (base != 0 ? base + 2 : 0);
    if (*end == '.') {
        end += 1 + strspn(end + 1, LETTERS);
    }
    if (space == 0 || base == 0 || *end != '(' || end[-1] == '.' || strncmp(text, "taper::", 7) == 0) {
        return "it begins with a name as in my_ops::warp( or my_ops::warp.overload(";
    }
    if (strchr("!(*,-.:=>[| +", text[length - 1]) != NULL) {
        return "it ends too early";
    }
    for (const char *c = strchr(text, '['); c != NULL; c = strchr(c + 1, '[')) {
        if (strspn(c + 1, "0123456789") > DIGITS && c[-1] != '=' && c[-1] != ' ') { // of int[2], not of =[1, 2]
            return "a list is too long";
        }
    }
    return NULL;
}

// A type that values can be held against.
static bool is_known(const taper_type *type)
{
    switch ((taper_type_kind)type->kind) {
    case TAPER_TYPE_OPAQUE:
    case TAPER_TYPE_VARIABLE:
    case TAPER_TYPE_FUTURE:
    case TAPER_TYPE_UNION:
        return false;
    case TAPER_TYPE_DICT:
        if (type->count != 2) {
            return false;
        }
        break;
    default:
        break;
    }
    for (uint32_t i = 0; i < type->count; i++) {
        if (!is_known(type->items[i])) {
            return false;
        }
    }
    return true;
}

static taper_status check_items(const taper_schema *schema, const taper_schema_arg *items, uint32_t count,
                                taper_error *error)
{
    for (uint32_t i = 0; i < count; i++) {
        taper_val value = items[i].default_value;
        if (!is_known(items[i].type)) {
            return bad(schema->text, "a type of it is not known", error);
        }
        if (items[i].has_default && taper_fit(&items[i], "argument", i, &value, NULL) != TAPER_OK) {
            return bad(schema->text, "a default is not of its argument's type", error);
        }
    }
    return TAPER_OK;
}

// Parses it once, with types and values that are dropped: each context parses it for itself.
static taper_status check_schema(const char *text, taper_error *error)
{
    const char *const wrong = bad_text(text);
    if (wrong != NULL) {
        return bad(text, wrong, error);
    }
    taper_types *types;
    taper_heap *heap;
    taper_schema schema = {0};
    taper_arena arena;
    taper_arena_init(&arena, &taper_allocator_system);
    TAPER_TRY(taper_types_create(&taper_allocator_system, &types, error));
    taper_status status = taper_heap_create(&taper_allocator_system, types, &heap, error);
    if (status == TAPER_OK) {
        status = taper_schema_parse(&arena, heap, types, text, &schema, error);
        if (status == TAPER_ERROR_INTERNAL) { // where the text is ours
            char words[200];
            snprintf(words, sizeof words, "%s", taper_error_message(error));
            status = taper_fail(error, TAPER_ERROR_ARGUMENT, "%s", words);
        }
        if (status == TAPER_OK && (schema.vararg || schema.varret)) {
            status = bad(text, "the numbers of its arguments and results are not fixed", error);
        }
        if (status == TAPER_OK) {
            status = check_items(&schema, schema.args, schema.arg_count, error);
        }
        if (status == TAPER_OK) {
            status = check_items(&schema, schema.rets, schema.ret_count, error);
        }
        for (uint32_t i = 0; i < schema.arg_count; i++) {
            taper_val_release(schema.args[i].default_value);
        }
        taper_heap_close(heap);
    }
    taper_types_release(types);
    taper_arena_free(&arena);
    return status;
}

// The end of the list, unless the very name with its overload is in it.
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

taper_status taper_registered_add(const char *schema, taper_operator_function function, void *user, taper_error *error)
{
    TAPER_TRY(check_schema(schema, error));
    const size_t length = strlen(schema), size = sizeof(registered) + length + 1;
    registered *made = taper_alloc_zeroed(&taper_allocator_system, size);
    if (made == NULL) {
        return taper_fail_memory(error);
    }
    memcpy(made->text, schema, length + 1);
    made->name_length = strcspn(schema, ".(");
    made->function = function;
    made->user = user;
    made->op = taper_ops[TAPER_ROW_COUNT]; // whose facts are those of the host's
    made->text[made->name_length] = '\0';
    const bool own = taper_row_is_listed(made->text);
    made->text[made->name_length] = schema[made->name_length];
    _Atomic(registered *) *end = NULL;
    if (!own) {
        taper_spin_lock(&adding);
        end = end_without(made);
        if (end != NULL) {
            atomic_store_explicit(end, made, memory_order_release);
        }
        taper_spin_unlock(&adding);
    }
    if (end == NULL) {
        taper_free(&taper_allocator_system, made, size);
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "operator %.*s %s", (int)strcspn(schema, "("), schema,
                   own ? "is Taper's own" : "is registered already");
    }
    return TAPER_OK;
}

// ---- calling

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

// What the function said, in an error that has the status it returned.
static TAPER_COLD taper_status failed(const registered *r, taper_status status, taper_error *error)
{
    if ((unsigned)status > TAPER_ERROR_INTERNAL) {
        TAPER_FAIL(error, TAPER_ERROR_INTERNAL, "its function returned %d, which is no status", (int)status);
    }
    char words[512];
    const char *message = taper_error_message(error);
    snprintf(words, sizeof words, "%s", message[0] != '\0' ? message : "its function failed and did not say why");
    if (status == TAPER_ERROR_RAISED) { // whose message the executor leaves alone
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
            taper_error_clear(run->error); // of what the function did without
            status = take_results(call, results);
        }
    }
    for (size_t i = 0; i < all; i++) {
        taper_value_release(boxes[i]);
    }
    taper_heap_free(run->heap, (void *)boxes, bytes);
    return status;
}
