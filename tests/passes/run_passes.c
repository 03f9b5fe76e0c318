// SPDX-License-Identifier: BSD-2-Clause
// run_passes DIR [--update] [NAME…]: runs each DIR/*.ir. Such a file has the following form, with comments after #:
//   pass NAME
//   root VALUE            (optional: the model's object, for passes that read attributes)
//   graph …               (one or more)
//   ---
//   graph …               (the expected graphs after the pass)
// Graphs are in the exact form (graph_parse.h). --update replaces the expected graphs by the actual ones.
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "backends/cpu/cpu_backend.h"
#include "compiler/pass.h"
#include "format/module.h"
#include "tests/passes/graph_parse.h"

enum { MOST_GRAPHS = 4, MOST_CASES = 1000 };

typedef struct world {
    const taper_allocator *allocator;
    taper_types *types;
    taper_heap *heap;
    taper_registry *registry;
    taper_error *error;
} world;

typedef struct test_case {
    char *text;          // contents of the file
    const char *after;   // start of the expected graphs, after the line ---
    const char *divider; // start of the line ---
    int after_line;
    char pass[64];
    taper_val root;
    taper_graph *graphs[MOST_GRAPHS];
    const char *names[MOST_GRAPHS];
    size_t count;
} test_case;

static char *read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        return NULL;
    }
    size_t size = 0, got;
    char *text = NULL;
    do {
        char *bigger = realloc(text, size + 4097);
        if (bigger == NULL) {
            free(text);
            fclose(file);
            return NULL;
        }
        text = bigger;
        got = fread(text + size, 1, 4096, file);
        size += got;
    } while (got != 0);
    text[size] = '\0';
    fclose(file);
    return text;
}

static taper_status read_graphs(const world *w, graph_reader *r, const char *end, taper_graph **graphs, size_t *count)
{
    (void)w;
    for (*count = 0; read_token(r, "graph") && r->text < end;) {
        r->text -= strlen("graph");
        if (*count == MOST_GRAPHS) {
            return read_failed(r, "at most 4 graphs");
        }
        TAPER_TRY(read_graph(r, &graphs[*count]));
        ++*count;
    }
    return TAPER_OK;
}

static taper_status read_case(const world *w, test_case *c)
{
    graph_reader r = {.allocator = w->allocator,
                      .types = w->types,
                      .heap = w->heap,
                      .registry = w->registry,
                      .text = c->text,
                      .line = 1,
                      .error = w->error};
    const char *name;
    const size_t length = read_token(&r, "pass") ? read_name(&r, &name) : 0;
    if (length == 0 || length >= sizeof c->pass) {
        return read_failed(&r, "\"pass NAME\"");
    }
    memcpy(c->pass, name, length);
    c->pass[length] = '\0';
    c->divider = strstr(c->text, "\n---\n");
    if (c->divider == NULL) {
        return read_failed(&r, "a line --- between before and after");
    }
    c->after = c->divider + strlen("\n---\n");
    if (read_token(&r, "root")) {
        bool frozen;
        TAPER_TRY(read_value(&r, &c->root, &frozen));
    }
    TAPER_TRY(read_graphs(w, &r, c->divider, c->graphs, &c->count));
    return c->count == 0 || r.text > c->after ? read_failed(&r, "graphs before ---") : TAPER_OK;
}

static taper_status print_graphs(const world *w, taper_graph *const *graphs, size_t count, taper_text *text)
{
    for (size_t i = 0; i < count; i++) {
        taper_graph_print_exact(graphs[i], text);
    }
    return text->failed ? taper_fail_memory(w->error) : TAPER_OK;
}

// Checks that the printed text parses to the same graphs.
static taper_status check_round_trip(const world *w, const char *printed)
{
    graph_reader r = {.allocator = w->allocator,
                      .types = w->types,
                      .heap = w->heap,
                      .registry = w->registry,
                      .text = printed,
                      .line = 1,
                      .error = w->error};
    taper_graph *graphs[MOST_GRAPHS];
    size_t count;
    taper_text again = taper_text_make(w->allocator);
    taper_status status = read_graphs(w, &r, printed + strlen(printed), graphs, &count);
    if (status == TAPER_OK) {
        status = print_graphs(w, graphs, count, &again);
    }
    if (status == TAPER_OK && strcmp(printed, taper_text_get(&again)) != 0) {
        status = taper_fail(w->error, TAPER_ERROR_INTERNAL, "does not read as what was printed:\n%s\nbut as:\n%s",
                            printed, taper_text_get(&again));
    }
    for (size_t i = 0; i < count; i++) {
        taper_graph_destroy(graphs[i]);
    }
    taper_text_free(&again);
    return status;
}

static taper_status run_pass(const world *w, test_case *c)
{
    const taper_pass_function pass = taper_pass_find(c->pass);
    if (pass == NULL) {
        TAPER_FAIL(w->error, TAPER_ERROR_ARGUMENT, "there is no pass %s", c->pass);
    }
    for (size_t i = 0; i < c->count; i++) {
        c->names[i] = c->graphs[i]->name;
    }
    if (c->root.tag != TAPER_OBJECT) {
        taper_object *empty = taper_object_new(w->heap, NULL, 0);
        if (empty == NULL) {
            return taper_fail_memory(w->error);
        }
        c->root = TAPER_VAL(empty);
    }
    taper_module module = {.heap = w->heap, .types = w->types};
    taper_arena_init(&module.arena, w->allocator);
    taper_memory_owner owner = {.close = NULL};
    taper_device cpu = {.backend = &taper_backend_cpu, .name = "cpu", .owner = &owner, .allocator = w->allocator};
    taper_device *const devices[] = {&cpu};
    taper_compilation compilation = {.devices = devices,
                                     .device_count = 1,
                                     .preparer = taper_preparers,
                                     .allocator = w->allocator,
                                     .module = &module,
                                     .registry = w->registry,
                                     .root = c->root,
                                     .graphs = c->graphs,
                                     .names = c->names,
                                     .count = c->count,
                                     .takes_gradients = strstr(c->text, " aten::grad(") != NULL,
                                     .error = w->error};
    taper_status status = TAPER_OK;
    for (size_t i = 0; status == TAPER_OK && i < c->count; i++) {
        status = pass(&compilation, c->graphs[i]);
        if (status == TAPER_OK) {
            status = taper_graph_verify(c->graphs[i], w->error);
        }
    }
    taper_pass_freeze_end(&compilation);
    taper_written_storages_free(&compilation);
    taper_arena_free(&module.arena);
    return status;
}

// Returns true if the block has parts that can be printed but not parsed: segments and packed weights.
static bool has_more(const taper_block *block)
{
    for (const taper_node *node = block->first; node != NULL; node = node->next) {
        const taper_class *klass = node->kind == TAPER_NODE_CONSTANT && node->constant.tag == TAPER_OBJECT
                                       ? node->constant.as.object->klass
                                       : NULL;
        if (klass != NULL && taper_class_is_native(klass->name)) {
            return true;
        }
        for (uint32_t b = 0; b < node->block_count; b++) {
            if (node->kind == TAPER_NODE_SEGMENT || has_more(node->blocks[b])) {
                return true;
            }
        }
    }
    return false;
}

static taper_status update(const world *w, const char *path, const test_case *c, const char *printed)
{
    FILE *file = fopen(path, "wb");
    if (file == NULL) {
        TAPER_FAIL(w->error, TAPER_ERROR_RESOURCE, "cannot write: %s", strerror(errno));
    }
    fwrite(c->text, 1, (size_t)(c->after - c->text), file);
    fputs(printed, file);
    return fclose(file) == 0 ? TAPER_OK : taper_fail(w->error, TAPER_ERROR_RESOURCE, "cannot write");
}

static taper_status run_case(const world *w, const char *path, test_case *c, bool updating)
{
    taper_text before = taper_text_make(w->allocator), after = taper_text_make(w->allocator);
    taper_status status = read_case(w, c);
    if (status == TAPER_OK) {
        status = print_graphs(w, c->graphs, c->count, &before);
    }
    if (status == TAPER_OK) {
        status = check_round_trip(w, taper_text_get(&before));
    }
    if (status == TAPER_OK) {
        status = run_pass(w, c);
    }
    if (status == TAPER_OK) {
        status = print_graphs(w, c->graphs, c->count, &after);
    }
    bool more = false;
    for (size_t i = 0; i < c->count; i++) {
        more |= has_more(c->graphs[i]->body);
    }
    if (status == TAPER_OK && !more) {
        status = check_round_trip(w, taper_text_get(&after));
    }
    if (status == TAPER_OK && strcmp(taper_text_get(&after), c->after) != 0) {
        if (updating) {
            status = update(w, path, c, taper_text_get(&after));
        } else {
            printf("expected:\n%s\nbut got:\n%s\n", c->after, taper_text_get(&after));
            status = taper_fail(w->error, TAPER_ERROR_INTERNAL, "another graph came out");
        }
    }
    taper_text_free(&before);
    taper_text_free(&after);
    return status;
}

static bool test_file(const char *path, bool updating)
{
    world w = {.allocator = &taper_allocator_system, .error = taper_error_create()};
    test_case c = {.text = read_file(path)};
    taper_status status = c.text == NULL ? taper_fail(w.error, TAPER_ERROR_RESOURCE, "cannot read: %s", strerror(errno))
                                         : taper_types_create(w.allocator, &w.types, w.error);
    if (status == TAPER_OK) {
        status = taper_heap_create(w.allocator, w.types, &w.heap, w.error);
    }
    if (status == TAPER_OK) {
        status = taper_registry_create(w.allocator, w.types, &w.registry, w.error);
    }
    if (status == TAPER_OK) {
        status = run_case(&w, path, &c, updating);
    }
    if (status != TAPER_OK) {
        printf("FAILED %s: %s\n", path, taper_error_message(w.error));
    }
    for (size_t i = 0; i < c.count; i++) {
        taper_graph_destroy(c.graphs[i]);
    }
    taper_val_release(c.root);
    taper_registry_destroy(w.registry);
    if (w.heap != NULL) {
        taper_heap_close(w.heap);
    }
    taper_types_release(w.types);
    taper_error_destroy(w.error);
    free(c.text);
    return status == TAPER_OK;
}

static int compare(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool wanted(const char *name, char **filters, int count)
{
    bool any = false, found = false;
    for (int i = 0; i < count; i++) {
        if (filters[i][0] != '-') {
            any = true;
            found |= strncmp(name, filters[i], strlen(filters[i])) == 0;
        }
    }
    return found || !any;
}

int main(int argc, char **argv)
{
    DIR *dir = argc > 1 ? opendir(argv[1]) : NULL;
    bool updating = false;
    for (int i = 2; i < argc; i++) {
        updating |= strcmp(argv[i], "--update") == 0;
    }
    if (dir == NULL) {
        fprintf(stderr, "usage: run_passes DIR [--update] [NAME…]\n");
        return 2;
    }
    char *paths[MOST_CASES];
    size_t count = 0, failed = 0;
    for (const struct dirent *entry = readdir(dir); entry != NULL && count < MOST_CASES; entry = readdir(dir)) {
        const size_t length = strlen(entry->d_name), folder = strlen(argv[1]);
        if (length > 3 && strcmp(entry->d_name + length - 3, ".ir") == 0 && wanted(entry->d_name, argv + 2, argc - 2)) {
            char *path = malloc(folder + length + 2);
            if (path == NULL) {
                return 1;
            }
            snprintf(path, folder + length + 2, "%s/%s", argv[1], entry->d_name);
            paths[count++] = path;
        }
    }
    closedir(dir);
    qsort(paths, count, sizeof *paths, compare);
    for (size_t i = 0; i < count; i++) {
        failed += !test_file(paths[i], updating);
        free(paths[i]);
    }
    printf("%zu passed, %zu failed\n", count - failed, failed);
    return failed != 0 || count == 0 ? 1 : 0;
}
