// SPDX-License-Identifier: BSD-2-Clause
// Functions that the readers of both kinds of zip archives share: lite modules and TorchScript. They read storages,
// pickles of objects, the version, and extra files. Only code that reads such archives includes this header.
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
    taper_storage **storages;      // storage of each entry of the archive; several tensors may share it
    const char *folder;            // folder with the storages of the current record, such as "data/"
    taper_module_pending *pending; // objects that wait for their __setstate__, later copied to the module's arena
    size_t pending_count, pending_capacity;
} taper_archive;

// Opens the archive of a blob. The caller has set allocator, arena, heap, types and blob of the module. After a failure
// there is nothing to close.
TAPER_MUST_USE taper_status taper_archive_open(taper_blob *blob, taper_module *module, taper_archive *archive,
                                               taper_error *error);
// Opens an archive inside of a file: the `size` bytes at `data` within the blob.
TAPER_MUST_USE taper_status taper_archive_open_part(taper_blob *blob, const void *data, size_t size,
                                                    taper_module *module, taper_archive *archive, taper_error *error);
void taper_archive_close(taper_archive *archive);

static inline const taper_zip_entry *taper_archive_find(const taper_archive *archive, const char *name)
{
    return taper_zip_find(&archive->zip, name, strlen(name));
}

// Returns in *storage a reference to the storage of a record, for tensors with elements of the type `dtype`.
TAPER_MUST_USE taper_status taper_archive_storage(taper_archive *archive, const taper_zip_entry *entry,
                                                  taper_dtype dtype, taper_storage **storage, taper_error *error);

// Reads the records `version` and `byteorder`.
TAPER_MUST_USE taper_status taper_archive_read_version(taper_archive *archive, taper_error *error);
// Reads the files in a folder such as "extra/".
TAPER_MUST_USE taper_status taper_archive_read_extras(taper_archive *archive, const char *folder, taper_error *error);

// Reads the pickle `name`. folder: folder with the storages of its tensors, or NULL if the pickle has no tensors.
// classes may be NULL if no class needs special treatment.
TAPER_MUST_USE taper_status taper_archive_read_pickle(taper_archive *archive, const char *name, const char *folder,
                                                      const taper_class_host *classes, taper_val *value,
                                                      taper_error *error);
// Reads data.pkl: the module's root object, and the objects whose __setstate__ must be called later.
TAPER_MUST_USE taper_status taper_archive_read_root(taper_archive *archive, const taper_class_host *classes,
                                                    taper_error *error);
// Records that the __setstate__ of this object must be called later with `state`. Takes over the state. Class hosts
// call this.
TAPER_MUST_USE taper_status taper_archive_set_pending(taper_archive *archive, taper_object *object, taper_val state,
                                                      taper_error *error);

#endif
