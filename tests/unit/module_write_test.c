// SPDX-License-Identifier: BSD-2-Clause
// Reads models, writes them and reads them again: a module must not change, no matter from which container it is read
// and to which one it is written. Files given as arguments are tested as well. With --out FOLDER, the written files are
// kept, so that other programs can load them.
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

// ---- comparison

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

// Writes the module in one form, reads the file and compares.
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

// ---- options

typedef struct sample_module {
    file f;
    taper_types *types;
    taper_module module;
} sample_module;

static void open_sample(sample_module *s, const taper_allocator *allocator, const char *name)
{
    char path[1000];
    test_path(name, path, sizeof path);
    assert_true(read_file(path, &s->f));
    assert_int_equal(taper_types_create(allocator, &s->types, NULL), TAPER_OK);
    assert_int_equal(load(allocator, s->types, s->f.data, s->f.size, &s->module, NULL), TAPER_OK);
}

static void close_sample(sample_module *s)
{
    taper_module_free(&s->module);
    taper_types_release(s->types);
    free(s->f.data);
}

static void expect_refused(const taper_module *module, const taper_write_options *options, bool flatbuffer,
                           const char *want)
{
    taper_error *error = taper_error_create();
    taper_bytes bytes = taper_bytes_make(&taper_allocator_system);
    const taper_status status = write_module(module, options, flatbuffer, &bytes, error);
    assert_int_not_equal(status, TAPER_OK);
    assert_int_equal(taper_error_status(error), status);
    if (strstr(taper_error_message(error), want) == NULL) {
        fail_msg("\"%s\", wanted \"%s\"", taper_error_message(error), want);
    }
    taper_bytes_free(&bytes);
    taper_error_destroy(error);
}

// Files are added, replaced and removed. If several files have one name, the last file counts.
static void extra_files(void **state)
{
    (void)state;
    static const taper_module_extra first[] = {{"a", "one", 3}, {"b/c", "", 0}, {"a", "three", 5}};
    static const taper_module_extra then[] = {{"a", NULL, 0}, {"b/c", "two", 3}, {"none", NULL, 0}};
    sample_module s;
    open_sample(&s, &taper_allocator_system, "s04_containers.ptl");
    for (int form = 0; form < 2; form++) {
        taper_bytes bytes[2];
        taper_module again[2];
        for (size_t i = 0; i < 2; i++) {
            const taper_write_options options = {.extras = i == 0 ? first : then, .extra_count = 3};
            bytes[i] = taper_bytes_make(&taper_allocator_system);
            assert_int_equal(write_module(i == 0 ? &s.module : &again[0], &options, form == 1, &bytes[i], NULL),
                             TAPER_OK);
            assert_int_equal(load(&taper_allocator_system, s.types, bytes[i].data, bytes[i].size, &again[i], NULL),
                             TAPER_OK);
        }
        assert_int_equal(again[0].extra_count, 2);
        assert_string_equal(again[0].extras[0].name, "b/c");
        assert_int_equal(again[0].extras[0].size, 0);
        assert_string_equal(again[0].extras[1].name, "a");
        assert_memory_equal(again[0].extras[1].data, "three", 5);
        assert_int_equal(again[1].extra_count, 1);
        assert_memory_equal(again[1].extras[0].data, "two", 3);
        for (size_t i = 0; i < 2; i++) {
            taper_module_free(&again[i]);
            taper_bytes_free(&bytes[i]);
        }
    }
    static const taper_module_extra nameless[] = {{"", "x", 1}};
    const taper_write_options options = {.extras = nameless, .extra_count = 1};
    expect_refused(&s.module, &options, false, "file 0 has no name");
    close_sample(&s);
}

// An operator must have the same meaning in the written file as in the original, even if the meaning changed between
// the files' versions.
static void versions(void **state)
{
    (void)state;
    static const struct {
        const char *name, *overload;
        int64_t module, want;
    } cases[] = {{"aten::add", "Tensor", 10, 3}, {"aten::div", "Tensor", 10, 4},      {"aten::div", "Tensor", 3, 3},
                 {"aten::div_", "Scalar", 4, 4}, {"aten::linspace", "", 10, 8},       {"aten::linspace", "out", 7, 3},
                 {"aten::gelu", "", 10, 10},     {"aten::gelu_backward", "", 10, 3},  {"aten::full", "names", 10, 5},
                 {"aten::logspace", "", 9, 9},   {"aten::div", "Tensor_mode", 10, 4}, {"aten::gelu", "", 9, 3}};
    sample_module s;
    open_sample(&s, &taper_allocator_system, "s20_div_v3.ptl");
    taper_lite_operator op = {.arguments = 2};
    s.module.functions[0].operators = &op;
    s.module.functions[0].operator_count = 1;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        op.name = cases[i].name;
        op.overload = cases[i].overload;
        s.module.operator_version = cases[i].module;
        assert_int_equal(taper_write_operator_version(&s.module), cases[i].want);
    }
    static const int wrong[2][3] = {{3, 9, 10}, {4, 8, 10}};
    for (size_t form = 0; form < 2; form++) {
        for (size_t i = 0; i < 3; i++) {
            const taper_write_options options = {.bytecode_version = wrong[form][i]};
            expect_refused(&s.module, &options, form == 1, "bytecode_version");
        }
    }
    close_sample(&s);
}

static void refusals(void **state)
{
    (void)state;
    sample_module s;
    open_sample(&s, &taper_allocator_system, "s01_convnet.ptl");
    taper_module_function *function = &s.module.functions[0];
    const taper_write_options named = {.archive_name = "a/b"};
    expect_refused(&s.module, &named, false, "archive_name");
    for (int form = 0; form < 2; form++) {
        const uint8_t op = function->instructions[0].op;
        function->instructions[0].op = 50;
        expect_refused(&s.module, NULL, form == 1, "instruction 0");
        function->instructions[0].op = op;
        // Tests an object without a state whose class has a __setstate__, and an object with a state whose class has
        // none.
        char name[200];
        const char *kept = function->name;
        taper_object *root = s.module.root.as.object;
        (void)snprintf(name, sizeof name, "%s.__setstate__", root->klass->name);
        function->name = name;
        expect_refused(&s.module, NULL, form == 1, "has no saved state");
        function->name = kept;
        taper_module_pending pending = {.object = root, .state = taper_val_none()};
        s.module.pending = &pending;
        s.module.pending_count = 1;
        expect_refused(&s.module, NULL, form == 1, "no __setstate__");
        s.module.pending_count = 0;
        taper_module_extra unread = {.name = "damaged", .size = 5};
        s.module.extras = &unread;
        s.module.extra_count = 1;
        expect_refused(&s.module, NULL, form == 1, "could not be read");
        s.module.extra_count = 0;
    }
    function->has_schema = false;
    expect_refused(&s.module, NULL, false, "has no schema");
    const taper_val root = s.module.root;
    s.module.root = taper_val_none();
    expect_refused(&s.module, NULL, false, "a None for its object");
    expect_refused(&s.module, NULL, true, "a None for its object");
    s.module.root = root;
    close_sample(&s);
}

// ---- failing writes

typedef struct limited_sink {
    size_t left; // number of writes that the sink accepts before a write fails
} limited_sink;

static taper_status write_piece(void *user, const void *data, size_t size, taper_error *error)
{
    limited_sink *sink = user;
    (void)data;
    (void)size;
    return sink->left-- == 0 ? taper_fail(error, TAPER_ERROR_FILE, "the device is full") : TAPER_OK;
}

static taper_status write_to(const taper_module *module, bool flatbuffer, limited_sink *limited)
{
    const taper_sink sink = {.write = write_piece, .user = limited};
    return flatbuffer ? taper_lite_flatbuffer_write(module, NULL, &sink, NULL)
                      : taper_lite_archive_write(module, NULL, &sink, NULL);
}

// Each write to the sink fails once, and each allocation fails once: the failure must be reported, and nothing may
// leak.
static void failures(void **state)
{
    (void)state;
    static const char *const names[] = {"s04_containers.ptl", "s06_raise.ptl", "s11_xnnpack.fb.ptl",
                                        "s12_xnnpack_mix.ptl", "s18_storages.ptl"};
    for (size_t i = 0; i < 2 * (sizeof names / sizeof names[0]); i++) {
        test_allocator allocator;
        sample_module s;
        test_allocator_init(&allocator);
        open_sample(&s, &allocator.allocator, names[i / 2]);
        taper_status status = TAPER_ERROR_FILE;
        size_t pieces = 0;
        for (; status != TAPER_OK; pieces++) {
            limited_sink limited = {.left = pieces};
            status = write_to(&s.module, i % 2 == 1, &limited);
            assert_true(status == TAPER_OK || status == TAPER_ERROR_FILE);
        }
        const size_t blocks = atomic_load(&allocator.blocks);
        size_t n = 1;
        for (bool failed = true; failed; n++) {
            limited_sink limited = {.left = SIZE_MAX};
            allocator.fail_at = atomic_load(&allocator.calls) + n;
            status = write_to(&s.module, i % 2 == 1, &limited);
            failed = atomic_load(&allocator.calls) >= allocator.fail_at;
            allocator.fail_at = 0;
            // Writing may succeed, because tables of strings are not necessary.
            assert_true(status == TAPER_OK || status == TAPER_ERROR_RESOURCE);
            assert_int_equal(atomic_load(&allocator.blocks), blocks);
        }
        assert_int_equal(status, TAPER_OK);
        print_message("%s: %zu pieces, %zu allocations\n", names[i / 2], pieces - 1, n - 2);
        close_sample(&s);
        assert_int_equal(atomic_load(&allocator.blocks), 0);
    }
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(samples), cmocka_unit_test(extra_files),
                                       cmocka_unit_test(versions), cmocka_unit_test(refusals),
                                       cmocka_unit_test(failures)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
