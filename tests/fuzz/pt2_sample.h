// SPDX-License-Identifier: BSD-2-Clause
// The records of a .pt2 archive, which can be changed and packed again with correct checksums.
#ifndef TAPER_TESTS_PT2_SAMPLE_H
#define TAPER_TESTS_PT2_SAMPLE_H

#include <stdbool.h>

#include "tests/unit/archive_builder.h"

enum { PT2_RECORDS = 64 };

typedef struct pt2_record {
    char name[120]; // name without the archive's folder; "" for a removed record
    bytes data;
} pt2_record;

// The records of an archive.
typedef struct pt2_sample {
    pt2_record records[PT2_RECORDS];
    size_t count;
    const char *folder; // name of the archive's folder, such as "folder/", or "" if records are in no folder
} pt2_sample;

// Reads an archive. Returns false if it is not an archive or has more records than fit.
bool pt2_sample_read(const void *data, size_t size, pt2_sample *sample);
void pt2_sample_free(pt2_sample *sample);
bool pt2_record_is_json(const pt2_record *record);
// Replaces each occurrence of a text in JSON records. Returns false if the text does not occur.
bool pt2_sample_replace(pt2_sample *sample, const char *from, const char *to);
// Returns the archive of the records, which the caller frees. Records without a name are omitted.
bytes pt2_sample_pack(const pt2_sample *sample);

#endif
