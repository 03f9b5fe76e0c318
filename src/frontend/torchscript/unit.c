// SPDX-License-Identifier: BSD-2-Clause
// Keeps the sources of one model, each of which is parsed when a definition in it is first needed.
#include "frontend/torchscript/unit.h"

#include <stdio.h>

#include "base/charge.h"

taper_status taper_ts_fail(const taper_ts_unit *unit, taper_status status, uint32_t file, size_t at, const char *format,
                           ...)
{
    const taper_module_source *source = &unit->module->sources[file];
    char text[600];
    va_list list;
    va_start(list, format);
    (void)vsnprintf(text, sizeof text, format, list);
    va_end(list);
    const char *line;
    size_t line_length, column;
    const size_t number = taper_ts_line(source->text, source->length, at, &line, &line_length, &column);
    const taper_status failed = taper_fail(unit->error, status, "%s, line %zu: %s", source->name, number, text);
    taper_error_add_detail(unit->error, "  %.*s\n", (int)taper_min_size(line_length, 200), line);
    return failed;
}

taper_status taper_ts_unit_create(taper_ts_unit *unit, taper_module *module, taper_registry *registry,
                                  taper_error *error)
{
    *unit = (taper_ts_unit){.module = module,
                            .registry = registry,
                            .allocator = module->allocator,
                            .error = error,
                            .constants = taper_val_none()};
    taper_arena_init(&unit->arena, module->allocator);
    unit->parsed = taper_arena_array(&unit->arena, module->source_count, sizeof *unit->parsed);
    if (unit->parsed == NULL) {
        return taper_fail_memory(error);
    }
    return taper_ts_atoms_create(&unit->atoms, module->allocator, &unit->arena, error);
}

void taper_ts_unit_free(taper_ts_unit *unit)
{
    for (size_t i = 0; i < unit->definition_capacity; i++) {
        const taper_ts_definition *d = unit->definitions[i];
        for (uint32_t m = 0; d != NULL && d->members != NULL && m < d->attribute_count; m++) {
            taper_val_release(d->members[m]);
        }
        if (d != NULL && d->member_values != NULL) {
            taper_obj_release(&d->member_values->head.head);
        }
    }
    taper_val_release(unit->constants);
    taper_ts_atoms_free(&unit->atoms);
    taper_free(unit->allocator, unit->definitions, unit->definition_capacity * sizeof(taper_ts_definition *));
    taper_free(unit->allocator, unit->assigned, unit->assigned_capacity * sizeof *unit->assigned);
    taper_arena_free(&unit->arena);
}

// ---- files

static taper_status define(void *user, taper_ts_definition *definition)
{
    taper_ts_unit *unit = user;
    const size_t before = unit->definition_capacity, at = definition->qualified;
    if (at >= before) {
        TAPER_TRY(TAPER_GROW(unit->allocator, unit->definitions, unit->definition_capacity, at + 1, unit->error));
        memset(unit->definitions + before, 0, (unit->definition_capacity - before) * sizeof *unit->definitions);
    }
    if (unit->definitions[at] == NULL) {
        unit->definitions[at] = definition;
    }
    return TAPER_OK;
}

static taper_status note_assigned(void *user, uint32_t atom)
{
    taper_ts_unit *unit = user;
    const size_t before = unit->assigned_capacity;
    if (atom >= before) {
        TAPER_TRY(TAPER_GROW(unit->allocator, unit->assigned, unit->assigned_capacity, atom + 1, unit->error));
        memset(unit->assigned + before, 0, (unit->assigned_capacity - before) * sizeof *unit->assigned);
    }
    unit->assigned[atom] = true;
    return TAPER_OK;
}

static taper_status parse_source(taper_ts_unit *unit, size_t index)
{
    const taper_module_source *source = &unit->module->sources[index];
    // The file "code/__torch__/a/b.py" is the module __torch__.a.b.
    const size_t length = strlen(source->name) - strlen("code/") - strlen(".py");
    char *module_name = taper_arena_string(&unit->arena, source->name + strlen("code/"), length);
    if (module_name == NULL) {
        return taper_fail_memory(unit->error);
    }
    for (char *c = module_name; *c != '\0'; c++) {
        *c = *c == '/' ? '.' : *c;
    }
    unit->parsed[index] = true;
    const taper_ts_parse parse = {.atoms = &unit->atoms,
                                  .arena = &unit->arena,
                                  .allocator = unit->allocator,
                                  .file_name = source->name,
                                  .module_name = module_name,
                                  .text = source->text,
                                  .length = source->length,
                                  .file = (uint32_t)index,
                                  .error = unit->error,
                                  .define = define,
                                  .assigned = note_assigned,
                                  .user = unit};
    return taper_ts_parse_file(&parse);
}

// Finds a source by name. Returns its index in the sorted list, or -1 if there is none.
static int64_t find_source(const taper_ts_unit *unit, const char *name, size_t length)
{
    size_t low = 0, high = unit->module->source_count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        const char *other = unit->module->sources[middle].name;
        const int order = strncmp(other, name, length);
        if (order < 0 || (order == 0 && strlen(other) < length)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < unit->module->source_count && strlen(unit->module->sources[low].name) == length &&
                   memcmp(unit->module->sources[low].name, name, length) == 0
               ? (int64_t)low
               : -1;
}

taper_status taper_ts_find(taper_ts_unit *unit, uint32_t qualified, taper_ts_definition **found)
{
    *found = qualified < unit->definition_capacity ? unit->definitions[qualified] : NULL;
    const char *name = unit->atoms.names[qualified];
    const char *dot = strrchr(name, '.');
    if (*found != NULL || dot == NULL || (size_t)(dot - name) > TAPER_LIMIT_RECORD_NAME - 16) {
        return TAPER_OK;
    }
    char path[TAPER_LIMIT_RECORD_NAME];
    const int length = snprintf(path, sizeof path, "code/%.*s.py", (int)(dot - name), name);
    for (int i = 5; i < length - 3; i++) {
        path[i] = path[i] == '.' ? '/' : path[i];
    }
    const int64_t index = find_source(unit, path, (size_t)length);
    if (index < 0 || unit->parsed[index]) {
        return TAPER_OK;
    }
    TAPER_TRY(parse_source(unit, (size_t)index));
    *found = qualified < unit->definition_capacity ? unit->definitions[qualified] : NULL;
    return TAPER_OK;
}

void taper_ts_unit_parse_all(taper_ts_unit *unit)
{
    taper_error *const error = unit->error;
    unit->error = NULL;
    unit->all_parsed = true;
    for (size_t i = 0; i < unit->module->source_count; i++) {
        if (!unit->parsed[i] && parse_source(unit, i) != TAPER_OK) {
            unit->all_parsed = unit->parsed[i] = false;
        }
    }
    unit->error = error;
}

taper_status taper_ts_find_text(taper_ts_unit *unit, const char *name, size_t length, taper_ts_definition **found)
{
    uint32_t atom;
    *found = NULL;
    if (length >= TAPER_LIMIT_RECORD_NAME) {
        return TAPER_OK;
    }
    // The search is charged to the budget, because a file may have many thousand objects of one class.
    TAPER_TRY(taper_charge(unit->allocator, 8 + length, unit->error));
    TAPER_TRY(taper_ts_atom(&unit->atoms, name, length, &atom, unit->error));
    return taper_ts_find(unit, atom, found);
}

taper_status taper_ts_find_type(taper_ts_unit *unit, const taper_type *type, taper_ts_definition **found)
{
    *found = NULL;
    if (type == NULL || (type->kind != TAPER_TYPE_CLASS && type->kind != TAPER_TYPE_TUPLE) || type->name == NULL) {
        return TAPER_OK;
    }
    return taper_ts_find_text(unit, type->name, strlen(type->name), found);
}

bool taper_ts_dotted(const taper_ts_unit *unit, uint32_t file, const taper_ts_node *node, const char **text,
                     size_t *length)
{
    const taper_ts_node *root = node;
    while (root->kind == TAPER_TS_ATTRIBUTE) {
        root = root->child;
    }
    if (root->kind != TAPER_TS_NAME) {
        return false;
    }
    *text = unit->module->sources[file].text + node->at;
    *length = node->end - node->at;
    return memchr(*text, ' ', *length) == NULL && memchr(*text, '\n', *length) == NULL;
}
