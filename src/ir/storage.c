// SPDX-License-Identifier: BSD-2-Clause
// Creates storages, frees the bytes of tensors, and copies them before they are written.
#include "ir/storage.h"
#include "ir/tensor_def.h"

static taper_storage *new_storage(taper_heap *heap, taper_storage_kind kind, void *data, size_t bytes)
{
    taper_storage *storage = taper_heap_alloc(heap, sizeof *storage);
    if (storage != NULL) {
        memset(storage, 0, sizeof *storage);
        storage->kind = (uint8_t)kind;
        storage->data = data;
        storage->bytes = bytes;
        taper_heap_adopt(heap, &storage->head, TAPER_STORAGE);
    }
    return storage;
}

// Returns the size of the block for a storage of `bytes` bytes: at least 1 KiB. Only blocks of 1 KiB or more have
// TAPER_OVERREAD readable bytes after them (ir/heap_blocks.h), and kernels may read past the end of even a four-byte
// tensor.
static size_t block_size(size_t bytes)
{
    return taper_max_size(bytes, 1024);
}

taper_status taper_storage_new(taper_heap *heap, size_t bytes, taper_storage **storage, taper_error *error)
{
    *storage = NULL;
    taper_storage_source *source = taper_heap_source(heap);
    taper_obj *owner = NULL;
    uint8_t kind = TAPER_STORAGE_PLANNED;
    void *data = source != NULL && source->place != NULL ? source->place(source, bytes, &owner, &kind) : NULL;
    const bool placed = data != NULL;
    if (!placed) {
        data = bytes <= (size_t)TAPER_LIMIT_TENSOR_BYTES ? taper_heap_alloc_storage(heap, block_size(bytes)) : NULL;
        if (data == NULL) {
            return taper_fail(error, TAPER_ERROR_RESOURCE, "out of memory: a tensor of %zu bytes", bytes);
        }
    }
    *storage = new_storage(heap, placed ? (taper_storage_kind)kind : TAPER_STORAGE_OWNED, data, bytes);
    if (*storage == NULL) {
        if (!placed) {
            taper_heap_free_storage(heap, data, block_size(bytes));
        } else if (owner != NULL) {
            taper_obj_release(owner);
        }
        return taper_fail_memory(error);
    }
    (*storage)->owner = owner;
    if (source != NULL && source->born != NULL) {
        source->born(source, *storage);
    }
    return TAPER_OK;
}

taper_status taper_storage_borrow(taper_heap *heap, taper_storage_kind kind, const void *data, size_t bytes,
                                  taper_obj *owner, taper_storage **storage, taper_error *error)
{
    // The cast drops const; read_only prevents writes to these bytes.
    *storage = new_storage(heap, kind, (void *)(uintptr_t)data, bytes);
    if (*storage == NULL) {
        return taper_fail_memory(error);
    }
    (*storage)->read_only = true;
    (*storage)->owner = owner;
    if (owner != NULL) {
        taper_obj_retain(owner);
    }
    return TAPER_OK;
}

taper_status taper_storage_share(taper_heap *heap, taper_storage *origin, taper_storage **storage, taper_error *error)
{
    *storage = new_storage(heap, TAPER_STORAGE_SHARED, origin->data, origin->bytes);
    if (*storage == NULL) {
        return taper_fail_memory(error);
    }
    (*storage)->read_only = true;
    (*storage)->origin = origin;
    taper_obj_retain(&origin->head);
    return TAPER_OK;
}

static void drop_memory(taper_memory *memory)
{
    taper_memory_owner *owner = memory->owner;
    memory->drop(memory);
    if (taper_refs_drop(&owner->refs)) {
        owner->close(owner);
    }
}

// Releases or frees the bytes, depending on who owns them.
static void drop_data(taper_storage *storage)
{
    switch (storage->kind) {
    case TAPER_STORAGE_OWNED:
        taper_heap_free_storage(storage->head.heap, storage->data, block_size(storage->bytes));
        break;
    case TAPER_STORAGE_SHARED:
        taper_obj_release(&storage->origin->head);
        break;
    case TAPER_STORAGE_DEVICE:
        drop_memory(storage->memory);
        storage->memory = NULL;
        break;
    default:
        break;
    }
    if (storage->release != NULL) {
        storage->release(storage->user);
    }
    if (storage->owner != NULL) {
        taper_obj_release(storage->owner);
    }
    storage->owner = NULL;
    storage->origin = NULL;
    storage->data = NULL;
}

// Makes the storage keep the owner of its previous bytes, because the host may still have a pointer to these bytes.
static void keep_behind(taper_storage *storage)
{
    if (storage->kind == TAPER_STORAGE_SHARED) {
        storage->owner = &storage->origin->head;
        storage->origin = NULL;
    }
}

taper_status taper_storage_write(taper_storage *storage, taper_error *error)
{
    if (storage->read_only) {
        taper_heap *heap = storage->head.heap;
        void *data = taper_heap_alloc_storage(heap, block_size(storage->bytes));
        if (data == NULL) {
            return taper_fail_memory(error);
        }
        if (storage->bytes != 0) {
            memcpy(data, storage->data, storage->bytes);
        }
        keep_behind(storage);
        storage->data = data;
        storage->kind = TAPER_STORAGE_OWNED;
        storage->read_only = false;
        taper_heap_copied(heap);
    }
    storage->version++;
    return TAPER_OK;
}

taper_status taper_storage_of_memory(taper_heap *heap, taper_memory *memory, size_t bytes, taper_storage **storage,
                                     taper_error *error)
{
    *storage = new_storage(heap, TAPER_STORAGE_DEVICE, NULL, bytes);
    taper_refs_add(&memory->owner->refs);
    if (*storage == NULL) {
        drop_memory(memory);
        return taper_fail_memory(error);
    }
    (*storage)->memory = memory;
    return TAPER_OK;
}

void taper_storage_free(taper_storage *storage)
{
    taper_heap *heap = storage->head.heap;
    if (storage->plan_run != 0) { // the heap's source was told that this storage was created
        taper_heap_storage_died(heap, storage);
    }
    drop_data(storage);
    taper_heap_free(heap, storage, sizeof *storage);
    taper_heap_forget(heap);
}
