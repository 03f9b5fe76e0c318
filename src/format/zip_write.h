// SPDX-License-Identifier: BSD-2-Clause
// Writes zip archives with the same bytes as PyTorch's writer. All records are stored, in one folder. The data of each
// record begins at a multiple of 64 bytes (the extra field of the local header contains padding), and its checksum and
// sizes follow the data. Dates are zero. The zip64 end record is always written, zip64 fields only if 32 bits are not
// sufficient.
#ifndef TAPER_FORMAT_ZIP_WRITE_H
#define TAPER_FORMAT_ZIP_WRITE_H

#include "format/sink.h"
#include "format/zip.h"
#include "ir/tensor_def.h"

typedef struct taper_zip_writer {
    const taper_allocator *allocator;
    const taper_sink *sink;
    const char *folder; // name of the folder, with the slash at the end
    size_t folder_length;
    uint64_t position;     // bytes written so far
    uint64_t count;        // number of records
    taper_bytes directory; // bytes of the central directory
    taper_bytes header;    // bytes of the current record's local header
    void *part;            // buffer for bytes that are computed while they are written; NULL until needed
} taper_zip_writer;

// Begins an archive. name: name of the folder, which must be valid as a file name. PyTorch uses the file's own name
// without its extension. The caller must call taper_zip_writer_free, also after a failure. The file is complete only
// after taper_zip_writer_finish.
TAPER_MUST_USE taper_status taper_zip_writer_start(taper_zip_writer *writer, const taper_allocator *allocator,
                                                   const taper_sink *sink, const char *name, taper_error *error);
void taper_zip_writer_free(taper_zip_writer *writer);

// These functions write a record. The caller must use each name only once.
TAPER_MUST_USE taper_status taper_zip_write(taper_zip_writer *writer, const char *name, size_t name_length,
                                            const void *data, size_t size, taper_error *error);
TAPER_MUST_USE taper_status taper_zip_write_storage(taper_zip_writer *writer, const char *name, size_t name_length,
                                                    const taper_storage *storage, taper_error *error);
// Copies a record from another archive, with the same name, without decompressing it.
TAPER_MUST_USE taper_status taper_zip_copy(taper_zip_writer *writer, const taper_zip *from,
                                           const taper_zip_entry *entry, taper_error *error);
// Writes the central directory and the end records.
TAPER_MUST_USE taper_status taper_zip_writer_finish(taper_zip_writer *writer, taper_error *error);

#endif
