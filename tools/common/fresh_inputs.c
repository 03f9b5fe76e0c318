// SPDX-License-Identifier: BSD-2-Clause
#include "common/fresh_inputs.h"

#include <stdlib.h>
#include <string.h>

#include "common/errors.h"

typedef struct fresh_tensor {
    taper_value *value; // tensor; the struct owns a reference
    void *kept;
    size_t bytes;
    bool changes; // true if an earlier run has written to the tensor
} fresh_tensor;

static bool library_failed(const fresh_inputs *f)
{
    return error_report_library(NULL, f->error);
}

static bool keep_tensor(fresh_inputs *f, taper_value *value)
{
    taper_tensor_info info = {.struct_size = sizeof info};
    if (taper_value_get_tensor(value, &info, f->error) != TAPER_OK) {
        return library_failed(f);
    }
    if (info.read_only || info.bytes == 0) {
        return true;
    }
    if (f->tensor_count == f->tensor_room) {
        const size_t room = 2 * f->tensor_room + 8;
        fresh_tensor *grown = realloc(f->tensors, room * sizeof *grown);
        if (grown == NULL) {
            return error_report_memory(NULL);
        }
        f->tensors = grown;
        f->tensor_room = room;
    }
    void *kept = malloc(info.bytes);
    if (kept == NULL) {
        return error_report_memory(NULL);
    }
    memcpy(kept, info.data, info.bytes);
    f->tensors[f->tensor_count++] = (fresh_tensor){taper_value_retain(value), kept, info.bytes, false};
    return true;
}

static bool holds_items(const taper_value *value)
{
    const taper_kind kind = taper_value_kind(value);
    return kind == TAPER_KIND_LIST || kind == TAPER_KIND_DICT || kind == TAPER_KIND_TUPLE;
}

static bool keep(fresh_inputs *f, taper_value *value)
{
    bool done = taper_value_kind(value) != TAPER_KIND_TENSOR || keep_tensor(f, value);
    for (size_t i = 0; done && holds_items(value) && i < taper_value_count(value); i++) {
        taper_value *item;
        if (taper_value_item(value, i, &item, f->error) != TAPER_OK) {
            return library_failed(f);
        }
        done = keep(f, item);
        taper_value_release(item);
    }
    return done;
}

// Splits "Dict[str, List[Tensor]]" into its two types, and "List[Tensor]" into its one type (*second is NULL). Both
// results are NULL for any other text.
static void parts_of(char *text, const char **first, const char **second)
{
    char *open = strchr(text, '['), *close = strrchr(text, ']');
    int depth = 0;
    *first = *second = NULL;
    if (open == NULL || close == NULL) {
        return;
    }
    *close = '\0';
    *first = open + 1;
    for (char *at = open + 1; *at != '\0'; at++) {
        depth += (*at == '[') - (*at == ']');
        if (*at == ',' && depth == 0) {
            *at = '\0';
            *second = at + 1 + strspn(at + 1, " ");
            return;
        }
    }
}

static bool copy(const fresh_inputs *f, taper_value *value, taper_value **made);

static taper_status make(const fresh_inputs *f, const taper_value *value, taper_value *const *keys,
                         taper_value *const *items, size_t count, taper_value **made)
{
    char type[512];
    const char *first = NULL, *second = NULL;
    const taper_kind kind = taper_value_kind(value);
    if (kind == TAPER_KIND_TUPLE) {
        return taper_value_tuple(f->context, items, count, made, f->error);
    }
    const size_t length = taper_value_type(value, type, sizeof type);
    if (length != 0 && length < sizeof type) {
        parts_of(type, &first, &second);
    }
    return kind == TAPER_KIND_LIST ? taper_value_list(f->context, first, items, count, made, f->error)
                                   : taper_value_dict(f->context, first, second, keys, items, count, made, f->error);
}

static bool copy_items(const fresh_inputs *f, taper_value *value, taper_value **made)
{
    const size_t count = taper_value_count(value);
    taper_value **items = calloc(2 * count + 1, sizeof *items);
    if (items == NULL) {
        return error_report_memory(NULL);
    }
    taper_value **keys = items + count;
    bool done = true;
    for (size_t i = 0; done && i < count; i++) {
        taper_value *item;
        if (taper_value_item(value, i, &item, f->error) != TAPER_OK ||
            (taper_value_kind(value) == TAPER_KIND_DICT && taper_value_key(value, i, &keys[i], f->error) != TAPER_OK)) {
            done = library_failed(f);
            break;
        }
        done = copy(f, item, &items[i]);
        taper_value_release(item);
    }
    done = done && (make(f, value, keys, items, count, made) == TAPER_OK || library_failed(f));
    for (size_t i = 0; i < 2 * count; i++) {
        taper_value_release(items[i]);
    }
    free(items);
    return done;
}

// A tuple cannot change, but a list inside it can. This function cannot make a named tuple, so the given named tuple is
// used.
static bool copy(const fresh_inputs *f, taper_value *value, taper_value **made)
{
    if (holds_items(value) && taper_value_field(value, 0) == NULL) {
        return copy_items(f, value, made);
    }
    *made = taper_value_retain(value);
    return true;
}

bool fresh_inputs_begin(taper_context *context, taper_error *error, taper_value *const *given, size_t count,
                        fresh_inputs *fresh)
{
    *fresh = (fresh_inputs){.context = context, .error = error, .given = given, .count = count};
    fresh->values = calloc(count + 1, sizeof *fresh->values);
    bool done = fresh->values != NULL || error_report_memory(NULL);
    for (size_t i = 0; done && i < count; i++) {
        done = keep(fresh, given[i]);
    }
    if (!done) {
        fresh_inputs_release(fresh);
    }
    return done;
}

static void drop_values(fresh_inputs *fresh)
{
    for (size_t i = 0; fresh->values != NULL && i < fresh->count; i++) {
        taper_value_release(fresh->values[i]);
        fresh->values[i] = NULL;
    }
}

bool fresh_inputs_next(fresh_inputs *fresh)
{
    // Comparing large tensors displaces data that a run needs from the caches. So the longer no run has changed a
    // tensor, the less often it is compared.
    enum { FIRST = 4 };
    const size_t run = fresh->runs++;
    const bool look = run <= FIRST || (run & (run - 1)) == 0;
    bool done = true;
    drop_values(fresh);
    for (size_t i = 0; i < fresh->tensor_count; i++) {
        fresh_tensor *t = &fresh->tensors[i];
        if (!look && !t->changes) {
            continue;
        }
        taper_tensor_info info = {.struct_size = sizeof info}; // a run may have resized the tensor
        if (taper_value_get_tensor(t->value, &info, fresh->error) == TAPER_OK && info.bytes == t->bytes &&
            memcmp(info.data, t->kept, t->bytes) != 0) {
            memcpy(info.data, t->kept, t->bytes);
            t->changes = true;
        }
    }
    for (size_t i = 0; done && i < fresh->count; i++) {
        done = copy(fresh, fresh->given[i], &fresh->values[i]);
    }
    return done;
}

void fresh_inputs_release(fresh_inputs *fresh)
{
    drop_values(fresh);
    for (size_t i = 0; i < fresh->tensor_count; i++) {
        taper_value_release(fresh->tensors[i].value);
        free(fresh->tensors[i].kept);
    }
    free(fresh->tensors);
    free(fresh->values);
    *fresh = (fresh_inputs){0};
}
