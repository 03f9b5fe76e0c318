// SPDX-License-Identifier: BSD-2-Clause
// unwind_probe: calls an operator that unwinds its stack. Prints the number of frames, and exits with 0 if the caller
// of the library is among them. If the caller is among the frames, a crash report from inside a kernel also shows the
// caller.
#include <stdio.h>
#include <unwind.h>

#include <taper/taper_operator.h>

typedef struct trace {
    size_t count;
    int reached;
} trace;

static taper_value *call(taper_context *context, trace *t);

static _Unwind_Reason_Code look(struct _Unwind_Context *at, void *user)
{
    trace *t = user;
    t->count++;
    t->reached |= _Unwind_FindEnclosingFunction((void *)_Unwind_GetIP(at)) == (void *)&call;
    return t->count < 100 ? _URC_NO_REASON : _URC_NORMAL_STOP;
}

static taper_status kernel(void *user, taper_context *context, taper_value *const *args, size_t count,
                           taper_value **results, size_t result_count, taper_error *error)
{
    (void)context, (void)count, (void)result_count, (void)error;
    (void)_Unwind_Backtrace(look, user);
    results[0] = args[0];
    taper_value_retain(args[0]);
    return TAPER_OK;
}

__attribute__((noinline)) static taper_value *call(taper_context *context, trace *t)
{
    taper_operator *op = NULL;
    taper_value *number = NULL, *result = NULL;
    if (taper_operator_register("probe::look(int x) -> int", kernel, t, NULL) == TAPER_OK &&
        taper_operator_find(context, "probe::look", &op, NULL) == TAPER_OK &&
        taper_value_int(context, 1, &number, NULL) == TAPER_OK &&
        taper_operator_call(op, &number, 1, &result, 1, NULL) != TAPER_OK) {
        result = NULL;
    }
    taper_value_release(number);
    taper_operator_release(op);
    return result;
}

int main(void)
{
    taper_context *context = NULL;
    trace t = {0, 0};
    if (taper_context_create(NULL, &context, NULL) != TAPER_OK) {
        return 2;
    }
    taper_value *result = call(context, &t);
    const int ran = result != NULL;
    taper_value_release(result);
    taper_context_release(context);
    printf("%zu functions, %s\n", t.count, t.reached ? "the caller among them" : "not the caller");
    return !ran ? 2 : !t.reached;
}
