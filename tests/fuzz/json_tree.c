// SPDX-License-Identifier: BSD-2-Clause
// Reads, copies and writes the trees of json_tree.h. The values are read with src/base/json.h.
#include "tests/fuzz/json_tree.h"

#include "base/json.h"

enum { BLOCK = 65536, DEEPEST = 200 };

typedef struct json_block {
    struct json_block *next;
    size_t used, size;
    // The bytes of a block follow its header.
} json_block;

static void *allocate(json_pool *pool, size_t size)
{
    const size_t rounded = (size + 15) / 16 * 16, header = (sizeof(json_block) + 15) / 16 * 16;
    json_block *block = pool->blocks;
    if (block == NULL || block->size - block->used < rounded) {
        const size_t room = rounded > BLOCK ? rounded : BLOCK;
        block = malloc(header + room);
        if (block == NULL) {
            abort();
        }
        *block = (json_block){.next = pool->blocks, .size = room};
        pool->blocks = block;
    }
    char *at = (char *)block + header + block->used;
    block->used += rounded;
    return at;
}

void json_pool_free(json_pool *pool)
{
    while (pool->blocks != NULL) {
        json_block *next = pool->blocks->next;
        free(pool->blocks);
        pool->blocks = next;
    }
}

json_span json_pool_keep(json_pool *pool, const void *data, size_t size)
{
    char *kept = allocate(pool, size + 1);
    if (size != 0) {
        memcpy(kept, data, size);
    }
    kept[size] = '\0';
    return (json_span){kept, size};
}

json_node *json_node_new(json_pool *pool, json_node_kind kind, json_span text)
{
    json_node *node = allocate(pool, sizeof *node);
    *node = (json_node){.kind = kind, .text = text};
    return node;
}

void json_node_insert(json_pool *pool, json_node *node, size_t at, json_node *item)
{
    if (node->count == node->capacity) {
        node->capacity = 2 * node->capacity + 4;
        json_node **items = allocate(pool, node->capacity * sizeof(json_node *));
        if (node->count != 0) {
            memcpy(items, node->items, node->count * sizeof(json_node *));
        }
        node->items = items;
    }
    at = at > node->count ? node->count : at;
    memmove(node->items + at + 1, node->items + at, (node->count - at) * sizeof(json_node *));
    node->items[at] = item;
    node->count++;
}

void json_node_remove(json_node *node, size_t at)
{
    node->count--;
    memmove(node->items + at, node->items + at + 1, (node->count - at) * sizeof(json_node *));
}

// ---- reading

static json_node *read_value(json_pool *pool, taper_json *json);

static json_node *read_text(json_pool *pool, taper_json *json)
{
    taper_json_text text;
    if (taper_json_take_text(json, &text) != TAPER_OK) {
        return NULL;
    }
    json_node *node = json_node_new(pool, JSON_NODE_TEXT, (json_span){text.at, text.length});
    if (text.length == 0 || (text.at[0] != '[' && text.at[0] != '{')) {
        return node;
    }
    char *decoded = allocate(pool, text.length + 1);
    const size_t length = taper_json_decode(&text, decoded);
    json_node *item = json_tree_read(pool, decoded, length);
    if (item != NULL) {
        node->kind = JSON_NODE_NESTED;
        json_node_insert(pool, node, 0, item);
    }
    return node;
}

static json_node *read_items(json_pool *pool, taper_json *json, taper_json_kind kind)
{
    json_node *node =
        json_node_new(pool, kind == TAPER_JSON_ARRAY ? JSON_NODE_ARRAY : JSON_NODE_OBJECT, (json_span){"", 0});
    if (taper_json_enter(json, kind) != TAPER_OK) {
        return NULL;
    }
    for (;;) {
        bool more;
        taper_json_text name = {.at = ""};
        if ((kind == TAPER_JSON_ARRAY ? taper_json_next(json, &more) : taper_json_member(json, &name, &more)) !=
            TAPER_OK) {
            return NULL;
        }
        json_node *item = more ? read_value(pool, json) : NULL;
        if (item == NULL) {
            return more ? NULL : node;
        }
        item->name = (json_span){name.at, name.length};
        json_node_insert(pool, node, node->count, item);
    }
}

static json_node *read_value(json_pool *pool, taper_json *json)
{
    taper_json_kind kind;
    taper_json_number number;
    if (taper_json_peek(json, &kind) != TAPER_OK) {
        return NULL;
    }
    if (kind == TAPER_JSON_TEXT) {
        return read_text(pool, json);
    }
    if (kind == TAPER_JSON_ARRAY || kind == TAPER_JSON_OBJECT) {
        return read_items(pool, json, kind);
    }
    const char *from = json->at;
    const bool is_number = kind == TAPER_JSON_INT || kind == TAPER_JSON_DOUBLE;
    const taper_status status = is_number ? taper_json_take_number(json, &number) : taper_json_skip(json);
    return status != TAPER_OK ? NULL
                              : json_node_new(pool, is_number ? JSON_NODE_NUMBER : JSON_NODE_OTHER,
                                              (json_span){from, (size_t)(json->at - from)});
}

json_node *json_tree_read(json_pool *pool, const void *data, size_t size)
{
    taper_json json = taper_json_make(data, size, 0, "the text", DEEPEST, NULL);
    json_node *node = read_value(pool, &json);
    return node != NULL && taper_json_end(&json) == TAPER_OK ? node : NULL;
}

json_node *json_tree_copy(json_pool *pool, const json_node *node)
{
    json_node *copy = json_node_new(pool, node->kind, node->text);
    copy->name = node->name;
    for (size_t i = 0; i < node->count; i++) {
        json_node_insert(pool, copy, i, json_tree_copy(pool, node->items[i]));
    }
    return copy;
}

// ---- writing

static void add(bytes *out, const char *text)
{
    bytes_add(out, text, strlen(text));
}

static void write_nested(const json_node *node, bytes *out)
{
    bytes inner = {.data = NULL};
    json_tree_write(node->items[0], &inner);
    for (size_t i = 0; i < inner.size; i++) {
        if (inner.data[i] == '"' || inner.data[i] == '\\') {
            add(out, "\\");
        }
        bytes_add(out, &inner.data[i], 1);
    }
    bytes_free(&inner);
}

void json_tree_write(const json_node *node, bytes *out)
{
    const bool object = node->kind == JSON_NODE_OBJECT;
    switch (node->kind) {
    case JSON_NODE_OTHER:
    case JSON_NODE_NUMBER:
        bytes_add(out, node->text.at, node->text.length);
        return;
    case JSON_NODE_TEXT:
    case JSON_NODE_NESTED:
        add(out, "\"");
        if (node->kind == JSON_NODE_TEXT) {
            bytes_add(out, node->text.at, node->text.length);
        } else if (node->count != 0) {
            write_nested(node, out);
        }
        add(out, "\"");
        return;
    case JSON_NODE_ARRAY:
    case JSON_NODE_OBJECT:
        break;
    }
    add(out, object ? "{" : "[");
    for (size_t i = 0; i < node->count; i++) {
        add(out, i != 0 ? ", " : "");
        if (object) {
            add(out, "\"");
            bytes_add(out, node->items[i]->name.at, node->items[i]->name.length);
            add(out, "\": ");
        }
        json_tree_write(node->items[i], out);
    }
    add(out, object ? "}" : "]");
}
