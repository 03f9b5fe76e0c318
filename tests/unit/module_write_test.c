// SPDX-License-Identifier: BSD-2-Clause
// Models are read, written and read again: the same module, from either container into either. With files as
// arguments these are taken as well; --out FOLDER keeps what was written, for other programs to load.
#define _XOPEN_SOURCE 700
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "format/module_write.h"
#include "tests/api/fixture.h"
#include "tests/unit/module_compare.h"

#ifndef TEST_UNIT_DATA
#define TEST_UNIT_DATA "tests/unit/data"
#endif

// ---- files

typedef struct file {
    uint8_t *data;
    size_t size;
} file;

static bool read_file(const char *path, file *f)
{
    FILE *in = fopen(path, "rb");
    *f = (file){.data = NULL};
    if (in == NULL) {
        return false;
    }
    assert_int_equal(fseek(in, 0, SEEK_END), 0);
    f->size = (size_t)ftell(in);
    rewind(in);
    f->data = malloc(f->size + 1);
    assert_non_null(f->data);
    assert_int_equal(fread(f->data, 1, f->size, in), f->size);
    (void)fclose(in);
    return true;
}

static taper_status load(const taper_allocator *allocator, taper_types *types, const void *data, size_t size,
                         taper_module *module, taper_error *error)
{
    taper_blob *blob;
    taper_status status = taper_blob_from_memory(allocator, data, size, NULL, NULL, &blob, error);
    if (status == TAPER_OK) {
        status = taper_module_read(allocator, types, blob, module, error);
        taper_obj_release(&blob->head);
    }
    return status;
}

static taper_status write_module(const taper_module *module, const taper_write_options *options, bool flatbuffer,
                                 taper_bytes *bytes, taper_error *error)
{
    const taper_sink sink = taper_bytes_sink(bytes);
    return flatbuffer ? taper_lite_flatbuffer_write(module, options, &sink, error)
                      : taper_lite_archive_write(module, options, &sink, error);
}

// ---- the same again

static const char *out_folder;

static void keep(const char *path, const char *form, const taper_bytes *bytes)
{
    if (out_folder == NULL) {
        return;
    }
    char name[1000];
    const char *base = strrchr(path, '/');
    base = base != NULL ? base + 1 : path;
    (void)snprintf(name, sizeof name, "%s/%s.%s.ptl", out_folder, base, form);
    FILE *out = fopen(name, "wb");
    assert_non_null(out);
    assert_int_equal(fwrite(bytes->data, 1, bytes->size, out), bytes->size);
    assert_int_equal(fclose(out), 0);
}

// Writes the module in one form, reads that and compares.
static void expect_same(const char *path, const taper_module *module, const taper_write_options *options,
                        bool flatbuffer, const char *form)
{
    taper_error *error = taper_error_create();
    taper_bytes bytes = taper_bytes_make(&taper_allocator_system);
    if (write_module(module, options, flatbuffer, &bytes, error) != TAPER_OK) {
        fail_msg("%s as %s: %s", path, form, taper_error_message(error));
    }
    keep(path, form, &bytes);
    uint8_t *aligned = NULL;
    assert_int_equal(posix_memalign((void **)&aligned, 64, bytes.size), 0);
    memcpy(aligned, bytes.data, bytes.size);
    taper_types *types;
    assert_int_equal(taper_types_create(&taper_allocator_system, &types, NULL), TAPER_OK);
    taper_module again;
    if (load(&taper_allocator_system, types, aligned, bytes.size, &again, error) != TAPER_OK) {
        fail_msg("%s as %s: %s", path, form, taper_error_message(error));
    }
    module_comparison c;
    if (!module_same(&c, module, &again, true)) {
        fail_msg("%s as %s: %s", path, form, c.difference);
    }
    assert_int_equal(again.flatbuffer, flatbuffer);
    assert_int_equal(again.pending_count, module->pending_count);
    assert_int_equal(again.extra_count, module->extra_count);
    taper_module_free(&again);
    taper_types_release(types);
    free(aligned);
    taper_bytes_free(&bytes);
    taper_error_destroy(error);
}

static size_t modules, forms;

static bool go_round(const char *path)
{
    file f;
    if (!read_file(path, &f)) {
        return false;
    }
    taper_error *error = taper_error_create();
    taper_types *types;
    taper_module module;
    assert_int_equal(taper_types_create(&taper_allocator_system, &types, NULL), TAPER_OK);
    if (load(&taper_allocator_system, types, f.data, f.size, &module, error) != TAPER_OK) {
        fail_msg("%s: %s", path, taper_error_message(error));
    }
    if (!module.torchscript && module.bytecode_version >= 4) {
        const taper_write_options bare = {.without_code = true};
        expect_same(path, &module, NULL, false, "whole");
        expect_same(path, &module, &bare, false, "bare");
        modules++;
        forms += 2;
        if (module.bytecode_version >= 8) {
            expect_same(path, &module, NULL, true, "flat");
            forms++;
        }
    }
    taper_module_free(&module);
    taper_types_release(types);
    taper_error_destroy(error);
    free(f.data);
    return true;
}

static void go_round_folder(const char *folder)
{
    static const char suffix[] = ".ptl";
    DIR *directory = opendir(folder);
    assert_non_null(directory);
    for (const struct dirent *entry = readdir(directory); entry != NULL; entry = readdir(directory)) {
        const size_t length = strlen(entry->d_name);
        char path[1000];
        if (length >= sizeof suffix && strcmp(entry->d_name + length - (sizeof suffix - 1), suffix) == 0) {
            assert_true((size_t)snprintf(path, sizeof path, "%s/%s", folder, entry->d_name) < sizeof path);
            assert_true(go_round(path));
        }
    }
    (void)closedir(directory);
}

static const char **arguments;
static int argument_count;

static void samples(void **state)
{
    (void)state;
    char folder[1000];
    test_path("s01_convnet.ptl", folder, sizeof folder);
    *strrchr(folder, '/') = '\0';
    go_round_folder(folder);
    go_round_folder(TEST_UNIT_DATA "/flatbuffer");
    for (int i = 0; i < argument_count; i++) {
        assert_true(go_round(arguments[i]));
    }
    print_message("%zu modules in %zu forms\n", modules, forms);
    assert_true(modules >= 30);
}

int main(int argc, char **argv)
{
    if (argc > 2 && strcmp(argv[1], "--out") == 0) {
        out_folder = argv[2];
        argv += 2;
        argc -= 2;
    }
    arguments = (const char **)argv + 1;
    argument_count = argc - 1;
    const struct CMUnitTest tests[] = {cmocka_unit_test(samples)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
