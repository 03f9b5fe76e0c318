// SPDX-License-Identifier: BSD-2-Clause
// Reads the shapes of a node's arguments for the rules of the translation (translating.h).
#include "backends/nnapi/translating.h"

taper_shape taper_translate_shape(const taper_translator *t, const taper_ir_value *value)
{
    if (t->values != NULL && value->id < t->value_count && t->values[value->id].shape.rank >= 0) {
        return t->values[value->id].shape;
    }
    const taper_tensor *tensor = taper_read_tensor(&t->reader, value);
    return tensor != NULL ? taper_shape_of(tensor) : taper_read_value(&t->reader, value).shape;
}

bool taper_translate_is_known(const taper_shape *shape)
{
    bool known = shape->rank >= 0;
    for (int d = 0; d < shape->rank; d++) {
        known = known && shape->sizes[d] != TAPER_UNKNOWN;
    }
    return known;
}

taper_status taper_translate_told_sizes(taper_translator *t, const taper_shape *shape, int64_t *sizes)
{
    size_t open = 0;
    TAPER_REFUSE(t, shape->rank < 0, "a tensor whose number of dimensions is not known");
    for (int d = 0; d < shape->rank; d++) {
        sizes[d] = shape->sizes[d] == TAPER_UNKNOWN ? -1 : shape->sizes[d];
        open += shape->sizes[d] == TAPER_UNKNOWN;
    }
    TAPER_REFUSE(t, open > (size_t)t->options->open, "a tensor whose sizes are not known");
    return TAPER_OK;
}

taper_status taper_translate_dim(taper_translator *t, const taper_shape *shape, int64_t number, size_t *dim)
{
    *dim = number < 0 ? 0 : (size_t)number;
    if (shape->rank < 0) {
        TAPER_REFUSE(t, !t->asking, "a tensor whose number of dimensions is not known");
        return TAPER_OK;
    }
    TAPER_REFUSE(t, number < -shape->rank || number >= shape->rank, "a dimension that is not there");
    *dim = (size_t)(number < 0 ? number + shape->rank : number);
    return TAPER_OK;
}

bool taper_translate_is_quantized(const taper_translator *t, const taper_ir_value *value)
{
    if (t->values != NULL && value->id < t->value_count &&
        (t->values[value->id].plain != TAPER_NO_OPERAND || t->values[value->id].image != TAPER_NO_OPERAND)) {
        return t->values[value->id].quantized;
    }
    const taper_tensor *tensor = taper_read_tensor(&t->reader, value);
    const taper_known_value known = taper_read_value(&t->reader, value);
    return tensor != NULL ? tensor->quantizer != NULL
                          : known.quantized || known.shape.dtype == TAPER_QU8 || known.shape.dtype == TAPER_QI8;
}
