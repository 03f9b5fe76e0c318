// SPDX-License-Identifier: BSD-2-Clause
// Operators that the host calls without a model (taper_operator.h).
#include <taper/taper_operator.h>

#include "base/arguments.h"
#include "ops/call/fit.h"
#include "ops/call/generator.h"
#include "ops/engine/random.h"
#include "ops/gradient/tape.h"
#include "ops/list/registered.h"
#include "runtime/context.h"
#include "runtime/device.h"

struct taper_operator {
    taper_context *context;
    const taper_op *op;
    const taper_schema *schema;
    taper_kernel fast; // kernel of the CPU backend; NULL if there is only the operator's own kernel
    taper_run run;
    taper_rng rng;
    bool calling;
};

// ---- recording for gradients

static taper_status run_kernel(const void *user, taper_call *call)
{
    const taper_operator *const op = user;
    const taper_status status = op->fast != NULL ? taper_call_kernel(call, op->fast) : TAPER_DECLINED;
    return status != TAPER_DECLINED ? status : taper_call_kernel(call, taper_row_kernel(op->op));
}

#ifdef TAPER_WITH_GRADIENTS

static taper_status call_recorded(const taper_operator *op, taper_call *call)
{
    return op->run.tape == NULL ? run_kernel(op, call) : taper_tape_run(call, run_kernel, op);
}

static void stop_recording(taper_operator *op)
{
    if (op->run.tape != NULL) {
        taper_tape_end(op->run.tape);
        taper_free(&op->context->allocator, op->run.tape, sizeof *op->run.tape);
        op->run.tape = NULL;
    }
}

static taper_status start_recording(taper_operator *op, taper_error *error)
{
    taper_tape *const tape = taper_alloc_zeroed(&op->context->allocator, sizeof *tape);
    if (tape == NULL) {
        return taper_fail_memory(error);
    }
    tape->heap = op->context->heap;
    tape->keeps = true;
    tape->lock = op->context->gradient_lock;
    op->run.choose = taper_context_kernel;
    op->run.choose_context = op->context;
    op->run.tape = tape;
    return TAPER_OK;
}

taper_status taper_operator_record(taper_operator *op, int on, taper_error *error)
{
    TAPER_NEED(op, error);
    if (op->calling) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "op is being called: a handle makes one call at a time");
    }
    if (on != 0 && op->run.tape == NULL) {
        TAPER_TRY(start_recording(op, error));
    }
    if (op->run.tape != NULL) { // the tape stays, because gradients may still be asked for
        op->run.tape->off = on == 0;
    }
    return TAPER_OK;
}

#else

static taper_status call_recorded(const taper_operator *op, taper_call *call)
{
    return run_kernel(op, call);
}

static void stop_recording(const taper_operator *op)
{
    (void)op;
}

taper_status taper_operator_record(taper_operator *op, int on, taper_error *error)
{
    TAPER_NEED(op, error);
    return on != 0 ? taper_gradients_built(error) : TAPER_OK;
}

#endif

// ---- finding operators

static TAPER_COLD taper_status not_found(taper_registry *registry, const char *text, const char *base,
                                         taper_error *error)
{
    (void)taper_fail(error, TAPER_ERROR_UNSUPPORTED, "operator %.*s is not part of this build", (int)strcspn(text, "("),
                     text);
    for (const taper_op *op = taper_row_first(base); op != NULL; op = taper_row_next(op)) {
        const taper_schema *schema;
        if (taper_registry_schema(registry, op, &schema, NULL) == TAPER_OK) {
            taper_error_add_detail(error, "  %s\n", schema->text);
        }
    }
    return TAPER_ERROR_UNSUPPORTED;
}

static bool same_but_blanks(const char *a, const char *b)
{
    for (;; a++, b++) {
        a += strspn(a, " ");
        b += strspn(b, " ");
        if (*a != *b || *a == '\0') {
            return *a == *b;
        }
    }
}

static taper_status find(taper_registry *registry, const char *text, const taper_op **op, const taper_schema **schema,
                         taper_error *error)
{
    char name[256]; // longer than the name of any operator in the list
    const size_t length = taper_min_size(strcspn(text, "("), sizeof name - 1);
    memcpy(name, text, length);
    name[length] = '\0';
    char *const dot = strchr(name, '.');
    if (dot != NULL) {
        *dot = '\0';
    }
    *op = taper_row_find(name, dot != NULL ? dot + 1 : "");
    if (*op == NULL || taper_op_has(*op, TAPER_OP_TARGET)) { // only the compiler may use such an operator
        return not_found(registry, text, name, error);
    }
    TAPER_TRY(taper_registry_schema(registry, *op, schema, error));
    if (text[length] == '(' && !same_but_blanks(text, (*schema)->text)) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "the operator's schema is another one: %s", (*schema)->text);
    }
    if ((*schema)->varret) {
        TAPER_FAIL(error, TAPER_ERROR_UNSUPPORTED, "%.*s has as many results as a model asks for: only models call it",
                   (int)length, text);
    }
    return TAPER_OK;
}

taper_status taper_operator_find(taper_context *context, const char *name, taper_operator **op, taper_error *error)
{
    const taper_op *row;
    const taper_schema *schema;
    TAPER_NEED_OUT(op, error);
    TAPER_NEED(context, error);
    TAPER_NEED(name, error);
    TAPER_TRY(find(context->registry, name, &row, &schema, error));
    taper_operator *made = taper_alloc_zeroed(&context->allocator, sizeof *made);
    if (made == NULL) {
        return taper_fail_memory(error);
    }
    taper_context_retain(context);
    made->context = context;
    made->op = row;
    made->schema = schema;
    made->fast = taper_context_kernel(context, row);
    taper_rng_seed(&made->rng, TAPER_RNG_SEED);
    made->run = (taper_run){.heap = context->heap,
                            .pool = context->pool,
                            .cpu = context->cpu,
                            .registry = context->registry,
                            .rng = &made->rng,
                            .portable = context->host == NULL,
                            .log = context->log,
                            .log_user = context->log_user,
                            .context = context,
                            .current = row};
    *op = made;
    return TAPER_OK;
}

void taper_operator_release(taper_operator *op)
{
    if (op != NULL) {
        taper_context *context = op->context;
        taper_generator_release(op->run.generator);
        stop_recording(op);
        taper_free(&context->allocator, op, sizeof *op);
        taper_context_release(context);
    }
}

const char *taper_operator_schema(const taper_operator *op)
{
    return op != NULL ? op->schema->text : "";
}

const char *taper_operator_listed(taper_context *context, size_t index)
{
    const taper_schema *schema;
    if (context == NULL || index >= taper_row_count) {
        return NULL;
    }
    const taper_op *op = &taper_ops[index];
    const bool callable = !taper_op_has(op, TAPER_OP_TARGET) &&
                          taper_registry_schema(context->registry, op, &schema, NULL) == TAPER_OK && !schema->varret;
    return callable ? schema->text : "";
}

size_t taper_operator_result_count(const taper_operator *op)
{
    return op != NULL ? op->schema->ret_count : 0;
}

void taper_operator_seed(taper_operator *op, uint64_t seed)
{
    if (op != NULL) {
        taper_rng_seed(&op->rng, seed);
    }
}

void taper_operator_draw_from(taper_operator *op, taper_generator *generator)
{
    if (op != NULL) {
        taper_run_draw_from(&op->run, generator, &op->rng);
    }
}

size_t taper_value_use_count(const taper_value *value)
{
    if (value == NULL) {
        return 0;
    }
    const size_t handles = taper_refs_count(&value->head.refs);
    // All handles together hold one reference to the object.
    return taper_val_is_object(value->val) ? handles - 1 + taper_refs_count(&value->val.as.obj->refs) : handles;
}

// ---- calling operators

static taper_status check_counts(const taper_schema *schema, size_t count, size_t result_count, taper_error *error)
{
    if (count > schema->arg_count && !schema->vararg) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "%zu arguments were given, it takes at most %u: %s", count,
                   (unsigned)schema->arg_count, schema->text);
    }
    for (size_t i = count; i < schema->arg_count; i++) {
        if (!schema->args[i].has_default) {
            TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "argument %zu ('%s') is missing: %s", i, schema->args[i].name,
                       schema->text);
        }
    }
    if (result_count != schema->ret_count) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "it has %u results, there is room for %zu: %s",
                   (unsigned)schema->ret_count, result_count, schema->text);
    }
    return TAPER_OK;
}

static taper_status gather(taper_operator *op, taper_value *const *args, size_t count, taper_val *vals,
                           taper_clone_memo **constants)
{
    const taper_schema *schema = op->schema;
    for (size_t i = 0; i < count; i++) {
        vals[i] = args[i] != NULL ? args[i]->val : taper_val_none();
        const bool object = taper_val_is_object(vals[i]); // an object may have to be copied, and must be settled
                                                          // (taper_settle)
        if (object) {
            TAPER_TRY(taper_clone_constants(op->run.heap, constants, vals[i], &vals[i], op->run.error));
        }
        if (i < schema->arg_count) {
            TAPER_TRY(taper_fit(&schema->args[i], "argument", i, &vals[i], op->run.error));
        }
        if (object) {
            TAPER_TRY(taper_settle(&op->run, vals[i]));
        }
    }
    for (size_t i = count; i < schema->arg_count; i++) {
        vals[i] = schema->args[i].default_value;
    }
    return TAPER_OK;
}

static taper_status run_kernels(taper_operator *op, taper_val *vals, size_t count, taper_val *rets)
{
    void *state = NULL;
    taper_call call = {.run = &op->run,
                       .op = op->op,
                       .param = taper_row_param(op->op),
                       .schema = op->schema,
                       .args = vals,
                       .arg_count = count,
                       .rets = rets,
                       .ret_count = op->schema->ret_count,
                       .state = &state};
    return call_recorded(op, &call);
}

// Makes handles for all results, or on failure for none of them. The handles take over the references.
static taper_status box_results(taper_operator *op, taper_val *rets, taper_value **results)
{
    const size_t count = op->schema->ret_count;
    for (size_t i = 0; i < count; i++) {
        TAPER_TRY(taper_settle(&op->run,
                               rets[i])); // no result may have hidden_nhwc, because threads of the host may share it
        results[i] = taper_box_new(op->run.heap, rets[i]);
        if (results[i] == NULL) {
            return taper_fail_memory(op->run.error);
        }
        rets[i] = taper_val_none();
    }
    return TAPER_OK;
}

static TAPER_COLD void blame(const taper_operator *op, const taper_val *vals, size_t count)
{
    taper_error *error = op->run.error;
    taper_text text = taper_text_make(&taper_allocator_system);
    taper_call_describe(op->schema, vals, count, &text);
    taper_error_add_detail(error, "called with %s\n", taper_text_get(&text));
    taper_text_free(&text);
}

static taper_status call_with(taper_operator *op, taper_value *const *args, size_t count, taper_val *vals,
                              taper_val *rets, taper_value **results)
{
    taper_clone_memo *constants = NULL;
    const size_t all = taper_max_size(count, op->schema->arg_count);
    for (size_t i = 0; i < op->schema->ret_count; i++) {
        rets[i] = taper_val_none();
    }
    taper_status status = gather(op, args, count, vals, &constants);
    if (status == TAPER_OK) {
        status = run_kernels(op, vals, all, rets);
        if (status != TAPER_OK) {
            blame(op, vals, all);
        }
    }
    if (status == TAPER_OK) {
        status = box_results(op, rets, results);
    }
    for (size_t i = 0; i < op->schema->ret_count; i++) {
        taper_val_release(rets[i]);
    }
    taper_clone_end(constants);
    return status;
}

static taper_status call_checked(taper_operator *op, taper_value *const *args, size_t count, taper_value **results)
{
    enum { FEW = 24 };
    taper_val few[FEW];
    taper_run *run = &op->run;
    const size_t vals = taper_max_size(count, op->schema->arg_count), total = vals + op->schema->ret_count;
    taper_val *place = total <= FEW ? few : taper_heap_alloc(run->heap, total * sizeof *place);
    if (place == NULL) {
        return taper_fail_memory(run->error);
    }
    run->work_left = 0;
    run->ended = TAPER_OK;
    const bool shares = run->shared; // predicted from the last call, because most operators are too small to share work
    if (shares) {
        taper_pool_enter(run->pool, true);
    }
    run->shared = false;
    const taper_status status = call_with(op, args, count, place, place + vals, results);
    if (shares) {
        taper_pool_leave(run->pool);
    }
    if (place != few) {
        taper_heap_free(run->heap, place, total * sizeof *place);
    }
    return status;
}

taper_status taper_operator_call(taper_operator *op, taper_value *const *args, size_t count, taper_value **results,
                                 size_t result_count, taper_error *error)
{
    TAPER_NEED_ARRAY(results, result_count, error);
    for (size_t i = 0; i < result_count; i++) {
        TAPER_TRY(taper_check_apart(&results[i], "a result's place", args, "args", count, error));
    }
    for (size_t i = 0; i < result_count; i++) {
        results[i] = NULL;
    }
    TAPER_NEED(op, error);
    TAPER_NEED_ARRAY(args, count, error);
    if (op->calling) { // a callback of the host calls the operator that called it
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "%.*s: op is being called: a handle makes one call at a time",
                   (int)strcspn(op->schema->text, "("), op->schema->text);
    }
    op->calling = true;
    op->run.error = error;
    taper_status status = check_counts(op->schema, count, result_count, error);
    if (status == TAPER_OK) {
        status = call_checked(op, args, count, results);
    }
    op->run.error = NULL;
    op->calling = false;
    if (status != TAPER_OK) {
        for (size_t i = 0; i < result_count; i++) {
            taper_value_release(results[i]);
            results[i] = NULL;
        }
        taper_error_prefix(error, "%.*s: ", (int)strcspn(op->schema->text, "("), op->schema->text);
    }
    return status;
}

// ---- lists for arguments

taper_status taper_value_list_int(taper_context *context, const int64_t *numbers, size_t count, taper_value **value,
                                  taper_error *error)
{
    TAPER_NEED_OUT(value, error);
    TAPER_NEED(context, error);
    TAPER_NEED_ARRAY(numbers, count, error);
    taper_list *list = taper_list_new(context->heap, &taper_type_int, count);
    for (size_t i = 0; list != NULL && i < count; i++) {
        list->items[list->count++] = taper_val_int(numbers[i]);
    }
    *value = list != NULL ? taper_box_new(context->heap, TAPER_VAL(list)) : NULL;
    if (*value == NULL) {
        taper_val_release(list != NULL ? TAPER_VAL(list) : taper_val_none());
        return taper_fail_memory(error);
    }
    return TAPER_OK;
}

// ---- tasks of the host

typedef struct host_tasks {
    void (*task)(void *argument, size_t index);
    void *argument;
} host_tasks;

static void run_host_tasks(void *argument, size_t begin, size_t end)
{
    const host_tasks *tasks = argument;
    for (size_t i = begin; i < end; i++) {
        tasks->task(tasks->argument, i);
    }
}

static bool go_on(void *user)
{
    (void)user;
    return true;
}

void taper_context_run_tasks(taper_context *context, void (*task)(void *argument, size_t index), void *argument,
                             size_t count)
{
    host_tasks tasks = {task, argument};
    taper_pool *pool = context != NULL && count > 1 ? context->pool : NULL;
    if (task == NULL) {
        return;
    }
    if (pool != NULL) {
        taper_pool_enter(pool, true);
    }
    (void)taper_pool_run(pool, run_host_tasks, &tasks, count, 1, go_on, NULL);
    if (pool != NULL) {
        taper_pool_leave(pool);
    }
}

// ---- registering operators

taper_status taper_operator_register(const char *schema, taper_operator_function function, void *user,
                                     taper_error *error)
{
    TAPER_NEED(schema, error);
    TAPER_NEED(function, error);
    return taper_registered_add(schema, function, user, error);
}

taper_status taper_error_set(taper_error *error, taper_status status, const char *message)
{
    return taper_fail(error, status, "%s", message != NULL ? message : "");
}
