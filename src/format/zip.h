// SPDX-License-Identifier: BSD-2-Clause
// Reads zip archives as PyTorch writes them, from the central directory of a file in memory. Supports zip64, stored and
// deflated records, data descriptors and padded local headers. All records are in one folder, and their names here do
// not contain the folder's name. Exported programs before PyTorch 2.8 have no folder. Entries outside of the folder are
// ignored. If several records have one name, the last one counts.
#ifndef TAPER_FORMAT_ZIP_H
#define TAPER_FORMAT_ZIP_H

#include "format/name_sort.h"

typedef struct taper_zip_entry {
    const char *name; // name in the file's bytes, not NUL-terminated, such as "data.pkl" or "constants/0"
    uint32_t name_length;
    uint32_t crc;
    uint16_t method; // compression method: 0 stored, 8 deflated
    uint16_t flags;
    uint64_t packed, size;
    uint64_t header; // offset of the local header, in bytes
} taper_zip_entry;

typedef struct taper_zip {
    const taper_allocator *allocator;
    const uint8_t *data;
    size_t size;
    taper_zip_entry *entries; // entries in the order of the directory
    taper_name *names;        // names, sorted; the value is the index of the entry
    size_t count, capacity, name_capacity;
    // Bytes of records that may still be copied or inflated; the limit keeps a small file from filling the memory.
    size_t budget;
} taper_zip;

// The bytes of one record. They are within the file's bytes, or in a block if the record was compressed.
typedef struct taper_record {
    const uint8_t *data;
    size_t size;
    uint64_t offset; // position of the record's data in the file, in bytes
    void *block;
} taper_record;

TAPER_MUST_USE taper_status taper_zip_open(const taper_allocator *allocator, const void *data, size_t size,
                                           taper_zip *zip, taper_error *error);
void taper_zip_close(taper_zip *zip);

// Returns the record with this name, or NULL if there is none.
const taper_zip_entry *taper_zip_find(const taper_zip *zip, const char *name, size_t length);

// Finds the data of a record within the file's bytes, still compressed if the record is.
TAPER_MUST_USE taper_status taper_zip_locate(const taper_zip *zip, const taper_zip_entry *entry, const uint8_t **packed,
                                             uint64_t *offset, taper_error *error);
// Fails if the sizes of an entry are implausible. Call this before memory for the record is allocated.
TAPER_MUST_USE taper_status taper_zip_check(const taper_zip *zip, const taper_zip_entry *entry, taper_error *error);
// Writes the entry->size bytes of the record, inflated, to `to`. Checks the checksum only if the record was deflated.
TAPER_MUST_USE taper_status taper_zip_extract(taper_zip *zip, const taper_zip_entry *entry, void *to,
                                              taper_error *error);
// Reads a whole record for parsing and checks its checksum. The caller calls taper_record_free afterwards.
TAPER_MUST_USE taper_status taper_zip_read(taper_zip *zip, const taper_zip_entry *entry, taper_record *record,
                                           taper_error *error);
// Checks the checksums of all records in an archive.
TAPER_MUST_USE taper_status taper_zip_verify(const taper_allocator *allocator, const void *data, size_t size,
                                             taper_error *error);
void taper_record_free(const taper_zip *zip, taper_record *record);

#endif
