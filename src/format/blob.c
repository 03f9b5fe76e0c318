// SPDX-License-Identifier: BSD-2-Clause
// Blobs: the bytes of a file in the host's memory, in a block or in a mapping.
#include "format/module.h"

_Static_assert(offsetof(taper_blob, destroy) == offsetof(taper_blob_head, destroy), "a blob starts with its head");

static void destroy(taper_obj *obj)
{
    taper_blob *blob = (taper_blob *)obj;
    if (blob->release != NULL) {
        blob->release(blob->user);
    }
    if (blob->mapping.data != NULL) {
        taper_unmap(&blob->mapping);
    }
    taper_free(&blob->allocator, blob->owned, blob->size);
    const taper_allocator allocator = blob->allocator;
    taper_free(&allocator, blob, sizeof *blob);
}

static taper_blob *make(const taper_allocator *allocator, const void *data, size_t size)
{
    taper_blob *blob = taper_alloc_zeroed(allocator, sizeof *blob);
    if (blob != NULL) {
        taper_refs_init(&blob->head.refs);
        blob->head.tag = TAPER_BLOB;
        blob->destroy = destroy;
        blob->allocator = *allocator;
        blob->data = data;
        blob->size = size;
    }
    return blob;
}

taper_status taper_blob_from_memory(const taper_allocator *allocator, const void *data, size_t size,
                                    void (*release)(void *user), void *user, taper_blob **blob, taper_error *error)
{
    *blob = make(allocator, data, size);
    if (*blob == NULL) {
        return taper_fail_memory(error);
    }
    (*blob)->release = release;
    (*blob)->user = user;
    return TAPER_OK;
}

taper_status taper_blob_from_block(const taper_allocator *allocator, void *block, size_t size, taper_blob **blob,
                                   taper_error *error)
{
    *blob = make(allocator, block, size);
    if (*blob == NULL) {
        taper_free(allocator, block, size);
        return taper_fail_memory(error);
    }
    (*blob)->owned = block;
    return TAPER_OK;
}

taper_status taper_blob_from_mapping(const taper_allocator *allocator, taper_mapping *mapping, taper_blob **blob,
                                     taper_error *error)
{
    *blob = make(allocator, mapping->data, mapping->size);
    if (*blob == NULL) {
        taper_unmap(mapping);
        return taper_fail_memory(error);
    }
    (*blob)->mapping = *mapping;
    *mapping = (taper_mapping){.data = NULL};
    return TAPER_OK;
}
