// SPDX-License-Identifier: BSD-2-Clause
// The layout, all numbers little-endian:
//   local header       50 4b 03 04, flags at 6, method 8, name length 26, extra length 28, name at 30
//   directory entry    50 4b 01 02, flags 8, method 10, crc 16, packed size 20, size 24, name length 28,
//                      extra length 30, comment length 32, header offset 42, name at 46
//   zip64 end          50 4b 06 06, entries 32, directory size 40, directory offset 48; 56 bytes
//   zip64 locator      50 4b 06 07, offset of the zip64 end 8; 20 bytes, right before the end
//   end                50 4b 05 06, entries 10, directory size 12, directory offset 16, comment length 20; 22 bytes
// Sizes are taken from the directory, because a local header may leave them to a data descriptor. The start of the data
// is taken from the local header, because the directory does not include its padding.
#include "format/zip.h"

#include "base/charge.h"
#include "base/inflate.h"
#include "base/limits.h"
#include "base/reader.h"
#include "platform/crc32.h"

enum {
    LOCAL_SIZE = 30,
    ENTRY_SIZE = 46,
    END_SIZE = 22,
    LOCATOR_SIZE = 20,
    END64_SIZE = 56,
    LOCAL_MAGIC = 0x04034b50,
    ENTRY_MAGIC = 0x02014b50,
    END_MAGIC = 0x06054b50,
    LOCATOR_MAGIC = 0x07064b50,
    END64_MAGIC = 0x06064b50,
    STORED = 0,
    DEFLATED = 8,
    FLAG_ENCRYPTED = 1,
    EXTRA_ZIP64 = 1
};

// The limit on the bytes of copied or inflated records: BUDGET_FACTOR times the size of the file, or BUDGET_LEAST for a
// small file.
enum { BUDGET_FACTOR = 64, BUDGET_LEAST = 64 << 20 };

typedef struct directory {
    uint64_t offset, size, count;
} directory;

static bool fits(const taper_zip *zip, uint64_t offset, uint64_t length)
{
    return offset <= zip->size && length <= zip->size - offset;
}

static taper_status find_end(const taper_zip *zip, size_t *at, taper_error *error)
{
    const size_t reach = taper_min_size(zip->size, END_SIZE + 65535);
    for (size_t back = END_SIZE; back <= reach; back++) {
        const uint8_t *p = zip->data + (zip->size - back);
        if (p[0] == 'P' && taper_load_u32(p) == END_MAGIC && taper_load_u16(p + 20) <= back - END_SIZE) {
            *at = zip->size - back;
            return TAPER_OK;
        }
    }
    return taper_fail_at(
        error, TAPER_ERROR_FILE, (int64_t)zip->size,
        "the zip archive has no end record within its %zu bytes: the file was cut off; copy or download it again",
        zip->size);
}

static taper_status find_directory(const taper_zip *zip, directory *found, taper_error *error)
{
    size_t at = 0;
    TAPER_TRY(find_end(zip, &at, error));
    const uint8_t *end = zip->data + at;
    *found = (directory){
        .offset = taper_load_u32(end + 16), .size = taper_load_u32(end + 12), .count = taper_load_u16(end + 10)};
    const bool saturated = found->offset == UINT32_MAX || found->size == UINT32_MAX || found->count == UINT16_MAX;
    uint64_t limit = at; // the directory ends before this position
    if (at >= LOCATOR_SIZE && taper_load_u32(end - LOCATOR_SIZE) == LOCATOR_MAGIC) {
        const uint64_t at64 = taper_load_u64(end - LOCATOR_SIZE + 8);
        if (!fits(zip, at64, END64_SIZE) || taper_load_u32(zip->data + at64) != END64_MAGIC) {
            return taper_fail_at(error, TAPER_ERROR_FILE, (int64_t)(at - LOCATOR_SIZE),
                                 "the zip archive is damaged: its zip64 end record is not at offset %llu",
                                 (unsigned long long)at64);
        }
        const uint8_t *end64 = zip->data + at64;
        *found = (directory){.offset = taper_load_u64(end64 + 48),
                             .size = taper_load_u64(end64 + 40),
                             .count = taper_load_u64(end64 + 32)};
        limit = at64;
    } else if (saturated && taper_load_u16(end + 4) != 0) {
        return taper_fail_at(error, TAPER_ERROR_FILE, (int64_t)at,
                             "the zip archive is damaged: its zip64 end record is missing");
    }
    if (taper_load_u16(end + 4) != 0 && taper_load_u16(end + 4) != UINT16_MAX) {
        return taper_fail_at(error, TAPER_ERROR_UNSUPPORTED, (int64_t)at,
                             "the zip archive is split over several files; join them first");
    }
    if (found->offset > limit || found->size > limit - found->offset) {
        return taper_fail_at(
            error, TAPER_ERROR_FILE, (int64_t)at,
            "the zip archive is damaged or cut off: its directory (offset %llu, %llu bytes) lies outside the file",
            (unsigned long long)found->offset, (unsigned long long)found->size);
    }
    if (found->count > TAPER_LIMIT_ZIP_ENTRIES || found->count > found->size / ENTRY_SIZE) {
        return taper_fail_at(error, TAPER_ERROR_FILE, (int64_t)at,
                             "the zip archive is damaged: %llu records in a directory of %llu bytes",
                             (unsigned long long)found->count, (unsigned long long)found->size);
    }
    return TAPER_OK;
}

// Reads the zip64 field of the extra data. It contains, in this order, each of the sizes and the offset whose 32-bit
// form is 0xffffffff.
static taper_status read_zip64(taper_zip_entry *entry, const uint8_t *extra, size_t length, uint64_t at,
                               taper_error *error)
{
    if (entry->size != UINT32_MAX && entry->packed != UINT32_MAX && entry->header != UINT32_MAX) {
        return TAPER_OK;
    }
    taper_reader reader = taper_reader_make(extra, length, at, "the zip archive's extra data", error);
    while (taper_reader_left(&reader) >= 4) {
        uint16_t id, size;
        const uint8_t *field;
        TAPER_TRY(taper_read_u16(&reader, &id));
        TAPER_TRY(taper_read_u16(&reader, &size));
        TAPER_TRY(taper_read_bytes(&reader, size, &field));
        if (id != EXTRA_ZIP64) {
            continue;
        }
        taper_reader zip64 = taper_reader_make(field, size, at, "the zip64 field", error);
        if (entry->size == UINT32_MAX) {
            TAPER_TRY(taper_read_u64(&zip64, &entry->size));
        }
        if (entry->packed == UINT32_MAX) {
            TAPER_TRY(taper_read_u64(&zip64, &entry->packed));
        }
        if (entry->header == UINT32_MAX) {
            TAPER_TRY(taper_read_u64(&zip64, &entry->header));
        }
        break;
    }
    return TAPER_OK;
}

static taper_status add_entry(taper_zip *zip, const taper_zip_entry *entry, taper_error *error)
{
    TAPER_TRY(TAPER_GROW(zip->allocator, zip->entries, zip->capacity, zip->count + 1, error));
    TAPER_TRY(TAPER_GROW(zip->allocator, zip->names, zip->name_capacity, zip->count + 1, error));
    zip->entries[zip->count] = *entry;
    zip->names[zip->count] = (taper_name){.text = entry->name, .length = entry->name_length, .value = zip->count};
    zip->count++;
    return TAPER_OK;
}

static taper_status read_entries(taper_zip *zip, const directory *from, taper_error *error)
{
    taper_reader reader =
        taper_reader_make(zip->data + from->offset, (size_t)from->size, from->offset, "the zip directory", error);
    const char *folder = NULL; // name of the folder, with the slash at the end
    size_t folder_length = 0;
    for (uint64_t i = 0; i < from->count; i++) {
        const uint64_t at = from->offset + reader.position;
        const uint8_t *p, *name, *extra, *comment;
        TAPER_TRY(taper_read_bytes(&reader, ENTRY_SIZE, &p));
        if (taper_load_u32(p) != ENTRY_MAGIC) {
            return taper_fail_at(error, TAPER_ERROR_FILE, (int64_t)at,
                                 "the zip archive is damaged: entry %llu of its directory is none",
                                 (unsigned long long)i);
        }
        const size_t length = taper_load_u16(p + 28);
        TAPER_TRY(taper_read_bytes(&reader, length, &name));
        TAPER_TRY(taper_read_bytes(&reader, taper_load_u16(p + 30), &extra));
        TAPER_TRY(taper_read_bytes(&reader, taper_load_u16(p + 32), &comment));
        if (length > TAPER_LIMIT_RECORD_NAME) {
            return taper_fail_at(error, TAPER_ERROR_RESOURCE, (int64_t)at,
                                 "a record's name of %zu bytes is beyond the limit of %d", length,
                                 TAPER_LIMIT_RECORD_NAME);
        }
        if (folder == NULL) {
            const uint8_t *slash = length != 0 ? memchr(name, '/', length) : NULL;
            // Exported programs before PyTorch 2.8 have no folder. Their first record has one of these names.
            static const char exported[] = "serialized_", version[] = "version";
            const bool flat =
                slash == NULL && ((length >= sizeof exported - 1 && memcmp(name, exported, sizeof exported - 1) == 0) ||
                                  (length == sizeof version - 1 && memcmp(name, version, length) == 0));
            if (slash == NULL && !flat) {
                return taper_fail_at(
                    error, TAPER_ERROR_FILE, (int64_t)at,
                    "this zip archive is no PyTorch model: its first record \"%.*s\" is not in a folder", (int)length,
                    (const char *)name);
            }
            folder = (const char *)name;
            folder_length = flat ? 0 : (size_t)(slash - name) + 1;
        }
        if (length <= folder_length || memcmp(name, folder, folder_length) != 0 || name[length - 1] == '/') {
            continue;
        }
        taper_zip_entry entry = {
            .name = (const char *)name + folder_length,
            .name_length = (uint32_t)(length - folder_length),
            .flags = taper_load_u16(p + 8),
            .method = taper_load_u16(p + 10),
            .crc = taper_load_u32(p + 16),
            .packed = taper_load_u32(p + 20),
            .size = taper_load_u32(p + 24),
            .header = taper_load_u32(p + 42),
        };
        TAPER_TRY(read_zip64(&entry, extra, taper_load_u16(p + 30), at, error));
        TAPER_TRY(add_entry(zip, &entry, error));
    }
    return taper_names_sort(zip->allocator, zip->names, zip->count, error);
}

taper_status taper_zip_open(const taper_allocator *allocator, const void *data, size_t size, taper_zip *zip,
                            taper_error *error)
{
    *zip = (taper_zip){.allocator = allocator, .data = data, .size = size};
    zip->budget = size > SIZE_MAX / BUDGET_FACTOR ? SIZE_MAX : taper_max_size(size * BUDGET_FACTOR, BUDGET_LEAST);
    directory found;
    taper_status status = find_directory(zip, &found, error);
    if (status == TAPER_OK) {
        status = read_entries(zip, &found, error);
    }
    if (status != TAPER_OK) {
        taper_zip_close(zip);
    }
    return status;
}

void taper_zip_close(taper_zip *zip)
{
    taper_free(zip->allocator, zip->entries, zip->capacity * sizeof *zip->entries);
    taper_free(zip->allocator, zip->names, zip->name_capacity * sizeof *zip->names);
    zip->entries = NULL;
    zip->names = NULL;
    zip->count = zip->capacity = zip->name_capacity = 0;
}

const taper_zip_entry *taper_zip_find(const taper_zip *zip, const char *name, size_t length)
{
    size_t at = 0;
    return taper_names_find(zip->names, zip->count, name, length, &at) ? &zip->entries[at] : NULL;
}

// ---- records of the archive

TAPER_COLD static taper_status damaged(const taper_zip_entry *entry, uint64_t at, const char *what, taper_error *error)
{
    return taper_fail_at(error, TAPER_ERROR_FILE, (int64_t)at, "record %.*s of the archive is damaged: %s",
                         (int)entry->name_length, entry->name, what);
}

taper_status taper_zip_locate(const taper_zip *zip, const taper_zip_entry *entry, const uint8_t **packed,
                              uint64_t *offset, taper_error *error)
{
    if (!fits(zip, entry->header, LOCAL_SIZE) || taper_load_u32(zip->data + entry->header) != LOCAL_MAGIC) {
        return damaged(entry, taper_min_size((size_t)entry->header, zip->size),
                       "its header is not where the directory says", error);
    }
    const uint8_t *header = zip->data + entry->header;
    const uint64_t start = entry->header + LOCAL_SIZE + taper_load_u16(header + 26) + taper_load_u16(header + 28);
    if (!fits(zip, start, entry->packed)) {
        return damaged(entry, entry->header, "it reaches beyond the end of the file", error);
    }
    *packed = zip->data + start;
    *offset = start;
    return TAPER_OK;
}

taper_status taper_zip_check(const taper_zip *zip, const taper_zip_entry *entry, taper_error *error)
{
    const int length = (int)entry->name_length;
    if ((entry->flags & FLAG_ENCRYPTED) != 0) {
        return taper_fail_at(error, TAPER_ERROR_UNSUPPORTED, (int64_t)entry->header, "record %.*s is encrypted", length,
                             entry->name);
    }
    if (entry->method == STORED) {
        if (entry->size != entry->packed) {
            return damaged(entry, entry->header, "it is stored, yet its two sizes differ", error);
        }
        return TAPER_OK;
    }
    if (entry->method != DEFLATED) {
        return taper_fail_at(
            error, TAPER_ERROR_UNSUPPORTED, (int64_t)entry->header,
            "record %.*s is compressed with method %u; only stored and deflated records are supported: pack the "
            "archive anew without compression",
            length, entry->name, entry->method);
    }
    if (entry->packed > zip->size || entry->size > TAPER_LIMIT_INFLATED_BYTES || entry->size > zip->budget ||
        entry->size / TAPER_LIMIT_INFLATE_RATIO > entry->packed) {
        return taper_fail_at(error, TAPER_ERROR_RESOURCE, (int64_t)entry->header,
                             "record %.*s would inflate from %llu to %llu bytes, which is beyond the limit for a file "
                             "of %zu bytes: pack "
                             "the archive anew without compression",
                             length, entry->name, (unsigned long long)entry->packed, (unsigned long long)entry->size,
                             zip->size);
    }
    return TAPER_OK;
}

static taper_status inflate_to(const taper_zip *zip, const taper_zip_entry *entry, const uint8_t *packed,
                               uint64_t offset, uint8_t *to, taper_error *error)
{
    TAPER_TRY(taper_charge(zip->allocator, entry->size / 2, error));
    const taper_status status = taper_inflate(zip->allocator, packed, entry->packed, to, entry->size);
    if (status == TAPER_ERROR_RESOURCE) {
        return taper_fail_memory(error);
    }
    if (status != TAPER_OK) {
        return damaged(entry, offset, "its compressed data does not yield the bytes it should", error);
    }
    return TAPER_OK;
}

static taper_status check_sum(const taper_zip_entry *entry, const uint8_t *data, uint64_t offset, taper_error *error)
{
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
    (void)data;
    (void)offset;
    (void)entry;
    (void)error;
    return TAPER_OK;
#else
    // A checksum of 0 is not compared, because some writers do not compute it.
    if (entry->crc != 0 && taper_crc32_plain(0, data, (size_t)entry->size) != entry->crc) {
        return damaged(entry, offset, "its checksum is wrong; copy or download the file again", error);
    }
    return TAPER_OK;
#endif
}

taper_status taper_zip_extract(taper_zip *zip, const taper_zip_entry *entry, void *to, taper_error *error)
{
    const uint8_t *packed;
    uint64_t offset;
    TAPER_TRY(taper_zip_check(zip, entry, error));
    TAPER_TRY(taper_zip_locate(zip, entry, &packed, &offset, error));
    if (entry->size > zip->budget) { // stored records reduce the budget too: they may overlap in the file
        return taper_fail_at(error, TAPER_ERROR_RESOURCE, (int64_t)entry->header,
                             "the records up to %.*s would take too much memory for a file of %zu bytes",
                             (int)entry->name_length, entry->name, zip->size);
    }
    zip->budget -= (size_t)entry->size;
    if (entry->method == STORED) {
        if (entry->size != 0) {
            memcpy(to, packed, (size_t)entry->size);
        }
        return TAPER_OK;
    }
    TAPER_TRY(inflate_to(zip, entry, packed, offset, to, error));
    return check_sum(entry, to, offset, error);
}

taper_status taper_zip_read(taper_zip *zip, const taper_zip_entry *entry, taper_record *record, taper_error *error)
{
    *record = (taper_record){.size = 0};
    TAPER_TRY(taper_zip_check(zip, entry, error));
    TAPER_TRY(taper_zip_locate(zip, entry, &record->data, &record->offset, error));
    record->size = (size_t)entry->size;
    if (entry->method == STORED) {
        return check_sum(entry, record->data, record->offset, error);
    }
    record->block = taper_alloc(zip->allocator, record->size);
    if (record->block == NULL && record->size != 0) {
        return taper_fail_memory(error);
    }
    uint8_t none;
    const taper_status status = taper_zip_extract(zip, entry, record->block != NULL ? record->block : &none, error);
    if (status != TAPER_OK) {
        taper_record_free(zip, record);
        return status;
    }
    record->data = record->block;
    return TAPER_OK;
}

void taper_record_free(const taper_zip *zip, taper_record *record)
{
    taper_free(zip->allocator, record->block, record->size);
    *record = (taper_record){.size = 0};
}

taper_status taper_zip_verify(const taper_allocator *allocator, const void *data, size_t size, taper_error *error)
{
    taper_zip zip;
    TAPER_TRY(taper_zip_open(allocator, data, size, &zip, error));
    const size_t budget = zip.budget;
    taper_status status = TAPER_OK;
    for (size_t i = 0; status == TAPER_OK && i < zip.count; i++) {
        taper_record record;
        zip.budget = budget; // the budget is restored, because only one record is in memory at a time
        status = taper_zip_read(&zip, &zip.entries[i], &record, error);
        if (status == TAPER_OK) {
            taper_record_free(&zip, &record);
        }
    }
    taper_zip_close(&zip);
    return status;
}
