// SPDX-License-Identifier: BSD-2-Clause
// The parts that the readers of both kinds of zip archives share, lite modules and TorchScript: storages, pickles of
// objects, version, extra files. Only code that reads such archives includes this header.
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
    taper_storage **storages;      // by entry: one record is one storage, which several tensors may share
    const char *folder;            // folder of the storages of the current record, "data/"
    taper_module_pending *pending; // grown here, then copied to the module's arena
    size_t pending_count, pending_capacity;
} taper_archive;

// Opens the archive of a blob. The module has allocator, arena, heap, types and blob. On failure nothing remains to be
// closed.
TAPER_MUST_USE taper_status taper_archive_open(taper_blob *blob, taper_module *module, taper_archive *archive,
                                               taper_error *error);
// Opens an archive inside of a file, at these bytes of the blob.
TAPER_MUST_USE taper_status taper_archive_open_part(taper_blob *blob, const void *data, size_t size,
                                                    taper_module *module, taper_archive *archive, taper_error *error);
void taper_archive_close(taper_archive *archive);

static inline const taper_zip_entry *taper_archive_find(const taper_archive *archive, const char *name)
{
    return taper_zip_find(&archive->zip, name, strlen(name));
}

// Returns a record as the storage of tensors with elements of dtype. *storage gets a reference.
TAPER_MUST_USE taper_status taper_archive_storage(taper_archive *archive, const taper_zip_entry *entry,
                                                  taper_dtype dtype, taper_storage **storage, taper_error *error);

// Reads the records version and byteorder.
TAPER_MUST_USE taper_status taper_archive_read_version(taper_archive *archive, taper_error *error);
// Reads the files in a folder, "extra/".
TAPER_MUST_USE taper_status taper_archive_read_extras(taper_archive *archive, const char *folder, taper_error *error);

// Reads the pickle `name`. folder has the storages of its tensors; NULL if it has none. classes may be NULL if no class
// is special.
TAPER_MUST_USE taper_status taper_archive_read_pickle(taper_archive *archive, const char *name, const char *folder,
                                                      const taper_class_host *classes, taper_val *value,
                                                      taper_error *error);
// Reads data.pkl: the module's root object, and the objects that wait for their __setstate__.
TAPER_MUST_USE taper_status taper_archive_read_root(taper_archive *archive, const taper_class_host *classes,
                                                    taper_error *error);
// Records for a class host that the object waits for its __setstate__. Takes over the state.
TAPER_MUST_USE taper_status taper_archive_set_pending(taper_archive *archive, taper_object *object, taper_val state,
                                                      taper_error *error);

#endif
