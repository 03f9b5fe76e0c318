// SPDX-License-Identifier: BSD-2-Clause
// The content of a lite-interpreter file, which is a zip archive with pickles (lite_archive.c) or a flatbuffer
// (lite_flatbuffer.c). The module's heap owns the values, its arena owns everything else. Storages of tensors borrow
// the file's bytes if these are neither compressed nor misaligned, otherwise they are copies.
#ifndef TAPER_FORMAT_MODULE_H
#define TAPER_FORMAT_MODULE_H

#include "base/arena.h"
#include "ir/tensor_def.h"
#include "platform/platform.h"

// Instructions of the lite interpreter with their numbers, which are in the field op of the flatbuffer; a zip archive
// contains their names.
// clang-format off
#define TAPER_LITE_OPCODES(X) \
    X(OP, 0) X(OPN, 1) X(LOAD, 2) X(MOVE, 3) X(STOREN, 4) X(STORE, 5) X(DROP, 6) X(DROPR, 7) X(LOADC, 8) X(JF, 9) \
    X(JMP, 10) X(LOOP, 11) X(RET, 12) X(WAIT, 13) X(CALL, 14) X(GUARD, 15) X(TYPECHECK, 16) X(FAIL_GUARD, 17) \
    X(PROFILE_OP, 18) X(TAIL_CALL, 19) X(INTERFACE_CALL, 20) X(GET_ATTR, 21) X(SET_ATTR, 22) X(LIST_UNPACK, 23) \
    X(TUPLE_CONSTRUCT, 24) X(NAMED_TUPLE_CONSTRUCT, 25) X(LIST_CONSTRUCT, 26) X(DICT_CONSTRUCT, 27) \
    X(CREATE_OBJECT, 28) X(ISINSTANCE, 29) X(TUPLE_SLICE, 30) X(TUPLE_INDEX, 31) X(RAISE_EXCEPTION, 32) \
    X(DICT_INDEX, 33) X(UNCHECKED_CAST, 34) X(__IS__, 35) X(UN_INITIALIZED, 36) X(__ISNOT__, 37) X(FORMAT, 38) \
    X(DEVICE, 39) X(DTYPE, 40) X(DIM, 41) X(__NOT__, 42) X(TO_LIST, 43) X(NUM_TO_TENSOR, 44) X(IS_CUDA, 45) \
    X(FORK, 46) X(WARN, 47) X(ENTER, 48) X(EXIT, 49)
// clang-format on

typedef enum taper_lite_opcode {
#define X(name, number) TAPER_LITE_##name = number,
    TAPER_LITE_OPCODES(X)
#undef X
        TAPER_LITE_OPCODE_COUNT = 50
} taper_lite_opcode;

const char *taper_lite_opcode_name(unsigned opcode);
int taper_lite_opcode_from_name(const char *name, size_t length); // returns -1 if the name is unknown

// Returns true if torch.utils.bundled_inputs adds a method with this name.
bool taper_module_is_bundling(const char *method);
// Returns true if a prepared model keeps the method: forward, methods of bundled inputs, and the methods named in
// `others`.
bool taper_module_keeps(const char *method, const char *const *others, size_t count);

typedef struct taper_lite_instruction {
    uint8_t op; // a taper_lite_opcode
    uint16_t n;
    int32_t x;
    int32_t debug; // debug handle, or -1 for none
} taper_lite_instruction;

typedef struct taper_lite_operator {
    const char *name;     // name of the operator, such as "aten::add"
    const char *overload; // overload name, such as "Tensor"; may be ""
    int32_t arguments;    // number of arguments that the caller pushes; -1 for all arguments of the schema
} taper_lite_operator;

typedef struct taper_module_argument {
    const char *name;
    const taper_type *type;
    const char *type_text;
    taper_val default_value;
    bool has_default;
} taper_module_argument;

// Sets the default of an argument, whose type is set, to a value from a file. None in the file may also mean "no
// default".
void taper_module_argument_default(taper_module_argument *argument, taper_val value);

typedef struct taper_module_function {
    const char *name; // qualified name, such as "__torch__.Net.forward"
    taper_lite_instruction *instructions;
    taper_lite_operator *operators;
    taper_val *constants;
    const taper_type **types;
    size_t instruction_count, operator_count, constant_count, type_count;
    size_t register_count;
    bool has_schema;
    taper_module_argument *arguments; // the first argument is self
    taper_module_argument *returns;
    size_t argument_count, return_count;
} taper_module_function;

// An object whose __setstate__ must be called with its state after loading. The calls are made in order, before
// anything else runs.
typedef struct taper_module_pending {
    taper_object *object; // object, a reference that this struct owns
    taper_val state;      // state, a reference that this struct owns
} taper_module_pending;

typedef struct taper_module_extra {
    const char *name; // name without the prefix "extra/"
    const void *data; // NULL if the record was not unpacked, because it is damaged, or compressed and too large
    size_t size;
} taper_module_extra;

// An entry of the call stack map: the text that explains a debug handle.
typedef struct taper_module_debug {
    int64_t handle;
    const char
        // PyTorch's module hierarchy as far as it is known, for example
        // "top(Net)::<unknown>.conv(Conv2d)::forward.aten::conv2d".
        *text;
} taper_module_debug;

// A file of TorchScript source.
typedef struct taper_module_source {
    const char *name; // name of the record, such as "code/__torch__/a.py"
    const char *text;
    size_t length;
} taper_module_source;

// A source position from which a node was made. A node's `debug` is the number of such a place.
typedef struct taper_module_place {
    uint32_t source, at;  // number of the source, and position in its text in bytes
    uint32_t parent;      // number of the place of the call that led here, or UINT32_MAX for none
    const char *function; // name of the function, such as "forward"
    // For a method: its class, such as "__torch__.A", and the attribute on which it was called, such as "conv", or
    // "SELF". NULL for other functions.
    const char *class_name, *instance;
} taper_module_place;

// The meaning of a debug handle in a module that is written: item i explains handle i.
typedef struct taper_module_callstack {
    uint32_t place;
    const char *node; // node, such as "aten::add.Tensor(Tensor self, …" or "prim::If"
} taper_module_callstack;

typedef struct taper_module_callstacks {
    taper_module_callstack *items;
    size_t count, capacity;
} taper_module_callstacks;

// Operators of this build have the meaning that they have in PyTorch 1.13.
enum { TAPER_OPERATOR_VERSION = 10 };

typedef struct taper_module {
    const taper_allocator *allocator;
    taper_arena arena;
    taper_heap *heap;
    taper_types *types;

    int64_t bytecode_version;
    int64_t operator_version;
    bool flatbuffer;
    // True if the module will be written again and its functions thus need schemas. If the bytecode has no schemas, the
    // archive's sources are read instead.
    bool to_save;
    taper_val root; // root object, a TAPER_OBJECT
    taper_module_function *functions;
    size_t function_count;
    taper_module_pending *pending;
    size_t pending_count;
    taper_module_extra *extras;
    size_t extra_count;
    // Names of the extra files, sorted (format/name_sort.h); the value is the index in extras.
    struct taper_name *extra_names;
    taper_module_debug *debug; // debug texts, sorted by handle
    size_t debug_count;

    bool torchscript;             // true if the functions are in TorchScript sources and not in bytecode
    taper_module_source *sources; // sources, sorted by name
    size_t source_count;
    taper_module_place *places;
    size_t place_count, place_capacity;
    // Call stacks to write. NULL if the debug handles refer to records of the module's file.
    const taper_module_callstacks *callstacks;

    struct taper_pt2_program *exported; // program of torch.export (pt2_program.h), or NULL for files of other kinds
    void (*release_exported)(struct taper_pt2_program *exported);

    taper_obj *blob; // object that owns the file's bytes; a reference
} taper_module;

// Returns true if the functions were read as bytecode. Only in this case are operators, states and debug records as in
// the file.
static inline bool taper_module_has_bytecode(const taper_module *module)
{
    return !module->torchscript && module->exported == NULL;
}

// taper_module_sort_extras sorts the extra files by name. A reader calls it after the last extra file.
// taper_module_find_extra returns the extra file with this name, or NULL if there is none.
TAPER_MUST_USE taper_status taper_module_sort_extras(taper_module *module, taper_error *error);
const taper_module_extra *taper_module_find_extra(const taper_module *module, const char *name);

// taper_module_init makes an empty module. The caller must call taper_module_free, also after a failure.
// taper_module_free frees everything that the module owns, and also accepts a zeroed module. Values to which other code
// has references remain valid.
TAPER_MUST_USE taper_status taper_module_init(const taper_allocator *allocator, taper_types *types,
                                              taper_module *module, taper_error *error);
void taper_module_free(taper_module *module);
void taper_module_drop_functions(taper_module *module);

// The bytes of a file, which all storages that borrow them share. A blob is an object, so that a storage can own a
// reference. Release it with taper_obj_release(&blob->head).
typedef struct taper_blob {
    // Head of an object with tag TAPER_BLOB and no heap; head and destroy together have the layout of taper_blob_head.
    taper_obj head;
    void (*destroy)(taper_obj *obj);
    taper_allocator allocator;
    const uint8_t *data;
    size_t size;
    void (*release)(void *user); // called with `user` when borrowed bytes are no longer used; may be NULL
    void *user;
    taper_mapping mapping; // mapping of the file; its data is NULL if there is none
    void *owned;           // block of `size` bytes that the blob frees, or NULL if it frees none
} taper_blob;

// Returns the kind of a storage that borrows the blob's bytes.
static inline taper_storage_kind taper_blob_kind(const taper_blob *blob)
{
    return blob->mapping.data != NULL ? TAPER_STORAGE_FILE : TAPER_STORAGE_BORROWED;
}

// Makes a blob of the host's bytes, which must not change before the blob calls release(user). `release` may be NULL.
TAPER_MUST_USE taper_status taper_blob_from_memory(const taper_allocator *allocator, const void *data, size_t size,
                                                   void (*release)(void *user), void *user, taper_blob **blob,
                                                   taper_error *error);
// These functions take over a block of the allocator, or a mapping, even if they fail.
TAPER_MUST_USE taper_status taper_blob_from_block(const taper_allocator *allocator, void *block, size_t size,
                                                  taper_blob **blob, taper_error *error);
TAPER_MUST_USE taper_status taper_blob_from_mapping(const taper_allocator *allocator, taper_mapping *mapping,
                                                    taper_blob **blob, taper_error *error);

// Reads a module from a blob. The module, and each storage that borrows from the blob, has a reference to the blob. On
// failure *module is empty. If the kind of the file is not supported, the error says which kind it is.
TAPER_MUST_USE taper_status taper_module_read(const taper_allocator *allocator, taper_types *types, taper_blob *blob,
                                              taper_module *module, taper_error *error);
// Reads a module that will be written again; sets to_save.
TAPER_MUST_USE taper_status taper_module_read_to_save(const taper_allocator *allocator, taper_types *types,
                                                      taper_blob *blob, taper_module *module, taper_error *error);
// Checks the checksums of all records. Does nothing for a file without checksums.
TAPER_MUST_USE taper_status taper_module_verify(const taper_allocator *allocator, const taper_blob *blob,
                                                taper_error *error);
// The readers that taper_module_read calls. Before the call, allocator, arena, heap, types and blob of the module are
// set and the other members are zero. After a failure the caller frees the content.
TAPER_MUST_USE taper_status taper_lite_archive_read(taper_blob *blob, taper_module *module, taper_error *error);
TAPER_MUST_USE taper_status taper_lite_flatbuffer_read(taper_blob *blob, taper_module *module, taper_error *error);

#endif
