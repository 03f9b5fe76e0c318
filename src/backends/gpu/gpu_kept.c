// SPDX-License-Identifier: BSD-2-Clause
// Files in the cache directory: see gpu_kept.h.
#include "backends/gpu/gpu_kept.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"

enum { VERSION = 1, MOST_PATH = 4096, MOST_COMPILED = 64 << 20 };

static bool path_of(const char *cache_dir, const char *kind, uint64_t hash, const char *end, char *path)
{
    const int length = cache_dir != NULL ? snprintf(path, MOST_PATH, "%s/gpu-%s%016llx%s", cache_dir, kind,
                                                    (unsigned long long)hash, end)
                                         : -1;
    return length > 0 && length < MOST_PATH;
}

static void write_file(const char *cache_dir, const char *kind, uint64_t hash, const void *head, size_t head_bytes,
                       const void *data, size_t bytes)
{
    char path[MOST_PATH], part[MOST_PATH];
    taper_kept_writer writer;
    if (path_of(cache_dir, kind, hash, ".ok", path) && path_of(cache_dir, kind, hash, ".part", part) &&
        taper_kept_begin(path, part, &writer) == TAPER_KEPT_BEGUN) {
        const bool whole = taper_kept_write(&writer, head, head_bytes) && taper_kept_write(&writer, data, bytes);
        (void)taper_kept_end(&writer, whole);
    }
}

// Returns a hash of the driver and of the shaders that it compiles.
uint64_t taper_gpu_driver_hash(const taper_gpu_state *s)
{
    const taper_gpu *gpu = s->gpu;
    const uint64_t numbers[] = {VERSION, gpu->vendor, gpu->device, gpu->driver, sizeof(void *)};
    uint64_t hash = taper_hash(s->shaders_hash, numbers, sizeof numbers);
    hash = taper_hash(hash, gpu->build, sizeof gpu->build);
    return taper_hash(hash, gpu->name, strlen(gpu->name));
}

// ---- results of the check of shaders

typedef struct verdict {
    char magic[8];
    uint64_t version, hash;
} verdict;

static verdict verdict_of(uint64_t hash)
{
    return (verdict){.magic = "tapergpu", .version = VERSION, .hash = hash};
}

bool taper_gpu_is_trusted(const char *cache_dir, uint64_t hash)
{
    const verdict v = verdict_of(hash);
    char path[MOST_PATH];
    taper_mapping mapping;
    if (!path_of(cache_dir, "", hash, ".ok", path) || !taper_kept_map(path, &mapping, NULL)) {
        return false;
    }
    const bool same = mapping.size == sizeof v && memcmp(mapping.data, &v, sizeof v) == 0;
    taper_unmap(&mapping);
    return same;
}

void taper_gpu_trust(const char *cache_dir, uint64_t hash)
{
    const verdict v = verdict_of(hash);
    write_file(cache_dir, "", hash, &v, sizeof v, NULL, 0);
}

// ---- measured times of the device and of the plain nodes

typedef struct faster {
    char magic[8];
    uint64_t version, hash, plain;
} faster;

static faster faster_of(uint64_t hash, bool plain)
{
    return (faster){.magic = "tapergpf", .version = VERSION, .hash = hash, .plain = plain};
}

bool taper_gpu_knows_faster(const char *cache_dir, uint64_t hash, bool *plain)
{
    char path[MOST_PATH];
    taper_mapping mapping;
    bool known = false;
    if (!path_of(cache_dir, "faster-", hash, ".ok", path) || !taper_kept_map(path, &mapping, NULL)) {
        return false;
    }
    for (int way = 0; way < 2 && mapping.size == sizeof(faster) && !known; way++) {
        const faster f = faster_of(hash, way != 0);
        known = memcmp(mapping.data, &f, sizeof f) == 0;
        *plain = way != 0;
    }
    taper_unmap(&mapping);
    return known;
}

void taper_gpu_keep_faster(const char *cache_dir, uint64_t hash, bool plain)
{
    const faster f = faster_of(hash, plain);
    write_file(cache_dir, "faster-", hash, &f, sizeof f, NULL, 0);
}

// ---- corrections of estimates

typedef struct learned {
    char magic[8];
    uint64_t version, driver, count;
    double log_device, log_plain;
} learned;

void taper_gpu_take_learned(taper_gpu_state *s, const char *cache_dir)
{
    // MOST: largest number of recordings; MOST_LOGARITHM: largest mean of logarithms; a larger mean shows that the file
    // is damaged.
    enum { MOST = 8, MOST_LOGARITHM = 16 };
    char path[MOST_PATH];
    taper_mapping mapping;
    learned l = {.count = 0};
    if (!path_of(cache_dir, "learned-", taper_gpu_driver_hash(s), ".ok", path) ||
        !taper_kept_map(path, &mapping, NULL)) {
        return;
    }
    if (mapping.size == sizeof l) {
        memcpy(&l, mapping.data, sizeof l);
    }
    taper_unmap(&mapping);
    if (memcmp(l.magic, "tapergpl", sizeof l.magic) == 0 && l.version == VERSION &&
        l.driver == taper_gpu_driver_hash(s) && l.count <= MOST && fabs(l.log_device) <= MOST_LOGARITHM &&
        fabs(l.log_plain) <= MOST_LOGARITHM) {
        s->learned = (unsigned)l.count;
        s->log_device = l.log_device;
        s->log_plain = l.log_plain;
    }
}

void taper_gpu_keep_learned(const taper_gpu_state *s, const char *cache_dir)
{
    const learned l = {.magic = "tapergpl",
                       .version = VERSION,
                       .driver = taper_gpu_driver_hash(s),
                       .count = s->learned,
                       .log_device = s->log_device,
                       .log_plain = s->log_plain};
    if (s->estimates) {
        write_file(cache_dir, "learned-", l.driver, &l, sizeof l, NULL, 0);
    }
}

// ---- code that a driver compiled

// The header of a file of compiled code. Not all drivers check the code that they are given. The header identifies the
// driver and verifies the bytes.
typedef struct compiled_head {
    char magic[8];
    uint64_t driver, bytes, hash;
} compiled_head;

static compiled_head head_of(const taper_gpu_state *s, const void *data, size_t bytes)
{
    return (compiled_head){
        .magic = "tapergpc", .driver = taper_gpu_driver_hash(s), .bytes = bytes, .hash = taper_hash(0, data, bytes)};
}

void taper_gpu_take_compiled(taper_gpu_state *s, const char *cache_dir)
{
    char path[MOST_PATH];
    taper_mapping mapping;
    compiled_head head;
    if (s->api->take_compiled == NULL || !path_of(cache_dir, "compiled-", taper_gpu_driver_hash(s), ".ok", path) ||
        !taper_kept_map(path, &mapping, NULL)) {
        return;
    }
    if (mapping.size > sizeof head && mapping.size <= MOST_COMPILED) {
        const char *data = (const char *)mapping.data + sizeof head;
        head = head_of(s, data, mapping.size - sizeof head);
        if (memcmp(mapping.data, &head, sizeof head) == 0 &&
            s->api->take_compiled(s->gpu, data, (size_t)head.bytes) == TAPER_OK) {
            s->kept_bytes = (size_t)head.bytes;
        }
    }
    taper_unmap(&mapping);
}

void taper_gpu_keep_compiled(taper_gpu_state *s, const char *cache_dir)
{
    enum { EMPTY = 64 }; // number of bytes of an empty header, which some drivers return
    size_t bytes = 0;
    if (cache_dir == NULL || s->api->compiled == NULL || s->api->compiled(s->gpu, NULL, &bytes) != TAPER_OK ||
        bytes <= EMPTY || bytes > MOST_COMPILED || bytes == s->kept_bytes) {
        return;
    }
    s->kept_bytes = bytes;
    const size_t room = bytes;
    void *data = taper_alloc(s->allocator, room);
    if (data != NULL && s->api->compiled(s->gpu, data, &bytes) == TAPER_OK && bytes <= room) {
        const compiled_head head = head_of(s, data, bytes);
        write_file(cache_dir, "compiled-", head.driver, &head, sizeof head, data, bytes);
    }
    taper_free(s->allocator, data, room);
}

// ---- marks of devices that may have crashed

typedef struct mark_text {
    char magic[8];
    uint64_t shaders; // hash of this build's shaders: with those of another build, the driver may not crash
    uint64_t driver;  // hash of the driver; 0 if the device was not open yet
} mark_text;

static mark_text mark_of(const taper_gpu_state *s)
{
    return (mark_text){
        .magic = "tapergpm", .shaders = s->shaders_hash, .driver = s->gpu != NULL ? taper_gpu_driver_hash(s) : 0};
}

static bool mark_path(const taper_gpu_api *api, const char *cache_dir, char *path)
{
    const int length = cache_dir != NULL ? snprintf(path, MOST_PATH, "%s/gpu-%s.trying", cache_dir, api->name) : -1;
    return length > 0 && length < MOST_PATH;
}

bool taper_gpu_has_crashed(const taper_gpu_state *s, const char *cache_dir, uint64_t *driver)
{
    const mark_text now = mark_of(s);
    mark_text left;
    char path[MOST_PATH];
    if (!mark_path(s->api, cache_dir, path) || !taper_mark_left(path, &left, sizeof left)) {
        return false;
    }
    *driver = left.driver;
    return memcmp(left.magic, now.magic, sizeof now.magic) == 0 && left.shaders == now.shaders;
}

void taper_gpu_try(taper_gpu_state *s, const char *cache_dir)
{
    char path[MOST_PATH];
    if (s->tries++ == 0 && mark_path(s->api, cache_dir, path)) {
        const mark_text text = mark_of(s);
        (void)taper_mark_set(path, &text, sizeof text, &s->mark);
    }
}

void taper_gpu_tried(taper_gpu_state *s, const char *cache_dir)
{
    char path[MOST_PATH];
    if (--s->tries == 0 && mark_path(s->api, cache_dir, path)) {
        taper_mark_clear(path, &s->mark);
    }
}
