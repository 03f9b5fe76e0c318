// SPDX-License-Identifier: BSD-2-Clause
// Parses lines of any bytes as types. Each type is printed and parsed again. Parsing all lines into another table, with
// the names of a scope, must give the same types. Then the types, and types composed of them, are compared with each
// other.
#include <string.h>

#include "base/limits.h"
#include "ir/type.h"
#include "ir/type_table.h"
#include "tests/fuzz/failing_allocator.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// LINES: largest number of lines that are parsed. MORE: number of types that are used as parts of composed types.
enum { LINES = 32, MORE = 4 };

typedef struct found_types {
    const taper_type *items[LINES + 3 * MORE + 1];
    size_t count;
} found_types;

static void need(bool holds)
{
    if (!holds) {
        abort();
    }
}

// Parses the lines, prints each type and parses its text: this must give the same type, unless a later line defines one
// of its names again.
static taper_status parse_lines(taper_types *types, taper_type_scope *scope, const uint8_t *data, size_t size,
                                found_types *found, taper_error *error)
{
    taper_status worst = TAPER_OK;
    found->count = 0;
    while (size != 0 && found->count < LINES) {
        const uint8_t *end = memchr(data, '\n', size);
        const size_t length = end != NULL ? (size_t)(end - data) : size;
        const taper_type *type, *again;
        const taper_status status = scope == NULL
                                        ? taper_type_parse(types, (const char *)data, length, &type, error)
                                        : taper_type_parse_in(types, scope, (const char *)data, length, &type, error);
        need((status == TAPER_OK) == (type != NULL));
        worst = status > worst ? status : worst;
        if (type != NULL) {
            taper_text text = taper_text_make(&taper_allocator_system);
            taper_type_print(type, &text);
            need(taper_type_equal(type, type) && taper_type_matches(type, type));
            if (text.length <= TAPER_LIMIT_TYPE_TEXT) {
                const taper_status printed =
                    taper_type_parse_in(types, scope, taper_text_get(&text), text.length, &again, error);
                need(printed == TAPER_OK || printed == TAPER_ERROR_RESOURCE);
                worst = printed > worst ? printed : worst;
            }
            taper_text_free(&text);
            found->items[found->count++] = type;
        }
        data += length + (end != NULL ? 1 : 0);
        size -= length + (end != NULL ? 1 : 0);
    }
    return worst;
}

static void add(taper_types *types, taper_type_kind kind, const taper_type *const *items, size_t count,
                found_types *found)
{
    const taper_type *made, *again;
    const taper_status status = taper_type_make(types, kind, NULL, items, NULL, count, &made, NULL);
    need(status == TAPER_OK || status == TAPER_ERROR_RESOURCE); // refused only because the type is too deep
    if (status == TAPER_OK) {
        need(taper_type_make(types, kind, NULL, items, NULL, count, &again, NULL) == TAPER_OK &&
             taper_type_equal(made, again));
        found->items[found->count++] = made;
    }
}

// Checks properties of each type, and of its Optional and Union.
static void check_types(taper_types *types, found_types *found)
{
    const size_t count = found->count < MORE ? found->count : MORE;
    for (size_t i = 0; i < count; i++) {
        const taper_type *const type = found->items[i], *const pair[2] = {type, &taper_type_none};
        const size_t before = found->count;
        add(types, TAPER_TYPE_OPTIONAL, &type, 1, found);
        add(types, TAPER_TYPE_UNION, pair, 2, found);
        add(types, TAPER_TYPE_LIST, &type, 1, found);
        if (found->count == before + 3) {
            const taper_type *optional = found->items[before], *either = found->items[before + 1],
                             *list = found->items[before + 2];
            need(taper_type_matches(type, optional) && taper_type_matches(&taper_type_none, optional));
            need(taper_type_matches(type, either) && taper_type_matches(&taper_type_none, either));
            need(taper_type_matches(either, optional) && taper_type_matches(list, &taper_type_any_list));
            need(!taper_type_matches(&taper_type_int, list) && !taper_type_equal(optional, either));
        }
    }
    const taper_type *const part = &taper_type_int, *made;
    need(taper_type_make(types, TAPER_TYPE_TUPLE, NULL, &part, NULL, UINT16_MAX, &made, NULL) == TAPER_ERROR_RESOURCE);
}

// Checks that equal types have equal texts.
static void compare_texts(const taper_type *a, const taper_type *b)
{
    taper_text first = taper_text_make(&taper_allocator_system), second = taper_text_make(&taper_allocator_system);
    taper_type_print(a, &first);
    taper_type_print(b, &second);
    need(first.length != 0 && strcmp(taper_text_get(&first), taper_text_get(&second)) == 0);
    taper_text_free(&first);
    taper_text_free(&second);
}

static void compare_all(const found_types *found)
{
    for (size_t i = 0; i < found->count; i++) {
        for (size_t j = 0; j < found->count; j++) {
            const taper_type *a = found->items[i], *b = found->items[j];
            const bool equal = taper_type_equal(a, b), matches = taper_type_matches(a, b);
            need(equal == taper_type_equal(b, a) && (!equal || matches));
            if (a->kind == TAPER_TYPE_LIST && b->kind == TAPER_TYPE_LIST) {
                need(matches == taper_type_matches(a->items[0], b->items[0]));
            } else if (b->kind == TAPER_TYPE_LIST && a->kind != TAPER_TYPE_UNION) {
                need(!matches);
            }
            if (equal) {
                compare_texts(a, b);
            }
        }
        const taper_type *type = found->items[i];
        need(taper_type_matches(type, &taper_type_any) && !taper_type_equal(type, NULL));
        need(!taper_type_matches(type, &taper_type_any_tuple) || type->kind == TAPER_TYPE_TUPLE ||
             type->kind == TAPER_TYPE_ANY_TUPLE || type->kind == TAPER_TYPE_UNION);
        need(type->kind == TAPER_TYPE_UNION || taper_type_matches(type, &taper_type_number) ==
                                                   (type->kind >= TAPER_TYPE_INT && type->kind <= TAPER_TYPE_NUMBER));
    }
}

// Makes classes and strings with the names of the types. A second request must give the same class, and a request with
// other slots must give another class.
static void check_classes(taper_types *types, const found_types *found)
{
    for (size_t i = 0; i < found->count; i++) {
        const taper_type *type = found->items[i];
        if (type->name == NULL) {
            continue;
        }
        static const char *const slots[2][1] = {{"a"}, {"b"}};
        const struct taper_class *a = taper_types_class(types, type->name, 1, slots[0]),
                                 *b = taper_types_class(types, type->name, 1, slots[1]);
        need(a != NULL && b != NULL && a != b && a == taper_types_class(types, type->name, 1, slots[0]));
        const struct taper_class *named = taper_types_class(types, type->name, type->count, type->fields);
        need(named != NULL && named == taper_types_class(types, type->name, type->count, type->fields));
        need(taper_types_string(types, type->name, strlen(type->name) + 1) ==
             taper_types_string(types, type->name, strlen(type->name)));
    }
    const char *zeroes = taper_types_alloc(types, 16);
    need(zeroes != NULL && zeroes[0] == 0 && zeroes[15] == 0);
}

static taper_status read_with_failure(const uint8_t *data, size_t size, size_t fail_at, size_t *calls)
{
    failing_allocator failing;
    found_types found;
    taper_types *types;
    taper_type_scope *scope = NULL;
    failing_start(&failing, fail_at);
    taper_status status = taper_types_create(&failing.allocator, &types, NULL);
    if (status == TAPER_OK) {
        status = taper_type_scope_create(&failing.allocator, &scope, NULL);
    }
    if (status == TAPER_OK) {
        status = parse_lines(types, scope, data, size, &found, NULL);
    }
    taper_type_scope_destroy(scope);
    taper_types_release(types);
    failing_end(&failing);
    *calls = failing.calls;
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    taper_types *types, *other = NULL;
    taper_type_scope *scope = NULL;
    found_types found, scoped;
    taper_error *error = taper_error_create();
    need(taper_types_create(&taper_allocator_system, &types, NULL) == TAPER_OK &&
         taper_types_create(&taper_allocator_system, &other, NULL) == TAPER_OK &&
         taper_type_scope_create(&taper_allocator_system, &scope, NULL) == TAPER_OK);
    taper_types *const retained = taper_types_retain(types);
    const taper_status status = parse_lines(types, NULL, data, size, &found, error);
    need(parse_lines(other, scope, data, size, &scoped, error) == status && scoped.count == found.count);
    for (size_t i = 0; i < found.count; i++) {
        need(taper_type_equal(found.items[i], scoped.items[i]));
    }
    check_types(types, &found);
    compare_all(&found);
    check_classes(types, &found);
    taper_type_scope_destroy(scope);
    taper_types_release(types);
    taper_types_release(retained);
    taper_types_release(other);
    taper_error_destroy(error);
    size_t calls, unused;
    (void)read_with_failure(data, size, 0, &calls);
    const taper_status failed = read_with_failure(data, size, failing_place(data, size, calls), &unused);
    need(failed == status || failed == TAPER_ERROR_RESOURCE);
    return 0;
}
