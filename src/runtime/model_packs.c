// SPDX-License-Identifier: BSD-2-Clause
// Finds the file of packed weights in the host's cache directory. The file's name is a hash of the model's content and
// precision. For an archive, only its central directory is hashed, because it contains checksums. A flatbuffer has no
// checksums, so all its bytes are hashed.
#include <stdio.h>

#include "base/hash.h"
#include "format/zip.h"
#include "ops/call/packs_file.h"
#include "ops/call/packs_later.h"
#include "runtime/context.h"
#include "runtime/kept_packs.h"
#include "runtime/model.h"

static uint64_t identity_of(const taper_model *model, const taper_blob *blob)
{
    taper_zip zip = {0};
    uint64_t identity = taper_hash((uint64_t)model->precision, &blob->size, sizeof blob->size);
    if (taper_zip_open(model->allocator, blob->data, blob->size, &zip, NULL) != TAPER_OK) {
        return taper_hash(identity, blob->data, blob->size);
    }
    for (size_t i = 0; i < zip.count; i++) {
        const taper_zip_entry *e = &zip.entries[i];
        const uint64_t facts[] = {e->crc, e->method, e->packed, e->size, e->header};
        identity = taper_hash(identity, e->name, e->name_length);
        identity = taper_hash(identity, facts, sizeof facts);
    }
    taper_zip_close(&zip);
    return identity;
}

taper_status taper_model_use_cache(taper_model *model, taper_error *error)
{
    const taper_context *context = model->context;
    const char *directory = taper_context_cache_dir(context);
    if (directory == NULL || model->module.blob == NULL) {
        return TAPER_OK;
    }
    const taper_blob *blob = (const taper_blob *)model->module.blob;
    const taper_packs_source source = {identity_of(model, blob), blob->data, blob->size};
    taper_packs_file *file;
    TAPER_TRY(taper_packs_file_open(&context->allocator, directory, &source, &file, error));
    taper_packs_use_file(model->packs, file);
    return TAPER_OK;
}

void taper_model_tell_of_packs(const taper_model *model, const char *problem)
{
    if (problem != NULL) {
        const taper_context *context = model->context;
        char line[160];
        const int length =
            snprintf(line, sizeof line, "packed weights are not kept for later processes: %s\n", problem);
        context->log(context->log_user, TAPER_LOG_WARNING, line, (size_t)length);
    }
}
