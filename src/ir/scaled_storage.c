// SPDX-License-Identifier: BSD-2-Clause
// Scaled storages: each row is a row of another storage times a factor. The bytes of a scaled storage are computed only
// while they are written to a file, or when taper_storage_settle is called.
#include "ir/scaled_storage.h"

#include "ir/storage.h"

typedef struct scaling {
    taper_heap *heap;
    size_t size;           // size of this block in bytes
    taper_storage *origin; // storage of the rows, retained
    const float *rows;
    size_t row; // number of floats in each row
    double scales[];
} scaling;

static void free_scaling(void *user)
{
    scaling *s = user;
    taper_obj_release(&s->origin->head);
    taper_heap_free(s->heap, s, s->size);
}

taper_status taper_storage_scaled(taper_heap *heap, taper_tensor *rows, taper_storage **storage, double **scales,
                                  taper_error *error)
{
    const size_t count = (size_t)rows->sizes[0], bytes = (size_t)taper_tensor_numel(rows) * sizeof(float);
    // If the rows have no floats, the number of rows is not bounded by the bytes of the storage, so the number is
    // checked here.
    const size_t size = sizeof(scaling) + count * sizeof(double);
    scaling *s = count <= SIZE_MAX / 4 / sizeof(double) ? taper_heap_alloc(heap, size) : NULL;
    if (s == NULL ||
        taper_storage_borrow(heap, TAPER_STORAGE_BORROWED, NULL, bytes, NULL, storage, error) != TAPER_OK) {
        if (s != NULL) {
            taper_heap_free(heap, s, size);
        }
        return taper_fail_memory(error);
    }
    taper_obj_retain(&rows->storage->head);
    *s = (scaling){.heap = heap,
                   .size = size,
                   .origin = rows->storage,
                   .rows = taper_tensor_data(rows),
                   .row = count != 0 ? bytes / sizeof(float) / count : 0};
    (*storage)->kind = TAPER_STORAGE_SCALED;
    (*storage)->release = free_scaling;
    (*storage)->user = s;
    *scales = s->scales;
    return TAPER_OK;
}

static void scale(const float *from, double by, size_t count, float *to)
{
    for (size_t i = 0; i < count; i++) {
        to[i] = (float)(from[i] * by);
    }
}

const void *taper_storage_part(const taper_storage *storage, size_t at, size_t size, void *buffer)
{
    if (storage->kind != TAPER_STORAGE_SCALED) {
        return (const char *)storage->data + at;
    }
    const scaling *s = storage->user;
    float *to = buffer;
    at /= sizeof(float);
    for (size_t left = size / sizeof(float); left != 0;) {
        const size_t row = at / s->row, some = taper_min_size(left, s->row - at % s->row);
        scale(s->rows + at, s->scales[row], some, to);
        at += some;
        to += some;
        left -= some;
    }
    return buffer;
}

taper_status taper_storage_settle(taper_storage *storage, taper_error *error)
{
    taper_storage *settled;
    if (storage->kind != TAPER_STORAGE_SCALED) {
        return TAPER_OK;
    }
    TAPER_TRY(taper_storage_new(storage->head.heap, storage->bytes, &settled, error));
    (void)taper_storage_part(storage, 0, storage->bytes, settled->data);
    storage->release(storage->user);
    storage->release = NULL;
    storage->kind = TAPER_STORAGE_OWNED;
    storage->read_only = false;
    storage->data = settled->data;
    settled->kind = TAPER_STORAGE_BORROWED; // the block belongs to `storage` now, so freeing `settled` must not free it
    taper_obj_release(&settled->head);
    return TAPER_OK;
}
