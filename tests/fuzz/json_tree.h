// SPDX-License-Identifier: BSD-2-Clause
// A JSON text as a tree that can be modified and written again. Strings and numbers remain as in the file, so that an
// unmodified tree is written with the same meaning. A string that contains JSON itself is a tree too, such as the
// nesting of inputs in a .pt2 file. For tests only: the program ends if memory runs out.
#ifndef TAPER_TESTS_JSON_TREE_H
#define TAPER_TESTS_JSON_TREE_H

#include <stdbool.h>

#include "tests/unit/archive_builder.h"

typedef enum json_node_kind {
    JSON_NODE_OTHER, // null, true or false
    JSON_NODE_NUMBER,
    JSON_NODE_TEXT,
    JSON_NODE_ARRAY,
    JSON_NODE_OBJECT,
    JSON_NODE_NESTED // a string that contains JSON; it has one item
} json_node_kind;

// A part of a text, not NUL-terminated, with escapes as in the file.
typedef struct json_span {
    const char *at;
    size_t length;
} json_span;

typedef struct json_node {
    json_node_kind kind;
    json_span name; // for a member of an object: its name; otherwise empty
    json_span text; // OTHER and NUMBER: the text as in the file; TEXT: the text between the quotes
    struct json_node **items;
    size_t count, capacity;
} json_node;

// Owns the nodes and texts of trees, which are freed together.
typedef struct json_pool {
    struct json_block *blocks;
} json_pool;

void json_pool_free(json_pool *pool);
// Returns a copy of the bytes, which is valid as long as the pool.
json_span json_pool_keep(json_pool *pool, const void *data, size_t size);
// Returns a node without items.
json_node *json_node_new(json_pool *pool, json_node_kind kind, json_span text);

// Returns the tree of a JSON text, or NULL if it is not JSON. The text must exist as long as the pool.
json_node *json_tree_read(json_pool *pool, const void *data, size_t size);
// Returns a copy of a tree, with the name of its root.
json_node *json_tree_copy(json_pool *pool, const json_node *node);
// Appends the tree as JSON.
void json_tree_write(const json_node *node, bytes *out);

// Inserts an item before the item at index `at`, or after the last one.
void json_node_insert(json_pool *pool, json_node *node, size_t at, json_node *item);
void json_node_remove(json_node *node, size_t at);

#endif
