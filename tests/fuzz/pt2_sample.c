// SPDX-License-Identifier: BSD-2-Clause
// Reads .pt2 archives with the library's zip reader and packs them again.
#include "tests/fuzz/pt2_sample.h"

#include "format/zip.h"

bool pt2_record_is_json(const pt2_record *record)
{
    return record->data.size != 0 && record->data.data[0] == '{';
}

bool pt2_sample_read(const void *data, size_t size, pt2_sample *sample)
{
    taper_zip zip;
    *sample = (pt2_sample){.count = 0};
    if (taper_zip_open(&taper_allocator_system, data, size, &zip, NULL) != TAPER_OK) {
        return false;
    }
    bool good = zip.count <= PT2_RECORDS;
    for (size_t i = 0; i < zip.count && good; i++) {
        pt2_record *to = &sample->records[sample->count++];
        taper_record record;
        good = zip.entries[i].name_length < sizeof to->name &&
               taper_zip_read(&zip, &zip.entries[i], &record, NULL) == TAPER_OK;
        if (good) {
            memcpy(to->name, zip.entries[i].name, zip.entries[i].name_length);
            bytes_add(&to->data, record.data, record.size);
            taper_record_free(&zip, &record);
        }
    }
    sample->folder = taper_zip_find(&zip, "archive_format", 14) != NULL ? "m/" : "";
    taper_zip_close(&zip);
    if (!good) {
        pt2_sample_free(sample);
    }
    return good;
}

void pt2_sample_free(pt2_sample *sample)
{
    for (size_t i = 0; i < sample->count; i++) {
        bytes_free(&sample->records[i].data);
    }
    sample->count = 0;
}

static bool replace_in(bytes *data, const char *from, const char *to)
{
    bytes made = {.data = NULL};
    bytes_add(data, "", 1);
    const char *const all = (const char *)data->data, *text = all;
    for (const char *found; (found = strstr(text, from)) != NULL; text = found + strlen(from)) {
        bytes_add(&made, text, (size_t)(found - text));
        bytes_add(&made, to, strlen(to));
    }
    const bool any = text != all;
    bytes_add(&made, text, strlen(text));
    bytes_free(data);
    *data = made;
    return any;
}

bool pt2_sample_replace(pt2_sample *sample, const char *from, const char *to)
{
    bool any = false;
    for (size_t i = 0; i < sample->count; i++) {
        any |= pt2_record_is_json(&sample->records[i]) && replace_in(&sample->records[i].data, from, to);
    }
    return any;
}

bytes pt2_sample_pack(const pt2_sample *sample)
{
    builder b = {.count = 0};
    for (size_t i = 0; i < sample->count; i++) {
        char name[sizeof sample->records[0].name + 8];
        const pt2_record *record = &sample->records[i];
        (void)snprintf(name, sizeof name, "%s%s", sample->folder, record->name);
        if (record->name[0] != '\0') {
            builder_add(&b, name, record->data.data, record->data.size, 0);
        }
    }
    return builder_finish(&b, false, "");
}
