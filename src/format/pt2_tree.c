// SPDX-License-Identifier: BSD-2-Clause
// Reads how a program's inputs and outputs are nested in containers. The file describes this in a string that contains
// JSON: [1, {"type": "builtins.tuple", "context": "null", "children_spec": [{"type": null, "context": null, …}, …]}]. A
// context is a string that again contains JSON, or an object.
#include "base/charge.h"
#include "format/pt2_parts.h"

static const struct {
    char name[24];
    uint8_t kind;
} types[] = {
    {"builtins.tuple", TAPER_PT2_TUPLE},
    {"builtins.list", TAPER_PT2_TREE_LIST},
    {"builtins.dict", TAPER_PT2_TREE_DICT},
    {"collections.OrderedDict", TAPER_PT2_TREE_DICT},
    {"collections.defaultdict", TAPER_PT2_TREE_DICT},
    {"collections.namedtuple", TAPER_PT2_NAMED_TUPLE},
};

// ---- keys of dicts, field names of named tuples

static taper_status key_item(taper_pt2 *r, const char *name, const void *how, void *item)
{
    taper_pt2_argument *key = item;
    taper_json_kind kind;
    (void)name;
    (void)how;
    TAPER_TRY(taper_json_peek(&r->json, &kind));
    if (kind == TAPER_JSON_TEXT) {
        size_t length = 0;
        key->kind = TAPER_PT2_STRING;
        TAPER_TRY(taper_pt2_text(r, &key->as.text, &length));
        key->count = (uint32_t)length;
        return TAPER_OK;
    }
    if (kind == TAPER_JSON_BOOL) {
        bool flag = false;
        TAPER_TRY(taper_json_take_bool(&r->json, &flag));
        *key = (taper_pt2_argument){.kind = TAPER_PT2_BOOL, .as.i = flag};
        return TAPER_OK;
    }
    if (kind == TAPER_JSON_INT) {
        taper_json_number number;
        TAPER_TRY(taper_json_take_number(&r->json, &number));
        key->kind = number.whole ? TAPER_PT2_INT : TAPER_PT2_FLOAT;
        if (number.whole) {
            key->as.i = number.integer;
        } else {
            key->as.f = number.number;
        }
        return TAPER_OK;
    }
    // LIST marks a key of a kind that is not supported
    key->kind = kind == TAPER_JSON_NULL ? TAPER_PT2_NONE : TAPER_PT2_LIST;
    return taper_json_skip(&r->json);
}

static taper_status keys_member(taper_pt2 *r, const taper_json_text *name, void *to)
{
    return taper_json_is(name, "dict_context")
               ? taper_pt2_items(r, TAPER_JSON_ARRAY, key_item, NULL, sizeof(taper_pt2_argument), to)
               : taper_json_skip(&r->json);
}

// Reads the keys of a dict from its context: a list, or for a defaultdict an object with a list.
static taper_status read_keys(taper_pt2 *r, taper_pt2_tree *tree)
{
    const taper_json outer = r->json;
    taper_pt2_array keys = {NULL, 0};
    taper_json_kind kind;
    r->json = taper_json_make(tree->context, strlen(tree->context), 0, outer.what, TAPER_LIMIT_JSON_DEPTH, r->error);
    TAPER_TRY(taper_json_peek(&r->json, &kind));
    TAPER_TRY(kind == TAPER_JSON_OBJECT
                  ? taper_pt2_members(r, keys_member, &keys)
                  : taper_pt2_items(r, TAPER_JSON_ARRAY, key_item, NULL, sizeof(taper_pt2_argument), &keys));
    TAPER_TRY(taper_json_end(&r->json));
    r->json = outer;
    if (keys.count != tree->count) {
        return taper_pt2_fail(r, TAPER_ERROR_FILE, "a dict of %zu items with %zu keys", tree->count, keys.count);
    }
    tree->keys = keys.items;
    for (size_t i = 0; i < keys.count; i++) {
        if (tree->keys[i].kind == TAPER_PT2_LIST) {
            tree->keys = NULL;
            break;
        }
    }
    return TAPER_OK;
}

// Finds the field names of a class of kind TAPER_PT2_OTHER, if its context is a list with a string for each child. Such
// a class is a dict that PyTorch does not treat as one, for example a result of transformers. Other contexts have a
// meaning only for their class.
static taper_status find_names(taper_pt2 *r, taper_pt2_tree *tree)
{
    taper_error *const error = r->error;
    const taper_json outer = r->json;
    // If the context is not a list of strings, scratch_count is set back to this number.
    const size_t above = r->scratch_count;
    if (tree->context[0] != '[') {
        return TAPER_OK;
    }
    r->error = NULL;
    taper_status status = read_keys(r, tree);
    r->error = error;
    r->json = outer;
    r->scratch_count = above;
    if (status == TAPER_ERROR_RESOURCE) { // reads the keys again to get the error message
        status = read_keys(r, tree);
        r->json = outer;
        r->scratch_count = above;
    }
    for (size_t i = 0; status == TAPER_OK && tree->keys != NULL && i < tree->count; i++) {
        if (tree->keys[i].kind != TAPER_PT2_STRING) {
            tree->keys = NULL;
        }
    }
    return status == TAPER_ERROR_RESOURCE ? status : TAPER_OK;
}

// Finds the field names of a named tuple. The context names the tuple's class. Files before PyTorch 2.8 do not contain
// field names.
static taper_status find_fields(taper_pt2 *r, taper_pt2_tree *tree)
{
    const taper_pt2_fields *fields = r->fields.items;
    const bool quoted = tree->context[0] == '"';
    const char *type = tree->context + quoted;
    const size_t around = quoted ? 2 : 0, length = strlen(tree->context);
    TAPER_TRY(taper_charge(r->module->allocator, 4 * (uint64_t)r->fields.count, r->error));
    for (size_t i = 0; i < r->fields.count; i++) {
        const size_t known = strlen(fields[i].type);
        if (known + around == length && memcmp(type, fields[i].type, known) == 0 && fields[i].count == tree->count) {
            tree->keys = fields[i].names;
        }
    }
    return TAPER_OK;
}

// ---- trees

static taper_status tree_item(taper_pt2 *r, const char *name, const void *how, void *item);

// Reads a context: the content of a string, or the JSON text of any other value.
static taper_status read_context(taper_pt2 *r, const char **context)
{
    taper_json_kind kind;
    TAPER_TRY(taper_json_peek(&r->json, &kind));
    if (kind == TAPER_JSON_TEXT) {
        return taper_pt2_text(r, context, NULL);
    }
    const char *from = r->json.at;
    TAPER_TRY(taper_json_skip(&r->json));
    *context = taper_arena_string(&r->module->arena, from, (size_t)(r->json.at - from));
    return *context != NULL ? TAPER_OK : taper_fail_memory(r->error);
}

static taper_status tree_member(taper_pt2 *r, const taper_json_text *name, void *to)
{
    taper_pt2_tree *tree = to;
    if (taper_json_is(name, "type")) {
        return taper_pt2_text(r, &tree->type, NULL);
    }
    if (taper_json_is(name, "context")) {
        return read_context(r, &tree->context);
    }
    if (taper_json_is(name, "children_spec")) {
        taper_pt2_array children;
        TAPER_TRY(taper_pt2_items(r, TAPER_JSON_ARRAY, tree_item, NULL, sizeof *tree, &children));
        tree->children = children.items;
        tree->count = children.count;
        return TAPER_OK;
    }
    return taper_json_skip(&r->json);
}

static taper_status read_tree(taper_pt2 *r, taper_pt2_tree *tree)
{
    TAPER_TRY(taper_pt2_members(r, tree_member, tree));
    if (tree->type == NULL) {
        tree->leaves = 1;
        return tree->count == 0 ? TAPER_OK : taper_pt2_fail(r, TAPER_ERROR_FILE, "a leaf with items");
    }
    tree->kind = TAPER_PT2_OTHER;
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (strcmp(tree->type, types[i].name) == 0) {
            tree->kind = types[i].kind;
        }
    }
    for (size_t i = 0; i < tree->count; i++) { // cannot overflow, because the file contains all these children
        tree->leaves += tree->children[i].leaves;
    }
    if (tree->context == NULL) {
        tree->context = "null";
    }
    if (tree->kind == TAPER_PT2_NAMED_TUPLE) {
        return find_fields(r, tree);
    }
    return tree->kind == TAPER_PT2_TREE_DICT ? read_keys(r, tree)
           : tree->kind == TAPER_PT2_OTHER   ? find_names(r, tree)
                                             : TAPER_OK;
}

static taper_status tree_item(taper_pt2 *r, const char *name, const void *how, void *item)
{
    (void)name;
    (void)how;
    return read_tree(r, item);
}

static taper_status read_all(taper_pt2 *r, taper_pt2_tree *tree)
{
    int64_t protocol = 0;
    bool more;
    TAPER_TRY(taper_json_enter(&r->json, TAPER_JSON_ARRAY));
    TAPER_TRY(taper_json_next(&r->json, &more));
    TAPER_TRY(more ? taper_pt2_int(r, &protocol) : taper_json_fail(&r->json, "expected a value"));
    if (protocol != 1) {
        return taper_pt2_fail(r, TAPER_ERROR_UNSUPPORTED, "protocol %lld is not known", (long long)protocol);
    }
    TAPER_TRY(taper_json_next(&r->json, &more));
    TAPER_TRY(more ? read_tree(r, tree) : taper_json_fail(&r->json, "expected a value"));
    TAPER_TRY(taper_json_next(&r->json, &more));
    return more ? taper_json_fail(&r->json, "expected ']'") : taper_json_end(&r->json);
}

taper_status taper_pt2_tree_read(taper_pt2 *r, const char *what, const char *text, size_t length, taper_pt2_tree *tree)
{
    r->json = taper_json_make(text, length, 0, what, TAPER_LIMIT_JSON_DEPTH, r->error);
    return read_all(r, tree);
}
