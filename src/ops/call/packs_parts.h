// SPDX-License-Identifier: BSD-2-Clause
// The structs of a model's packs, for packs.c, which makes and finds packs, and packs_keeping.c, which keeps them for
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
    struct taper_kept_pack *next; // next pack in the same bucket
    taper_pack_key key;
    taper_pack pack;
    atomic_bool is_there;
    // References, so that no address in a key is reused while the pack lives.
    taper_storage *holders[TAPER_PACK_TENSORS];
    taper_pack_name *name; // name in the file of packs; NULL if the pack is never written there
} taper_kept_pack;

// The file of the packs, and the thread that writes it.
typedef struct taper_packs_keeping {
    taper_packs_file *file; // file of packs, or NULL
    size_t made, written;   // number of packs that the file lacked; number of these packs that were given to a writer
    size_t made_before;     // `made` at the end of the previous run
    taper_background *writer;
    taper_packs_item *items; // packs that the writer writes
    size_t item_count, item_capacity;
    const char *problem; // error text of the writer, kept until it is reported; guarded by mutex
} taper_packs_keeping;

struct taper_packs {
    taper_allocator allocator;
    taper_mutex *mutex;
    const taper_heap *heap;    // heap of the model's values
    taper_kept_pack **buckets; // hash table of the packs, with one to two buckets per pack
    size_t count, bucket_count;
    taper_slabs slabs;
    struct {
        void *raw;
        size_t bytes;
        bool taken;
        atomic_bool is_there; // true while there is memory to lend; read without the lock at the end of a run
        atomic_bool never;    // always false; a pack that is only lent uses it as its is_there
    } lending;
    size_t mapped_bytes; // number of bytes of packs in the mapped file
    taper_packs_keeping keeping;
};

#endif
