// SPDX-License-Identifier: BSD-2-Clause
// The file of packed weights (packs_file.h) has a header, the packs, and an index sorted by the hash of the names.
// Numbers are in the machine's own format, which the header names. Each pack has a hash of its bytes. A process
// compares the hash with the bytes before it first uses the pack, unless an earlier process did so within a day and the
// file has not changed since then (packs_checked.h). So a damaged disk cannot cause wrong results.
#include "ops/call/packs_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "ops/call/packs_build.h" // the build makes this header: cmake/TaperPacksBuild.cmake
#include "ops/call/packs_checked.h"
#include "platform/kept_files.h"

enum { MAGIC_BYTES = 16, FORMAT = 1, MOST_PACKS = 1 << 20, UNASKED_TIMES = 3 };

typedef struct file_header {
    char magic[MAGIC_BYTES];
    uint32_t format, word; // word: bytes of a size_t << 16 | alignment of a pack, in bytes
    uint64_t build, model, model_bytes;
    uint64_t count, index_at, size; // number of packs; offset of the index; number of bytes of the file
    // index_sum: hash of the index. header_sum: hash of the header's bytes before this member.
    uint64_t index_sum, header_sum;
} file_header;

typedef struct index_entry {
    uint64_t hash; // hash of the name
    taper_pack_name name;
    uint64_t at, bytes; // offset in the file; number of bytes of the pack, without the TAPER_OVERREAD bytes that follow
    uint64_t sum;       // taper_packs_sum of the pack's bytes
} index_entry;

static const char magic[MAGIC_BYTES] = "Taper's packs\r\n";

typedef struct kept_name {
    char *text;
    size_t bytes;
} kept_name;

struct taper_packs_file {
    taper_allocator allocator;
    taper_packs_source source;
    kept_name path, part, checked_path, checked_part;
    taper_mapping mapping; // mapping of the existing file
    const index_entry *index;
    size_t count;
    bool *asked; // for each entry of the index, true if the pack was requested
    taper_packs_checked checked;
};

// ---- names of packs

// Returns an odd number that identifies the bytes by their offset in the model's file, or an even hash of the bytes if
// they are not in that file.
static uint64_t bytes_of(const taper_packs_file *file, const taper_storage *origin)
{
    const uintptr_t begin = (uintptr_t)file->source.data, at = (uintptr_t)origin->data;
    const bool borrows = origin->kind == TAPER_STORAGE_FILE || origin->kind == TAPER_STORAGE_BORROWED;
    if (borrows && at >= begin && at - begin <= file->source.size &&
        origin->bytes <= file->source.size - (at - begin)) {
        return (taper_hash_mix((uint64_t)(at - begin), origin->bytes) | 1);
    }
    return (taper_hash(origin->bytes, origin->data, origin->bytes) & ~UINT64_C(1)) | 2;
}

uint64_t taper_pack_geometry(const taper_tensor *t)
{
    uint64_t h = taper_hash_mix(t->dtype, t->rank);
    for (unsigned d = 0; d < t->rank; d++) {
        h = taper_hash_mix(taper_hash_mix(h, (uint64_t)t->sizes[d]), (uint64_t)t->strides[d]);
    }
    return h;
}

bool taper_packs_file_name(const taper_packs_file *file, const taper_pack_request *request, taper_pack_name *name)
{
    memset(name, 0, sizeof *name);
    if (request->layout == NULL || strlen(request->layout) >= sizeof name->layout ||
        strlen(request->kernel) >= sizeof name->kernel) {
        return false;
    }
    memcpy(name->layout, request->layout, strlen(request->layout));
    memcpy(name->kernel, request->kernel, strlen(request->kernel));
    memcpy(name->numbers, request->numbers, sizeof name->numbers);
    for (size_t i = 0; i < TAPER_PACK_TENSORS; i++) {
        const taper_tensor *t = request->tensors[i];
        if (t != NULL) {
            name->tensors[i].bytes = bytes_of(file, t->storage->origin);
            name->tensors[i].geometry = taper_pack_geometry(t);
            name->tensors[i].offset = t->offset;
        }
    }
    return true;
}

static uint64_t hash_of(const taper_pack_name *name)
{
    return taper_hash(0, name, sizeof *name);
}

// ---- reading a file

static void describe(const taper_packs_file *file, file_header *header)
{
    memset(header, 0, sizeof *header);
    memcpy(header->magic, magic, sizeof magic);
    header->format = FORMAT;
    header->word = sizeof(size_t) << 16 | TAPER_ALIGNMENT;
    header->build = TAPER_PACKS_BUILD;
    header->model = file->source.identity;
    header->model_bytes = file->source.size;
}

static bool is_index_sound(const taper_packs_file *file, const file_header *header)
{
    for (size_t i = 0; i < file->count; i++) {
        const index_entry *e = &file->index[i];
        if (e->at % TAPER_ALIGNMENT != 0 || e->at > header->index_at || e->bytes > header->index_at - e->at ||
            header->index_at - e->at - e->bytes < TAPER_OVERREAD || (i != 0 && e[-1].hash > e->hash)) {
            return false;
        }
    }
    return true;
}

// Returns true if this build wrote the mapped file for this model.
static bool fits(taper_packs_file *file)
{
    const taper_mapping *m = &file->mapping;
    file_header expected, header;
    describe(file, &expected);
    if (m->size < sizeof header) {
        return false;
    }
    memcpy(&header, m->data, sizeof header);
    if (memcmp(&header, &expected, offsetof(file_header, count)) != 0 ||
        header.header_sum != taper_hash(0, &header, offsetof(file_header, header_sum)) || header.size != m->size ||
        header.count > MOST_PACKS || header.index_at > m->size || header.index_at % TAPER_ALIGNMENT != 0 ||
        header.count * sizeof(index_entry) != m->size - header.index_at) {
        return false;
    }
    file->index = (const index_entry *)(const void *)(m->data + header.index_at);
    file->count = (size_t)header.count;
    return taper_hash(0, file->index, file->count * sizeof *file->index) == header.index_sum &&
           is_index_sound(file, &header);
}

static void forget(taper_packs_file *file)
{
    taper_free(&file->allocator, file->asked, file->count * sizeof *file->asked);
    taper_packs_checked_free(&file->checked, &file->allocator);
    file->asked = NULL;
    taper_unmap(&file->mapping);
    file->index = NULL;
    file->count = 0;
}

static bool name_file(const taper_packs_file *file, const char *directory, const char *end, kept_name *name)
{
    name->bytes = strlen(directory) + sizeof "/taper--.packs" + 16 + strlen(end);
    name->text = taper_alloc(&file->allocator, name->bytes);
    if (name->text != NULL) {
        (void)snprintf(name->text, name->bytes, "%s/taper-%016llx.packs%s", directory,
                       (unsigned long long)file->source.identity, end);
    }
    return name->text != NULL;
}

static void free_name(const taper_packs_file *file, kept_name *name)
{
    taper_free(&file->allocator, name->text, name->bytes);
}

taper_status taper_packs_file_open(const taper_allocator *allocator, const char *directory,
                                   const taper_packs_source *source, taper_packs_file **file, taper_error *error)
{
    taper_packs_file *f = *file = taper_alloc_zeroed(allocator, sizeof *f);
    if (f == NULL) {
        return taper_fail_memory(error);
    }
    f->allocator = *allocator;
    f->source = *source;
    if (!name_file(f, directory, "", &f->path) || !name_file(f, directory, ".part", &f->part) ||
        !name_file(f, directory, ".checked", &f->checked_path) ||
        !name_file(f, directory, ".checked.part", &f->checked_part)) {
        taper_packs_file_close(f);
        *file = NULL;
        return taper_fail_memory(error);
    }
    taper_kept_stamp stamp;
    if (!taper_kept_map(f->path.text, &f->mapping, &stamp)) {
        return TAPER_OK;
    }
    const bool good = fits(f);
    f->asked = good && f->count != 0 ? taper_alloc_zeroed(allocator, f->count * sizeof *f->asked) : NULL;
    if (f->asked == NULL) {
        f->count = 0;
        forget(f);
    } else {
        taper_packs_checked_read(&f->checked, allocator, f->checked_path.text, &stamp, f->count);
    }
    return TAPER_OK;
}

void taper_packs_file_close(taper_packs_file *file)
{
    if (file != NULL) {
        forget(file);
        free_name(file, &file->path);
        free_name(file, &file->part);
        free_name(file, &file->checked_path);
        free_name(file, &file->checked_part);
        const taper_allocator allocator = file->allocator;
        taper_free(&allocator, file, sizeof *file);
    }
}

// Returns the first entry whose hash is not below `hash`.
static size_t lower_bound(const taper_packs_file *file, uint64_t hash)
{
    size_t first = 0, end = file->count;
    while (first < end) {
        const size_t middle = first + (end - first) / 2;
        if (file->index[middle].hash < hash) {
            first = middle + 1;
        } else {
            end = middle;
        }
    }
    return first;
}

uint64_t taper_packs_sum(const void *data, size_t bytes, size_t first, size_t end)
{
    uint64_t sum = 0;
    for (size_t i = first; i < end; i++) {
        const size_t at = i * TAPER_PACKS_PART;
        sum += taper_hash(i, (const char *)data + at, taper_min_size(bytes - at, TAPER_PACKS_PART));
    }
    return sum;
}

void *taper_packs_file_find(taper_packs_file *file, const taper_pack_name *name, size_t bytes, taper_packs_entry *entry)
{
    const uint64_t hash = hash_of(name);
    for (size_t i = lower_bound(file, hash); i < file->count && file->index[i].hash == hash; i++) {
        const index_entry *e = &file->index[i];
        if (memcmp(&e->name, name, sizeof *name) == 0 && e->bytes == bytes) {
            file->asked[i] = true;
            const bool checked = file->checked.known && file->checked.packs[i] == 1;
            *entry = (taper_packs_entry){.sum = e->sum, .number = i, .checked = checked};
            return (void *)(uintptr_t)(file->mapping.data + e->at); // the cast is safe because no code writes to packs
        }
    }
    return NULL;
}

void taper_packs_file_good(taper_packs_file *file, const taper_packs_entry *entry)
{
    if (entry->number < file->checked.count && !file->checked.known) {
        file->checked.packs[entry->number] = 1;
    }
}

bool taper_packs_file_take_news(taper_packs_file *file)
{
    return taper_packs_checked_take(&file->checked);
}

void taper_packs_file_tell(const taper_packs_file *file)
{
    taper_packs_checked_write(&file->checked, file->checked_path.text, file->checked_part.text);
}

// ---- writing a file

typedef struct output {
    taper_kept_writer writer;
    uint64_t at;
    index_entry *index;
    size_t count;
} output;

static bool put(output *out, const void *data, size_t size)
{
    out->at += size;
    return taper_kept_write(&out->writer, data, size);
}

// Writes the bytes that kernels may read past the end, and the padding up to the next pack. Returns false if writing
// fails.
static bool pad(output *out)
{
    static const char zeros[TAPER_OVERREAD + TAPER_ALIGNMENT];
    const uint64_t end = (out->at + sizeof zeros - 1) / TAPER_ALIGNMENT * TAPER_ALIGNMENT;
    return put(out, zeros, (size_t)(end - out->at));
}

static bool put_pack(output *out, const taper_packs_item *item)
{
    const uint64_t sum = taper_packs_sum(item->data, item->bytes, 0, taper_packs_parts(item->bytes));
    if (item->sum != NULL && *item->sum != sum) {
        return true;
    }
    index_entry *e = &out->index[out->count++];
    e->hash = hash_of(item->name);
    e->name = *item->name;
    e->at = out->at;
    e->bytes = item->bytes;
    e->sum = sum;
    return put(out, item->data, item->bytes) && pad(out);
}

static int by_hash(const void *a, const void *b)
{
    const uint64_t x = ((const index_entry *)a)->hash, y = ((const index_entry *)b)->hash;
    return x < y ? -1 : x > y;
}

static bool write_all(const taper_packs_file *file, output *out, const taper_packs_item *items, size_t count)
{
    file_header header;
    describe(file, &header);
    bool good = put(out, &header, sizeof header) && pad(out);
    for (size_t i = 0; good && i < count; i++) {
        good = put_pack(out, &items[i]);
    }
    qsort(out->index, out->count, sizeof *out->index, by_hash);
    header.count = out->count;
    header.index_at = out->at;
    header.size = out->at + out->count * sizeof *out->index;
    header.index_sum = taper_hash(0, out->index, out->count * sizeof *out->index);
    header.header_sum = taper_hash(0, &header, offsetof(file_header, header_sum));
    good = good && put(out, out->index, out->count * sizeof *out->index);
    taper_kept_rewind(&out->writer);
    return good && taper_kept_write(&out->writer, &header, sizeof header);
}

size_t taper_packs_file_count(const taper_packs_file *file)
{
    return file->count;
}

size_t taper_packs_file_unasked(const taper_packs_file *file, taper_packs_item *items)
{
    size_t room = file->source.size <= SIZE_MAX / UNASKED_TIMES ? UNASKED_TIMES * file->source.size : SIZE_MAX,
           count = 0;
    for (size_t i = 0; i < file->count; i++) {
        const index_entry *e = &file->index[i];
        if (!file->asked[i] && e->bytes <= room) {
            room -= (size_t)e->bytes;
            items[count++] = (taper_packs_item){&e->name, file->mapping.data + e->at, (size_t)e->bytes, &e->sum};
        }
    }
    return count;
}

const char *taper_packs_file_write(const taper_packs_file *file, const taper_packs_item *items, size_t count)
{
    if (count == 0 || count > MOST_PACKS) {
        return count == 0 ? NULL : "there are too many packs";
    }
    output out = {.index = taper_alloc_zeroed(&file->allocator, count * sizeof *out.index)};
    if (out.index == NULL) {
        return "there is no memory for its index";
    }
    const char *problem = NULL;
    const taper_kept_state state = taper_kept_begin(file->path.text, file->part.text, &out.writer);
    if (state == TAPER_KEPT_BEGUN) {
        problem = taper_kept_end(&out.writer, write_all(file, &out, items, count))
                      ? NULL
                      : "the disk may be full, or files limited in size";
    } else if (state == TAPER_KEPT_REFUSED) {
        problem = "the directory, or a .part file in it, cannot be written to";
    }
    taper_free(&file->allocator, out.index, count * sizeof *out.index);
    return problem;
}
