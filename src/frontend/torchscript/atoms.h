// SPDX-License-Identifier: BSD-2-Clause
// Represents the names in TorchScript sources by small numbers (atoms). Equal names have equal atoms. Names that the
// language or this front end uses have constants.
#ifndef TAPER_TORCHSCRIPT_ATOMS_H
#define TAPER_TORCHSCRIPT_ATOMS_H

#include "base/arena.h"

// The arguments of X are the identifier in C and the name.
#define TAPER_TS_KNOWN_NAMES(X)                                                                                        \
    X(CLASS, "class")                                                                                                  \
    X(DEF, "def")                                                                                                      \
    X(RETURN, "return")                                                                                                \
    X(IF, "if")                                                                                                        \
    X(ELSE, "else")                                                                                                    \
    X(FOR, "for")                                                                                                      \
    X(IN, "in")                                                                                                        \
    X(WHILE, "while")                                                                                                  \
    X(WITH, "with")                                                                                                    \
    X(AS, "as")                                                                                                        \
    X(PASS, "pass")                                                                                                    \
    X(IMPORT, "import")                                                                                                \
    X(TRUE, "True")                                                                                                    \
    X(FALSE, "False")                                                                                                  \
    X(NONE, "None")                                                                                                    \
    X(KEYWORDS_END, "")                                                                                                \
    X(TORCH, "torch")                                                                                                  \
    X(OPS, "ops")                                                                                                      \
    X(CONSTANTS, "CONSTANTS")                                                                                          \
    X(PROGRAM, "__torch__")                                                                                            \
    X(ANNOTATE, "annotate")                                                                                            \
    X(UNINITIALIZED, "uninitialized")                                                                                  \
    X(UNCHECKED_CAST, "unchecked_cast")                                                                                \
    X(ISINSTANCE, "isinstance")                                                                                        \
    X(GETATTR, "getattr")                                                                                              \
    X(FORK, "fork")                                                                                                    \
    X(RANGE, "range")                                                                                                  \
    X(PRINT, "print")                                                                                                  \
    X(SORTED, "sorted")                                                                                                \
    X(INF, "inf")                                                                                                      \
    X(NAN, "nan")                                                                                                      \
    X(INFJ, "infj")                                                                                                    \
    X(NANJ, "nanj")                                                                                                    \
    X(INT, "int")                                                                                                      \
    X(FLOAT, "float")                                                                                                  \
    X(BOOL, "bool")                                                                                                    \
    X(STR, "str")                                                                                                      \
    X(COMPLEX, "complex")                                                                                              \
    X(TENSOR, "Tensor")                                                                                                \
    X(NUMBER, "number")                                                                                                \
    X(SCALAR, "Scalar")                                                                                                \
    X(DEVICE, "Device")                                                                                                \
    X(GENERATOR, "Generator")                                                                                          \
    X(NONE_TYPE, "NoneType")                                                                                           \
    X(ANY, "Any")                                                                                                      \
    X(ANY_LIST, "list")                                                                                                \
    X(ANY_TUPLE, "tuple")                                                                                              \
    X(LAYOUT, "Layout")                                                                                                \
    X(QSCHEME, "QScheme")                                                                                              \
    X(LIST, "List")                                                                                                    \
    X(DICT, "Dict")                                                                                                    \
    X(TUPLE, "Tuple")                                                                                                  \
    X(OPTIONAL, "Optional")                                                                                            \
    X(FUTURE, "Future")                                                                                                \
    X(RREF, "RRef")                                                                                                    \
    X(UNION, "Union")                                                                                                  \
    X(FINAL, "Final")                                                                                                  \
    X(NAMED_TUPLE, "NamedTuple")                                                                                       \
    X(INTERFACE, "Interface")                                                                                          \
    X(MODULE_INTERFACE, "ModuleInterface")                                                                             \
    X(ENUM, "Enum")                                                                                                    \
    X(ANNOTATIONS, "__annotations__")                                                                                  \
    X(PARAMETERS, "__parameters__")                                                                                    \
    X(BUFFERS, "__buffers__")                                                                                          \
    X(FORWARD_HOOKS, "__forward_hooks__")                                                                              \
    X(FORWARD_PRE_HOOKS, "__forward_pre_hooks__")                                                                      \
    X(NEW, "__new__")                                                                                                  \
    X(INIT, "__init__")                                                                                                \
    X(ENTER, "__enter__")                                                                                              \
    X(LT, "__lt__")                                                                                                    \
    X(EXIT, "__exit__")                                                                                                \
    X(GETSTATE, "__getstate__")                                                                                        \
    X(SETSTATE, "__setstate__")                                                                                        \
    X(FORWARD, "forward")                                                                                              \
    X(TOLIST, "tolist")                                                                                                \
    X(VALUE, "value")                                                                                                  \
    X(NAME, "name")

enum {
#define X(id, text) TAPER_ATOM_##id,
    TAPER_TS_KNOWN_NAMES(X)
#undef X
        TAPER_ATOM_COUNT
};

typedef struct taper_ts_atoms {
    const taper_allocator *allocator;
    taper_arena *arena;
    const char **names; // name of each atom, NUL-terminated
    size_t count, capacity;
    uint32_t *index; // hash table with open addressing; an entry is atom + 1, or 0 if it is free
    size_t index_size;
    uint64_t probes; // probes of all lookups; a limit on them prevents colliding names from making loading slow
} taper_ts_atoms;

TAPER_MUST_USE taper_status taper_ts_atoms_create(taper_ts_atoms *atoms, const taper_allocator *allocator,
                                                  taper_arena *arena, taper_error *error);
void taper_ts_atoms_free(taper_ts_atoms *atoms);
TAPER_MUST_USE taper_status taper_ts_atom(taper_ts_atoms *atoms, const char *text, size_t length, uint32_t *atom,
                                          taper_error *error);

#endif
