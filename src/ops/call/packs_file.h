// SPDX-License-Identifier: BSD-2-Clause
// Packed weights in a file, for processes that come later: these map it, and packing becomes page faults. A pack is
// known there by the layout and the kernel it was made for, its numbers, and where in the model's file its tensors'
// bytes lie, or a hash of them where they lie nowhere there. The whole file is known by the model, the sources of this
// build and the machine's word; one that fits not in every respect is as good as none and is written anew.
#ifndef TAPER_OPS_PACKS_FILE_H
#define TAPER_OPS_PACKS_FILE_H

#include "ops/call/pack_request.h"

// What a pack is called in a file. All bytes count: zero it first.
typedef struct taper_pack_name {
    char layout[40], kernel[24];
    int64_t numbers[TAPER_PACK_NUMBERS];
    struct {
        uint64_t bytes;    // of a model's tensor: where they lie (odd), or what they are (even); 0: no tensor
        uint64_t geometry; // dtype, sizes, strides
        int64_t offset;    // in elements
    } tensors[TAPER_PACK_TENSORS];
} taper_pack_name;

typedef struct taper_packs_file taper_packs_file;

// What is mapped of the model's file or given for it; not looked at.
typedef struct taper_packs_source {
    uint64_t identity; // of its content
    const void *data;
    size_t size;
} taper_packs_source;

// In a directory; a damaged or strange file is no error but as good as none.
TAPER_MUST_USE taper_status taper_packs_file_open(const taper_allocator *allocator, const char *directory,
                                                  const taper_packs_source *source, taper_packs_file **file,
                                                  taper_error *error);
void taper_packs_file_close(taper_packs_file *file);
// A hash of dtype, sizes and strides.
uint64_t taper_pack_geometry(const taper_tensor *tensor);
// False: it has none, a pack of such tensors is for this process alone.
bool taper_packs_file_name(const taper_packs_file *file, const taper_pack_request *request, taper_pack_name *name);
typedef struct taper_packs_entry {
    uint64_t sum; // of the bytes, if they are good
    size_t number;
    bool checked; // they were, not long ago
} taper_packs_entry;
// The pack's bytes, mapped, with TAPER_OVERREAD bytes behind; NULL: not there. Not from two threads.
void *taper_packs_file_find(taper_packs_file *file, const taper_pack_name *name, size_t bytes,
                            taper_packs_entry *entry);
// Their sum is the entry's.
void taper_packs_file_good(taper_packs_file *file, const taper_packs_entry *entry);
// Whether there is something that later processes may know, once; and keeps it for them (packs_checked.h).
bool taper_packs_file_take_news(taper_packs_file *file);
void taper_packs_file_tell(const taper_packs_file *file);

// The sum of bytes in parts, which may be taken one by one: those of all parts are added.
enum { TAPER_PACKS_PART = 1 << 18 };
static inline size_t taper_packs_parts(size_t bytes)
{
    return bytes / TAPER_PACKS_PART + 1;
}
uint64_t taper_packs_sum(const void *data, size_t bytes, size_t first, size_t end); // of these parts

typedef struct taper_packs_item {
    const taper_pack_name *name;
    const void *data;
    size_t bytes;
    const uint64_t *sum; // of bytes that nobody looked at yet: those that have another are left out
} taper_packs_item;

// Appends the packs of the mapped file that nobody asked for, as far as they are not many times the model. items has
// room for taper_packs_file_count.
size_t taper_packs_file_count(const taper_packs_file *file);
size_t taper_packs_file_unasked(const taper_packs_file *file, taper_packs_item *items);
// NULL when it did, or another process does; else what went wrong. From any thread.
const char *taper_packs_file_write(const taper_packs_file *file, const taper_packs_item *items, size_t count);

#endif
