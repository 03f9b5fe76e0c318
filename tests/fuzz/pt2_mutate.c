// SPDX-License-Identifier: BSD-2-Clause
// Implements the mutations. Members and items are removed, duplicated, moved, or replaced by values of other types or
// by values with the same role elsewhere. Numbers and names change. Records are removed, duplicated and renamed.
#include "tests/fuzz/pt2_mutate.h"

#include "tests/fuzz/json_tree.h"

enum { MOST_CHANGES = 4 };

// The position of a node: item `at` of a parent.
typedef struct place {
    json_node *parent;
    size_t at;
} place;

typedef struct places {
    place *items;
    size_t count, capacity;
} places;

typedef struct mutation {
    uint64_t state; // state of the random generator
    json_pool pool;
    json_node *root;   // root of the changed record
    places own, other; // nodes of the changed record; nodes of the tree from which subtrees and names are taken
} mutation;

// ---- random numbers: splitmix64

static uint64_t next(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

// Returns a number below `count`, which is not 0.
static size_t below(mutation *m, size_t count)
{
    return (size_t)(next(&m->state) % count);
}

// ---- nodes

static void gather(places *to, json_node *node)
{
    for (size_t i = 0; i < node->count; i++) {
        if (to->count == to->capacity) {
            to->capacity = 2 * to->capacity + 256;
            to->items = realloc(to->items, to->capacity * sizeof *to->items);
            if (to->items == NULL) {
                abort();
            }
        }
        to->items[to->count++] = (place){node, i};
        gather(to, node->items[i]);
    }
}

static json_node *at(const place *p)
{
    return p->parent->items[p->at];
}

// Returns a random node below `from`, which has items. Descends from node to node, so a few large subtrees are chosen
// as often as many small ones.
static place walk(mutation *m, json_node *from)
{
    place p = {from, below(m, from->count)};
    while (at(&p)->count != 0 && below(m, 5) != 0) {
        p = (place){at(&p), below(m, at(&p)->count)};
    }
    return p;
}

// Returns a random node: any node, a node near the root, or a node in a string that contains JSON (the nesting of
// inputs and outputs).
static place choose(mutation *m)
{
    const size_t how = below(m, 6), first = below(m, m->own.count);
    if (how < 3) {
        return m->own.items[first];
    }
    for (size_t i = 0; i < m->own.count && how == 3; i++) {
        const place *p = &m->own.items[(first + i) % m->own.count];
        if (at(p)->kind == JSON_NODE_NESTED && at(p)->count != 0 && at(p)->items[0]->count != 0) {
            return walk(m, at(p)->items[0]);
        }
    }
    return walk(m, m->root);
}

// Returns a random node, of this kind if several tries find one, otherwise of any kind.
static place choose_kind(mutation *m, json_node_kind kind)
{
    place p = choose(m);
    for (size_t i = 0; i < 50 && at(&p)->kind != kind; i++) {
        p = choose(m);
    }
    return p;
}

static const json_node *donor(mutation *m)
{
    return at(&m->other.items[below(m, m->other.count)]);
}

// Replaces the node at a position by a copy of another node, under the same name.
static void put(mutation *m, const place *p, const json_node *node)
{
    json_node *copy = json_tree_copy(&m->pool, node);
    copy->name = at(p)->name;
    p->parent->items[p->at] = copy;
}

static bool same_span(json_span a, json_span b)
{
    return a.length == b.length && (a.length == 0 || memcmp(a.at, b.at, a.length) == 0);
}

// ---- changes to a file

static void drop(mutation *m)
{
    const place p = choose(m);
    json_node_remove(p.parent, p.at);
}

static void duplicate(mutation *m)
{
    const place p = choose(m);
    json_node_insert(&m->pool, p.parent, below(m, p.parent->count + 1), json_tree_copy(&m->pool, at(&p)));
}

static void swap(mutation *m)
{
    const place p = choose(m), q = choose(m);
    const json_node *first = json_tree_copy(&m->pool, at(&p)), *second = json_tree_copy(&m->pool, at(&q));
    put(m, &q, first);
    put(m, &p, second); // if one of the two nodes contains the other, the change of the inner node is lost
}

static void swap_neighbours(mutation *m)
{
    const place p = choose(m);
    const size_t with = below(m, p.parent->count);
    json_node *item = at(&p);
    p.parent->items[p.at] = p.parent->items[with];
    p.parent->items[with] = item;
}

static void replace_type(mutation *m)
{
    static const char *const values[] = {
        "null",
        "true",
        "false",
        "0",
        "1",
        "-1",
        "7",
        "2147483648",
        "9223372036854775807",
        "-9223372036854775808",
        "99999999999999999999",
        "0.5",
        "1e308",
        "NaN",
        "-Infinity",
        "\"\"",
        "\"x\"",
        "\"[]\"",
        "\"[1, {\\\"type\\\": null, \\\"context\\\": null, \\\"children_spec\\\": []}]\"",
        "\"\\u0000\"",
        "[]",
        "{}",
        "[[]]",
        "[null]",
        "[{}]",
        "{\"as_none\": true}",
        "{\"as_int\": 3}",
        "{\"as_float\": 0.5}",
        "{\"as_bool\": true}",
        "{\"as_string\": \"x\"}",
        "{\"as_tensors\": []}",
        "{\"as_scalar_type\": 7}",
        "{\"as_device\": {\"type\": \"cpu\", \"index\": null}}"};
    const place p = choose(m);
    const char *text = values[below(m, sizeof values / sizeof values[0])];
    // The text is not checked, because some of these values shall exceed the reader's limits.
    put(m, &p, json_node_new(&m->pool, JSON_NODE_OTHER, (json_span){text, strlen(text)}));
}

static void graft(mutation *m)
{
    const place p = choose(m);
    put(m, &p, donor(m));
}

// Replaces a node by a member with the same name, or by an item of an array with the same name.
static void graft_same_role(mutation *m)
{
    const place p = choose(m);
    const bool member = p.parent->kind == JSON_NODE_OBJECT;
    const json_span name = member ? at(&p)->name : p.parent->name;
    size_t from = below(m, m->other.count);
    for (size_t i = 0; i < m->other.count; i++, from = (from + 1) % m->other.count) {
        const place *q = &m->other.items[from];
        if ((q->parent->kind == JSON_NODE_OBJECT) == member &&
            same_span(member ? at(q)->name : q->parent->name, name) && (at(q) != at(&p))) {
            put(m, &p, at(q));
            return;
        }
    }
}

// Replaces the value of a union such as {"as_int": 1}, possibly by a value of another kind.
static void graft_union(mutation *m)
{
    place p = choose(m);
    for (size_t i = 0; i < 50 && (at(&p)->name.length < 3 || memcmp(at(&p)->name.at, "as_", 3) != 0); i++) {
        p = choose(m);
    }
    for (size_t i = 0; i < 200; i++) {
        const json_node *other = donor(m);
        if (other->name.length > 3 && memcmp(other->name.at, "as_", 3) == 0) {
            p.parent->items[p.at] = json_tree_copy(&m->pool, other);
            return;
        }
    }
}

static void change_number(mutation *m)
{
    static const long long far[] = {0, 1, -1, 2, 63, 64, 65, 255, 256, 65536, 2147483647, -2147483648, 4294967296};
    const place p = choose_kind(m, JSON_NODE_NUMBER);
    char text[40];
    const long long old = strtoll(at(&p)->kind == JSON_NODE_NUMBER ? at(&p)->text.at : "0", NULL, 10);
    const long long small = (long long)((unsigned long long)old + below(m, 5) - 2);
    (void)snprintf(text, sizeof text, "%lld",
                   below(m, 2) == 0 ? small
                                    : far[below(m, sizeof far / sizeof far[0])] * (below(m, 8) == 0 ? 1000 : 1));
    put(m, &p, json_node_new(&m->pool, JSON_NODE_NUMBER, json_pool_keep(&m->pool, text, strlen(text))));
}

// Returns a name from another place of the sample, or a name that occurs nowhere.
static json_span other_name(mutation *m)
{
    static const char *const known[] = {"", "x", "unknown", "self", "a.b", "..", "0"};
    for (size_t i = 0; i < 50 && below(m, 5) != 0; i++) {
        const json_node *other = donor(m);
        if (other->kind == JSON_NODE_TEXT) {
            return other->text;
        }
    }
    const char *text = known[below(m, sizeof known / sizeof known[0])];
    return (json_span){text, strlen(text)};
}

static void rename_text(mutation *m)
{
    const place p = choose_kind(m, JSON_NODE_TEXT);
    put(m, &p, json_node_new(&m->pool, JSON_NODE_TEXT, other_name(m)));
}

static void rename_member(mutation *m)
{
    const place p = choose(m);
    const json_node *other = donor(m);
    at(&p)->name = below(m, 4) == 0 || other->name.length == 0 ? other_name(m) : other->name;
}

// Cuts, duplicates or changes a part of a string, because guards and sizes are expressions in strings.
static void edit_text(mutation *m)
{
    static const char *const parts[] = {"[", "]", "(", ")", ".", "'", "\\\"", "0", "9", "+", "-",  "*",
                                        "/", "%", "<", "=", " ", "L", "x",    "T", ",", "e", "\\n"};
    const place p = choose_kind(m, JSON_NODE_TEXT);
    const json_span old = at(&p)->text;
    if (at(&p)->kind != JSON_NODE_TEXT || memchr(old.at, '\\', old.length) != NULL) {
        return; // strings with escapes are not changed, because an escape must not be cut
    }
    const size_t from = below(m, old.length + 1), left = old.length - from, cut = below(m, left < 4 ? left + 1 : 4);
    const char *part = below(m, 3) == 0 ? "" : parts[below(m, sizeof parts / sizeof parts[0])];
    bytes made = {.data = NULL};
    bytes_add(&made, old.at, from);
    bytes_add(&made, part, strlen(part));
    bytes_add(&made, old.at + from + cut, left - cut);
    put(m, &p, json_node_new(&m->pool, JSON_NODE_TEXT, json_pool_keep(&m->pool, made.data, made.size)));
    bytes_free(&made);
}

static void shuffle(mutation *m)
{
    const place p = choose_kind(m, JSON_NODE_ARRAY);
    json_node *node = at(&p);
    for (size_t i = node->count; i > 1; i--) {
        const size_t with = below(m, i);
        json_node *item = node->items[i - 1];
        node->items[i - 1] = node->items[with];
        node->items[with] = item;
    }
}

static void shorten(mutation *m)
{
    const place p = choose_kind(m, JSON_NODE_ARRAY);
    at(&p)->count = at(&p)->count != 0 ? below(m, at(&p)->count) : 0;
}

static void (*const changes[])(mutation *m) = {drop,
                                               drop,
                                               duplicate,
                                               swap,
                                               swap_neighbours,
                                               replace_type,
                                               replace_type,
                                               graft,
                                               graft_union,
                                               graft_same_role,
                                               graft_same_role,
                                               graft_same_role,
                                               change_number,
                                               change_number,
                                               rename_text,
                                               rename_member,
                                               edit_text,
                                               shuffle,
                                               shorten};

// ---- changing records

static bool is_program(const pt2_record *record)
{
    return strncmp(record->name, "models/", 7) == 0 || strcmp(record->name, "serialized_exported_program.json") == 0;
}

// Returns the index of a record whose JSON will be changed. Usually it is the program. Returns the number of records if
// no record has JSON.
static size_t choose_json(mutation *m, const pt2_sample *sample)
{
    const bool program = below(m, 8) != 0;
    size_t found = below(m, sample->count);
    for (size_t i = 0; i < sample->count; i++, found = (found + 1) % sample->count) {
        if (pt2_record_is_json(&sample->records[found]) && is_program(&sample->records[found]) == program) {
            return found;
        }
    }
    return sample->count;
}

static void mutate_json(mutation *m, pt2_record *record, const pt2_sample *from)
{
    m->root = json_tree_read(&m->pool, record->data.data, record->data.size);
    json_node *other = m->root;
    if (from != NULL) {
        const size_t found = choose_json(m, from);
        other = found < from->count
                    ? json_tree_read(&m->pool, from->records[found].data.data, from->records[found].data.size)
                    : NULL;
    }
    other = other != NULL ? other : m->root;
    const size_t count = 1 + below(m, MOST_CHANGES);
    for (size_t i = 0; i < count && m->root != NULL && m->root->count != 0; i++) {
        m->own.count = m->other.count = 0;
        gather(&m->own, m->root);
        gather(&m->other, other);
        if (m->own.count != 0 && m->other.count != 0) {
            changes[below(m, sizeof changes / sizeof changes[0])](m);
        }
    }
    bytes made = {.data = NULL};
    if (m->root != NULL) {
        json_tree_write(m->root, &made);
        bytes_free(&record->data);
        record->data = made;
    }
}

// Renames a value, a weight or a method in all records, which keeps references valid.
static void rename_everywhere(mutation *m, pt2_sample *sample, pt2_record *record)
{
    static const char *const names[] = {"",     ".",        "a.",        ".b",        "a..b", "a b", "a\\nb",
                                        "[",    "x], [",    "self",      "forward",   "0",    "é",   "\\\"",
                                        "\\\\", "training", "__torch__", "a.forward", "(",    "x",   "weight"};
    char from[128], to[32];
    m->root = json_tree_read(&m->pool, record->data.data, record->data.size);
    m->own.count = 0;
    if (m->root == NULL || m->root->count == 0) {
        return;
    }
    gather(&m->own, m->root);
    const place p = choose_kind(m, JSON_NODE_TEXT);
    const json_span old = at(&p)->text;
    if (at(&p)->kind != JSON_NODE_TEXT || old.length == 0 || old.length + 3 > sizeof from) {
        return;
    }
    (void)snprintf(from, sizeof from, "\"%.*s\"", (int)old.length, old.at);
    (void)snprintf(to, sizeof to, "\"%s\"", names[below(m, sizeof names / sizeof names[0])]);
    (void)pt2_sample_replace(sample, from, to);
}

// Adds the program and its tables again under another name, which makes a second method.
static void add_program(mutation *m, pt2_sample *sample)
{
    static const char *const names[] = {"second", "forward", "a.b", "a_b", "model_", "self"};
    static const char old[] = "/model";
    const char *name = names[below(m, sizeof names / sizeof names[0])];
    const size_t count = sample->count;
    for (size_t i = 0; i < count && sample->count < PT2_RECORDS; i++) {
        const pt2_record *from = &sample->records[i];
        const char *found = strstr(from->name, old), *rest = found != NULL ? found + sizeof old - 1 : "";
        pt2_record *to = &sample->records[sample->count];
        if (*rest != '.' && *rest != '_') {
            continue;
        }
        (void)snprintf(to->name, sizeof to->name, "%.*s/%s%.60s", (int)((found - from->name) % 40), from->name, name,
                       rest);
        to->data = (bytes){.data = NULL};
        bytes_add(&to->data, from->data.data, from->data.size);
        sample->count++;
    }
}

static void mutate_record(mutation *m, pt2_sample *sample)
{
    pt2_record *record = &sample->records[below(m, sample->count)];
    const pt2_record *other = &sample->records[below(m, sample->count)];
    switch (below(m, 5)) {
    case 0: // removes the record
        record->name[0] = '\0';
        return;
    case 1: // gives the record an existing name; the last of two records with the same name counts
        memcpy(record->name, other->name, sizeof record->name);
        return;
    case 2: // gives the record the contents of another record
        if (record != other) {
            record->data.size = 0;
            bytes_add(&record->data, other->data.data, other->data.size);
        }
        return;
    case 3:
        if (record->data.size != 0) {
            record->data.size = below(m, record->data.size);
        }
        return;
    default:
        if (record->data.size != 0) {
            record->data.data[below(m, record->data.size)] = (uint8_t)below(m, 256);
        }
        return;
    }
}

// ---- mutated sample files

static mutation begin(uint64_t seed)
{
    return (mutation){.state = seed * 0x9e3779b97f4a7c15u + 1};
}

size_t pt2_mutated_sample(size_t count, uint64_t seed)
{
    mutation m = begin(seed);
    return below(&m, count);
}

bytes pt2_mutate(const pt2_sample *samples, size_t count, uint64_t seed)
{
    mutation m = begin(seed);
    const pt2_sample *from = &samples[below(&m, count)];
    const pt2_sample *other = below(&m, 3) == 0 ? &samples[below(&m, count)] : NULL;
    pt2_sample *made = malloc(sizeof *made);
    if (made == NULL) {
        abort();
    }
    *made = *from;
    for (size_t i = 0; i < from->count; i++) {
        made->records[i].data = (bytes){.data = NULL};
        bytes_add(&made->records[i].data, from->records[i].data.data, from->records[i].data.size);
    }
    for (size_t times = below(&m, 16) == 0 ? 1 + below(&m, 2) : 0; times > 0; times--) {
        add_program(&m, made);
    }
    const size_t record = choose_json(&m, made);
    const bool renamed = record < made->count && below(&m, 6) == 0;
    if (renamed) {
        rename_everywhere(&m, made, &made->records[record]);
    }
    if (record < made->count && (!renamed || below(&m, 2) == 0)) {
        mutate_json(&m, &made->records[record], other);
    }
    if (record == made->count || below(&m, 16) == 0) {
        mutate_record(&m, made);
    }
    const bytes file = pt2_sample_pack(made);
    pt2_sample_free(made);
    free(made);
    free(m.own.items);
    free(m.other.items);
    json_pool_free(&m.pool);
    return file;
}
