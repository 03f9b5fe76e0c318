// SPDX-License-Identifier: BSD-2-Clause
// Prints a line for each call of the committed models, with a hash of all bits of its results. Two builds of the
// library with equal lines compute the same. TAPER_CPU_MASK selects the instruction sets (tests/cpu_mask.h).
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <taper/taper_compile.h>

#include "tests/api/fixture.h"

static uint64_t sum;

static void add(const void *data, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        sum = (sum ^ ((const unsigned char *)data)[i]) * UINT64_C(0x100000001B3); // one step of an FNV-1a hash
    }
}

static void add_number(int64_t number)
{
    add(&number, sizeof number);
}

static void add_value(const taper_value *value);

static void add_items(const taper_value *value)
{
    const bool dict = taper_value_kind(value) == TAPER_KIND_DICT;
    for (size_t i = 0; i < taper_value_count(value); i++) {
        taper_value *item;
        for (int k = 0; k < (dict ? 2 : 1); k++) {
            const taper_status status =
                k == 0 ? taper_value_item(value, i, &item, NULL) : taper_value_key(value, i, &item, NULL);
            add_number((int64_t)status);
            if (status == TAPER_OK) {
                add_value(item);
                taper_value_release(item);
            }
        }
    }
}

static void add_value(const taper_value *value)
{
    taper_tensor_info info = {.struct_size = sizeof info};
    int64_t number = 0;
    double real = 0;
    int truth = 0;
    const char *text;
    size_t length;
    add_number((int64_t)taper_value_kind(value));
    switch (taper_value_kind(value)) {
    case TAPER_KIND_TENSOR:
        if (taper_value_get_tensor(value, &info, NULL) == TAPER_OK && info.bytes != 0) {
            add(info.sizes, info.rank * sizeof *info.sizes);
            add(info.strides, info.rank * sizeof *info.strides);
            add(info.data, info.bytes);
        }
        break;
    case TAPER_KIND_BOOL:
        add_number(taper_value_get_bool(value, &truth, NULL) == TAPER_OK ? truth : -1);
        break;
    case TAPER_KIND_INT:
        add_number(taper_value_get_int(value, &number, NULL) == TAPER_OK ? number : -1);
        break;
    case TAPER_KIND_DOUBLE:
        add_number((int64_t)taper_value_get_double(value, &real, NULL));
        add(&real, sizeof real);
        break;
    case TAPER_KIND_STRING:
        if (taper_value_get_string(value, &text, &length, NULL) == TAPER_OK) {
            add(text, length);
        }
        break;
    default:
        add_items(value);
    }
}

static void print_call(taper_context *context, const test_call *call, bool optimized)
{
    taper_error *error = taper_error_create();
    taper_model *model;
    taper_session *session;
    taper_value *result = NULL;
    sum = UINT64_C(0xCBF29CE484222325);
    taper_status status = test_load(context, call->file, optimized, &model, error);
    if (status == TAPER_OK) {
        status = taper_session_create(model, NULL, &session, error);
        // Runs three times, because the last run replays a memory plan.
        for (int run = 0; status == TAPER_OK && run < 3; run++) {
            status = test_run(context, session, call, &result, error);
            if (status == TAPER_OK) {
                add_value(result);
            }
            taper_value_release(result);
        }
        taper_session_destroy(session);
        taper_model_release(model);
    }
    printf("%s %s %s %s: %d %016" PRIx64 " %s\n", call->file, call->method, call->args,
           optimized ? "optimized" : "as saved", (int)status, sum,
           status != TAPER_OK ? taper_error_message(error) : "");
    taper_error_destroy(error);
}

int main(void)
{
    static const test_call more[] = {
        {"classifier.ptl", "forward", "f1,3,96,96", TAPER_OK, false},
        {"classifier.pt", "forward", "f1,3,96,96", TAPER_OK, false},
        {"int8_convnet.ptl", "forward", "f1,3,32,32", TAPER_OK, false},
    };
    taper_context *context = test_context(NULL, 1);
    for (size_t i = 0; i < test_call_count + sizeof more / sizeof *more; i++) {
        const test_call *call = i < test_call_count ? &test_calls[i] : &more[i - test_call_count];
        print_call(context, call, false);
        print_call(context, call, true);
    }
    taper_context_release(context);
    return 0;
}
