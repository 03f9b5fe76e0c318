// SPDX-License-Identifier: BSD-2-Clause
// The inside of the pickle reader, shared by pickle.c (opcodes), pickle_globals.c (what a GLOBAL names and does) and
// pickle_tensors.c. Not for others.
//
// Two kinds of values exist only inside: a GLOBAL is an UNDEFINED value with its number, and a persistent id is a tuple
// (STORAGE, dtype, element count), which no file can forge because no opcode takes a tuple apart. Both, and the tuples
// that hold them, are `raw` and never reach a list, a dict, an object or the result.
#ifndef TAPER_FORMAT_PICKLE_MACHINE_H
#define TAPER_FORMAT_PICKLE_MACHINE_H

#include "base/arena.h"
#include "base/reader.h"
#include "ir/tensor_def.h"

// A slot of the stack or of the memo; owns its value.
typedef struct taper_pickle_slot {
    taper_val value;
    uint32_t memo;  // of a stack slot: the memo slot that shares the value, TAPER_PICKLE_NO_MEMO if none
    uint16_t depth; // of nesting
    bool raw;
    bool set;    // of a memo slot
    bool closed; // an object that has its state
} taper_pickle_slot;

#define TAPER_PICKLE_NO_MEMO UINT32_MAX

typedef enum taper_global_kind {
    TAPER_GLOBAL_CLASS,
    TAPER_GLOBAL_STORAGE, // number: dtype
    TAPER_GLOBAL_QSCHEME, // number: taper_qscheme
    TAPER_GLOBAL_TENSOR,
    TAPER_GLOBAL_PARAMETER,
    TAPER_GLOBAL_QTENSOR,
    TAPER_GLOBAL_OTHER_TENSOR, // of a dtype that Taper has none of
    TAPER_GLOBAL_OTHER_DTYPE,
    TAPER_GLOBAL_LIST, // number: taper_type_kind of the elements
    TAPER_GLOBAL_TYPE_TAG,
    TAPER_GLOBAL_DEVICE,
    TAPER_GLOBAL_ORDERED_DICT,
    TAPER_GLOBAL_COMPLEX,
    TAPER_GLOBAL_SPARSE,
    TAPER_GLOBAL_LEGACY
} taper_global_kind;

typedef struct taper_pickle_global {
    taper_global_kind kind;
    int number;
    const char *name; // "torch._utils._rebuild_tensor_v2"
} taper_pickle_global;

typedef struct taper_pickle {
    taper_heap *heap;
    taper_types *types;
    taper_type_scope *scope;
    const struct taper_pickle_host *host;
    const taper_allocator *allocator;
    taper_arena arena;
    taper_reader reader;
    size_t start; // of the current opcode
    taper_pickle_slot *stack, *memo;
    size_t count, stack_capacity, memo_count, memo_capacity;
    uint32_t *marks;
    size_t mark_count, mark_capacity;
    taper_pickle_global *globals;
    size_t global_count, global_capacity;
    taper_storage *empty; // shared by all tensors without elements
    uint64_t checked;     // items of containers looked at when these were given their types
    taper_error *error;
} taper_pickle;

// A failure at the current opcode; formats "data.pkl, byte N: TEXT".
TAPER_COLD taper_status taper_pickle_fail(const taper_pickle *p, taper_status status, const char *format, ...)
    TAPER_PRINTF(3, 4);

// A failure that another part reported, given its place in the file. Wrong arguments are the file's fault.
TAPER_COLD taper_status taper_pickle_blame(const taper_pickle *p, taper_status status);

// The value passes over; released on failure.
TAPER_MUST_USE taper_status taper_pickle_push(taper_pickle *p, taper_val value, unsigned depth, bool raw);
// A fresh object, NULL meaning out of memory.
TAPER_MUST_USE taper_status taper_pickle_push_new(taper_pickle *p, void *object);

// ---- pickle_globals.c

TAPER_MUST_USE taper_status taper_pickle_find_global(taper_pickle *p, const char *module, size_t module_length,
                                                     const char *name, size_t name_length);
// NULL when value is no GLOBAL.
const taper_pickle_global *taper_pickle_global_of(const taper_pickle *p, taper_val value);
// REDUCE: calls the global with the arguments and pushes what it gives. arguments stays the caller's; argument_depth is
// its nesting.
TAPER_MUST_USE taper_status taper_pickle_call(taper_pickle *p, const taper_pickle_global *global,
                                              taper_tuple *arguments, unsigned argument_depth);
// REDUCE of an enum: its member with the value, which is not in a tuple as arguments are.
TAPER_MUST_USE taper_status taper_pickle_member(taper_pickle *p, const taper_pickle_global *global, taper_val value);
// BUILD: gives the object its state, whose reference passes over.
TAPER_MUST_USE taper_status taper_pickle_build(taper_pickle *p, taper_object *object, taper_val state);

// ---- pickle_tensors.c

// BINPERSID
TAPER_MUST_USE taper_status taper_pickle_storage(taper_pickle *p, taper_val id);
TAPER_MUST_USE taper_status taper_pickle_tensor(taper_pickle *p, const taper_tuple *arguments);
TAPER_MUST_USE taper_status taper_pickle_qtensor(taper_pickle *p, const taper_tuple *arguments);

#endif
