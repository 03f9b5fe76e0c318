// SPDX-License-Identifier: BSD-2-Clause
// Any bytes as a zip archive: open it, find and read every record.
#include "format/zip.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    taper_zip zip;
    if (taper_zip_open(&taper_allocator_system, data, size, &zip, NULL) != TAPER_OK) {
        return 0;
    }
    zip.budget = taper_min_size(zip.budget, 1 << 20); // keeps the fuzzer fast
    for (size_t i = 0; i < zip.count; i++) {
        const taper_zip_entry *entry = taper_zip_find(&zip, zip.entries[i].name, zip.entries[i].name_length);
        taper_record record;
        if (taper_zip_read(&zip, entry, &record, NULL) == TAPER_OK) {
            volatile uint8_t last = record.size != 0 ? record.data[record.size - 1] : 0;
            (void)last;
            taper_record_free(&zip, &record);
        }
    }
    taper_zip_close(&zip);
    return 0;
}
