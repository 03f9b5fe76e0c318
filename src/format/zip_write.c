// SPDX-License-Identifier: BSD-2-Clause
// Writes zip archives. Their layout is described in zip.c. All numbers are known before the header of a record is
// written, so the sink need not seek. The checksum and sizes nevertheless follow the data, as in files of PyTorch's
// writer.
#include "format/zip_write.h"

#include <string.h>

#include "base/limits.h"
#include "ir/scaled_storage.h"
#include "platform/crc32.h"

enum {
    LOCAL_MAGIC = 0x04034b50,
    DESCRIPTOR_MAGIC = 0x08074b50,
    ENTRY_MAGIC = 0x02014b50,
    END_MAGIC = 0x06054b50,
    LOCATOR_MAGIC = 0x07064b50,
    END64_MAGIC = 0x06064b50,
    LOCAL_SIZE = 30,
    STORED = 0,
    VERSION_DEFLATED = 20,  // version that a reader needs for a deflated record; for a stored record it is 0
    VERSION_END64 = 45,     // version that a reader needs for the zip64 end record
    MADE_BY = 0x031e,       // "version made by": Unix, 3.0
    FLAG_DESCRIPTOR = 8,    // flag: checksum and sizes follow the data
    FLAG_UTF8 = 0x800,      // flag: names are UTF-8
    ALIGNMENT = 64,         // alignment of the data, in bytes
    FIELD_ZIP64 = 1,        // id of the extra field with zip64 numbers
    FIELD_PADDING = 0x4246, // id of the extra field with padding, "FB"
    FIELD_HEAD = 4,         // bytes of the id and the length of an extra field
    LONGEST_FOLDER = 255,
    // Records are written in chunks of at most this many bytes, so that a chunk is still in the cache when it is
    // written after its checksum was computed.
    PART = 1 << 18
};

typedef struct record {
    const char *name;
    size_t name_length;
    unsigned method;
    uint32_t crc;
    uint64_t packed, size;
    const void *data;             // bytes of the data as they are stored in the file
    const taper_storage *storage; // storage that contains the bytes, or NULL if they are at `data`
} record;

taper_status taper_zip_writer_start(taper_zip_writer *writer, const taper_allocator *allocator, const taper_sink *sink,
                                    const char *name, taper_error *error)
{
    *writer = (taper_zip_writer){.allocator = allocator, .sink = sink};
    writer->directory = taper_bytes_make(allocator);
    writer->header = taper_bytes_make(allocator);
    const size_t length = strlen(name);
    if (length == 0 || length > LONGEST_FOLDER || strchr(name, '/') != NULL) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT,
                   "archive_name \"%.100s\" is no name of a folder: it needs 1 to %d characters and no slash", name,
                   LONGEST_FOLDER);
    }
    writer->folder = name;
    writer->folder_length = length;
    return TAPER_OK;
}

void taper_zip_writer_free(taper_zip_writer *writer)
{
    taper_bytes_free(&writer->directory);
    taper_bytes_free(&writer->header);
    taper_free(writer->allocator, writer->part, PART);
}

static taper_status put(taper_zip_writer *writer, const void *data, size_t size, taper_error *error)
{
    TAPER_TRY(taper_sink_write(writer->sink, data, size, error));
    writer->position += size;
    return TAPER_OK;
}

// Writes the content of `header` to the sink.
static taper_status flush(taper_zip_writer *writer, taper_error *error)
{
    if (writer->header.failed) {
        return taper_fail_memory(error);
    }
    const taper_status status = put(writer, writer->header.data, writer->header.size, error);
    writer->header.size = 0;
    return status;
}

// ---- records

static void append_name(const taper_zip_writer *writer, const record *r, taper_bytes *to)
{
    taper_bytes_append(to, writer->folder, writer->folder_length);
    taper_bytes_append(to, "/", 1);
    taper_bytes_append(to, r->name, r->name_length);
}

// Returns true if the sizes of the record are in a zip64 field, which then contains both of them.
static bool is_large(const record *r)
{
    return r->size >= UINT32_MAX || r->packed >= UINT32_MAX;
}

static size_t zip64_length(const record *r, uint64_t header)
{
    return (is_large(r) ? 16u : 0u) + (header >= UINT32_MAX ? 8u : 0u);
}

static void append_zip64(const record *r, uint64_t header, taper_bytes *to)
{
    const size_t length = zip64_length(r, header);
    if (length == 0) {
        return;
    }
    taper_bytes_number(to, FIELD_ZIP64, 2);
    taper_bytes_number(to, length, 2);
    if (is_large(r)) {
        taper_bytes_number(to, r->size, 8);
        taper_bytes_number(to, r->packed, 8);
    }
    if (header >= UINT32_MAX) {
        taper_bytes_number(to, header, 8);
    }
}

// Appends the fields from flags to date, which are equal in the local header and in the directory.
static void append_form(const record *r, taper_bytes *to)
{
    taper_bytes_number(to, r->method == STORED ? 0 : VERSION_DEFLATED, 2);
    taper_bytes_number(to, FLAG_UTF8 | (r->size != 0 ? FLAG_DESCRIPTOR : 0), 2);
    taper_bytes_number(to, r->method, 2);
    taper_bytes_number(to, 0, 4);
}

static void append_local_header(const taper_zip_writer *writer, const record *r, taper_bytes *to)
{
    const uint64_t header = writer->position;
    const size_t zip64 = zip64_length(r, header), own = zip64 != 0 ? FIELD_HEAD + zip64 : 0;
    const size_t name_length = writer->folder_length + 1 + r->name_length;
    const uint64_t start = header + LOCAL_SIZE + name_length + own + FIELD_HEAD;
    const size_t padding = (size_t)((start + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT - start);
    taper_bytes_number(to, LOCAL_MAGIC, 4);
    append_form(r, to);
    taper_bytes_number(to, 0, 4); // zero, because the checksum and sizes follow the data
    taper_bytes_number(to, 0, 8);
    taper_bytes_number(to, name_length, 2);
    taper_bytes_number(to, own + FIELD_HEAD + padding, 2);
    append_name(writer, r, to);
    append_zip64(r, header, to);
    taper_bytes_number(to, FIELD_PADDING, 2);
    taper_bytes_number(to, padding, 2);
    for (size_t i = 0; i < padding; i++) {
        taper_bytes_append(to, "Z", 1);
    }
}

static void append_descriptor(const record *r, uint64_t header, taper_bytes *to)
{
    const size_t width = zip64_length(r, header) != 0 ? 8 : 4;
    taper_bytes_number(to, DESCRIPTOR_MAGIC, 4);
    taper_bytes_number(to, r->crc, 4);
    taper_bytes_number(to, r->packed, width);
    taper_bytes_number(to, r->size, width);
}

static uint64_t saturated(uint64_t number, uint64_t most)
{
    return number < most ? number : most;
}

static void append_entry(taper_zip_writer *writer, const record *r, uint64_t header)
{
    taper_bytes *to = &writer->directory;
    const size_t zip64 = zip64_length(r, header);
    taper_bytes_number(to, ENTRY_MAGIC, 4);
    taper_bytes_number(to, 0, 2); // "version made by" is 0 for records
    append_form(r, to);
    taper_bytes_number(to, r->crc, 4);
    taper_bytes_number(to, is_large(r) ? UINT32_MAX : r->packed, 4);
    taper_bytes_number(to, is_large(r) ? UINT32_MAX : r->size, 4);
    taper_bytes_number(to, writer->folder_length + 1 + r->name_length, 2);
    taper_bytes_number(to, zip64 != 0 ? FIELD_HEAD + zip64 : 0, 2);
    taper_bytes_number(to, 0, 2 + 2 + 2 + 2); // length of the comment, disk number, and attributes
    taper_bytes_number(to, 0, 2);
    taper_bytes_number(to, saturated(header, UINT32_MAX), 4);
    append_name(writer, r, to);
    append_zip64(r, header, to);
}

// Writes the bytes of a stored record and computes their checksum. Chunks end at multiples of their size in the file,
// so that a sink with pages or blocks receives whole pages or blocks.
static taper_status put_stored(taper_zip_writer *writer, record *r, taper_error *error)
{
    if (r->storage != NULL && r->storage->kind == TAPER_STORAGE_SCALED && writer->part == NULL) {
        writer->part = taper_alloc(writer->allocator, PART);
        if (writer->part == NULL) {
            return taper_fail_memory(error);
        }
    }
    for (size_t at = 0, size; at < r->size; at += size) {
        size = taper_min_size((size_t)r->size - at, PART - (size_t)(writer->position % PART));
        const void *part =
            r->storage != NULL ? taper_storage_part(r->storage, at, size, writer->part) : (const char *)r->data + at;
        r->crc = taper_crc32(r->crc, part, size);
        TAPER_TRY(put(writer, part, size, error));
    }
    return TAPER_OK;
}

static taper_status write_record(taper_zip_writer *writer, record *r, taper_error *error)
{
    if (r->name_length == 0 || r->name_length > TAPER_LIMIT_RECORD_NAME - LONGEST_FOLDER - 1) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT,
                   "a record's name of %zu characters (\"%.*s\"...): an archive wants 1 to %d", r->name_length,
                   (int)taper_min_size(r->name_length, 40), r->name, TAPER_LIMIT_RECORD_NAME - LONGEST_FOLDER - 1);
    }
    if (writer->count >= TAPER_LIMIT_ZIP_ENTRIES) {
        TAPER_FAIL(error, TAPER_ERROR_RESOURCE, "the archive would have more than %d records", TAPER_LIMIT_ZIP_ENTRIES);
    }
    const uint64_t header = writer->position;
    append_local_header(writer, r, &writer->header);
    TAPER_TRY(flush(writer, error));
    // Computes the checksum of a copied record if it is missing, because some writers omit it.
    if (r->crc == 0 && r->method == STORED) {
        TAPER_TRY(put_stored(writer, r, error));
    } else {
        TAPER_TRY(put(writer, r->data, (size_t)r->packed, error));
    }
    if (r->size != 0) { // empty records have no data descriptor, as in files of PyTorch
        append_descriptor(r, header, &writer->header);
        TAPER_TRY(flush(writer, error));
    }
    append_entry(writer, r, header);
    writer->count++;
    return writer->directory.failed ? taper_fail_memory(error) : TAPER_OK;
}

taper_status taper_zip_write(taper_zip_writer *writer, const char *name, size_t name_length, const void *data,
                             size_t size, taper_error *error)
{
    record r = {.name = name, .name_length = name_length, .method = STORED, .packed = size, .size = size, .data = data};
    return write_record(writer, &r, error);
}

taper_status taper_zip_write_storage(taper_zip_writer *writer, const char *name, size_t name_length,
                                     const taper_storage *storage, taper_error *error)
{
    record r = {.name = name,
                .name_length = name_length,
                .method = STORED,
                .packed = storage->bytes,
                .size = storage->bytes,
                .storage = storage};
    return write_record(writer, &r, error);
}

taper_status taper_zip_copy(taper_zip_writer *writer, const taper_zip *from, const taper_zip_entry *entry,
                            taper_error *error)
{
    const uint8_t *packed;
    uint64_t offset;
    TAPER_TRY(taper_zip_check(from, entry, error));
    TAPER_TRY(taper_zip_locate(from, entry, &packed, &offset, error));
    if (entry->size == 0) { // an empty record may contain two bytes if it was deflated
        return taper_zip_write(writer, entry->name, entry->name_length, NULL, 0, error);
    }
    record r = {.name = entry->name,
                .name_length = entry->name_length,
                .method = entry->method,
                .crc = entry->crc,
                .packed = entry->packed,
                .size = entry->size,
                .data = packed};
    return write_record(writer, &r, error);
}

// ---- the end of the archive

taper_status taper_zip_writer_finish(taper_zip_writer *writer, taper_error *error)
{
    const uint64_t start = writer->position, length = writer->directory.size, count = writer->count;
    taper_bytes *to = &writer->header;
    TAPER_TRY(put(writer, writer->directory.data, writer->directory.size, error));
    const uint64_t end64 = writer->position;
    taper_bytes_number(to, END64_MAGIC, 4);
    taper_bytes_number(to, 44, 8); // size of the rest of this record
    taper_bytes_number(to, MADE_BY, 2);
    taper_bytes_number(to, VERSION_END64, 2);
    taper_bytes_number(to, 0, 8); // numbers of disks, which are 0
    taper_bytes_number(to, count, 8);
    taper_bytes_number(to, count, 8);
    taper_bytes_number(to, length, 8);
    taper_bytes_number(to, start, 8);
    taper_bytes_number(to, LOCATOR_MAGIC, 4);
    taper_bytes_number(to, 0, 4);
    taper_bytes_number(to, end64, 8);
    taper_bytes_number(to, 1, 4);
    taper_bytes_number(to, END_MAGIC, 4);
    taper_bytes_number(to, 0, 4);
    taper_bytes_number(to, saturated(count, UINT16_MAX), 2);
    taper_bytes_number(to, saturated(count, UINT16_MAX), 2);
    taper_bytes_number(to, saturated(length, UINT32_MAX), 4);
    taper_bytes_number(to, saturated(start, UINT32_MAX), 4);
    taper_bytes_number(to, 0, 2);
    return flush(writer, error);
}
