// SPDX-License-Identifier: BSD-2-Clause
// Handles pytrees: makes names for the leaves of the arguments, and builds containers for results.
#include "frontend/export/parts.h"

#include <stdio.h>

enum { MOST_DEPTH = 64, NAME = 256 };

// ---- building results from their leaves

static const taper_type *item_type(taper_ir_value *const *items, size_t count)
{
    const taper_type *type = count != 0 && items[0]->type != NULL ? items[0]->type : &taper_type_any;
    for (size_t i = 1; i < count; i++) {
        if (items[i]->type == NULL || !taper_type_equal(items[i]->type, type)) {
            return &taper_type_any;
        }
    }
    return type;
}

static taper_status make(taper_export_lowering *l, taper_type_kind kind, const char *name,
                         const taper_type *const *items, const char *const *fields, size_t count,
                         const taper_type **type)
{
    return taper_type_make(l->module->types, kind, name, items, fields, count, type, l->emit.error);
}

static taper_status pack_list(taper_export_lowering *l, taper_ir_value *const *items, size_t count,
                              taper_ir_value **packed)
{
    const taper_type *const of[] = {item_type(items, count)}, *type;
    TAPER_TRY(make(l, TAPER_TYPE_LIST, NULL, of, NULL, 1, &type));
    return taper_emit_container(&l->emit, TAPER_NODE_LIST, type, items, count, packed);
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || (c & 0x80) != 0;
}

// Returns true if a named tuple can keep the names of its fields. The text of its type contains the field names, so
// they must be identifiers.
static bool has_fields(const taper_pt2_tree *tree)
{
    bool good = tree->kind == TAPER_PT2_NAMED_TUPLE && tree->keys != NULL && tree->count != 0;
    for (size_t i = 0; good && i < tree->count; i++) {
        const char *name = tree->keys[i].as.text;
        size_t length = 0;
        while (is_word(name[length])) {
            length++;
        }
        good = length != 0 && length == tree->keys[i].count;
    }
    return good;
}

// Makes the name of a named tuple from the class in the context: "test.f.<locals>.Pair", or the same text as a JSON
// string. In files of the lite interpreter, names begin with "__torch__." and contain no other punctuation, because
// PyTorch's type parser would stop there.
static taper_status tuple_name(taper_export_lowering *l, const char *context, const char **name)
{
    static const char prefix[] = "__torch__.", otherwise[] = "namedtuple";
    if (context == NULL || strspn(context, "\"") == strlen(context) || strcmp(context, "null") == 0) {
        context = otherwise;
    }
    const size_t start = sizeof prefix - 1, length = strlen(context);
    char *text = taper_arena_alloc(&l->module->arena, start + length + 1);
    if (text == NULL) {
        return taper_fail_memory(l->emit.error);
    }
    memcpy(text, prefix, start);
    size_t at = start;
    for (size_t i = 0; i < length; i++) {
        const char c = context[i];
        const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (c != '"') {
            text[at] = letter || (c == '.' && text[at - 1] != '.') ? c : '_';
            at++;
        }
    }
    text[at] = 0;
    *name = text;
    return TAPER_OK;
}

static taper_status pack_tuple(taper_export_lowering *l, const taper_pt2_tree *tree, taper_ir_value *const *items,
                               taper_ir_value **packed)
{
    const bool named = has_fields(tree);
    const taper_type **types = taper_arena_array(&l->emit.graph->arena, tree->count, sizeof *types), *type;
    const char **fields = taper_arena_array(&l->emit.graph->arena, tree->count, sizeof *fields);
    if (types == NULL || fields == NULL) {
        return taper_fail_memory(l->emit.error);
    }
    for (size_t i = 0; i < tree->count; i++) {
        types[i] = items[i]->type != NULL ? items[i]->type : &taper_type_any;
        fields[i] = named ? tree->keys[i].as.text : NULL;
    }
    const char *name = NULL;
    TAPER_TRY(named ? tuple_name(l, tree->context, &name) : TAPER_OK);
    TAPER_TRY(make(l, TAPER_TYPE_TUPLE, named ? name : NULL, types, named ? fields : NULL, tree->count, &type));
    return taper_emit_container(&l->emit, TAPER_NODE_TUPLE, type, items, tree->count, packed);
}

static taper_status pack_dict(taper_export_lowering *l, const taper_pt2_tree *tree, taper_ir_value *const *items,
                              taper_ir_value **packed)
{
    taper_ir_value **pairs;
    TAPER_TRY(taper_emit_values(&l->emit, 2 * tree->count, &pairs));
    const taper_type *key = tree->count == 0 || tree->keys[0].kind == TAPER_PT2_STRING ? &taper_type_string
                            : tree->keys[0].kind == TAPER_PT2_INT                      ? &taper_type_int
                                                                                       : &taper_type_any;
    for (size_t i = 0; i < tree->count; i++) {
        TAPER_TRY(taper_export_value(l, NULL, &tree->keys[i], NULL, &pairs[2 * i]));
        pairs[2 * i + 1] = items[i];
        key = tree->keys[i].kind == tree->keys[0].kind ? key : &taper_type_any;
    }
    const taper_type *const types[] = {key, item_type(items, tree->count)}, *type;
    TAPER_TRY(make(l, TAPER_TYPE_DICT, NULL, types, NULL, 2, &type));
    return taper_emit_container(&l->emit, TAPER_NODE_DICT, type, pairs, 2 * tree->count, packed);
}

static taper_status pack(taper_export_lowering *l, const taper_pt2_tree *tree, int depth, taper_ir_value *const *leaves,
                         taper_ir_value **packed)
{
    if (tree->kind == TAPER_PT2_LEAF) {
        *packed = leaves[0];
        return TAPER_OK;
    }
    if (depth == MOST_DEPTH) {
        return taper_export_refuse(l, "what it returns is nested deeper than %d", MOST_DEPTH);
    }
    taper_ir_value **items;
    TAPER_TRY(taper_emit_values(&l->emit, tree->count, &items));
    for (size_t i = 0; i < tree->count; i++) {
        TAPER_TRY(pack(l, &tree->children[i], depth + 1, leaves, &items[i]));
        leaves += tree->children[i].leaves;
    }
    if (tree->kind == TAPER_PT2_TREE_LIST) {
        return pack_list(l, items, tree->count, packed);
    }
    // A container of a registered class becomes a dict if the names of its children are known.
    const bool dict = (tree->kind == TAPER_PT2_TREE_DICT || tree->kind == TAPER_PT2_OTHER) &&
                      (tree->keys != NULL || tree->count == 0);
    return dict ? pack_dict(l, tree, items, packed) : pack_tuple(l, tree, items, packed);
}

taper_status taper_export_pack(taper_export_lowering *l, const taper_pt2_tree *tree, taper_ir_value *const *leaves,
                               taper_ir_value **packed)
{
    return pack(l, tree, 0, leaves, packed);
}

// ---- names of leaves

static taper_status name_leaves(taper_export_lowering *l, const taper_pt2_tree *tree, int depth, char *path,
                                size_t length, const char **names)
{
    if (tree->kind == TAPER_PT2_LEAF) {
        *names = taper_arena_string(&l->module->arena, path, length);
        return *names != NULL ? TAPER_OK : taper_fail_memory(l->emit.error);
    }
    if (depth == MOST_DEPTH) {
        return taper_export_refuse(l, "its arguments are nested deeper than %d", MOST_DEPTH);
    }
    for (size_t i = 0; i < tree->count; i++) {
        const taper_pt2_argument *key = tree->keys != NULL ? &tree->keys[i] : NULL;
        const size_t room = NAME - length;
        const int more = key == NULL                     ? snprintf(path + length, room, ".%zu", i)
                         : key->kind == TAPER_PT2_STRING ? snprintf(path + length, room, ".%.100s", key->as.text)
                         : key->kind == TAPER_PT2_INT    ? snprintf(path + length, room, ".%lld", (long long)key->as.i)
                                                         : snprintf(path + length, room, ".%zu", i);
        const size_t whole = taper_min_size(length + (size_t)more, NAME - 1);
        TAPER_TRY(name_leaves(l, &tree->children[i], depth + 1, path, whole, names));
        names += tree->children[i].leaves;
        path[length] = '\0';
    }
    return TAPER_OK;
}

taper_status taper_export_leaf_names(taper_export_lowering *l, const char **names)
{
    const taper_pt2_program *p = l->program;
    const taper_pt2_tree *tree = &p->in_tree;
    char path[NAME];
    if (tree->kind != TAPER_PT2_TUPLE || tree->count != 2) {
        return taper_export_refuse(l, "its arguments are no tuple of positional and named ones");
    }
    const taper_pt2_tree *args = &tree->children[0];
    for (size_t i = 0; i < args->count; i++) {
        // The name of forward's argument, if the file contains the name.
        const int length = i < p->argument_name_count ? snprintf(path, NAME, "%.100s", p->argument_names[i])
                                                      : snprintf(path, NAME, "args.%zu", i);
        TAPER_TRY(name_leaves(l, &args->children[i], 0, path, (size_t)length, names));
        names += args->children[i].leaves;
    }
    const int length = snprintf(path, NAME, "kwargs");
    return name_leaves(l, &tree->children[1], 0, path, (size_t)length, names);
}
