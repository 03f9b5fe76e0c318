// SPDX-License-Identifier: BSD-2-Clause
// What a lite-interpreter file holds, whichever container it came in: zip with pickles (lite_archive.c) or flatbuffer
// (lite_flatbuffer.c). Values live on the module's heap, everything else in its arena. Tensors' storages borrow the
// file's bytes where these are stored and aligned, and are copies where not.
#ifndef TAPER_FORMAT_MODULE_H
#define TAPER_FORMAT_MODULE_H

#include "base/arena.h"
#include "ir/tensor_def.h"
#include "platform/platform.h"

// Instruction numbers of the lite interpreter (the flatbuffer's op field; names are the zip's).
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
int taper_lite_opcode_from_name(const char *name, size_t length); // -1 when unknown

// Whether a method is one of those that torch.utils.bundled_inputs adds.
bool taper_module_is_bundling(const char *method);
// Whether a prepared model keeps a method of its class: forward, those of bundled inputs, and the named others.
bool taper_module_keeps(const char *method, const char *const *others, size_t count);

typedef struct taper_lite_instruction {
    uint8_t op; // taper_lite_opcode
    uint16_t n;
    int32_t x;
    int32_t debug; // handle, -1: none
} taper_lite_instruction;

typedef struct taper_lite_operator {
    const char *name;     // "aten::add"
    const char *overload; // "Tensor" or ""
    int32_t arguments;    // pushed by the caller; -1: all of the schema
} taper_lite_operator;

typedef struct taper_module_argument {
    const char *name;
    const taper_type *type;
    const char *type_text;
    taper_val default_value;
    bool has_default;
} taper_module_argument;

// What a file gives as the default of an argument whose type is known: None stands for "no default" as well.
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
    taper_module_argument *arguments; // self first
    taper_module_argument *returns;
    size_t argument_count, return_count;
} taper_module_function;

// A module object whose class has __setstate__: to be run in order, before anything else.
typedef struct taper_module_pending {
    taper_object *object; // owned
    taper_val state;      // owned
} taper_module_pending;

typedef struct taper_module_extra {
    const char *name; // without "extra/"
    const void *data; // NULL: compressed, and too large or too damaged to be unpacked on loading
    size_t size;
} taper_module_extra;

// One entry of the callstack map: what to print for a debug handle.
typedef struct taper_module_debug {
    int64_t handle;
    const char
        *text; // "top(Net)::<unknown>.conv(Conv2d)::forward.aten::conv2d", PyTorch's module hierarchy, as far as known
} taper_module_debug;

// A file of TorchScript.
typedef struct taper_module_source {
    const char *name; // "code/__torch__/a.py"
    const char *text;
    size_t length;
} taper_module_source;

// Where a node comes from: a node's `debug` is the number of its place.
typedef struct taper_module_place {
    uint32_t source, at;               // byte in its text
    uint32_t parent;                   // the place of the call, UINT32_MAX: none
    const char *function;              // "forward"
    const char *class_name, *instance; // of a method: "__torch__.A", and what it was called on: "conv", "SELF"; or NULL
} taper_module_place;

// What a debug handle stands for in a module that is written: handle i is that of item i.
typedef struct taper_module_callstack {
    uint32_t place;
    const char *node; // "aten::add.Tensor(Tensor self, …", "prim::If"
} taper_module_callstack;

typedef struct taper_module_callstacks {
    taper_module_callstack *items;
    size_t count, capacity;
} taper_module_callstacks;

// The operators of this build mean what they meant in PyTorch 1.13.
enum { TAPER_OPERATOR_VERSION = 10 };

typedef struct taper_module {
    const taper_allocator *allocator;
    taper_arena arena;
    taper_heap *heap;
    taper_types *types;

    int64_t bytecode_version;
    int64_t operator_version;
    bool flatbuffer;
    bool to_save;   // its functions need schemas: where bytecode has none, the archive's sources are read instead
    taper_val root; // TAPER_OBJECT
    taper_module_function *functions;
    size_t function_count;
    taper_module_pending *pending;
    size_t pending_count;
    taper_module_extra *extras;
    size_t extra_count;
    struct taper_name *extra_names; // sorted (format/name_sort.h): to numbers of extras
    taper_module_debug *debug;      // sorted by handle
    size_t debug_count;

    bool torchscript;             // the functions are in the sources
    taper_module_source *sources; // sorted by name
    size_t source_count;
    taper_module_place *places;
    size_t place_count, place_capacity;
    const taper_module_callstacks *callstacks; // to be written; NULL: the handles are those of the module's file

    struct taper_pt2_program *exported; // of torch.export (pt2_program.h); NULL: it is none
    void (*release_exported)(struct taper_pt2_program *exported);

    taper_obj *blob; // keeps the file's bytes; owned
} taper_module;

// Whether its functions came as bytecode, of which there are operators, states and debug records as saved.
static inline bool taper_module_has_bytecode(const taper_module *module)
{
    return !module->torchscript && module->exported == NULL;
}

// For the readers, when the extras are there. The extra file with a name; NULL: there is none.
TAPER_MUST_USE taper_status taper_module_sort_extras(taper_module *module, taper_error *error);
const taper_module_extra *taper_module_find_extra(const taper_module *module, const char *name);

// Frees everything it holds; the values that others retained stay. A module of zeroes is fine.
// An empty one, also where it fails: always taper_module_free it.
TAPER_MUST_USE taper_status taper_module_init(const taper_allocator *allocator, taper_types *types,
                                              taper_module *module, taper_error *error);
void taper_module_free(taper_module *module);
void taper_module_drop_functions(taper_module *module);

// The file's bytes, shared by all storages that borrow them. An object so that a storage can own it; released with
// taper_obj_release(&blob->head).
typedef struct taper_blob {
    taper_obj head; // tag TAPER_BLOB, heap NULL; head and destroy are a taper_blob_head
    void (*destroy)(taper_obj *obj);
    taper_allocator allocator;
    const uint8_t *data;
    size_t size;
    void (*release)(void *user); // of borrowed bytes, may be NULL
    void *user;
    taper_mapping mapping; // data NULL: none
    void *owned;           // block of the allocator, of size bytes
} taper_blob;

// Whose memory a storage over the blob's bytes stands on.
static inline taper_storage_kind taper_blob_kind(const taper_blob *blob)
{
    return blob->mapping.data != NULL ? TAPER_STORAGE_FILE : TAPER_STORAGE_BORROWED;
}

// data must stay as it is until release(user) is called (release may be NULL).
TAPER_MUST_USE taper_status taper_blob_from_memory(const taper_allocator *allocator, const void *data, size_t size,
                                                   void (*release)(void *user), void *user, taper_blob **blob,
                                                   taper_error *error);
// Takes over a block of the allocator, or a mapping; also when it fails.
TAPER_MUST_USE taper_status taper_blob_from_block(const taper_allocator *allocator, void *block, size_t size,
                                                  taper_blob **blob, taper_error *error);
TAPER_MUST_USE taper_status taper_blob_from_mapping(const taper_allocator *allocator, taper_mapping *mapping,
                                                    taper_blob **blob, taper_error *error);

// Reads a module from bytes (blob is retained by the module and by storages that borrow from it). *module is filled; on
// failure it is left empty. Recognizes what kind of file it is and says so when it is not one of these.
TAPER_MUST_USE taper_status taper_module_read(const taper_allocator *allocator, taper_types *types, taper_blob *blob,
                                              taper_module *module, taper_error *error);
// The same for a module that is to be written anew (to_save).
TAPER_MUST_USE taper_status taper_module_read_to_save(const taper_allocator *allocator, taper_types *types,
                                                      taper_blob *blob, taper_module *module, taper_error *error);
// Compares the checksums of all records, for a file that is asked to have some.
TAPER_MUST_USE taper_status taper_module_verify(const taper_allocator *allocator, const taper_blob *blob,
                                                taper_error *error);
// The two readers behind it. module has allocator, arena, heap, types and blob and is otherwise zero; what a reader
// left in it when it fails is freed by the caller.
TAPER_MUST_USE taper_status taper_lite_archive_read(taper_blob *blob, taper_module *module, taper_error *error);
TAPER_MUST_USE taper_status taper_lite_flatbuffer_read(taper_blob *blob, taper_module *module, taper_error *error);

#endif
