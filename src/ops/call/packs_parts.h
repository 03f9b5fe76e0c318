// SPDX-License-Identifier: BSD-2-Clause
// What a model's packs are made of, for packs.c, which makes and finds them, and packs_keeping.c, which keeps them for
// later processes.
#ifndef TAPER_OPS_PACKS_PARTS_H
#define TAPER_OPS_PACKS_PARTS_H

#include "ops/call/packs_file.h"
#include "ops/call/slabs.h"
#include "platform/kept_files.h"

typedef struct taper_pack_tensor_key {
    const taper_storage *origin;
    int64_t offset;
    uint64_t geometry; // hash of dtype, sizes and strides
} taper_pack_tensor_key;

typedef struct taper_pack_key {
    const void *kind;
    taper_pack_tensor_key tensors[TAPER_PACK_TENSORS];
    int64_t numbers[TAPER_PACK_NUMBERS];
} taper_pack_key;

typedef struct taper_kept_pack {
    struct taper_kept_pack *next; // in its bucket
    taper_pack_key key;
    taper_pack pack;
    atomic_bool is_there;
    taper_storage *holders[TAPER_PACK_TENSORS]; // references: an address in a key is not reused while the pack lives
    taper_pack_name *name;                      // in the file; NULL: never there
} taper_kept_pack;

// The file that packs come from and go to, and the thread that writes it.
typedef struct taper_packs_keeping {
    taper_packs_file *file; // NULL: none
    size_t made, written;   // packs that the file had not; those of them that were handed to a writer
    size_t made_before;     // when the run before ended
    taper_background *writer;
    taper_packs_item *items; // of the writer
    size_t item_count, item_capacity;
    const char *problem; // of the writer, until it was told; mutex
} taper_packs_keeping;

struct taper_packs {
    taper_allocator allocator;
    taper_mutex *mutex;
    const taper_heap *heap;    // of the model's values
    taper_kept_pack **buckets; // by hash of the key; as many as there are packs, or twice
    size_t count, bucket_count;
    taper_slabs slabs;
    struct {
        void *raw;
        size_t bytes;
        bool taken;
        atomic_bool is_there; // looked at without the lock when a run ends
        atomic_bool never;    // that of packs which are made nowhere else
    } lending;
    size_t mapped_bytes; // of packs that lie in the file
    taper_packs_keeping keeping;
};

#endif
