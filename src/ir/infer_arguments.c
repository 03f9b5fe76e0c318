// SPDX-License-Identifier: BSD-2-Clause
// Reads the arguments that the inference rules need: tensors, numbers, dimensions.
#include "ir/infer.h"

static bool has_argument(const taper_infer_call *call, const char *name)
{
    for (size_t i = 0; i < call->schema->arg_count; i++) {
        if (strcmp(call->schema->args[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

taper_shape taper_infer_tensor(const taper_infer_call *call, size_t at)
{
    return at < call->count && call->args[at].kind == TAPER_KNOWN_TENSOR ? call->args[at].shapes[0]
                                                                         : taper_shape_unknown();
}

int64_t taper_infer_int(const taper_infer_call *call, const char *name, int64_t otherwise)
{
    const taper_known *known = taper_infer_named(call, name);
    if (known == NULL) {
        return has_argument(call, name) ? TAPER_UNKNOWN : otherwise;
    }
    if (known->kind == TAPER_KNOWN_NONE) {
        return otherwise;
    }
    if (known->kind != TAPER_KNOWN_VALUE) {
        return TAPER_UNKNOWN;
    }
    return known->value.tag == TAPER_INT       ? known->value.as.i
           : known->value.tag == TAPER_BOOLEAN ? known->value.as.b
                                               : TAPER_UNKNOWN;
}

bool taper_infer_ints(const taper_infer_call *call, const char *name, size_t want, int64_t otherwise, int64_t *ints)
{
    const taper_known *known = taper_infer_named(call, name);
    const bool none = known == NULL
                          ? !has_argument(call, name)
                          : known->kind == TAPER_KNOWN_NONE || (known->kind == TAPER_KNOWN_INTS && known->count == 0);
    const bool one = known != NULL && known->kind == TAPER_KNOWN_VALUE && known->value.tag == TAPER_INT;
    if (!none && !one &&
        (known == NULL || known->kind != TAPER_KNOWN_INTS || (known->count != want && known->count != 1))) {
        return false;
    }
    for (size_t i = 0; i < want; i++) {
        ints[i] = none ? otherwise : one ? known->value.as.i : known->ints[known->count == 1 ? 0 : i];
    }
    return true;
}

const taper_known *taper_infer_named(const taper_infer_call *call, const char *name)
{
    for (size_t i = 0; i < call->schema->arg_count && i < call->count; i++) {
        if (strcmp(call->schema->args[i].name, name) == 0) {
            return call->args[i].kind != TAPER_KNOWN_NOTHING ? &call->args[i] : NULL;
        }
    }
    return NULL;
}

taper_shape taper_infer_same_rank(const taper_shape *x)
{
    taper_shape shape = {.rank = x->rank, .dtype = -1, .like = x->like};
    for (int d = 0; d < x->rank; d++) {
        shape.sizes[d] = TAPER_UNKNOWN;
    }
    return shape;
}

int taper_infer_dim(const taper_infer_call *call, const char *name, int rank)
{
    const int64_t dim = taper_infer_int(call, name, TAPER_UNKNOWN);
    const int64_t limit = rank == 0 ? 1 : rank;
    if (rank < 0 || dim == TAPER_UNKNOWN || dim < -limit || dim >= limit) {
        return -1;
    }
    return (int)(dim < 0 ? dim + limit : dim);
}
