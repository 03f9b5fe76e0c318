// SPDX-License-Identifier: BSD-2-Clause
// Writes the zip archive around PyTorch's records, byte for byte as PyTorch does: all records in one folder, stored,
// the data of each at a multiple of 64 (padding in the local header's extra field), checksum and sizes behind the data,
// dates of zero, a zip64 end always and zip64 fields where 32 bits do not suffice.
#ifndef TAPER_FORMAT_ZIP_WRITE_H
#define TAPER_FORMAT_ZIP_WRITE_H

#include "format/sink.h"
#include "format/zip.h"
#include "ir/tensor_def.h"

typedef struct taper_zip_writer {
    const taper_allocator *allocator;
    const taper_sink *sink;
    const char *folder; // with the slash
    size_t folder_length;
    uint64_t position;     // bytes written so far
    uint64_t count;        // records
    taper_bytes directory; // as it will be written
    taper_bytes header;    // of the record being written
    void *part;            // for bytes that are worked out while they are written; NULL until there are some
} taper_zip_writer;

// name: of the folder, one that a file could have; PyTorch takes the file's own without its extension. The writer ends
// with taper_zip_writer_free, also when a function failed; the file is complete after taper_zip_writer_finish only.
TAPER_MUST_USE taper_status taper_zip_writer_start(taper_zip_writer *writer, const taper_allocator *allocator,
                                                   const taper_sink *sink, const char *name, taper_error *error);
void taper_zip_writer_free(taper_zip_writer *writer);

// A record; the caller sees to it that each name is given once.
TAPER_MUST_USE taper_status taper_zip_write(taper_zip_writer *writer, const char *name, size_t name_length,
                                            const void *data, size_t size, taper_error *error);
TAPER_MUST_USE taper_status taper_zip_write_storage(taper_zip_writer *writer, const char *name, size_t name_length,
                                                    const taper_storage *storage, taper_error *error);
// A record of another archive under its name there, as it is, compressed or not.
TAPER_MUST_USE taper_status taper_zip_copy(taper_zip_writer *writer, const taper_zip *from,
                                           const taper_zip_entry *entry, taper_error *error);
// The directory.
TAPER_MUST_USE taper_status taper_zip_writer_finish(taper_zip_writer *writer, taper_error *error);

#endif
