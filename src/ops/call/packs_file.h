// SPDX-License-Identifier: BSD-2-Clause
// Packed weights in a file for later processes. These processes map the file, so page faults replace packing. The name
// of a pack is the layout and the kernel it was made for, the numbers of the kernel's request (taper_pack_request), and
// the tensors it was made from. A tensor is identified by the offset of its bytes in the model's file, or by a hash of
// them if they are not in that file. The whole file is identified by the model, the sources of this build and the word
// size of the machine. A file that differs in any respect is ignored and written again.
#ifndef TAPER_OPS_PACKS_FILE_H
#define TAPER_OPS_PACKS_FILE_H

#include "ops/call/pack_request.h"

// The name of a pack in a file. All bytes, padding included, are part of the name, so the struct must be zeroed first.
typedef struct taper_pack_name {
    char layout[40], kernel[24];
    int64_t numbers[TAPER_PACK_NUMBERS];
    struct {
        // Odd number for the tensor's offset and length in the model's file, or even hash of its bytes; 0 for no
        // tensor.
        uint64_t bytes;
        uint64_t geometry; // hash of dtype, sizes and strides
        int64_t offset;    // offset in the storage, in elements
    } tensors[TAPER_PACK_TENSORS];
} taper_pack_name;

typedef struct taper_packs_file taper_packs_file;

// The model's file, mapped or given by the host. Its bytes are not read.
typedef struct taper_packs_source {
    uint64_t identity; // hash of the content of the model's file
    const void *data;
    size_t size;
} taper_packs_source;

// Opens the file of packs in a directory. A damaged or foreign file is not an error and counts as missing.
TAPER_MUST_USE taper_status taper_packs_file_open(const taper_allocator *allocator, const char *directory,
                                                  const taper_packs_source *source, taper_packs_file **file,
                                                  taper_error *error);
void taper_packs_file_close(taper_packs_file *file);
// Returns a hash of dtype, sizes and strides.
uint64_t taper_pack_geometry(const taper_tensor *tensor);
// Returns false if the pack has no name, because its tensors exist only in this process.
bool taper_packs_file_name(const taper_packs_file *file, const taper_pack_request *request, taper_pack_name *name);
typedef struct taper_packs_entry {
    uint64_t sum; // expected sum of the bytes
    size_t number;
    bool checked; // true if the bytes were checked recently
} taper_packs_entry;
// Returns the pack's bytes, mapped, with TAPER_OVERREAD bytes after them, or NULL if the file lacks the pack. Only one
// thread may call this at a time.
void *taper_packs_file_find(taper_packs_file *file, const taper_pack_name *name, size_t bytes,
                            taper_packs_entry *entry);
// Records that the sum of the pack's bytes is correct.
void taper_packs_file_good(taper_packs_file *file, const taper_packs_entry *entry);
// taper_packs_file_take_news returns true once if there is news for later processes (packs that this process has
// checked), and taper_packs_file_tell writes the news (packs_checked.h).
bool taper_packs_file_take_news(taper_packs_file *file);
void taper_packs_file_tell(const taper_packs_file *file);

// The sum of bytes is the total over all parts, so parts may be summed separately.
enum { TAPER_PACKS_PART = 1 << 18 };
static inline size_t taper_packs_parts(size_t bytes)
{
    return bytes / TAPER_PACKS_PART + 1;
}
// Returns the checksum of parts [first, end) of the data.
uint64_t taper_packs_sum(const void *data, size_t bytes, size_t first, size_t end);

typedef struct taper_packs_item {
    const taper_pack_name *name;
    const void *data;
    size_t bytes;
    const uint64_t *sum; // checksum that the bytes must have if they were not checked yet; a pack whose bytes have
                         // another checksum is not written. NULL: the bytes are written without a check
} taper_packs_item;

// Appends the packs of the mapped file that were not requested, unless they are many times the size of the model. items
// has room for taper_packs_file_count. Returns the number of packs that it appended.
size_t taper_packs_file_count(const taper_packs_file *file);
size_t taper_packs_file_unasked(const taper_packs_file *file, taper_packs_item *items);
// Writes the file. Returns NULL on success, or if another process is writing it, otherwise what went wrong. Any thread
// may call this.
const char *taper_packs_file_write(const taper_packs_file *file, const taper_packs_item *items, size_t count);

#endif
