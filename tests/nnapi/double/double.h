// SPDX-License-Identifier: BSD-2-Clause
// A stand-in for Android's libneuralnetworks.so that tests run on: every call is held against the API, and models run
// on the CPU. One library for each level from 27 to 31 is built of these files (DOUBLE_LEVEL).
//
// TAPER_NNAPI_DOUBLE_LOG names a file that each misuse is appended to, "FUNCTION: what"; what was not freed when the
// library goes is misuse too. TAPER_NNAPI_DOUBLE makes it behave badly: switches.c has the list.
//
// All functions of the API work under one lock, which only the arithmetic of a run leaves.
#ifndef TAPER_TESTS_NNAPI_DOUBLE_H
#define TAPER_TESTS_NNAPI_DOUBLE_H

#include "backends/nnapi/neural_networks.h"

#ifndef DOUBLE_LEVEL
#define DOUBLE_LEVEL 31
#endif

#define DOUBLE_PROTOTYPE(level, result, name, arguments)                                                               \
    __attribute__((visibility("default"))) result ANeuralNetworks##name arguments;
NEURAL_NETWORKS_FUNCTIONS(DOUBLE_PROTOTYPE)
#undef DOUBLE_PROTOTYPE

// ---- entering and leaving (switches.c)

// Takes the lock, notes the function's name, and answers the error that a switch wants from this call, or 0.
int double_enter(const char *function);
void double_leave(void);
void double_resume(const char *function); // takes the lock again, after double_leave
void double_wait(void);                   // leaves the lock until somebody calls double_wake
void double_wake(void);
// Notes a misuse of the function that was entered last; returns code.
__attribute__((format(printf, 2, 3))) int double_misuse(int code, const char *format, ...);

#define ENTER                                                                                                          \
    const int asked_ = double_enter(__func__);                                                                         \
    if (asked_ != ANEURALNETWORKS_NO_ERROR) {                                                                          \
        double_leave();                                                                                                \
        return asked_;                                                                                                 \
    }
#define LEAVE(code)                                                                                                    \
    do {                                                                                                               \
        const int code_ = (code);                                                                                      \
        double_leave();                                                                                                \
        return code_;                                                                                                  \
    } while (0)
#define MISUSE(code, ...) LEAVE(double_misuse(code, __VA_ARGS__))
// Leaves with the code of an expression that is not NO_ERROR.
#define TRY(expression)                                                                                                \
    do {                                                                                                               \
        const int tried_ = (expression);                                                                               \
        if (tried_ != ANEURALNETWORKS_NO_ERROR) {                                                                      \
            double_leave();                                                                                            \
            return tried_;                                                                                             \
        }                                                                                                              \
    } while (0)

// The switches, as the environment has them now.
bool double_refuses(int32_t operation);
bool double_has_no_devices(void);
bool double_is_wrong(void);
bool double_holds(void);
bool double_has_garbage_sizes(void);
unsigned double_slowness(void); // milliseconds
bool double_is_lost(void);      // the accelerator
void double_count_run(void);    // of the accelerator

// ---- objects (objects.c). A handle stays in a table for ever, so that one which was freed is known as such.

typedef enum double_kind {
    DOUBLE_MEMORY,
    DOUBLE_MEMORY_DESC,
    DOUBLE_MODEL,
    DOUBLE_COMPILATION,
    DOUBLE_EXECUTION,
    DOUBLE_BURST,
    DOUBLE_EVENT
} double_kind;

// Begins what is behind a handle. It lives as long as its handle, or somebody who refers to it.
typedef struct double_body {
    uint32_t holders;
    uint32_t id;
    void (*destroy)(void *body);
} double_body;

// A handle for the body, which gets its first holder; NULL: out of memory.
void *double_object(double_kind kind, void *body, void (*destroy)(void *body));
// The body of a handle: misuse where it is NULL, freed, of another kind or no handle at all.
int double_find(const void *handle, double_kind kind, void *body);
// Ends a handle. Misuse if it was freed before; NULL is nothing. *body is held by the caller until double_drop.
int double_end(void *handle, double_kind kind, void *body);
void double_hold(void *body);
void double_drop(void *body);

// ---- devices (device.c)

// The bits of the devices: misuse where one is none. 1: the accelerator, 2: the reference.
int double_devices(const ANeuralNetworksDevice *const *devices, uint32_t count, uint32_t *bits);

#endif
