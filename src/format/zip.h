// SPDX-License-Identifier: BSD-2-Clause
// The zip archive around PyTorch's records. Reads the central directory of a file in memory. Supports zip64, stored and
// deflated records, data descriptors and padded local headers. All records are in one folder, whose name is not part of
// theirs. Exported programs before PyTorch 2.8 have no folder. Entries elsewhere are ignored. If several records have
// one name, the last one counts.
#ifndef TAPER_FORMAT_ZIP_H
#define TAPER_FORMAT_ZIP_H

#include "format/name_sort.h"

typedef struct taper_zip_entry {
    const char *name; // in the file's bytes, not NUL-terminated: "data.pkl", "constants/0"
    uint32_t name_length;
    uint32_t crc;
    uint16_t method; // 0 stored, 8 deflated
    uint16_t flags;
    uint64_t packed, size;
    uint64_t header; // offset of the local header, in bytes
} taper_zip_entry;

typedef struct taper_zip {
    const taper_allocator *allocator;
    const uint8_t *data;
    size_t size;
    taper_zip_entry *entries; // in the order of the directory
    taper_name *names;        // sorted; value is the index of the entry
    size_t count, capacity, name_capacity;
    size_t budget; // bytes that may still be copied or inflated, so that a small file cannot fill the memory
} taper_zip;

// The bytes of one record: the file's own, or a block if the record was compressed.
typedef struct taper_record {
    const uint8_t *data;
    size_t size;
    uint64_t offset; // position in the file, in bytes
    void *block;
} taper_record;

TAPER_MUST_USE taper_status taper_zip_open(const taper_allocator *allocator, const void *data, size_t size,
                                           taper_zip *zip, taper_error *error);
void taper_zip_close(taper_zip *zip);

// Returns NULL if there is no such record.
const taper_zip_entry *taper_zip_find(const taper_zip *zip, const char *name, size_t length);

// Finds the stored bytes of a record in the file.
TAPER_MUST_USE taper_status taper_zip_locate(const taper_zip *zip, const taper_zip_entry *entry, const uint8_t **packed,
                                             uint64_t *offset, taper_error *error);
// Fails if the sizes of an entry are not plausible. Call this before memory for them is allocated.
TAPER_MUST_USE taper_status taper_zip_check(const taper_zip *zip, const taper_zip_entry *entry, taper_error *error);
// Writes the entry->size bytes of the record to `to`. Compares the checksum if the record was deflated.
TAPER_MUST_USE taper_status taper_zip_extract(taper_zip *zip, const taper_zip_entry *entry, void *to,
                                              taper_error *error);
// Reads a whole record for parsing and compares its checksum. Ends with taper_record_free.
TAPER_MUST_USE taper_status taper_zip_read(taper_zip *zip, const taper_zip_entry *entry, taper_record *record,
                                           taper_error *error);
// Compares the checksums of all records in an archive.
TAPER_MUST_USE taper_status taper_zip_verify(const taper_allocator *allocator, const void *data, size_t size,
                                             taper_error *error);
void taper_record_free(const taper_zip *zip, taper_record *record);

#endif
