// SPDX-License-Identifier: BSD-2-Clause
// Writes the pickle dialect that pickle.h reads, with the opcodes and globals of PyTorch's pickler. A value that
// several containers hold is written once and then referred to, so shared lists, dicts, objects and tensors remain
// shared. The caller writes in order: it opens a container, pushes its items, and closes it.
#ifndef TAPER_FORMAT_PICKLE_WRITE_H
#define TAPER_FORMAT_PICKLE_WRITE_H

#include "base/arena.h"
#include "base/pointer_map.h"
#include "format/sink.h"
#include "ir/tensor_def.h"
#include "ir/type_table.h"

enum { TAPER_PICKLE_KEY = 40 };

// The form in which an object is saved.
typedef enum taper_saved_as {
    TAPER_SAVED_ATTRIBUTES, // saved as a dict of its attributes
    TAPER_SAVED_STATE,      // saved as the result of its __getstate__
    TAPER_SAVED_MEMBER      // for a member of an enum: saved as the member's value
} taper_saved_as;

typedef struct taper_pickle_saver {
    void *user;
    // Finds the key of a storage: the name of its record in the folder of the pickle's storages. A storage always has
    // the same key. The pointer is NULL if the pickle cannot contain tensors.
    taper_status (*storage)(void *user, taper_storage *storage, char key[TAPER_PICKLE_KEY], taper_error *error);
    // Chooses the form in which an object is saved. *value, borrowed, is read only for TAPER_SAVED_STATE and
    // TAPER_SAVED_MEMBER. The pointer is NULL if all objects are saved as their attributes.
    taper_status (*state)(void *user, const taper_object *object, taper_saved_as *as, taper_val *value,
                          taper_error *error);
} taper_pickle_saver;

typedef struct taper_pickler {
    const taper_allocator *allocator;
    const taper_pickle_saver *saver;
    const char *name; // name of the record for messages, such as "data.pkl"
    taper_bytes bytes;
    taper_arena arena;
    taper_lookup strings; // strings that were written, with their memo slots
    taper_lookup globals; // globals that were written, with their memo slots
    taper_lookup tags;    // types of containers that were written, with their memo slots
    // Memo slots by address, of values and of storages. A value is TAPER_PICKLE_OPEN while it is being written.
    taper_pointer_map objects;
    uint32_t memo;  // number of memo slots in use
    uint64_t stack; // number of values that a reader has on its stack at this point
    bool overflow;  // true if a reader's stack would be too large
    taper_error *error;
} taper_pickler;

// Begins a pickle. taper_pickler_finish reports every failure of the calls in between; taper_pickler_value also reports
// its own failure immediately.
void taper_pickler_start(taper_pickler *p, const taper_allocator *allocator, const taper_pickle_saver *saver,
                         const char *name, taper_error *error);
void taper_pickler_free(taper_pickler *p);

void taper_pickler_none(taper_pickler *p);
void taper_pickler_bool(taper_pickler *p, bool value);
void taper_pickler_int(taper_pickler *p, int64_t value);
void taper_pickler_double(taper_pickler *p, double value);
// Pushes a string and returns its memo slot. The text must not change before the pickle is finished.
size_t taper_pickler_string(taper_pickler *p, const char *text, size_t length);
// Call these functions before and after pushing the items of a tuple with `count` items.
void taper_pickler_open(taper_pickler *p, size_t count);
void taper_pickler_close(taper_pickler *p, size_t count);
// Pushes any value. depth: number of open containers that will contain it.
TAPER_MUST_USE taper_status taper_pickler_value(taper_pickler *p, taper_val value, unsigned depth);
// Ends the pickle, whose bytes are then in p->bytes. Fails if an earlier call failed.
TAPER_MUST_USE taper_status taper_pickler_finish(taper_pickler *p);

// ---- for pickle_write.c and pickle_write_values.c

#define TAPER_PICKLE_OPEN SIZE_MAX

typedef enum taper_pickle_opcode {
    TAPER_PICKLE_MARK = '(',
    TAPER_PICKLE_STOP = '.',
    TAPER_PICKLE_BINFLOAT = 'G',
    TAPER_PICKLE_BININT = 'J',
    TAPER_PICKLE_BININT1 = 'K',
    TAPER_PICKLE_BININT2 = 'M',
    TAPER_PICKLE_NONE = 'N',
    TAPER_PICKLE_BINPERSID = 'Q',
    TAPER_PICKLE_REDUCE = 'R',
    TAPER_PICKLE_BINUNICODE = 'X',
    TAPER_PICKLE_EMPTY_LIST = ']',
    TAPER_PICKLE_BUILD = 'b',
    TAPER_PICKLE_GLOBAL = 'c',
    TAPER_PICKLE_APPENDS = 'e',
    TAPER_PICKLE_BINGET = 'h',
    TAPER_PICKLE_LONG_BINGET = 'j',
    TAPER_PICKLE_BINPUT = 'q',
    TAPER_PICKLE_LONG_BINPUT = 'r',
    TAPER_PICKLE_TUPLE = 't',
    TAPER_PICKLE_SETITEMS = 'u',
    TAPER_PICKLE_EMPTY_DICT = '}',
    TAPER_PICKLE_EMPTY_TUPLE = ')',
    TAPER_PICKLE_PROTO = 0x80,
    TAPER_PICKLE_NEWOBJ = 0x81,
    TAPER_PICKLE_TUPLE1 = 0x85,
    TAPER_PICKLE_TUPLE2 = 0x86,
    TAPER_PICKLE_TUPLE3 = 0x87,
    TAPER_PICKLE_NEWTRUE = 0x88,
    TAPER_PICKLE_NEWFALSE = 0x89,
    TAPER_PICKLE_LONG1 = 0x8a
} taper_pickle_opcode;

// Writes an opcode without operands. change: its effect on the number of values on the stack.
void taper_pickler_op(taper_pickler *p, taper_pickle_opcode op, int64_t change);
// Stores the top of the stack in a new memo slot and returns the number of the slot.
size_t taper_pickler_put(taper_pickler *p);
void taper_pickler_get(taper_pickler *p, size_t slot);
// Pushes a global and returns its memo slot. The texts must not change before the pickle is finished.
size_t taper_pickler_global(taper_pickler *p, const char *module, size_t module_length, const char *name);
TAPER_COLD taper_status taper_pickler_fail(const taper_pickler *p, taper_status status, const char *format, ...)
    TAPER_PRINTF(3, 4);

#endif
