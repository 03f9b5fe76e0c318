// SPDX-License-Identifier: BSD-2-Clause
// The origins of instructions. PyTorch writes two records, only on request:
//   mobile_debug_handles.pkl   (version, entry, …)
//   entry = (function name, (("function_debug_handles", ([handle per instruction],)),))
//   callstack_debug_map.pkl    ((handle, source tag, node, frame or None), …)
//   frame = ((class name, instance name) or None, source tag, frame or None, name of the function called)
// The text of a handle is PyTorch's module hierarchy:
//   top(Net)::<unknown>.seq(Sequential)::forward.1(A)::forward.aten::add
#include "base/charge.h"
#include "base/name_map.h"
#include "base/pointer_map.h"
#include "format/lite_archive.h"

enum { LONGEST_TEXT = 1000, BUDGET_FACTOR = 16, BUDGET_LEAST = 1 << 20 };

static const taper_tuple *as_tuple(taper_val value, size_t least)
{
    return value.tag == TAPER_TUPLE && value.as.tuple->count >= least ? value.as.tuple : NULL;
}

// ---- the handles of instructions

static const taper_list *handles_in(const taper_tuple *pairs)
{
    for (size_t i = 0; i < pairs->count; i++) {
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

// Caches for reading the handles. Entries may share names, functions and lists of pairs, and each of these must be read
// only once.
typedef struct sharing {
    taper_module *module;
    // Maps the name of each function to the function's number, or to the number of functions if the function already
    // has its handles.
    taper_name_map functions;
    taper_pointer_map names; // strings that were already looked up: names of functions and of entries
    taper_pointer_map pairs; // maps each tuple of pairs to the address of its list of handles, or to 0 if it has none
} sharing;

static taper_status find_handles(sharing *s, const taper_tuple *entry, const taper_list **handles)
{
    const taper_tuple *pairs = as_tuple(entry->items[1], 1);
    const size_t *known = pairs != NULL ? taper_pointer_find(&s->pairs, pairs) : NULL;
    *handles = known != NULL ? (const taper_list *)(uintptr_t)*known : NULL;
    if (known != NULL || pairs == NULL) {
        return TAPER_OK;
    }
    *handles = handles_in(pairs);
    TAPER_TRY(taper_charge(s->module->allocator, 5 * (uint64_t)pairs->count, NULL));
    return taper_pointer_add(s->module->allocator, &s->pairs, pairs, (uintptr_t)*handles, NULL);
}

static taper_status read_entry(sharing *s, const taper_tuple *entry)
{
    taper_module *const module = s->module;
    if (entry == NULL || entry->items[0].tag != TAPER_STRING) {
        return TAPER_OK;
    }
    const taper_string *name = entry->items[0].as.string;
    if (taper_pointer_find(&s->names, name) != NULL) {
        return TAPER_OK;
    }
    TAPER_TRY(taper_pointer_add(module->allocator, &s->names, name, 0, NULL));
    size_t *function = taper_name_find(module->allocator, &s->functions, name->data, name->length);
    if (function == NULL || *function == module->function_count) {
        return TAPER_OK;
    }
    const taper_list *handles;
    TAPER_TRY(find_handles(s, entry, &handles));
    if (handles != NULL) {
        set_handles(&module->functions[*function], handles);
    }
    *function = module->function_count;
    return TAPER_OK;
}

// Reads the handles. If an allocation fails, skips the remaining handles, because running the model does not need
// handles.
static void read_handles(taper_module *module, const taper_tuple *entries)
{
    sharing s = {.module = module};
    taper_status status = TAPER_OK;
    for (size_t i = 0; status == TAPER_OK && i < module->function_count; i++) {
        const char *name = module->functions[i].name;
        if (taper_pointer_find(&s.names, name) == NULL) {
            status = taper_pointer_add(module->allocator, &s.names, name, 0, NULL);
            status = status != TAPER_OK ? status
                                        : taper_name_add(module->allocator, &s.functions, name, strlen(name), i, NULL);
        }
    }
    for (size_t i = 0; status == TAPER_OK && i < entries->count; i++) {
        status = read_entry(&s, as_tuple(entries->items[i], 2));
    }
    taper_name_free(module->allocator, &s.functions);
    taper_pointer_free(module->allocator, &s.names);
    taper_pointer_free(module->allocator, &s.pairs);
}

// ---- the texts of handles

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

// Appends the last component of a class name.
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

// Writes the text for an entry (handle, tag, node, frame). Files of PyTorch 1.9 lack the node.
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
    // The length of all texts is limited. Entries can share parts, so the texts could become far larger than the file.
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
