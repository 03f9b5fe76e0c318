// SPDX-License-Identifier: BSD-2-Clause
// What both kinds of zip archives share, lite modules and TorchScript: storages, pickles of objects, version, extra
// files. Not for others than their readers.
#ifndef TAPER_FORMAT_ARCHIVE_H
#define TAPER_FORMAT_ARCHIVE_H

#include "format/module.h"
#include "format/pickle.h"
#include "format/zip.h"

typedef struct taper_archive {
    taper_zip zip;
    taper_module *module;
    taper_type_scope *scope;
    taper_blob *blob;
    taper_storage **storages;      // by entry: one record is one storage, however many tensors share it
    const char *folder;            // of the storages of the record being read: "data/"
    taper_module_pending *pending; // grown here, copied to the module's arena
    size_t pending_count, pending_capacity;
} taper_archive;

// module has allocator, arena, heap, types and blob. On failure nothing is left to close.
TAPER_MUST_USE taper_status taper_archive_open(taper_blob *blob, taper_module *module, taper_archive *archive,
                                               taper_error *error);
// The same of an archive within a file: these of the blob's bytes.
TAPER_MUST_USE taper_status taper_archive_open_part(taper_blob *blob, const void *data, size_t size,
                                                    taper_module *module, taper_archive *archive, taper_error *error);
void taper_archive_close(taper_archive *archive);

static inline const taper_zip_entry *taper_archive_find(const taper_archive *archive, const char *name)
{
    return taper_zip_find(&archive->zip, name, strlen(name));
}

// The bytes of a record as the storage of tensors with elements of dtype; gives a reference.
TAPER_MUST_USE taper_status taper_archive_storage(taper_archive *archive, const taper_zip_entry *entry,
                                                  taper_dtype dtype, taper_storage **storage, taper_error *error);

// version and byteorder.
TAPER_MUST_USE taper_status taper_archive_read_version(taper_archive *archive, taper_error *error);
// The files of a folder, "extra/".
TAPER_MUST_USE taper_status taper_archive_read_extras(taper_archive *archive, const char *folder, taper_error *error);

// The value of the pickle `name`, whose tensors are in folder (NULL: it has none). classes NULL: no class is special.
TAPER_MUST_USE taper_status taper_archive_read_pickle(taper_archive *archive, const char *name, const char *folder,
                                                      const taper_class_host *classes, taper_val *value,
                                                      taper_error *error);
// data.pkl: the module's root object and the objects that wait for their __setstate__.
TAPER_MUST_USE taper_status taper_archive_read_root(taper_archive *archive, const taper_class_host *classes,
                                                    taper_error *error);
// For a class host: the object waits for its __setstate__. Takes over the state.
TAPER_MUST_USE taper_status taper_archive_set_pending(taper_archive *archive, taper_object *object, taper_val state,
                                                      taper_error *error);

#endif
