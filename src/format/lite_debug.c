// SPDX-License-Identifier: BSD-2-Clause
// Where an instruction came from. Two records, written only on request:
//   mobile_debug_handles.pkl   (version, entry, …)
//   entry = (function name, (("function_debug_handles", ([handle per instruction],)),))
//   callstack_debug_map.pkl    ((handle, source tag, node, frame or None), …)
//   frame = ((class name, instance name) or None, source tag, frame or None, name of the function called)
// The text of a handle is PyTorch's module hierarchy:
//   top(Net)::<unknown>.seq(Sequential)::forward.1(A)::forward.aten::add
#include "format/lite_archive.h"

enum { LONGEST_TEXT = 1000, BUDGET_FACTOR = 16, BUDGET_LEAST = 1 << 20 };

static const taper_tuple *as_tuple(taper_val value, size_t least)
{
    return value.tag == TAPER_TUPLE && value.as.tuple->count >= least ? value.as.tuple : NULL;
}

// ---- handles

static const taper_list *handles_of(const taper_tuple *entry)
{
    const taper_tuple *pairs = as_tuple(entry->items[1], 1);
    for (size_t i = 0; pairs != NULL && i < pairs->count; i++) {
        const taper_tuple *pair = as_tuple(pairs->items[i], 2);
        const taper_tuple *value = pair != NULL ? as_tuple(pair->items[1], 1) : NULL;
        if (value != NULL && taper_val_string_is(pair->items[0], "function_debug_handles") &&
            value->items[0].tag == TAPER_LIST) {
            return value->items[0].as.list;
        }
    }
    return NULL;
}

static void set_handles(taper_module_function *function, const taper_list *handles)
{
    for (size_t i = 0; i < handles->count && i < function->instruction_count; i++) {
        const taper_val handle = handles->items[i];
        if (handle.tag == TAPER_INT && handle.as.i >= 0 && handle.as.i <= INT32_MAX) {
            function->instructions[i].debug = (int32_t)handle.as.i;
        }
    }
}

static void read_handles(taper_module *module, const taper_tuple *entries)
{
    const size_t count = module->function_count;
    taper_name *names = taper_alloc(module->allocator, count * sizeof *names);
    bool *done = taper_alloc_zeroed(module->allocator, count * sizeof *done); // once each, or it could take forever
    if (names == NULL || done == NULL) {
        taper_free(module->allocator, names, count * sizeof *names);
        taper_free(module->allocator, done, count * sizeof *done);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        names[i] =
            (taper_name){.text = module->functions[i].name, .length = strlen(module->functions[i].name), .value = i};
    }
    if (taper_names_sort(module->allocator, names, count, NULL) == TAPER_OK) {
        for (size_t i = 0; i < entries->count; i++) {
            const taper_tuple *entry = as_tuple(entries->items[i], 2);
            size_t at;
            if (entry == NULL || entry->items[0].tag != TAPER_STRING ||
                !taper_names_find(names, count, entry->items[0].as.string->data, entry->items[0].as.string->length,
                                  &at) ||
                done[at]) {
                continue;
            }
            done[at] = true;
            const taper_list *handles = handles_of(entry);
            if (handles != NULL) {
                set_handles(&module->functions[at], handles);
            }
        }
    }
    taper_free(module->allocator, names, count * sizeof *names);
    taper_free(module->allocator, done, count * sizeof *done);
}

// ---- texts

static void append(taper_text *text, taper_val string, const char *otherwise)
{
    if (text->length > LONGEST_TEXT) {
        return;
    }
    if (string.tag == TAPER_STRING) {
        taper_text_append(text, string.as.string->data, taper_min_size(string.as.string->length, LONGEST_TEXT));
    } else {
        taper_text_string(text, otherwise);
    }
}

// The last part of a class name.
static void append_class(taper_text *text, taper_val name)
{
    if (name.tag != TAPER_STRING) {
        append(text, name, "UNKNOWN_TYPE");
        return;
    }
    const taper_string *string = name.as.string;
    size_t start = string->length;
    while (start > 0 && string->length - start < LONGEST_TEXT && string->data[start - 1] != '.') {
        start--;
    }
    taper_text_append(text, string->data + start, string->length - start);
}

static void append_frames(taper_text *text, taper_val value)
{
    for (const taper_tuple *frame = as_tuple(value, 3); frame != NULL; frame = as_tuple(frame->items[2], 3)) {
        if (text->length > LONGEST_TEXT) {
            return;
        }
        const taper_tuple *instance = as_tuple(frame->items[0], 2);
        taper_text_string(text, ".");
        append(text, instance != NULL ? instance->items[1] : taper_val_none(), "UNKNOWN_INSTANCE");
        taper_text_string(text, "(");
        append_class(text, instance != NULL ? instance->items[0] : taper_val_none());
        taper_text_string(text, ")::");
        append(text, frame->count > 3 ? frame->items[3] : taper_val_none(), "<unknown>");
    }
}

// (handle, tag, node, frame); the node is missing in files of PyTorch 1.9.
static void write_text(const taper_module *module, const taper_tuple *entry, taper_text *text)
{
    text->length = 0;
    taper_text_string(text, "top(");
    const char *class = module->root.as.object->klass->name;
    const char *dot = strrchr(class, '.');
    taper_text_string(text, dot != NULL ? dot + 1 : class);
    taper_text_string(text, ")::<unknown>");
    const bool named = entry->items[2].tag == TAPER_STRING;
    append_frames(text, named && entry->count > 3 ? entry->items[3] : named ? taper_val_none() : entry->items[2]);
    if (named) {
        taper_text_string(text, ".");
        append(text, entry->items[2], "");
    }
}

static int compare_handles(const void *a, const void *b)
{
    const int64_t x = ((const taper_module_debug *)a)->handle, y = ((const taper_module_debug *)b)->handle;
    return (x > y) - (x < y);
}

static void read_texts(taper_module *module, const taper_tuple *entries, size_t size)
{
    module->debug = taper_arena_array(&module->arena, entries->count, sizeof *module->debug);
    if (module->debug == NULL) {
        return;
    }
    // Entries share their parts, so texts could grow far beyond the file.
    uint64_t budget = (uint64_t)size * BUDGET_FACTOR + BUDGET_LEAST;
    taper_text text = taper_text_make(module->allocator);
    for (size_t i = 0; i < entries->count; i++) {
        const taper_tuple *entry = as_tuple(entries->items[i], 3);
        if (entry == NULL || entry->items[0].tag != TAPER_INT) {
            continue;
        }
        write_text(module, entry, &text);
        if (text.failed || text.length > budget) {
            break;
        }
        budget -= text.length;
        const char *kept = taper_arena_string(&module->arena, taper_text_get(&text), text.length);
        if (kept == NULL) {
            break;
        }
        module->debug[module->debug_count++] = (taper_module_debug){.handle = entry->items[0].as.i, .text = kept};
    }
    taper_text_free(&text);
    if (taper_sort(module->allocator, module->debug, module->debug_count, sizeof *module->debug, compare_handles,
                   NULL) != TAPER_OK) {
        module->debug_count = 0;
    }
}

void taper_lite_debug_read(taper_module *module, taper_val handles, taper_val callstacks, size_t size)
{
    const taper_tuple *functions = as_tuple(handles, 1), *entries = as_tuple(callstacks, 0);
    if (functions != NULL) {
        read_handles(module, functions);
    }
    if (entries != NULL) {
        read_texts(module, entries, size);
    }
}
