// SPDX-License-Identifier: BSD-2-Clause
// Code shared by the writers of archives and of flatbuffers.
#include "format/module_write.h"

enum { OLDEST_BYTECODE = 4, ARCHIVE_BYTECODE = 8, FLATBUFFER_BYTECODE = 9, OLDEST_OPERATORS = 3 };

taper_status taper_write_version(const taper_module *module, const taper_write_options *options, bool flatbuffer,
                                 int *version, taper_error *error)
{
    const int newest = flatbuffer ? FLATBUFFER_BYTECODE : ARCHIVE_BYTECODE;
    const int oldest = flatbuffer ? FLATBUFFER_BYTECODE : OLDEST_BYTECODE;
    *version = options->bytecode_version;
    if (*version == 0) {
        *version = module->bytecode_version >= ARCHIVE_BYTECODE && module->bytecode_version <= FLATBUFFER_BYTECODE
                       ? newest
                       : (int)module->bytecode_version;
    }
    if (*version < oldest || *version > newest) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT,
                   "bytecode_version %d: %s %s; emit the functions for another version first", *version,
                   flatbuffer ? "a flatbuffer module" : "a zip archive",
                   flatbuffer ? "holds version 9" : "holds versions 4 to 8");
    }
    return TAPER_OK;
}

// ---- versions of operators

// The version in which an operator got its present meaning. PyTorch has one version for all operators of a kind, so an
// entry may stand for all overloads of a name. extends: calls in the old form kept their meaning.
static const struct {
    const char *name, *overload; // name and overload; overload is NULL for all overloads
    int64_t version;
    bool extends;
} changes[] = {
    {"aten::div", NULL, 4, false},       {"aten::div_", NULL, 4, false},      {"aten::full", NULL, 5, false},
    {"aten::linspace", "", 8, false},    {"aten::linspace", "out", 8, false}, {"aten::logspace", "", 9, false},
    {"aten::logspace", "out", 9, false}, {"aten::gelu", "", 10, true},        {"aten::gelu", "out", 10, true},
};

int64_t taper_write_operator_version(const taper_module *module)
{
    int64_t version = OLDEST_OPERATORS;
    for (size_t f = 0; f < module->function_count; f++) {
        const taper_module_function *function = &module->functions[f];
        for (size_t i = 0; i < function->operator_count; i++) {
            const taper_lite_operator *op = &function->operators[i];
            for (size_t c = 0; c < sizeof changes / sizeof changes[0]; c++) {
                // If an operator has its old meaning in the module, the version to write must be lower than the version
                // of the change.
                if (changes[c].version > version && changes[c].version <= module->operator_version &&
                    strcmp(changes[c].name, op->name) == 0 &&
                    (changes[c].overload == NULL || strcmp(changes[c].overload, op->overload) == 0)) {
                    version = changes[c].version;
                }
            }
        }
    }
    return version;
}

bool taper_write_same_meaning(int64_t from, int64_t to)
{
    for (size_t c = 0; c < sizeof changes / sizeof changes[0]; c++) {
        if (!changes[c].extends && from < changes[c].version && changes[c].version <= to) {
            return false;
        }
    }
    return true;
}

// ---- extra files

// Returns true for a name with which unpacking could write outside of the target folder: "../x", "/x", "C:x".
static bool leads_away(const char *name)
{
    bool away = name[0] == '/' || name[0] == '\\' || (name[0] != '\0' && name[1] == ':');
    while (!away && *name != '\0') {
        const size_t length = strcspn(name, "/\\");
        away = length == 2 && memcmp(name, "..", 2) == 0;
        name += length + (name[length] != '\0');
    }
    return away;
}

taper_status taper_write_extras(const taper_module *module, const taper_write_options *options,
                                taper_module_extra **extras, size_t *count, size_t *capacity, taper_error *error)
{
    const taper_allocator *allocator = module->allocator;
    const size_t all = module->extra_count + options->extra_count;
    taper_module_extra *made = taper_alloc_zeroed(allocator, all * sizeof *made);
    taper_name *names = taper_alloc(allocator, all * sizeof *names);
    taper_status status = all != 0 && (made == NULL || names == NULL) ? taper_fail_memory(error) : TAPER_OK;
    *count = 0;
    for (size_t i = 0; i < options->extra_count && status == TAPER_OK; i++) {
        if (options->extras[i].name == NULL || options->extras[i].name[0] == '\0') {
            status = taper_fail(error, TAPER_ERROR_ARGUMENT, "extras: file %zu has no name", i);
        }
    }
    for (size_t i = 0; i < all && status == TAPER_OK; i++) {
        made[i] = i < module->extra_count ? module->extras[i] : options->extras[i - module->extra_count];
        names[i] = (taper_name){.text = made[i].name, .length = strlen(made[i].name), .value = i};
    }
    status = status == TAPER_OK ? taper_names_sort(allocator, names, all, error) : status;
    for (size_t i = 0; i < all && status == TAPER_OK; i++) {
        size_t last = 0;
        const taper_module_extra extra = made[i];
        (void)taper_names_find(names, all, extra.name, strlen(extra.name), &last);
        if (last == i && (i < module->extra_count || extra.data != NULL)) {
            if (leads_away(extra.name)) {
                status = taper_fail(error, TAPER_ERROR_ARGUMENT,
                                    "extra file %.200s: its name leads out of the file; rename it, or leave it out",
                                    extra.name);
            }
            made[(*count)++] = extra; // cannot overflow, because *count is never above i
        }
    }
    taper_free(allocator, names, all * sizeof *names);
    if (status != TAPER_OK) {
        taper_free(allocator, made, all * sizeof *made);
        made = NULL;
    }
    *extras = made;
    *capacity = all;
    return status;
}

// ---- texts of types

static bool write_items(const taper_type *type, taper_text *text)
{
    bool fits = true;
    for (size_t i = 0; i < type->count && fits; i++) {
        taper_text_string(text, i != 0 ? ", " : "");
        fits = taper_write_type(type->items[i], text);
    }
    return fits;
}

static bool write_named_tuple(const taper_type *type, taper_text *text)
{
    bool fits = true;
    taper_text_string(text, type->name);
    taper_text_string(text, "[NamedTuple, [");
    for (size_t i = 0; i < type->count && fits; i++) {
        taper_text_string(text, i != 0 ? ",[" : "[");
        taper_text_string(text, type->fields[i]);
        taper_text_string(text, ", ");
        fits = taper_write_type(type->items[i], text);
        taper_text_string(text, "]");
    }
    taper_text_string(text, "]]");
    return fits;
}

// Calls itself for the parts of a type. Every type has a limited depth, because the functions that make types check it.
bool taper_write_type(const taper_type *type, taper_text *text)
{
    static const char *const heads[] = {
        [TAPER_TYPE_LIST] = "List",   [TAPER_TYPE_OPTIONAL] = "Optional", [TAPER_TYPE_DICT] = "Dict",
        [TAPER_TYPE_TUPLE] = "Tuple", [TAPER_TYPE_UNION] = "Union",       [TAPER_TYPE_FUTURE] = "Future"};
    bool fits = true;
    if (type->kind == TAPER_TYPE_TUPLE && type->name != NULL) {
        fits = write_named_tuple(type, text);
    } else if (type->count != 0) {
        taper_text_string(text, type->kind == TAPER_TYPE_FUTURE && type->name != NULL ? type->name : heads[type->kind]);
        taper_text_string(text, "[");
        fits = write_items(type, text);
        taper_text_string(text, "]");
    } else {
        taper_type_print(type, text);
    }
    return fits && text->length <= TAPER_LIMIT_TYPE_TEXT;
}

bool taper_write_has_handles(const taper_module *module)
{
    for (size_t f = 0; f < module->function_count; f++) {
        for (size_t i = 0; i < module->functions[f].instruction_count; i++) {
            if (module->functions[f].instructions[i].debug >= 0) {
                return true;
            }
        }
    }
    return false;
}
