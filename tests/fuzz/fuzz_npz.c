// SPDX-License-Identifier: BSD-2-Clause
// Reads any bytes as a NumPy archive: each listed array must be found or refused, and reading it again must give the
// same result.
#include <stdlib.h>
#include <string.h>

#include "common/file_kind.h"
#include "common/npz_read.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static void need(bool holds)
{
    if (!holds) {
        abort();
    }
}

static void take_twice(const npz_archive *npz, const char *key)
{
    unsigned char *once, *again;
    size_t size, same;
    if (npz_take(npz, key, &once, &size)) {
        need(npz_has(npz, key) && npz_take(npz, key, &again, &same));
        need(size == same && memcmp(once, again, size) == 0);
        free(again);
        free(once);
    } else {
        need(once == NULL);
    }
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    npz_archive npz;
    char key[512], known[256];
    const char *kind;
    file_kind_of(data, size, &kind);
    need(*kind != '\0');
    if (npz_read(&npz, "fuzz", data, size)) {
        npz_only(&npz, key, known);
        need(strlen(key) < sizeof key && strlen(known) < sizeof known);
        take_twice(&npz, key);
        take_twice(&npz, "x");
    }
    return 0;
}
