// SPDX-License-Identifier: BSD-2-Clause
// Tests exported programs: files saved by PyTorch (tests/data/pt2, by scripts/oracle/make_pt2.py), the same files in
// other forms of zip archives, truncated and modified files, and programs that must be refused.
#define _XOPEN_SOURCE 700
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/budget.h"
#include "base/limits.h"
#include "tests/fuzz/failing_allocator.h"
#include "tests/sample.h"
#include "tests/unit/archive_builder.h"
#include "tests/unit/pt2_text.h"

// ---- files

static bytes read_file(const char *path)
{
    bytes b = {.data = NULL};
    char part[4096];
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    for (size_t n; (n = fread(part, 1, sizeof part, file)) != 0;) {
        bytes_add(&b, part, n);
    }
    (void)fclose(file);
    bytes_add(&b, "", 1); // appends a NUL that is not counted
    b.size--;
    return b;
}

static bytes read_data(const char *name)
{
    char path[600];
    (void)snprintf(path, sizeof path, "%s/%s", TEST_PT2, name);
    return read_file(path);
}

// Calls work with the name of each sample.
static void each_sample(void (*work)(const char *name))
{
    DIR *folder = opendir(TEST_PT2);
    size_t count = 0;
    assert_non_null(folder);
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        const char *ending = strrchr(entry->d_name, '.');
        if (ending != NULL && strcmp(ending, ".pt2") == 0) {
            work(entry->d_name);
            count++;
        }
    }
    (void)closedir(folder);
    assert_true(count >= 10);
}

// ---- reading files

typedef struct loaded {
    failing_allocator memory;
    taper_types *types;
    taper_blob *blob;
    taper_module module;
    taper_pt2_program program;
    void *copy;
    size_t used; // bytes allocated when the file had been read
} loaded;

// Loads a copy of the file that begins at a multiple of 64 and ends at the end of its block.
static taper_status load(loaded *l, const bytes *file, size_t fail_at, taper_error *error)
{
    memset(l, 0, sizeof *l);
    failing_start(&l->memory, fail_at);
    if (posix_memalign(&l->copy, 64, file->size + (file->size == 0)) != 0) {
        abort();
    }
    memcpy(l->copy, file->data, file->size);
    const taper_allocator *allocator = &l->memory.allocator;
    taper_status status = taper_types_create(allocator, &l->types, error);
    if (status == TAPER_OK) {
        status = taper_blob_from_memory(allocator, l->copy, file->size, NULL, NULL, &l->blob, error);
    }
    if (status == TAPER_OK) {
        status = taper_module_init(allocator, l->types, &l->module, error);
    }
    if (status == TAPER_OK) {
        l->module.blob = &l->blob->head;
        taper_obj_retain(l->module.blob);
        status = taper_pt2_read(l->blob, &l->module, &l->program, error);
        l->used = l->memory.bytes;
    }
    return status;
}

static void unload(loaded *l)
{
    taper_pt2_release(&l->program);
    if (l->module.allocator != NULL) {
        taper_module_free(&l->module);
    }
    if (l->blob != NULL) {
        taper_obj_release(&l->blob->head);
    }
    taper_types_release(l->types);
    assert_int_equal(l->memory.blocks, 0);
    assert_int_equal(l->memory.bytes, 0);
    free(l->copy);
}

static taper_text text_of(const loaded *l)
{
    taper_text text = taper_text_make(&taper_allocator_system);
    pt2_text_program(&text, &l->program);
    assert_false(text.failed);
    return text;
}

// Reads a file that must be accepted.
static void load_well(loaded *l, const char *name, const bytes *file)
{
    taper_error *error = taper_error_create();
    const taper_status status = load(l, file, 0, error);
    if (status != TAPER_OK) {
        fail_msg("%s: %s", name, taper_error_message(error));
    }
    taper_error_destroy(error);
}

// Checks that a file is refused and all memory is freed. word: text that the message must contain.
static void refuse(const char *name, const bytes *file, const char *word)
{
    loaded l;
    taper_error *error = taper_error_create();
    const taper_status status = load(&l, file, 0, error);
    if (status == TAPER_OK || strstr(taper_error_message(error), word) == NULL) {
        fail_msg("%s: \"%s\" expected, status %d: %s", name, word, (int)status, taper_error_message(error));
    }
    unload(&l);
    taper_error_destroy(error);
}

static void expect_text(const char *name, const bytes *file, const char *expected)
{
    loaded l;
    load_well(&l, name, file);
    taper_text text = text_of(&l);
    const char *got = taper_text_get(&text);
    size_t at = 0, line = 1;
    while (got[at] == expected[at] && got[at] != '\0') {
        line += got[at++] == '\n';
    }
    if (got[at] != expected[at]) {
        while (at > 0 && got[at - 1] != '\n') {
            at--;
        }
        fail_msg("%s, line %zu:\n%.*s\nexpected:\n%.*s", name, line, (int)strcspn(got + at, "\n"), got + at,
                 (int)strcspn(expected + at, "\n"), expected + at);
    }
    taper_text_free(&text);
    unload(&l);
}

static bytes expected_of(const char *name)
{
    char text[300];
    (void)snprintf(text, sizeof text, "%.*s.txt", (int)(strlen(name) - 4), name);
    return read_data(text);
}

static void check_sample(const char *name)
{
    bytes file = read_data(name), expected = expected_of(name);
    expect_text(name, &file, (const char *)expected.data);
    loaded l;
    load_well(&l, name, &file);
    const taper_module_extra *note = taper_module_find_extra(&l.module, "note.txt");
    assert_non_null(note);
    assert_int_equal(note->size, 5);
    assert_memory_equal(note->data, "hello", 5);
    unload(&l);
    bytes_free(&file);
    bytes_free(&expected);
}

static void samples(void **state)
{
    (void)state;
    each_sample(check_sample);
}

// ---- records, for modification

enum { RECORDS = 64 };

typedef struct records {
    char names[RECORDS][120];
    bytes data[RECORDS];
    size_t count;
    const char *folder;
} records;

static records take_apart(const char *name)
{
    bytes file = read_data(name);
    records r = {.count = 0};
    taper_zip zip;
    assert_int_equal(taper_zip_open(&taper_allocator_system, file.data, file.size, &zip, NULL), TAPER_OK);
    assert_true(zip.count <= RECORDS);
    for (size_t i = 0; i < zip.count; i++) {
        taper_record record;
        assert_int_equal(taper_zip_read(&zip, &zip.entries[i], &record, NULL), TAPER_OK);
        (void)snprintf(r.names[i], sizeof r.names[i], "%.*s", (int)zip.entries[i].name_length, zip.entries[i].name);
        bytes_add(&r.data[i], record.data, record.size);
        taper_record_free(&zip, &record);
    }
    r.count = zip.count;
    r.folder = taper_zip_find(&zip, "archive_format", 14) != NULL ? "folder/" : "";
    taper_zip_close(&zip);
    bytes_free(&file);
    return r;
}

static void records_free(records *r)
{
    for (size_t i = 0; i < r->count; i++) {
        bytes_free(&r->data[i]);
    }
    r->count = 0;
}

static bytes pack(const records *r, unsigned flags, bool zip64)
{
    builder b = {.count = 0};
    for (size_t i = 0; i < r->count; i++) {
        char name[200];
        (void)snprintf(name, sizeof name, "%s%s", r->folder, r->names[i]);
        if (r->names[i][0] != '\0') {
            builder_add(&b, name, r->data[i].data, r->data[i].size, flags);
        }
    }
    return builder_finish(&b, zip64, "");
}

static size_t find_record(const records *r, const char *part)
{
    for (size_t i = 0; i < r->count; i++) {
        if (strstr(r->names[i], part) != NULL) {
            return i;
        }
    }
    fail_msg("no record %s", part);
    return 0;
}

static size_t program_record(const records *r)
{
    for (size_t i = 0; i < r->count; i++) {
        if (strcmp(r->names[i], "models/model.json") == 0) {
            return i;
        }
    }
    return find_record(r, "serialized_exported_program.json");
}

// Replaces the first occurrence of `from` in a record.
static void edit(records *r, const char *record, const char *from, const char *to)
{
    bytes *data = &r->data[strcmp(record, "program") == 0 ? program_record(r) : find_record(r, record)];
    bytes_add(data, "", 1);
    const char *at = strstr((const char *)data->data, from);
    if (at == NULL) {
        fail_msg("%s has no %s", record, from);
    }
    bytes made = {.data = NULL};
    bytes_add(&made, data->data, (size_t)(at - (const char *)data->data));
    bytes_add(&made, to, strlen(to));
    bytes_add(&made, at + strlen(from), strlen(at + strlen(from)));
    bytes_free(data);
    *data = made;
}

static void check_forms(const char *name)
{
    static const unsigned forms[] = {0,
                                     BUILD_DEFLATE,
                                     BUILD_ZIP64,
                                     BUILD_DESCRIPTOR,
                                     BUILD_NO_PADDING,
                                     BUILD_NO_CRC,
                                     BUILD_DEFLATE | BUILD_ZIP64 | BUILD_DESCRIPTOR};
    bytes expected = expected_of(name);
    records r = take_apart(name);
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        bytes file = pack(&r, forms[i], (forms[i] & BUILD_ZIP64) != 0);
        expect_text(name, &file, (const char *)expected.data);
        bytes_free(&file);
    }
    records_free(&r);
    bytes_free(&expected);
}

static void forms_of_archives(void **state)
{
    (void)state;
    each_sample(check_forms);
}

// Weights in records that are stored and aligned are used without copying; weights in other records are copied.
static void weights_in_place(void **state)
{
    (void)state;
    records r = take_apart("2.15_weights.pt2");
    for (unsigned flags = 0; flags <= BUILD_DEFLATE; flags += BUILD_DEFLATE) {
        bytes file = pack(&r, flags, false);
        loaded l;
        load_well(&l, "2.15_weights", &file);
        for (size_t i = 0; i < l.program.weight_count; i++) {
            const taper_tensor *tensor = l.program.weights[i].tensor;
            if (tensor != NULL && tensor->storage->bytes != 0) {
                const uint8_t *data = tensor->storage->data, *from = l.copy;
                assert_int_equal(data >= from && data < from + file.size, flags == 0);
                assert_int_equal(tensor->storage->kind, flags == 0 ? TAPER_STORAGE_BORROWED : TAPER_STORAGE_OWNED);
            }
        }
        unload(&l);
        bytes_free(&file);
    }
    records_free(&r);
}

// ---- broken files

// Truncates one sample of each layout at every byte, and the other samples at some bytes.
static void check_cut(const char *name)
{
    const size_t first = sample_first(), stride = sample_stride();
    bytes file = read_data(name);
    const bool all = strcmp(name, "2.3_small.pt2") == 0 || strcmp(name, "2.15_containers.pt2") == 0;
    for (size_t size = first; size < file.size; size += stride * (all ? 1 : 1 + size / 400)) {
        const bytes cut = {.data = file.data, .size = size};
        refuse(name, &cut, "");
    }
    // The archive is valid, but the text of the program in it is truncated.
    records r = take_apart(name);
    bytes *text = &r.data[program_record(&r)];
    const size_t whole = text->size;
    for (size_t size = first; size < whole; size += stride * (all ? 1 : 1 + size / 500)) {
        text->size = size;
        bytes cut = pack(&r, 0, false);
        refuse(name, &cut, "");
        bytes_free(&cut);
    }
    records_free(&r);
    bytes_free(&file);
}

static void cut_off(void **state)
{
    (void)state;
    each_sample(check_cut);
}

// Changes a byte of the program or of a table: the file must be read or refused.
static void check_changed(const char *name)
{
    static const char others[] = "\"{[]},:0nt-\\";
    records r = take_apart(name);
    for (size_t i = 0; i < r.count; i++) {
        if (strstr(r.names[i], ".json") == NULL || strstr(r.names[i], "state_dict") != NULL) {
            continue;
        }
        const size_t step = sample_stride() * (1 + r.data[i].size / 400);
        for (size_t at = sample_first(); at < r.data[i].size; at += step) {
            const uint8_t old = r.data[i].data[at];
            r.data[i].data[at] = (uint8_t)others[at % (sizeof others - 1)];
            bytes file = pack(&r, 0, false);
            loaded l;
            if (load(&l, &file, 0, NULL) == TAPER_OK) {
                taper_text text = text_of(&l);
                taper_text_free(&text);
            }
            unload(&l);
            bytes_free(&file);
            r.data[i].data[at] = old;
        }
    }
    records_free(&r);
}

static void changed(void **state)
{
    (void)state;
    each_sample(check_changed);
}

static void check_memory(const char *name)
{
    bytes file = read_data(name);
    taper_error *error = taper_error_create();
    loaded l;
    size_t n = 1 + sample_first();
    for (bool failed = true; failed; n += sample_stride()) {
        const taper_status status = load(&l, &file, n, error);
        failed = l.memory.calls >= n;
        assert_int_equal(status, failed ? TAPER_ERROR_RESOURCE : TAPER_OK);
        unload(&l);
    }
    assert_true(n > 20);
    taper_error_destroy(error);
    bytes_free(&file);
}

static void out_of_memory(void **state)
{
    (void)state;
    each_sample(check_memory);
}

// ---- files that must be refused

typedef struct refusal {
    const char *sample, *record, *from, *to, *word;
} refusal;

static const refusal refusals[] = {
    {"2.15_small.pt2", "program", "\"major\": 8", "\"major\": 9", "version 9.20 of the export schema"},
    {"2.15_small.pt2", "program", "\"major\": 8, \"minor\"", "\"major\": 9, \"odd\": [], \"minor\"",
     "take a newer Taper"},
    {"2.15_small.pt2", "archive_version", "0", "1", "version 1 of the .pt2 archive"},
    {"2.15_small.pt2", "byteorder", "little", "bigger", "big-endian"},
    {"2.15_small.pt2", "program", "as_int", "as_odd", "as_odd"},
    {"2.15_small.pt2", "program", "\"as_int\": 1", "\"as_int\": 1, \"as_bool\": true", "of two kinds"},
    {"2.15_small.pt2", "program", "\"as_int\": 1", "\"as_int\": null", "of no kind"},
    {"2.15_small.pt2", "program", "\"as_int\": 1", "\"as_int\": 1.5", "expected an integer"},
    {"2.15_small.pt2", "program", "\"as_int\": 1", "\"as_int\": 99999999999999999999", "64 bits"},
    {"2.15_small.pt2", "program", "\"target\"", "\"tarjet\"", "without a target"},
    {"2.15_small.pt2", "program", "\"nodes\"", "\"knots\"", "holds no program"},
    {"2.15_small.pt2", "program", "\"dtype\": 7", "\"dtype\": 99", "dtype 99"},
    {"2.15_small.pt2", "program", "\"dtype\": 7", "\"dtype\": \"FLOOT\"", "FLOOT"},
    {"2.15_small.pt2", "program", "{\"user_input\"", "{\"abuser_input\"", "abuser_input"},
    {"2.15_small.pt2", "program", "\"buffer_name\": \"count\"", "\"buffer_name\": \"counts\"",
     "lacks the data of \"counts\""},
    {"2.15_small.pt2", "program", "{\"parameter\": {\"arg\": {\"name\": \"p_layer_weight\"}",
     "{\"parameter\": {\"arg\": {\"name\": \"x\"}", "another in its graph"},
    {"2.15_small.pt2", "program", "\"input_specs\"", "\"input_spoons\"", "its signature has 0"},
    {"2.15_small.pt2", "program", "\"in_spec\"", "\"inn_spec\"", "are packed"},
    {"2.15_small.pt2", "program", "\"[1, {", "\"[2, {", "protocol 2"},
    {"2.15_small.pt2", "program", "\"in_spec\": \"[1, {",
     "\"in_spec\": \"[1, {\\\"type\\\": null, \\\"children_spec\\\": []}]\", \"other\": \"[1, {",
     "packed as a single value"},
    {"2.15_small.pt2", "program", "\"in_spec\": \"[1, {\\\"type\\\": \\\"builtins.tuple\\\"",
     "\"in_spec\": \"[1, {\\\"type\\\": \\\"builtins.list\\\"", "packed as builtins.list"},
    {"2.15_small.pt2", "program", "[\\\\\\\"a\\\\\\\"]", "[\\\\\\\"a\\\\\\\", 1]", "1 items with 2 keys"},
    {"2.15_small.pt2", "program", "\"x\"", "\"x\\u0000\"", "NUL"},
    {"2.15_small.pt2", "weights_config", "\"path_name\"", "\"path\"",
     "\"layer.weight\" without the name of its record"},
    {"2.15_small.pt2", "weights_config", "weight_0", "weight_9", "lacks the record data/weights/weight_9"},
    {"2.15_small.pt2", "weights_config", "\"storage_offset\": {\"as_int\": 0}", "\"storage_offset\": {\"as_int\": 1}",
     "layer.weight"},
    {"2.15_small.pt2", "weights_config", "\"as_int\": 2", "\"as_int\": -2", "layer.weight"},
    {"2.15_small.pt2", "weights_config", "\"as_int\": 2", "\"as_int\": 4611686018427387904", "layer.weight"},
    {"2.15_decomposed.pt2", "program", "\"buffer_mutation\": {\"arg\": {\"name\": \"add\"}, \"buffer_name\": \"count\"",
     "\"buffer_mutation\": {\"arg\": {\"name\": \"add\"}, \"buffer_name\": \"account\"", "changes \"account\""},
};

static void refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        records r = take_apart(refusals[i].sample);
        edit(&r, refusals[i].record, refusals[i].from, refusals[i].to);
        bytes file = pack(&r, 0, false);
        refuse(refusals[i].to, &file, refusals[i].word);
        bytes_free(&file);
        records_free(&r);
    }
}

static void other_archives(void **state)
{
    (void)state;
    records r = take_apart("2.15_small.pt2");
    const size_t program = program_record(&r);
    static const struct {
        const char *name, *word;
    } cases[] = {{"data/aotinductor/model/model.so", "AOTInductor"},
                 {"data/executorch/model.pte", "ExecuTorch"},
                 {"models/other.txt", "holds no program"},
                 {"models/other.json", ""}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        (void)snprintf(r.names[program], sizeof r.names[program], "%s", cases[i].name);
        bytes file = pack(&r, 0, false);
        refuse(cases[i].name, &file, cases[i].word);
        bytes_free(&file);
    }
    // A program with another name is read if its tables have that name, too. If there is a second, unrelated program,
    // the file is refused.
    const size_t weights = find_record(&r, "weights_config"), constants = find_record(&r, "constants_config");
    (void)snprintf(r.names[weights], sizeof r.names[weights], "data/weights/other_weights_config.json");
    (void)snprintf(r.names[constants], sizeof r.names[constants], "data/constants/other_constants_config.json");
    bytes file = pack(&r, 0, false), expected = read_data("2.15_small.txt");
    expect_text("other", &file, (const char *)expected.data);
    bytes_free(&file);
    bytes_free(&expected);
    (void)snprintf(r.names[r.count], sizeof r.names[0], "models/second.json");
    r.count++;
    file = pack(&r, 0, false);
    refuse("two programs", &file, "models/second.json");
    bytes_free(&file);
    records_free(&r);
}

// Weights that cannot be used are reported only when they are requested; the other weights are available.
static void unusable_weights(void **state)
{
    (void)state;
    static const struct {
        const char *from, *to, *word;
    } cases[] = {{"\"dtype\": 7", "\"dtype\": 29", "float8_e4m3fn"},
                 {"\"use_pickle\": false", "\"use_pickle\": true", "subclass"},
                 {"\"layout\": 7", "\"layout\": 2", "dense"},
                 {"{\"as_int\": 2}", "{\"as_expr\": {\"expr_str\": \"s0\"}}", "sizes"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        records r = take_apart("2.15_small.pt2");
        edit(&r, "weights_config", cases[i].from, cases[i].to);
        bytes file = pack(&r, 0, false);
        loaded l;
        load_well(&l, cases[i].to, &file);
        const taper_pt2_weight *weight = l.program.inputs[0].weight;
        assert_string_equal(weight->name, "layer.weight");
        assert_null(weight->tensor);
        assert_non_null(strstr(weight->refusal, cases[i].word));
        assert_non_null(l.program.inputs[1].weight->tensor);
        unload(&l);
        bytes_free(&file);
        records_free(&r);
    }
}

// Tests names of enumerators as in the oldest files, and JSON members that the reader does not know.
static void other_words(void **state)
{
    (void)state;
    static const struct {
        const char *record, *from, *to;
    } cases[] = {{"program", "\"dtype\": 7", "\"dtype\": \"FLOAT\""},
                 {"program", "\"layout\": 7", "\"layout\": \"Strided\""},
                 {"program", "\"kind\": 1", "\"kind\": \"POSITIONAL\""},
                 {"program", "\"kind\": 1", "\"kind\": null"},
                 {"program", "\"target\":", "\"new\": [{\"a\": [1, null, \"\\u00e9\"]}], \"target\":"},
                 {"program", "\"storage_offset\": {\"as_int\": 0}", "\"storage_offset\": 0"},
                 {"weights_config", "\"config\":", "\"more\": {}, \"config\":"},
                 {"weights_config", "\"is_param\": true", "\"is_param\": 7"}};
    bytes expected = read_data("2.15_small.txt");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        records r = take_apart("2.15_small.pt2");
        edit(&r, cases[i].record, cases[i].from, cases[i].to);
        bytes file = pack(&r, 0, false);
        expect_text(cases[i].to, &file, (const char *)expected.data);
        bytes_free(&file);
        records_free(&r);
    }
    bytes_free(&expected);
}

// ---- limits

static bytes with_nested(const char *open, const char *close, size_t depth)
{
    bytes text = {.data = NULL};
    for (size_t i = 0; i < depth; i++) {
        bytes_add(&text, open, strlen(open));
    }
    bytes_add(&text, "1", 1);
    for (size_t i = 0; i < depth; i++) {
        bytes_add(&text, close, strlen(close));
    }
    bytes_add(&text, "", 1);
    return text;
}

static void deep(void **state)
{
    (void)state;
    static const struct {
        const char *open, *close;
    } cases[] = {{"\"new\": [", "]"},
                 {"\"as_string_to_argument\": {\"k\": {", "}}"},
                 {"\"as_graph\": {\"graph\": {\"inputs\": [{", "}]}}"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        records r = take_apart("2.15_small.pt2");
        bytes nested = with_nested(i == 0 ? "[" : cases[i].open, i == 0 ? "]" : cases[i].close, 100000);
        bytes text = {.data = NULL};
        bytes_add(&text, i == 0 ? "\"new\": " : "", i == 0 ? 7 : 0);
        bytes_add(&text, nested.data, nested.size);
        edit(&r, "program", i == 0 ? "\"target\": \"torch.ops.aten.add_.Tensor\"" : "\"as_int\": 1",
             (const char *)text.data);
        bytes file = pack(&r, 0, false);
        refuse(cases[i].open, &file, "nested too deeply");
        bytes_free(&file);
        bytes_free(&nested);
        bytes_free(&text);
        records_free(&r);
    }
}

// Lists in a node, which is at depth five, are nested up to the limit and one level more.
static void depth_limit(void **state)
{
    (void)state;
    for (size_t depth = TAPER_LIMIT_JSON_DEPTH - 5; depth <= TAPER_LIMIT_JSON_DEPTH - 4; depth++) {
        records r = take_apart("2.15_small.pt2");
        bytes nested = with_nested("[", "]", depth), text = {.data = NULL};
        bytes_add(&text, "\"target\": \"a\", \"new\": ", 22);
        bytes_add(&text, nested.data, nested.size - 1);
        bytes_add(&text, ", ", 3);
        edit(&r, "program", "\"target\": \"torch.ops.aten.add_.Tensor\", ", (const char *)text.data);
        bytes file = pack(&r, 0, false);
        loaded l;
        assert_int_equal(load(&l, &file, 0, NULL) == TAPER_OK, depth == TAPER_LIMIT_JSON_DEPTH - 5);
        unload(&l);
        bytes_free(&file);
        bytes_free(&nested);
        bytes_free(&text);
        records_free(&r);
    }
}

// The memory must be proportional to the file, for files with many items of any one kind.
static void large(void **state)
{
    (void)state;
    static const char *const cases[] = {"{\"as_int\": 1}, ", "{\"as_tensor\": {\"name\": \"q\"}}, ",
                                        "{\"as_ints\": [1,1,1,1,1,1,1,1]}, ", "{\"as_string_to_argument\": {}}, "};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        records r = take_apart("2.15_small.pt2");
        bytes text = {.data = NULL};
        bytes_add(&text, "\"more\": null, \"outputs\": [", 26);
        for (size_t k = 0; k < 100000; k++) {
            bytes_add(&text, cases[i], strlen(cases[i]));
        }
        bytes_add(&text, "", 1);
        edit(&r, "program", "\"outputs\": [", (const char *)text.data);
        bytes file = pack(&r, 0, false);
        loaded l;
        // The first "outputs" in the file belongs to the graph or to a node, so loading may succeed or fail.
        const taper_status status = load(&l, &file, 0, NULL);
        assert_true(status == TAPER_OK || status == TAPER_ERROR_FILE);
        assert_true(l.used < 8 * file.size);
        unload(&l);
        bytes_free(&file);
        bytes_free(&text);
        records_free(&r);
    }
}

// Reading is charged to the budget of a load, even if it needs no memory.
static void budget(void **state)
{
    (void)state;
    bytes file = read_data("2.15_small.pt2");
    for (uint64_t steps = 1000; steps <= 1000000; steps *= 1000) {
        taper_budget *b;
        taper_types *types;
        taper_blob *blob;
        taper_module module;
        taper_pt2_program program = {.major = 0};
        assert_int_equal(taper_budget_create(&taper_allocator_system, file.size, 0, steps, &b, NULL), TAPER_OK);
        assert_int_equal(taper_types_create(&taper_allocator_system, &types, NULL), TAPER_OK);
        assert_int_equal(taper_blob_from_memory(&taper_allocator_system, file.data, file.size, NULL, NULL, &blob, NULL),
                         TAPER_OK);
        taper_status status = taper_module_init(taper_budget_allocator(b), types, &module, NULL);
        if (status == TAPER_OK) {
            module.blob = &blob->head;
            taper_obj_retain(module.blob);
            status = taper_pt2_read(blob, &module, &program, NULL);
        }
        assert_int_equal(status, steps == 1000 ? TAPER_ERROR_RESOURCE : TAPER_OK);
        taper_pt2_release(&program);
        taper_module_free(&module);
        taper_obj_release(&blob->head);
        taper_types_release(types);
        taper_budget_release(b);
    }
    bytes_free(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples),
        cmocka_unit_test(forms_of_archives),
        cmocka_unit_test(weights_in_place),
        cmocka_unit_test(cut_off),
        cmocka_unit_test(changed),
        cmocka_unit_test(out_of_memory),
        cmocka_unit_test(refused),
        cmocka_unit_test(other_archives),
        cmocka_unit_test(unusable_weights),
        cmocka_unit_test(other_words),
        cmocka_unit_test(deep),
        cmocka_unit_test(depth_limit),
        cmocka_unit_test(large),
        cmocka_unit_test(budget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
