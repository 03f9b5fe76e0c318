// SPDX-License-Identifier: BSD-2-Clause
// For every file code/….py of an archive there is a record with the places in the original source:
//   code/….py.debug_pkl = ("FORMAT_WITH_STRING_TABLE", (text, …), ((first byte in the file, range, tag), …))
// or, in older files, only the last of the three. The map of call stacks refers to a range by its tag. PyTorch refuses
// a map with an unknown tag, except the -1 of a call.
#include "format/lite_callstack_write.h"

#include "format/pickle.h"

enum { DEEPEST = 200 };

typedef struct range {
    int64_t start, tag;
} range;

typedef struct ranges { // ranges of one source, sorted by start
    range *items;
    size_t count, capacity;
    bool read;
} ranges;

typedef struct writer {
    taper_pickler *p;
    const taper_module *module;
    taper_zip *source;
    taper_type_scope *scope;
    ranges *ranges;  // ranges of each source
    uint32_t *slots; // for each place of a call: memo slot of its frames + 1, or 0 before they are written
} writer;

// ---- source ranges

static taper_status add_ranges(const writer *w, taper_val lines, ranges *r)
{
    const taper_val *items = lines.tag == TAPER_TUPLE ? lines.as.tuple->items : NULL;
    size_t count = lines.tag == TAPER_TUPLE ? lines.as.tuple->count : 0;
    if (count == 3 && taper_val_string_is(items[0], "FORMAT_WITH_STRING_TABLE")) {
        lines = items[2];
        items = lines.tag == TAPER_TUPLE ? lines.as.tuple->items : NULL;
        count = lines.tag == TAPER_TUPLE ? lines.as.tuple->count : 0;
    }
    for (size_t i = 0; i < count; i++) {
        const taper_tuple *line = items[i].tag == TAPER_TUPLE ? items[i].as.tuple : NULL;
        if (line == NULL || line->count != 3 || line->items[0].tag != TAPER_INT || line->items[2].tag != TAPER_INT ||
            (r->count != 0 && line->items[0].as.i < r->items[r->count - 1].start)) {
            continue; // the record is damaged, or is from a version without tags
        }
        TAPER_TRY(TAPER_GROW(w->p->allocator, r->items, r->capacity, r->count + 1, w->p->error));
        r->items[r->count++] = (range){line->items[0].as.i, line->items[2].as.i};
    }
    return TAPER_OK;
}

// Reads the ranges of a source. Errors in a debug record are not reported, because running the model does not need
// debug records. Only a failed allocation is reported.
static taper_status read_ranges(writer *w, uint32_t source, ranges *r)
{
    taper_text name = taper_text_make(w->p->allocator);
    taper_text_format(&name, "%s.debug_pkl", w->module->sources[source].name);
    const taper_zip_entry *entry = name.failed ? NULL : taper_zip_find(w->source, name.data, name.length);
    taper_record record;
    taper_val lines;
    taper_status status = name.failed ? TAPER_ERROR_RESOURCE : TAPER_OK;
    r->read = true;
    if (entry != NULL) {
        status = taper_zip_read(w->source, entry, &record, NULL);
        if (status == TAPER_OK) {
            const taper_pickle_host host = {.user = NULL};
            const taper_pickle_source from = {
                .data = record.data, .size = record.size, .offset = record.offset, .name = name.data};
            status = taper_pickle_read(w->module->heap, w->scope, &host, &from, &lines, NULL);
            taper_record_free(w->source, &record);
        }
        if (status == TAPER_OK) {
            status = add_ranges(w, lines, r);
            taper_val_release(lines);
        }
    }
    taper_text_free(&name);
    return status == TAPER_ERROR_RESOURCE ? taper_fail_memory(w->p->error) : TAPER_OK;
}

// Sets *tag to the tag of the last range that begins at or before the place, or to -1 if there is no such range.
static taper_status tag_of(writer *w, const taper_module_place *place, int64_t *tag)
{
    ranges *r = &w->ranges[place->source];
    *tag = -1;
    if (!r->read) {
        TAPER_TRY(read_ranges(w, place->source, r));
    }
    size_t low = 0, high = r->count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (r->items[middle].start <= place->at) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low != 0) {
        *tag = r->items[low - 1].tag;
    }
    return TAPER_OK;
}

// ---- the map of call stacks

static void put_text(taper_pickler *p, const char *text)
{
    (void)taper_pickler_string(p, text, strlen(text));
}

// Writes the frames of the calls that lead to a place, the outermost call first. Each frame contains the frame of the
// next call.
static taper_status put_frames(writer *w, const taper_module_place *place)
{
    // The place, then the places of its calls, from the innermost to the outermost.
    const taper_module_place *chain[DEEPEST + 1];
    size_t count = 0;
    uint32_t *slot = &w->slots[place->parent];
    if (*slot != 0) {
        taper_pickler_get(w->p, *slot - 1);
        return TAPER_OK;
    }
    for (chain[0] = place; count < DEEPEST && chain[count]->parent < w->module->place_count; count++) {
        chain[count + 1] = &w->module->places[chain[count]->parent];
    }
    for (size_t i = count; i != 0; i--) {
        const taper_module_place *called = chain[i - 1];
        int64_t tag;
        TAPER_TRY(tag_of(w, chain[i], &tag));
        taper_pickler_open(w->p, 4);
        if (called->class_name != NULL && called->instance != NULL) {
            taper_pickler_open(w->p, 2);
            put_text(w->p, called->class_name);
            put_text(w->p, called->instance);
            taper_pickler_close(w->p, 2);
        } else {
            taper_pickler_none(w->p);
        }
        taper_pickler_int(w->p, tag);
    }
    taper_pickler_none(w->p);
    for (size_t i = 1; i <= count; i++) {
        put_text(w->p, chain[i - 1]->function);
        taper_pickler_close(w->p, 4);
    }
    const size_t kept = taper_pickler_put(w->p);
    *slot = kept < UINT32_MAX ? (uint32_t)kept + 1 : 0;
    return TAPER_OK;
}

static taper_status put_entry(writer *w, size_t handle, int64_t tag)
{
    const taper_module_callstack *item = &w->module->callstacks->items[handle];
    const taper_module_place *place = &w->module->places[item->place];
    taper_pickler_open(w->p, 4);
    taper_pickler_int(w->p, (int64_t)handle);
    taper_pickler_int(w->p, tag);
    (void)taper_pickler_string(w->p, item->node, strcspn(item->node, ".("));
    if (place->parent < w->module->place_count) {
        TAPER_TRY(put_frames(w, place));
    } else {
        taper_pickler_none(w->p);
    }
    taper_pickler_close(w->p, 4);
    return TAPER_OK;
}

static taper_status put_map(writer *w, int64_t *tags)
{
    const taper_module_callstacks *callstacks = w->module->callstacks;
    size_t known = 0;
    for (size_t i = 0; i < callstacks->count; i++) {
        const uint32_t place = callstacks->items[i].place;
        tags[i] = -1;
        if (place < w->module->place_count) {
            TAPER_TRY(tag_of(w, &w->module->places[place], &tags[i]));
        }
        known += tags[i] >= 0;
    }
    taper_pickler_open(w->p, known);
    for (size_t i = 0; i < callstacks->count; i++) {
        if (tags[i] >= 0) {
            TAPER_TRY(put_entry(w, i, tags[i]));
        }
    }
    taper_pickler_close(w->p, known);
    return TAPER_OK;
}

taper_status taper_lite_callstacks_write(taper_pickler *p, const taper_module *module, taper_zip *source)
{
    const taper_allocator *allocator = p->allocator;
    const size_t sources = module->source_count, places = module->place_count, count = module->callstacks->count;
    writer w = {.p = p, .module = module, .source = source};
    w.ranges = taper_alloc_zeroed(allocator, (sources + 1) * sizeof *w.ranges);
    w.slots = taper_alloc_zeroed(allocator, (places + 1) * sizeof *w.slots);
    int64_t *tags = taper_alloc(allocator, (count + 1) * sizeof *tags);
    taper_status status = w.ranges == NULL || w.slots == NULL || tags == NULL ? taper_fail_memory(p->error) : TAPER_OK;
    if (status == TAPER_OK) {
        status = taper_type_scope_create(allocator, &w.scope, p->error);
    }
    if (status == TAPER_OK) {
        status = put_map(&w, tags);
        taper_type_scope_destroy(w.scope);
    }
    for (size_t i = 0; w.ranges != NULL && i < sources; i++) {
        taper_free(allocator, w.ranges[i].items, w.ranges[i].capacity * sizeof *w.ranges[i].items);
    }
    taper_free(allocator, w.ranges, (sources + 1) * sizeof *w.ranges);
    taper_free(allocator, w.slots, (places + 1) * sizeof *w.slots);
    taper_free(allocator, tags, (count + 1) * sizeof *tags);
    return status;
}
