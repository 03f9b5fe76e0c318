// SPDX-License-Identifier: BSD-2-Clause
// The operators of the language itself: tuples, identity, casts, exceptions and printing. PyTorch's global switches are
// here too; in this library each switch has one fixed value.
#include "ops/lang/prim.h"

#include <stdio.h>

#include "ops/lang/scalar.h"
#include "ops/lang/string_ops.h"
#include "ops/list/shared_kernels.h"

static taper_status arg_value(const taper_call *call, size_t at, taper_val *value)
{
    if (at >= call->arg_count) {
        return taper_fail(call->run->error, TAPER_ERROR_ARGUMENT, "argument %zu is missing", at);
    }
    *value = call->args[at];
    return TAPER_OK;
}

static taper_status arg_tuple(const taper_call *call, size_t at, taper_tuple **tuple)
{
    taper_val value = taper_val_none();
    TAPER_TRY(arg_value(call, at, &value));
    if (value.tag != TAPER_TUPLE) {
        return taper_fail(call->run->error, TAPER_ERROR_ARGUMENT, "expected a tuple, got %s",
                          taper_val_kind_name(value));
    }
    *tuple = value.as.tuple;
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_tuple_index)
{
    taper_tuple *tuple = NULL;
    int64_t index;
    TAPER_TRY(arg_tuple(call, 0, &tuple));
    TAPER_TRY(taper_arg_int(call, 1, &index));
    const int64_t count = (int64_t)tuple->count;
    if (index < -count || index >= count) {
        return taper_fail(call->run->error, TAPER_ERROR_RAISED, "Tuple list index out of range");
    }
    taper_ret(call, 0, taper_val_retain(tuple->items[index < 0 ? index + count : index]));
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_tuple_unpack)
{
    taper_tuple *tuple = NULL;
    TAPER_TRY(arg_tuple(call, 0, &tuple));
    if (tuple->count != call->ret_count) {
        return taper_fail(call->run->error, TAPER_ERROR_ARGUMENT, "a tuple of %zu items is unpacked into %zu",
                          tuple->count, call->ret_count);
    }
    for (size_t i = 0; i < tuple->count; i++) {
        taper_ret(call, i, taper_val_retain(tuple->items[i]));
    }
    return TAPER_OK;
}

// Computes self.layers[i] and self.heads[name] of a container of modules. The container's attributes are named "0",
// "1", …, or by the keys. A negative index names no attribute, as in PyTorch.
TAPER_KERNEL(taper_op_module_index)
{
    taper_object *object;
    TAPER_TRY(taper_arg_object(call, 0, &object));
    char digits[24];
    const char *name = digits;
    if (taper_arg_is_none(call, 1) || call->args[1].tag != TAPER_STRING) {
        int64_t index;
        TAPER_TRY(taper_arg_int(call, 1, &index));
        snprintf(digits, sizeof digits, "%lld", (long long)index);
    } else {
        name = call->args[1].as.string->data;
    }
    const int64_t slot = taper_object_slot(object, name);
    if (slot < 0) {
        return taper_fail(call->run->error, TAPER_ERROR_RAISED, "ind: the container has no module %s", name);
    }
    taper_ret(call, 0, taper_val_retain(object->slots[slot]));
    return TAPER_OK;
}

// Kernel of unchecked_cast, unchecked_unwrap_optional and other operators that return their argument.
TAPER_KERNEL(taper_op_same)
{
    taper_val value = taper_val_none();
    TAPER_TRY(arg_value(call, 0, &value));
    taper_ret(call, 0, taper_val_retain(value));
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_unwrap_optional)
{
    if (taper_arg_is_none(call, 0)) {
        return taper_fail(call->run->error, TAPER_ERROR_RAISED, "Unwrapping null optional");
    }
    return taper_op_same(call);
}

TAPER_KERNEL(taper_op_uninitialized)
{
    taper_ret(call, 0, (taper_val){.tag = TAPER_UNDEFINED, .as.i = 0});
    return TAPER_OK;
}

// Returns None, for prim::grad, prim::name and the profiler's ranges, because nothing is recorded.
taper_status taper_op_none(taper_call *call)
{
    taper_ret(call, 0, taper_val_none());
    return TAPER_OK;
}

// Returns a handle for a range of PyTorch's profiler. Only the operator that ends the range takes this handle, so it is
// an empty tensor.
TAPER_KERNEL(taper_op_record_function)
{
    const int64_t size = 0;
    taper_tensor *handle;
    return taper_ret_new(call, 0, TAPER_U8, 1, &size, NULL, &handle);
}

taper_status taper_op_nothing(taper_call *call) // does nothing, for set_grad_enabled and the end of a profiler's range
{
    (void)call;
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_constant_bool)
{
    taper_ret(call, 0, taper_val_bool(taper_call_code(call) == TAPER_PRIM_TRUE));
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_is)
{
    taper_val a = taper_val_none(), b = taper_val_none();
    TAPER_TRY(arg_value(call, 0, &a));
    TAPER_TRY(arg_value(call, 1, &b));
    taper_ret(call, 0, taper_val_bool(taper_val_same(a, b) == (taper_call_code(call) == TAPER_PRIM_IS)));
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_not)
{
    bool flag;
    TAPER_TRY(taper_arg_bool(call, 0, &flag));
    taper_ret(call, 0, taper_val_bool(!flag));
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_if_then_else)
{
    bool condition;
    taper_val value = taper_val_none();
    TAPER_TRY(taper_arg_bool(call, 0, &condition));
    TAPER_TRY(arg_value(call, condition ? 1 : 2, &value));
    taper_ret(call, 0, taper_val_retain(value));
    return TAPER_OK;
}

// Fails with the exception's text as the message. Argument cls may name the exception's class, which becomes a detail.
// Files of bytecode 7 and older pass no class.
static taper_status raise(const taper_call *call, const char *text, size_t cls)
{
    const taper_status status = taper_fail(call->run->error, TAPER_ERROR_RAISED, "%s",
                                           *text != '\0' ? text : "the model raised an exception without a message");
    if (!taper_arg_is_none(call, cls) && call->args[cls].tag == TAPER_STRING) {
        taper_error_add_detail(call->run->error, "raised as %s\n", call->args[cls].as.string->data);
    }
    return status;
}

TAPER_KERNEL(taper_op_raise)
{
    const taper_string *message;
    TAPER_TRY(taper_arg_string(call, 0, &message));
    return raise(call, message->data, 1);
}

TAPER_KERNEL(taper_op_expect_rank)
{
    taper_tensor *x;
    int64_t rank;
    bool formats;
    const taper_string *message;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    TAPER_TRY(taper_arg_int(call, 1, &rank));
    if (rank < 0 ? x->rank + rank >= 0 : x->rank == rank) {
        return TAPER_OK;
    }
    TAPER_TRY(taper_arg_string(call, 2, &message));
    TAPER_TRY(taper_arg_bool(call, 4, &formats));
    const char *at = formats ? strstr(message->data, "{}") : NULL;
    if (at == NULL) {
        return raise(call, message->data, 3);
    }
    char text[256]; // enough, because compiler/check_ranks.c passes messages of at most 200 bytes
    snprintf(text, sizeof text, "%.*s%d%s", (int)(at - message->data), message->data, (int)x->rank, at + 2);
    return raise(call, text, 3);
}

static void log_text(const taper_run *run, taper_log_level level, const char *text, size_t length)
{
    if (run->log != NULL) {
        run->log(run->log_user, level, text, length);
    }
}

TAPER_KERNEL(taper_op_print)
{
    taper_run_text out;
    taper_run_text_begin(&out, call->run);
    taper_status status = TAPER_OK;
    for (size_t i = 0; i < call->arg_count && status == TAPER_OK; i++) {
        if (i != 0) {
            taper_text_string(&out.text, " ");
        }
        status = taper_print_value(call->run, &out.text, call->args[i], (taper_print_style){.floats = 'g'});
    }
    taper_text_string(&out.text, "\n");
    if (status == TAPER_OK && out.text.failed) {
        status = taper_text_failure(call->run);
    }
    if (status == TAPER_OK) {
        log_text(call->run, TAPER_LOG_PRINT, taper_text_get(&out.text), out.text.length);
    }
    taper_run_text_end(&out);
    return status;
}

TAPER_KERNEL(taper_op_warn)
{
    const taper_string *message;
    TAPER_TRY(taper_arg_string(call, 0, &message));
    taper_run_text out;
    taper_run_text_begin(&out, call->run);
    taper_text_string(&out.text, "Warning: ");
    taper_text_append(&out.text, message->data, message->length);
    taper_text_string(&out.text, "\n");
    if (!out.text.failed) {
        log_text(call->run, TAPER_LOG_WARNING, taper_text_get(&out.text), out.text.length);
    }
    taper_run_text_end(&out);
    return TAPER_OK;
}

// ---- enums: objects with the attributes name and value

static taper_status enum_part(taper_call *call, const char *name)
{
    taper_object *object;
    TAPER_TRY(taper_arg_object(call, 0, &object));
    const int64_t slot = taper_object_slot(object, name);
    if (slot < 0 || (size_t)slot >= object->count) {
        return taper_fail(call->run->error, TAPER_ERROR_ARGUMENT, "the object is not an enum");
    }
    taper_ret(call, 0, taper_val_retain(object->slots[slot]));
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_enum_name)
{
    return enum_part(call, "name");
}

TAPER_KERNEL(taper_op_enum_value)
{
    return enum_part(call, "value");
}

// Compares members of enums. They are equal if their class and name are equal. Their addresses may differ, because a
// saved model has a copy of a member for each use.
TAPER_KERNEL(taper_op_enum_equal)
{
    taper_object *members[2];
    taper_val names[2];
    for (size_t i = 0; i < 2; i++) {
        TAPER_TRY(taper_arg_object(call, i, &members[i]));
        const int64_t slot = taper_object_slot(members[i], "name");
        if (slot < 0 || (size_t)slot >= members[i]->count) {
            return taper_fail(call->run->error, TAPER_ERROR_ARGUMENT, "the object is not an enum");
        }
        names[i] = members[i]->slots[slot];
    }
    const taper_class *a = members[0]->klass, *b = members[1]->klass;
    const bool same = members[0] == members[1] ||
                      (a != NULL && b != NULL && strcmp(a->name, b->name) == 0 && taper_val_equal(names[0], names[1]));
    taper_ret(call, 0, taper_val_bool(same == (taper_call_code(call) == TAPER_COMPARE_EQ)));
    return TAPER_OK;
}

// ---- numbers that stand for objects

TAPER_KERNEL(taper_op_id)
{
    taper_val value = taper_val_none();
    TAPER_TRY(arg_value(call, 0, &value));
    taper_ret(call, 0, taper_val_int(taper_val_is_object(value) ? (int64_t)(intptr_t)value.as.obj : 0));
    return TAPER_OK;
}
