// SPDX-License-Identifier: BSD-2-Clause
// Writes the pickle dialect that pickle.h reads, with the opcodes and globals that PyTorch's pickler uses. What has
// several holders is written once and referred to after that, so lists, dicts, objects and tensors that are one stay
// one. Pieces are pushed in order: a container is opened, its items are pushed, it is closed.
#ifndef TAPER_FORMAT_PICKLE_WRITE_H
#define TAPER_FORMAT_PICKLE_WRITE_H

#include "base/arena.h"
#include "base/pointer_map.h"
#include "format/sink.h"
#include "ir/tensor_def.h"
#include "ir/type_table.h"

enum { TAPER_PICKLE_KEY = 40 };

// How an object is saved.
typedef enum taper_saved_as {
    TAPER_SAVED_ATTRIBUTES, // a dict of its attributes
    TAPER_SAVED_STATE,      // what its __getstate__ gave
    TAPER_SAVED_MEMBER      // of an enum: its value
} taper_saved_as;

typedef struct taper_pickle_saver {
    void *user;
    // The key of a storage, the name of its record within the folder of the pickle's storages; the same for the same
    // storage. NULL: the pickle has no place for tensors.
    taper_status (*storage)(void *user, taper_storage *storage, char key[TAPER_PICKLE_KEY], taper_error *error);
    // *value (borrowed) is only looked at for the other two ways. NULL: all objects are saved as their attributes.
    taper_status (*state)(void *user, const taper_object *object, taper_saved_as *as, taper_val *value,
                          taper_error *error);
} taper_pickle_saver;

typedef struct taper_pickler {
    const taper_allocator *allocator;
    const taper_pickle_saver *saver;
    const char *name; // "data.pkl", for messages
    taper_bytes bytes;
    taper_arena arena;
    taper_lookup strings;      // that were written, with their memo slots
    taper_lookup globals;      // the same; and
    taper_lookup tags;         // types of containers
    taper_pointer_map objects; // memo slots by address: values (TAPER_PICKLE_OPEN while one is being written), storages
    uint32_t memo;             // slots in use
    uint64_t stack;            // values that a reader would hold now
    bool overflow;             // it would hold too many
    taper_error *error;
} taper_pickler;

// All failures are told by taper_pickler_finish at the latest, those of values at once.
void taper_pickler_start(taper_pickler *p, const taper_allocator *allocator, const taper_pickle_saver *saver,
                         const char *name, taper_error *error);
void taper_pickler_free(taper_pickler *p);

void taper_pickler_none(taper_pickler *p);
void taper_pickler_bool(taper_pickler *p, bool value);
void taper_pickler_int(taper_pickler *p, int64_t value);
void taper_pickler_double(taper_pickler *p, double value);
// text stays as it is until the pickle is finished. Gives its memo slot.
size_t taper_pickler_string(taper_pickler *p, const char *text, size_t length);
// Around the items of a tuple; count is known before.
void taper_pickler_open(taper_pickler *p, size_t count);
void taper_pickler_close(taper_pickler *p, size_t count);
// Any value. depth: how many containers are open around it.
TAPER_MUST_USE taper_status taper_pickler_value(taper_pickler *p, taper_val value, unsigned depth);
// The end of the pickle, whose bytes are in p->bytes.
TAPER_MUST_USE taper_status taper_pickler_finish(taper_pickler *p);

// ---- between pickle_write.c and pickle_write_values.c

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

// One opcode without operands, and what it does to the number of values on the stack.
void taper_pickler_op(taper_pickler *p, taper_pickle_opcode op, int64_t change);
// The memo slot that the value on top of the stack is put into.
size_t taper_pickler_put(taper_pickler *p);
void taper_pickler_get(taper_pickler *p, size_t slot);
// The texts stay as they are until the pickle is finished. Gives the memo slot.
size_t taper_pickler_global(taper_pickler *p, const char *module, size_t module_length, const char *name);
TAPER_COLD taper_status taper_pickler_fail(const taper_pickler *p, taper_status status, const char *format, ...)
    TAPER_PRINTF(3, 4);

#endif
