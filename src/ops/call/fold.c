// SPDX-License-Identifier: BSD-2-Clause
// Runs operators on known arguments before the run.
#include "ops/call/fold.h"

#include "ir/tensor.h"

enum {
    // A short expression can make a long string ("a".ljust(1000000000)). Such a string is left to the run, which has
    // budgets.
    LONGEST_STRING = 256,
    LARGEST_WIDTH = 1024
};

// Returns true if the result is certainly a number, a bool, None or a short string. taper_fold computes no other
// results.
static bool small_result(const taper_schema *schema, const taper_val *args, size_t count)
{
    if (schema->ret_count != 1) {
        return false;
    }
    switch ((taper_type_kind)schema->rets[0].type->kind) {
    case TAPER_TYPE_TENSOR:
    case TAPER_TYPE_LIST:
    case TAPER_TYPE_DICT:
    case TAPER_TYPE_TUPLE:
        return false;
    case TAPER_TYPE_STRING:
        break;
    default:
        return true;
    }
    for (size_t i = 0; i < count; i++) {
        const taper_val *value = &args[i];
        if (value->tag == TAPER_LIST || (value->tag == TAPER_INT && value->as.i > LARGEST_WIDTH) ||
            (value->tag == TAPER_STRING && value->as.string->length > LONGEST_STRING)) {
            return false;
        }
    }
    return true;
}

bool taper_fold(taper_registry *registry, taper_heap *heap, const taper_op *op, const taper_schema *schema,
                taper_val *args, size_t count, taper_val *result)
{
    // An operator without arguments is folded only if it returns a bool: it then asks about the program, as
    // is_scripting() does, and its answer never changes.
    const bool asks = schema->ret_count == 1 && schema->rets[0].type->kind == TAPER_TYPE_BOOL;
    if ((count == 0 && !asks) || count > TAPER_FOLD_INPUTS || !small_result(schema, args, count)) {
        return false;
    }
    taper_run run = taper_run_on(heap, registry, NULL);
    if (taper_call_op(&run, op, args, count, result, 1) != TAPER_OK) {
        return false; // the run reports the error
    }
    if (taper_val_is_object(*result) && result->tag != TAPER_STRING) {
        taper_val_release(*result);
        return false;
    }
    return true;
}

static bool shares_storage(const taper_tensor *tensor, const taper_val *args, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (args[i].tag == TAPER_TENSOR && args[i].as.tensor->storage == tensor->storage) {
            return true;
        }
    }
    return false;
}

bool taper_fold_tensor(taper_registry *registry, taper_heap *heap, const taper_op *op, taper_val *args, size_t count,
                       size_t most_bytes, taper_val *result, bool *view)
{
    taper_run run = taper_run_on(heap, registry, NULL);
    if (count > TAPER_FOLD_INPUTS || taper_call_op(&run, op, args, count, result, 1) != TAPER_OK) {
        return false;
    }
    *view = result->tag == TAPER_TENSOR && shares_storage(result->as.tensor, args, count);
    const bool small = *view || (result->tag == TAPER_TENSOR && result->as.tensor->storage->bytes <= most_bytes);
    if (!small || taper_tensor_settle(result->as.tensor, NULL) != TAPER_OK) {
        taper_val_release(*result);
        return false;
    }
    return true;
}
