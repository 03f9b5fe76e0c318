// SPDX-License-Identifier: BSD-2-Clause
// Internal parts of the pickle reader, for pickle.c (opcodes), pickle_globals.c (names and effects of a GLOBAL) and the
// other files pickle_*.c that read. No other code includes this header.
//
// Two kinds of values exist only inside the reader. A GLOBAL is an UNDEFINED value with a number. A persistent id is a
// tuple (STORAGE, dtype, element count); no file can forge it, because no opcode takes a tuple apart. Both kinds, and
// tuples that contain them, are marked `raw` and never reach a list, a dict, an object or the result.
#ifndef TAPER_FORMAT_PICKLE_MACHINE_H
#define TAPER_FORMAT_PICKLE_MACHINE_H

#include "base/arena.h"
#include "base/reader.h"
#include "ir/tensor_def.h"

// A slot of the stack or of the memo. A slot owns its value.
typedef struct taper_pickle_slot {
    taper_val value;
    uint32_t memo;  // for a stack slot: number of the memo slot that shares the value, or TAPER_PICKLE_NO_MEMO
    uint16_t depth; // nesting depth of the value
    bool raw;
    bool set;    // for a memo slot: true if the slot is in use
    bool closed; // true for an object that already has its state
} taper_pickle_slot;

#define TAPER_PICKLE_NO_MEMO UINT32_MAX

typedef enum taper_global_kind {
    TAPER_GLOBAL_CLASS,
    TAPER_GLOBAL_STORAGE, // class of storages; the number is the dtype
    TAPER_GLOBAL_QSCHEME, // scheme of quantization; the number is a taper_qscheme
    TAPER_GLOBAL_TENSOR,
    TAPER_GLOBAL_PARAMETER,
    TAPER_GLOBAL_QTENSOR,
    TAPER_GLOBAL_OTHER_TENSOR, // class of tensors of a dtype that Taper lacks
    TAPER_GLOBAL_OTHER_DTYPE,
    TAPER_GLOBAL_LIST, // function that makes a list; the number is the taper_type_kind of the elements
    TAPER_GLOBAL_TYPE_TAG,
    TAPER_GLOBAL_DEVICE,
    TAPER_GLOBAL_ORDERED_DICT,
    TAPER_GLOBAL_COMPLEX,
    TAPER_GLOBAL_SPARSE,
    TAPER_GLOBAL_LEGACY,
    TAPER_GLOBAL_SUBCLASS, // function that rebuilds a tensor of a Python subclass
    TAPER_GLOBAL_NOTHING   // unneeded name in the pickle of a subclass tensor; a call of the name returns None
} taper_global_kind;

typedef struct taper_pickle_global {
    taper_global_kind kind;
    int number;
    const char *name; // name of the global, such as "torch._utils._rebuild_tensor_v2"
} taper_pickle_global;

typedef struct taper_pickle {
    taper_heap *heap;
    taper_types *types;
    taper_type_scope *scope;
    const struct taper_pickle_host *host;
    const taper_allocator *allocator;
    taper_arena arena;
    taper_reader reader;
    size_t start; // position of the current opcode in the record
    taper_pickle_slot *stack, *memo;
    size_t count, stack_capacity, memo_count, memo_capacity;
    uint32_t *marks;
    size_t mark_count, mark_capacity;
    taper_pickle_global *globals;
    size_t global_count, global_capacity;
    taper_storage *empty; // storage that all tensors without elements share, or NULL before the first such tensor
    uint64_t checked;     // number of container items that were read to set element types
    taper_error *error;
} taper_pickle;

// True if the pickle may contain tensors of Python subclasses, which only exported programs have.
#define TAPER_PICKLE_SUBCLASSES(p) (TAPER_WITH_PT2 && (p)->host->classes == &taper_subclass_host)

// Fails with "data.pkl, byte N: TEXT", where N is the position of the current opcode.
TAPER_COLD taper_status taper_pickle_fail(const taper_pickle *p, taper_status status, const char *format, ...)
    TAPER_PRINTF(3, 4);

// Adds the position of the current opcode to an error that another part has set. TAPER_ERROR_ARGUMENT becomes
// TAPER_ERROR_FILE, because the file supplied the arguments.
TAPER_COLD taper_status taper_pickle_blame(const taper_pickle *p, taper_status status);

// Pushes a value. Takes over the reference, even if it fails.
TAPER_MUST_USE taper_status taper_pickle_push(taper_pickle *p, taper_val value, unsigned depth, bool raw);
// Pushes a new object. Fails if `object` is NULL, which means that an allocation failed.
TAPER_MUST_USE taper_status taper_pickle_push_new(taper_pickle *p, void *object);

// ---- pickle_globals.c

TAPER_MUST_USE taper_status taper_pickle_find_global(taper_pickle *p, const char *module, size_t module_length,
                                                     const char *name, size_t name_length);
// Returns the global that the value stands for, or NULL if the value is not a GLOBAL.
const taper_pickle_global *taper_pickle_global_of(const taper_pickle *p, taper_val value);
// Handles REDUCE: calls the global with the arguments and pushes its result. The caller keeps its reference to the
// arguments. argument_depth: nesting depth of the arguments.
TAPER_MUST_USE taper_status taper_pickle_call(taper_pickle *p, const taper_pickle_global *global,
                                              taper_tuple *arguments, unsigned argument_depth);
// Handles REDUCE of an enum: pushes the member that has this value. Here `value` is not in a tuple of arguments.
TAPER_MUST_USE taper_status taper_pickle_member(taper_pickle *p, const taper_pickle_global *global, taper_val value);
// Handles BUILD: gives the object its state. Takes over the reference to `state`.
TAPER_MUST_USE taper_status taper_pickle_build(taper_pickle *p, taper_object *object, taper_val state);

// ---- pickle_tensors.c

// Handles BINPERSID: makes the storage that the persistent id names.
TAPER_MUST_USE taper_status taper_pickle_storage(taper_pickle *p, taper_val id);
TAPER_MUST_USE taper_status taper_pickle_tensor(taper_pickle *p, const taper_tuple *arguments);
TAPER_MUST_USE taper_status taper_pickle_qtensor(taper_pickle *p, const taper_tuple *arguments);

#endif
