// SPDX-License-Identifier: BSD-2-Clause
// Tests complete lite modules in zip archives, which are written here record by record: values that are read, shared,
// borrowed and copied, and the errors for all kinds of damaged and foreign files.
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "format/module.h"
#include "tests/unit/archive_builder.h"

// ---- pickles, composed of pieces

static void op(bytes *b, const char *text) // appends opcodes; text has no zero bytes
{
    bytes_add(b, text, strlen(text));
}

static void number(bytes *b, int value)
{
    op(b, "J");
    bytes_number(b, (uint32_t)value, 4);
}

static void string(bytes *b, const char *text)
{
    op(b, "X");
    bytes_number(b, strlen(text), 4);
    op(b, text);
}

// Appends a tensor of n floats, beginning at `offset` of a storage with `numel` floats.
static void tensor(bytes *b, const char *class, const char *key, int numel, int offset, int n)
{
    op(b, "ctorch._utils\n_rebuild_tensor_v2\n((");
    string(b, "storage");
    op(b, "ctorch\n");
    op(b, class);
    op(b, "\n");
    string(b, key);
    string(b, "cpu");
    number(b, numel);
    op(b, "tQ");
    number(b, offset);
    number(b, n);
    op(b, "\x85");
    number(b, 1);
    op(b, "\x85\x89"
          "ccollections\nOrderedDict\n)RtR");
}

static void instruction(bytes *b, const char *name, int x, int n)
{
    string(b, name);
    number(b, x);
    number(b, n);
    op(b, "\x87");
}

static void argument(bytes *b, const char *name, const char *type, bool with_default)
{
    string(b, "name");
    string(b, name);
    op(b, "\x86");
    string(b, "type");
    string(b, type);
    op(b, "\x86");
    string(b, "default_value");
    op(b, with_default ? "\x88" : "N");
    op(b, "\x86\x87");
}

typedef struct options {
    int version; // version of the bytecode; 0 to omit it
    int fields;  // number of fields in the table row of an operator
    bool schema;
    const char *set_state; // name of a class with __setstate__, or NULL
    unsigned form;         // flags of the builder (BUILD_…) for the records of tensors
    unsigned pickle_form;  // flags of the builder (BUILD_…) for all other records
    bool own_folder;       // true if storages of constants are in the folder bytecode/
} options;

static const options usual = {.version = 8, .fields = 3, .schema = true};

static bytes make_bytecode(const options *o)
{
    bytes b = {.data = NULL};
    op(&b, "\x80\2(");
    if (o->version != 0) {
        number(&b, o->version);
    }
    for (int i = 0; i < (o->set_state != NULL ? 2 : 1); i++) {
        string(&b, i == 0 ? "__torch__.Net.forward" : o->set_state);
        op(&b, "(");
        string(&b, "instructions");
        op(&b, "(");
        instruction(&b, "STOREN", 1, 2);
        instruction(&b, "OP", 0, 0);
        instruction(&b, "JMP", -3, 0);
        instruction(&b, "RET", 0, 0);
        op(&b, "t\x86");
        string(&b, "operators");
        string(&b, "aten::add");
        string(&b, "Tensor");
        if (o->fields == 3) {
            number(&b, 2);
        }
        op(&b, o->fields == 3 ? "\x87\x85\x86" : "\x86\x85\x86");
        string(&b, "constants");
        op(&b, "(");
        number(&b, 7);
        tensor(&b, "FloatStorage", "w", 4, 1, 3);
        op(&b, "t\x86");
        string(&b, "types");
        op(&b, "(");
        string(&b, "List[int]");
        string(&b, "__torch__.P[NamedTuple, [[x, int]]]");
        string(&b, "__torch__.P");
        op(&b, "t\x86");
        string(&b, "register_size");
        number(&b, 5);
        op(&b, "\x86t");
        if (o->schema) {
            string(&b, "arguments");
            argument(&b, "self", "__torch__.Net", false);
            argument(&b, "flag", "bool", true);
            argument(&b, "maybe", "Optional[int]", false);
            op(&b, "\x87\x86");
            string(&b, "returns");
            argument(&b, "", "Tensor", false);
            op(&b, "\x85\x86\x86\x87");
        } else {
            op(&b, "\x86");
        }
    }
    op(&b, "t.");
    return b;
}

// Makes the object Net(a, shared, inner). `shared` and `b` use the same storage; `inner` is an object of another class.
static bytes make_data(void)
{
    bytes b = {.data = NULL};
    op(&b, "\x80\2"
           "c__torch__\nNet\n)\x81}(");
    string(&b, "a");
    tensor(&b, "FloatStorage", "0", 6, 0, 6);
    string(&b, "b");
    tensor(&b, "FloatStorage", "0", 6, 2, 2);
    string(&b, "inner");
    op(&b, "c__torch__.sub\nInner\n)\x81}(");
    string(&b, "n");
    number(&b, 3);
    op(&b, "ub");
    string(&b, "none");
    tensor(&b, "LongStorage", "missing", 0, 0, 0);
    op(&b, "ub.");
    return b;
}

static const float floats[6] = {0, 1, 2, 3, 4, 5};

static bytes make_file(const options *o)
{
    bytes bytecode = make_bytecode(o), data = make_data();
    builder b = {.count = 0};
    builder_add(&b, "net/extra/notes.txt", "some notes", 10, o->form);
    builder_add(&b, "net/extra/dir/empty", "", 0, 0);
    builder_add(&b, "net/data/0", floats, sizeof floats, o->form);
    builder_add(&b, "net/data.pkl", data.data, data.size, o->pickle_form);
    builder_add(&b, "net/constants.pkl", "\x80\2).", 4, 0);
    builder_add(&b, o->own_folder ? "net/bytecode/w" : "net/constants/w", floats, 4 * sizeof floats[0], o->form);
    builder_add(&b, "net/bytecode.pkl", bytecode.data, bytecode.size, o->pickle_form);
    builder_add(&b, "net/version", "3\n", 2, 0);
    bytes_free(&bytecode);
    bytes_free(&data);
    return builder_finish(&b, false, "");
}

// ---- reading archives

// An allocator that counts live blocks and can fail on command.
typedef struct counter {
    taper_allocator allocator;
    size_t live, calls, fail_at; // number of live blocks, of calls so far, and of the call that fails (0 if none fails)
} counter;

static void *count_reallocate(void *user, void *ptr, size_t old_size, size_t new_size)
{
    counter *c = user;
    if (new_size == 0) {
        c->live -= old_size;
        free(ptr);
        return NULL;
    }
    c->calls++;
    if (c->fail_at != 0 && c->calls == c->fail_at) {
        return NULL;
    }
    void *grown = realloc(ptr, new_size);
    if (grown != NULL) {
        c->live += new_size - old_size;
    }
    return grown;
}

typedef struct loaded {
    counter memory;
    taper_types *types;
    taper_blob *blob;
    taper_module module;
    void *copy;
} loaded;

static void no_release(void *user)
{
    (void)user;
}

// Loads a copy of the file that begins `shift` bytes after a multiple of 64 and ends at the end of its block.
static taper_status load(loaded *l, const void *data, size_t size, size_t shift, size_t fail_at, taper_error *error)
{
    memset(l, 0, sizeof *l);
    l->memory.allocator = (taper_allocator){.user = &l->memory, .reallocate = count_reallocate};
    if (posix_memalign(&l->copy, 64, shift + size + 1) != 0) {
        abort();
    }
    memcpy((char *)l->copy + shift, data, size);
    l->memory.fail_at = fail_at;
    taper_status status = taper_types_create(&l->memory.allocator, &l->types, error);
    if (status == TAPER_OK) {
        status = taper_blob_from_memory(&l->memory.allocator, (char *)l->copy + shift, size, no_release, NULL, &l->blob,
                                        error);
    }
    if (status == TAPER_OK) {
        status = taper_module_read(&l->memory.allocator, l->types, l->blob, &l->module, error);
    }
    return status;
}

static void unload(loaded *l)
{
    if (l->module.heap != NULL) {
        taper_module_free(&l->module);
    }
    if (l->blob != NULL) {
        taper_obj_release(&l->blob->head);
    }
    taper_types_release(l->types);
    assert_int_equal(l->memory.live, 0);
    free(l->copy);
}

static const taper_tensor *attribute(const loaded *l, const char *name)
{
    const taper_object *root = l->module.root.as.object;
    const int64_t slot = taper_object_slot(root, name);
    assert_true(slot >= 0);
    assert_int_equal(root->slots[slot].tag, TAPER_TENSOR);
    return root->slots[slot].as.tensor;
}

static void check_function(const taper_module_function *f, const options *o)
{
    assert_int_equal(f->instruction_count, 4);
    assert_int_equal(f->instructions[0].op, TAPER_LITE_STOREN);
    assert_int_equal(f->instructions[0].n, 2);
    assert_int_equal(f->instructions[2].x, -3);
    assert_int_equal(f->instructions[3].op, TAPER_LITE_RET);
    assert_int_equal(f->instructions[3].debug, -1);
    assert_int_equal(f->operator_count, 1);
    assert_string_equal(f->operators[0].name, "aten::add");
    assert_string_equal(f->operators[0].overload, "Tensor");
    assert_int_equal(f->operators[0].arguments, o->fields == 3 ? 2 : -1);
    assert_int_equal(f->constant_count, 2);
    assert_int_equal(f->constants[0].as.i, 7);
    assert_int_equal(((const float *)taper_tensor_data(f->constants[1].as.tensor))[2], 3);
    assert_int_equal(f->type_count, 3);
    assert_ptr_equal(f->types[0], &taper_type_list_int);
    assert_ptr_equal(f->types[1], f->types[2]);
    assert_int_equal(f->register_count, 5);
    assert_int_equal(f->has_schema, o->schema);
    if (o->schema) {
        assert_int_equal(f->argument_count, 3);
        assert_string_equal(f->arguments[1].name, "flag");
        assert_string_equal(f->arguments[1].type_text, "bool");
        assert_true(f->arguments[1].has_default);
        assert_true(f->arguments[2].has_default);
        assert_false(f->arguments[0].has_default);
        assert_int_equal(f->return_count, 1);
        assert_ptr_equal(f->returns[0].type, &taper_type_tensor);
    }
}

static void check_module(const loaded *l, const options *o)
{
    const taper_module *m = &l->module;
    assert_int_equal(m->bytecode_version, o->version != 0 ? o->version : 3);
    assert_int_equal(m->operator_version, 3);
    assert_string_equal(m->functions[0].name, "__torch__.Net.forward");
    check_function(&m->functions[0], o);
    const taper_object *root = m->root.as.object;
    assert_string_equal(root->klass->name, "__torch__.Net");
    assert_int_equal(root->count, 4);
    assert_string_equal(root->klass->slots[2], "inner");
    const taper_tensor *a = attribute(l, "a"), *b = attribute(l, "b");
    assert_ptr_equal(a->storage, b->storage);
    assert_int_equal(((const float *)taper_tensor_data(b))[1], 3);
    assert_int_equal(attribute(l, "none")->sizes[0], 0);
    assert_int_equal(m->extra_count, 2);
    assert_string_equal(m->extras[0].name, "notes.txt");
    assert_memory_equal(m->extras[0].data, "some notes", 10);
    assert_string_equal(m->extras[1].name, "dir/empty");
    assert_int_equal(m->extras[1].size, 0);
}

static void reads_every_version(void **state)
{
    (void)state;
    for (int version = 3; version <= 9; version++) {
        options o = usual;
        o.version = version;
        o.fields = version < 6 ? 2 : 3;
        o.schema = version > 3;
        o.own_folder = version == 4;
        bytes file = make_file(&o);
        loaded l;
        assert_int_equal(load(&l, file.data, file.size, 0, 0, NULL), TAPER_OK);
        check_module(&l, &o);
        unload(&l);
        bytes_free(&file);
    }
    options o = {.version = 0, .fields = 2};
    bytes file = make_file(&o);
    loaded l;
    assert_int_equal(load(&l, file.data, file.size, 0, 0, NULL), TAPER_OK);
    check_module(&l, &o);
    unload(&l);
    bytes_free(&file);
    static const int wrong[] = {1, 2, 10, -1};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        o = usual;
        o.version = wrong[i];
        file = make_file(&o);
        assert_int_equal(load(&l, file.data, file.size, 0, 0, NULL), TAPER_ERROR_UNSUPPORTED);
        unload(&l);
        bytes_free(&file);
    }
}

static void borrows_and_copies(void **state)
{
    (void)state;
    static const struct {
        unsigned form;
        size_t shift;
        taper_storage_kind kind;
    } cases[] = {
        {0, 0, TAPER_STORAGE_BORROWED},
        // An archive within another file begins at a multiple of 4, which is sufficient for floats.
        {0, 4, TAPER_STORAGE_BORROWED},
        {0, 1, TAPER_STORAGE_OWNED},
        {BUILD_ZIP64 | BUILD_DESCRIPTOR, 0, TAPER_STORAGE_BORROWED},
        {BUILD_DEFLATE, 0, TAPER_STORAGE_OWNED},
        {BUILD_DEFLATE | BUILD_DESCRIPTOR | BUILD_ZIP64, 0, TAPER_STORAGE_OWNED},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        options o = usual;
        o.form = cases[i].form;
        o.pickle_form = cases[i].form;
        bytes file = make_file(&o);
        loaded l;
        assert_int_equal(load(&l, file.data, file.size, cases[i].shift, 0, NULL), TAPER_OK);
        check_module(&l, &o);
        const taper_storage *storage = attribute(&l, "a")->storage;
        assert_int_equal(storage->kind, cases[i].kind);
        const char *start = (const char *)l.copy;
        const char *data = storage->data;
        assert_true((data >= start && data < start + file.size + 8) == (cases[i].kind == TAPER_STORAGE_BORROWED));
        unload(&l);
        bytes_free(&file);
    }
}

static void values_outlive_the_module(void **state)
{
    (void)state;
    bytes file = make_file(&usual);
    loaded l;
    assert_int_equal(load(&l, file.data, file.size, 0, 0, NULL), TAPER_OK);
    const taper_val root = taper_val_retain(l.module.root);
    taper_module_free(&l.module);
    taper_obj_release(&l.blob->head);
    l.blob = NULL;
    taper_types_release(l.types);
    l.types = NULL;
    assert_string_equal(root.as.object->klass->slots[1], "b");
    assert_int_equal(((const float *)taper_tensor_data(root.as.object->slots[0].as.tensor))[5], 5);
    taper_val_release(root);
    unload(&l);
    bytes_free(&file);
}

static void leaves_states_pending(void **state)
{
    (void)state;
    options o = usual;
    o.set_state = "__torch__.sub.Inner.__setstate__";
    bytes file = make_file(&o);
    loaded l;
    assert_int_equal(load(&l, file.data, file.size, 0, 0, NULL), TAPER_OK);
    check_module(&l, &o);
    assert_int_equal(l.module.pending_count, 1);
    const taper_module_pending *pending = &l.module.pending[0];
    assert_ptr_equal(pending->object, l.module.root.as.object->slots[2].as.object);
    assert_int_equal(pending->object->count, 0);
    assert_null(pending->object->klass->slots);
    assert_int_equal(pending->state.tag, TAPER_DICT);
    unload(&l);
    bytes_free(&file);
}

// ---- debug records

static bytes make_debug_file(bool odd)
{
    bytes bytecode = make_bytecode(&usual), data = make_data(), handles = {.data = NULL}, stacks = {.data = NULL};
    op(&handles, "\x80\2");
    number(&handles, 8);
    string(&handles, "__torch__.Net.forward");
    string(&handles, "function_debug_handles");
    op(&handles, "ctorch.jit._pickle\nbuild_intlist\n(](");
    for (int i = 0; i < 4; i++) {
        number(&handles, odd ? -7 : 10 * i);
    }
    op(&handles, "etR\x85\x86\x85\x86\x86.");
    op(&stacks, "\x80\2(");
    for (int i = 3; i >= 0; i--) { // the handles are not in ascending order
        op(&stacks, "(");
        number(&stacks, 10 * i);
        number(&stacks, 0);
        string(&stacks, "aten::add");
        if (i == 2) { // this entry has two frames
            op(&stacks, "(");
            string(&stacks, "__torch__.torch.nn.Sequential");
            string(&stacks, "seq");
            op(&stacks, "\x86");
            number(&stacks, 1);
            op(&stacks, "(");
            op(&stacks, "N");
            number(&stacks, 1);
            op(&stacks, "N");
            string(&stacks, "forward");
            op(&stacks, "t");
            string(&stacks, "forward");
            op(&stacks, "t");
        } else {
            op(&stacks, "N");
        }
        op(&stacks, "t");
    }
    op(&stacks, odd ? "N(t" : "");
    op(&stacks, "t.");
    builder b = {.count = 0};
    builder_add(&b, "net/data/0", floats, sizeof floats, 0);
    builder_add(&b, "net/data.pkl", data.data, data.size, 0);
    builder_add(&b, "net/constants/w", floats, 16, 0);
    builder_add(&b, "net/bytecode.pkl", bytecode.data, bytecode.size, 0);
    builder_add(&b, "net/mobile_debug_handles.pkl", handles.data, handles.size, 0);
    builder_add(&b, "net/callstack_debug_map.pkl", stacks.data, odd ? stacks.size - 1 : stacks.size, BUILD_DEFLATE);
    builder_add(&b, "net/version", "3\n", 2, 0);
    bytes_free(&bytecode);
    bytes_free(&data);
    bytes_free(&handles);
    bytes_free(&stacks);
    return builder_finish(&b, false, "");
}

static void reads_debug_records(void **state)
{
    (void)state;
    bytes file = make_debug_file(false);
    loaded l;
    assert_int_equal(load(&l, file.data, file.size, 0, 0, NULL), TAPER_OK);
    assert_int_equal(l.module.functions[0].instructions[3].debug, 30);
    assert_int_equal(l.module.debug_count, 4);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(l.module.debug[i].handle, 10 * i);
    }
    assert_string_equal(l.module.debug[0].text, "top(Net)::<unknown>.aten::add");
    assert_string_equal(
        l.module.debug[2].text,
        "top(Net)::<unknown>.seq(Sequential)::forward.UNKNOWN_INSTANCE(UNKNOWN_TYPE)::forward.aten::add");
    unload(&l);
    bytes_free(&file);
    file = make_debug_file(true); // a damaged record is treated as missing
    assert_int_equal(load(&l, file.data, file.size, 0, 0, NULL), TAPER_OK);
    assert_int_equal(l.module.functions[0].instructions[3].debug, -1);
    assert_int_equal(l.module.debug_count, 0);
    unload(&l);
    bytes_free(&file);
}

// ---- files that are not lite modules

static void expect_refusal(const bytes *file, const char *part)
{
    taper_error *error = taper_error_create();
    loaded l;
    const taper_status status = load(&l, file->data, file->size, 0, 0, error);
    assert_true(status == TAPER_ERROR_FILE || status == TAPER_ERROR_UNSUPPORTED);
    if (strstr(taper_error_message(error), part) == NULL) {
        fail_msg("should say \"%s\" and says \"%s\"", part, taper_error_message(error));
    }
    assert_null(l.module.heap);
    unload(&l);
    taper_error_destroy(error);
}

static void knows_foreign_files(void **state)
{
    (void)state;
    static const struct {
        const char *data;
        size_t size;
        const char *part;
    } cases[] = {
        {"", 0, "empty"},
        {"P", 1, "no PyTorch Mobile model"},
        {"hello, world", 12, "no PyTorch Mobile model"},
        {"\x80\2}q\0.", 6, "Python pickle"},
        {"PYTORCH1 and so on", 18, "before 1.0"},
        {"\x1f\x8b\x08\0\0\0\0\0", 8, "gzip"},
        {"\xff\xd8\xff\xe0\0\x10JFIF", 10, "a JPEG picture, not a model"},
        {"\x89PNG\r\n\x1a\n", 8, "a PNG picture, not a model"},
        {"<!DOCTYPE html>", 15, "web page"},
        {"version https://git-lfs.github.com/spec/v1", 42, "git lfs pull"},
        {"\x1c\0\0\0TFL3....", 12, "TensorFlow Lite"},
        {"\x1c\0\0\0ET12....", 12, "ExecuTorch"},
        {"PK\3\4 and no more", 16, "cut off"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const bytes file = {.data = (uint8_t *)(uintptr_t)cases[i].data, .size = cases[i].size};
        expect_refusal(&file, cases[i].part);
    }
    static const struct {
        const char *names[3];
        const char *part;
    } archives[] = {
        {{"m/model.json", "m/attributes.pkl", NULL}, "1.0 to 1.2"},
        {{"m/data.pkl", "m/constants.pkl", NULL}, "_save_for_lite_interpreter"},
        {{"m/data.pkl", "m/data/0", "m/version"}, "torch.save"},
        {{"word/document.xml", NULL, NULL}, "no PyTorch model"},
        {{"document.xml", NULL, NULL}, "not in a folder"},
        {{"serialized_exported_program.json", "serialized_state_dict.json", "version"},
         "serialized_exported_program.json cannot be read"},
        {{"m/archive_format", "m/byteorder", "m/models/model.json"}, "models/model.json cannot be read"},
        {{"serialized_exported_program.json", "serialized_state_dict.pt", "version"},
         "serialized_exported_program.json cannot be read"},
        {{"version", "serialized_exported_program.json", NULL}, "serialized_exported_program.json cannot be read"},
        {{"m/bytecode.pkl", NULL, NULL}, "version"},
        {{"m/bytecode.pkl", "m/version", NULL}, "no version number"},
    };
    for (size_t i = 0; i < sizeof archives / sizeof archives[0]; i++) {
        builder b = {.count = 0};
        for (size_t n = 0; n < 3 && archives[i].names[n] != NULL; n++) {
            builder_add(&b, archives[i].names[n], "", 0, 0);
        }
        bytes file = builder_finish(&b, false, "");
        expect_refusal(&file, archives[i].part);
        bytes_free(&file);
    }
    // TorchScript archives are not refused here, because the front end reads them.
    builder b = {.count = 0};
    builder_add(&b, "m/data.pkl", "", 0, 0);
    builder_add(&b, "m/code/__torch__.py", "", 0, 0);
    bytes file = builder_finish(&b, false, "");
    loaded l;
    assert_int_equal(load(&l, file.data, file.size, 0, 0, NULL), TAPER_OK);
    assert_true(l.module.torchscript);
    unload(&l);
    bytes_free(&file);
}

// Makes a module in which one record is replaced, or removed if data is NULL.
static bytes make_with(const char *name, const char *data, size_t size)
{
    bytes bytecode = make_bytecode(&usual), object = make_data();
    const struct {
        const char *name;
        const void *data;
        size_t size;
    } records[] = {
        {"n/data/0", floats, sizeof floats}, {"n/data.pkl", object.data, object.size},
        {"n/constants/w", floats, 16},       {"n/bytecode.pkl", bytecode.data, bytecode.size},
        {"n/byteorder", "little", 6},        {"n/.data/version", "10\n", 3},
    };
    builder b = {.count = 0};
    for (size_t i = 0; i < sizeof records / sizeof records[0]; i++) {
        if (strcmp(records[i].name + 2, name) != 0) {
            builder_add(&b, records[i].name, records[i].data, records[i].size, 0);
        } else if (data != NULL) {
            builder_add(&b, records[i].name, data, size, 0);
        }
    }
    bytes_free(&bytecode);
    bytes_free(&object);
    return builder_finish(&b, false, "");
}

static void names_what_is_wrong(void **state)
{
    (void)state;
    static const struct {
        const char *name, *data;
        size_t size;
        const char *part;
    } cases[] = {
        {".data/version", "11\n", 3, "newer PyTorch"},
        {".data/version", "x", 1, "no version number"},
        {"byteorder", "big", 3, "little-endian"},
        {"data/0", NULL, 0, "lacks the tensor data in record data/0"},
        {"data/0", "1234", 4, "record data/0 of 4 bytes is too small for 6 elements of dtype float32"},
        {"data.pkl", NULL, 0, "lacks the record data.pkl"},
        {"data.pkl", ")", 1, "data.pkl ends early"},
        {"data.pkl", ").", 2, "data.pkl holds a Tuple instead of a module"},
        {"data.pkl", "cos\nsystem\n.", 12, "os.system"},
        {"bytecode.pkl", "].", 2, "instead of a tuple"},
        {"bytecode.pkl", "K\x8N\x86.", 5, "a function is not"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bytes file = make_with(cases[i].name, cases[i].data, cases[i].size);
        expect_refusal(&file, cases[i].part);
        bytes_free(&file);
    }
    bytes file = make_with("nothing", NULL, 0);
    loaded l;
    assert_int_equal(load(&l, file.data, file.size, 0, 0, NULL), TAPER_OK);
    assert_int_equal(l.module.operator_version, 10);
    unload(&l);
    bytes_free(&file);
}

// ---- damaged files

static void survives_truncation(void **state)
{
    (void)state;
    options o = usual;
    o.set_state = "__torch__.sub.Inner.__setstate__";
    bytes file = make_file(&o);
    for (size_t size = 0; size < file.size; size++) {
        loaded l;
        assert_int_not_equal(load(&l, file.data, size, 0, 0, NULL), TAPER_OK);
        unload(&l);
    }
    bytes_free(&file);
}

static void survives_damage(void **state)
{
    (void)state;
    options o = usual;
    o.form = BUILD_NO_CRC;
    o.pickle_form = BUILD_NO_CRC; // without checksums, so that the damage reaches the reader
    bytes file = make_file(&o);
    static const uint8_t masks[] = {0x01, 0x80, 0xff};
    for (size_t i = 0; i < file.size; i++) {
        for (size_t m = 0; m < sizeof masks; m++) {
            file.data[i] ^= masks[m];
            loaded l;
            (void)!load(&l, file.data, file.size, 0, 0, NULL);
            unload(&l);
            file.data[i] ^= masks[m];
        }
    }
    bytes_free(&file);
}

static void survives_failing_allocations(void **state)
{
    (void)state;
    options o = usual;
    o.set_state = "__torch__.sub.Inner.__setstate__";
    o.form = BUILD_DEFLATE;
    o.pickle_form = BUILD_DEFLATE;
    bytes files[] = {make_file(&o), make_debug_file(false)};
    for (size_t f = 0; f < 2; f++) {
        size_t failures = 0;
        for (size_t at = 1; at != 0; at++) {
            loaded l;
            const taper_status status = load(&l, files[f].data, files[f].size, 0, at, NULL);
            const bool reached = l.memory.calls >= at;
            assert_true(status == TAPER_OK || status == TAPER_ERROR_RESOURCE);
            failures += status != TAPER_OK ? 1 : 0;
            unload(&l);
            if (!reached) {
                break;
            }
        }
        assert_true(failures > 20);
        bytes_free(&files[f]);
    }
}

static void reads_blobs_of_all_kinds(void **state)
{
    (void)state;
    taper_blob *blob;
    void *block = taper_alloc(&taper_allocator_system, 100);
    assert_non_null(block);
    assert_int_equal(taper_blob_from_block(&taper_allocator_system, block, 100, &blob, NULL), TAPER_OK);
    taper_obj_retain(&blob->head);
    taper_obj_release(&blob->head);
    taper_obj_release(&blob->head);
    char path[] = "/tmp/taper_blob_XXXXXX";
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    FILE *file = fdopen(fd, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite("hello", 1, 5, file), 5);
    fclose(file);
    taper_mapping mapping;
    int opened;
    assert_int_equal(taper_open_file(path, &opened, NULL), TAPER_OK);
    assert_int_equal(taper_map_fd(opened, 0, 0, &mapping, NULL), TAPER_OK);
    assert_int_equal(taper_blob_from_mapping(&taper_allocator_system, &mapping, &blob, NULL), TAPER_OK);
    assert_null(mapping.data);
    assert_int_equal(blob->size, 5);
    assert_memory_equal(blob->data, "hello", 5);
    taper_obj_release(&blob->head);
    // A range with length 0 extends to the end of the file.
    assert_int_equal(taper_map_fd(opened, 2, 0, &mapping, NULL), TAPER_OK);
    taper_close_file(opened);
    assert_int_equal(taper_blob_from_mapping(&taper_allocator_system, &mapping, &blob, NULL), TAPER_OK);
    assert_int_equal(blob->size, 3);
    assert_memory_equal(blob->data, "llo", 3);
    taper_obj_release(&blob->head);
    // The descriptor of a file may be 0, if the process has closed its standard input.
    const int input = dup(0);
    close(0);
    assert_int_equal(taper_open_file(path, &opened, NULL), TAPER_OK);
    assert_int_equal(opened, 0);
    taper_close_file(opened);
    if (input >= 0) {
        dup2(input, 0);
        close(input);
    }
    remove(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_every_version),       cmocka_unit_test(borrows_and_copies),
        cmocka_unit_test(values_outlive_the_module), cmocka_unit_test(leaves_states_pending),
        cmocka_unit_test(reads_debug_records),       cmocka_unit_test(knows_foreign_files),
        cmocka_unit_test(names_what_is_wrong),       cmocka_unit_test(survives_truncation),
        cmocka_unit_test(survives_damage),           cmocka_unit_test(survives_failing_allocations),
        cmocka_unit_test(reads_blobs_of_all_kinds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
