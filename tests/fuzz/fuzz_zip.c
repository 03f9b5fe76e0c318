// SPDX-License-Identifier: BSD-2-Clause
// Reads any bytes as a zip archive: opens it, finds and reads each record. Repeats this with a budget that large
// records exceed, and with a failing allocation.
#include <string.h>

#include "format/zip.h"
#include "tests/fuzz/failing_allocator.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { BUDGET = 1 << 20, SMALL_BUDGET = 1000 };

// Compares a record that was read with the same record extracted to a separate block. Skips records that are too large.
static void compare(taper_zip *zip, const taper_zip_entry *entry, const taper_record *record)
{
    uint8_t *copy = malloc(record->size != 0 ? record->size : 1);
    if (copy == NULL || record->size > BUDGET) {
        free(copy);
        return;
    }
    zip->budget = SMALL_BUDGET;
    const taper_status status = taper_zip_extract(zip, entry, copy, NULL);
    if (status == TAPER_OK
            ? record->size > SMALL_BUDGET || (record->size != 0 && memcmp(copy, record->data, record->size) != 0)
            : status != TAPER_ERROR_RESOURCE || record->size <= SMALL_BUDGET) {
        abort();
    }
    free(copy);
}

// Opens the archive and reads all records. Returns the most severe status.
static taper_status read_all(const failing_allocator *failing, const uint8_t *data, size_t size)
{
    taper_zip zip;
    const taper_status opened = taper_zip_open(&failing->allocator, data, size, &zip, NULL);
    if (opened != TAPER_OK) {
        return opened;
    }
    size_t budget = taper_min_size(zip.budget, BUDGET); // a small budget keeps the fuzzer fast
    taper_status worst = TAPER_OK;
    for (size_t i = 0; i < zip.count; i++) {
        const taper_zip_entry *entry = taper_zip_find(&zip, zip.entries[i].name, zip.entries[i].name_length);
        taper_record record;
        if (entry == NULL || entry->name_length != zip.entries[i].name_length) {
            abort(); // every entry of the directory must be found
        }
        zip.budget = budget;
        const taper_status status = taper_zip_read(&zip, entry, &record, NULL);
        budget = zip.budget;
        worst = status > worst ? status : worst;
        if (status == TAPER_OK) {
            volatile uint8_t last = record.size != 0 ? record.data[record.size - 1] : 0;
            (void)last;
            if (failing->fail_at == 0) {
                compare(&zip, entry, &record);
            }
            taper_record_free(&zip, &record);
        }
    }
    if (taper_zip_find(&zip, "", 0) != NULL) {
        abort();
    }
    taper_zip_close(&zip);
    return worst;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    failing_allocator failing;
    failing_start(&failing, 0);
    const taper_status whole = read_all(&failing, data, size);
    failing_end(&failing);
    failing_start(&failing, failing_place(data, size, failing.calls));
    const taper_status failed = read_all(&failing, data, size);
    if (whole == TAPER_OK && failing.calls >= failing.fail_at && failed != TAPER_ERROR_RESOURCE) {
        abort(); // every failed allocation must be reported, because the reader cannot work without any of them
    }
    failing_end(&failing);
    return 0;
}
