// SPDX-License-Identifier: BSD-2-Clause
// Makes inputs for any model from the types that its methods declare. Each round makes different inputs.
#ifndef TAPER_TESTS_MADE_INPUTS_H
#define TAPER_TESTS_MADE_INPUTS_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <taper/taper.h>

enum { MADE_MOST_INPUTS = 8, MADE_DEPTH = 4, MADE_ROUNDS = 2 };

static inline void say_nothing(void *user, taper_log_level level, const char *text, size_t length)
{
    (void)user;
    (void)level;
    (void)text;
    (void)length;
}

static inline void need(taper_status status)
{
    if (status != TAPER_OK) {
        abort();
    }
}

static inline taper_value *made_tensor(taper_context *context, unsigned round)
{
    static const struct {
        taper_dtype dtype;
        size_t rank;
        int64_t sizes[4];
    } shapes[MADE_ROUNDS] = {{TAPER_F32, 4, {1, 3, 8, 8}}, {TAPER_I64, 2, {2, 4}}};
    taper_value *value;
    taper_tensor_info info = {.struct_size = sizeof info};
    need(taper_value_tensor(context, shapes[round].dtype, shapes[round].rank, shapes[round].sizes, &value, NULL));
    need(taper_value_get_tensor(value, &info, NULL));
    for (size_t i = 0; i < info.bytes / taper_dtype_size(info.dtype); i++) {
        if (info.dtype == TAPER_F32) {
            ((float *)info.data)[i] = (float)(i % 17) / 8 - 1;
        } else {
            ((int64_t *)info.data)[i] = (int64_t)(i % 5) - 1;
        }
    }
    return value;
}

static inline taper_value *made_input(taper_context *context, const taper_type *type, unsigned round, unsigned depth)
{
    const taper_type_kind kind = taper_type_kind_of(type);
    taper_value *value = NULL;
    if (type == NULL || kind == TAPER_TYPE_TENSOR) {
        return made_tensor(context, round);
    }
    if (kind == TAPER_TYPE_INT) {
        need(taper_value_int(context, 2 + (int64_t)round, &value, NULL));
    } else if (kind == TAPER_TYPE_FLOAT || kind == TAPER_TYPE_NUMBER) {
        need(taper_value_double(context, 0.5, &value, NULL));
    } else if (kind == TAPER_TYPE_BOOL) {
        need(taper_value_bool(context, round == 0, &value, NULL));
    } else if (kind == TAPER_TYPE_STRING) {
        need(taper_value_string(context, "text", 4, &value, NULL));
    } else if (kind == TAPER_TYPE_OPTIONAL && round == 0 && depth < MADE_DEPTH) {
        return made_input(context, taper_type_item(type, 0), round, depth + 1);
    } else if ((kind == TAPER_TYPE_LIST || kind == TAPER_TYPE_TUPLE) && depth < MADE_DEPTH) {
        const bool list = kind == TAPER_TYPE_LIST;
        taper_value *items[2];
        for (unsigned i = 0; i < 2; i++) {
            items[i] = made_input(context, taper_type_item(type, 0), round, depth + 1);
        }
        // A list of containers may be refused, because the types of its items may differ.
        if ((list ? taper_value_list(context, NULL, items, 2, &value, NULL)
                  : taper_value_tuple(context, items, 2, &value, NULL)) != TAPER_OK) {
            need(taper_value_none(context, &value, NULL));
        }
        taper_value_release(items[0]);
        taper_value_release(items[1]);
    } else {
        need(taper_value_none(context, &value, NULL));
    }
    return value;
}

#endif
