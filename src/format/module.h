// SPDX-License-Identifier: BSD-2-Clause
// The content of a lite-interpreter file, whatever its container: a zip archive with pickles (lite_archive.c) or a
// flatbuffer (lite_flatbuffer.c). The module's heap owns the values, its arena everything else. Storages of tensors
// borrow the file's bytes if these are stored and aligned, otherwise they are copies.
#ifndef TAPER_FORMAT_MODULE_H
#define TAPER_FORMAT_MODULE_H

#include "base/arena.h"
#include "ir/tensor_def.h"
#include "platform/platform.h"

// Instruction numbers of the lite interpreter (the op field of the flatbuffer; the zip archive has the names).
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
int taper_lite_opcode_from_name(const char *name, size_t length); // -1 if unknown

// Returns true for a method that torch.utils.bundled_inputs adds.
bool taper_module_is_bundling(const char *method);
// Returns true for a method that a prepared model keeps: forward, those of bundled inputs, and the named others.
bool taper_module_keeps(const char *method, const char *const *others, size_t count);

typedef struct taper_lite_instruction {
    uint8_t op; // taper_lite_opcode
    uint16_t n;
    int32_t x;
    int32_t debug; // debug handle, or -1
} taper_lite_instruction;

typedef struct taper_lite_operator {
    const char *name;     // "aten::add"
    const char *overload; // "Tensor" or ""
    int32_t arguments;    // arguments that the caller pushes; -1 for all of the schema
} taper_lite_operator;

typedef struct taper_module_argument {
    const char *name;
    const taper_type *type;
    const char *type_text;
    taper_val default_value;
    bool has_default;
} taper_module_argument;

// Sets the default of an argument of known type from a file's value. None may also mean "no default".
void taper_module_argument_default(taper_module_argument *argument, taper_val value);

typedef struct taper_module_function {
    const char *name; // "__torch__.Net.forward"
    taper_lite_instruction *instructions;
    taper_lite_operator *operators;
    taper_val *constants;
    const taper_type **types;
    size_t instruction_count, operator_count, constant_count, type_count;
    size_t register_count;
    bool has_schema;
    taper_module_argument *arguments; // self is first
    taper_module_argument *returns;
    size_t argument_count, return_count;
} taper_module_function;

// A module object whose class has __setstate__. These run in order, before anything else.
typedef struct taper_module_pending {
    taper_object *object; // owned
    taper_val state;      // owned
} taper_module_pending;

typedef struct taper_module_extra {
    const char *name; // without "extra/"
    const void *data; // NULL if it is compressed and too large, or damaged, so that it was not unpacked
    size_t size;
} taper_module_extra;

// An entry of the callstack map: the text for a debug handle.
typedef struct taper_module_debug {
    int64_t handle;
    const char
        // PyTorch's module hierarchy as far as known, for example
        // "top(Net)::<unknown>.conv(Conv2d)::forward.aten::conv2d".
        *text;
} taper_module_debug;

// A file of TorchScript source.
typedef struct taper_module_source {
    const char *name; // "code/__torch__/a.py"
    const char *text;
    size_t length;
} taper_module_source;

// The origin of a node. A node's `debug` is the number of its place.
typedef struct taper_module_place {
    uint32_t source, at;  // number of the source, and byte in its text
    uint32_t parent;      // place of the call, or UINT32_MAX
    const char *function; // "forward"
    // Class of a method, "__torch__.A", and the name that it was called on, "conv" or "SELF"; NULL for other functions.
    const char *class_name, *instance;
} taper_module_place;

// The meaning of a debug handle in a module that is written: handle i is item i.
typedef struct taper_module_callstack {
    uint32_t place;
    const char *node; // "aten::add.Tensor(Tensor self, …", "prim::If"
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
    // True if the functions need schemas: if the bytecode has none, the archive's sources are read instead.
    bool to_save;
    taper_val root; // TAPER_OBJECT
    taper_module_function *functions;
    size_t function_count;
    taper_module_pending *pending;
    size_t pending_count;
    taper_module_extra *extras;
    size_t extra_count;
    struct taper_name *extra_names; // sorted (format/name_sort.h): numbers of extras by name
    taper_module_debug *debug;      // sorted by handle
    size_t debug_count;

    bool torchscript;             // true if the functions are in the sources
    taper_module_source *sources; // sorted by name
    size_t source_count;
    taper_module_place *places;
    size_t place_count, place_capacity;
    // Callstacks to write; NULL if the handles are those of the module's file.
    const taper_module_callstacks *callstacks;

    struct taper_pt2_program *exported; // program of torch.export (pt2_program.h), or NULL
    void (*release_exported)(struct taper_pt2_program *exported);

    taper_obj *blob; // the file's bytes, owned
} taper_module;

// Returns true if the functions came as bytecode. Then operators, states and debug records are as saved.
static inline bool taper_module_has_bytecode(const taper_module *module)
{
    return !module->torchscript && module->exported == NULL;
}

// taper_module_sort_extras is for the readers, after the extras were read. taper_module_find_extra returns the extra
// file with a name, or NULL.
TAPER_MUST_USE taper_status taper_module_sort_extras(taper_module *module, taper_error *error);
const taper_module_extra *taper_module_find_extra(const taper_module *module, const char *name);

// taper_module_init makes an empty module. The caller must call taper_module_free, also after a failure.
// taper_module_free frees everything that the module owns; values that other code has retained remain. A zeroed module
// is allowed.
TAPER_MUST_USE taper_status taper_module_init(const taper_allocator *allocator, taper_types *types,
                                              taper_module *module, taper_error *error);
void taper_module_free(taper_module *module);
void taper_module_drop_functions(taper_module *module);

// The bytes of a file, which all storages that borrow them share. It is an object, so that a storage can own a
// reference. Release it with taper_obj_release(&blob->head).
typedef struct taper_blob {
    taper_obj head; // tag TAPER_BLOB, heap NULL; head and destroy form a taper_blob_head
    void (*destroy)(taper_obj *obj);
    taper_allocator allocator;
    const uint8_t *data;
    size_t size;
    void (*release)(void *user); // called at the end for borrowed bytes; may be NULL
    void *user;
    taper_mapping mapping; // data is NULL for no mapping
    void *owned;           // block of the allocator, `size` bytes; or NULL
} taper_blob;

// Returns the kind of a storage that borrows the blob's bytes.
static inline taper_storage_kind taper_blob_kind(const taper_blob *blob)
{
    return blob->mapping.data != NULL ? TAPER_STORAGE_FILE : TAPER_STORAGE_BORROWED;
}

// Makes a blob of the host's bytes, which must not change before release(user) is called. release may be NULL.
TAPER_MUST_USE taper_status taper_blob_from_memory(const taper_allocator *allocator, const void *data, size_t size,
                                                   void (*release)(void *user), void *user, taper_blob **blob,
                                                   taper_error *error);
// Take over a block of the allocator, or a mapping, also on failure.
TAPER_MUST_USE taper_status taper_blob_from_block(const taper_allocator *allocator, void *block, size_t size,
                                                  taper_blob **blob, taper_error *error);
TAPER_MUST_USE taper_status taper_blob_from_mapping(const taper_allocator *allocator, taper_mapping *mapping,
                                                    taper_blob **blob, taper_error *error);

// Reads a module from a blob. The module and the storages that borrow from the blob retain it. On failure *module is
// empty. The error says which kind of file it is if it is not a supported one.
TAPER_MUST_USE taper_status taper_module_read(const taper_allocator *allocator, taper_types *types, taper_blob *blob,
                                              taper_module *module, taper_error *error);
// Reads a module that will be written again (to_save).
TAPER_MUST_USE taper_status taper_module_read_to_save(const taper_allocator *allocator, taper_types *types,
                                                      taper_blob *blob, taper_module *module, taper_error *error);
// Compares the checksums of all records, for a file that has some.
TAPER_MUST_USE taper_status taper_module_verify(const taper_allocator *allocator, const taper_blob *blob,
                                                taper_error *error);
// The readers that taper_module_read calls. The module has allocator, arena, heap, types and blob and is otherwise
// zero. On failure the caller frees the content.
TAPER_MUST_USE taper_status taper_lite_archive_read(taper_blob *blob, taper_module *module, taper_error *error);
TAPER_MUST_USE taper_status taper_lite_flatbuffer_read(taper_blob *blob, taper_module *module, taper_error *error);

#endif
