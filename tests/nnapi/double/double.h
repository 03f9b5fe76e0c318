// SPDX-License-Identifier: BSD-2-Clause
// An emulation of Android's libneuralnetworks.so for tests: it checks every call by the rules of the API and runs
// models on the CPU. These files are built as one library for each API level from 27 to 31 (DOUBLE_LEVEL).
//
// TAPER_NNAPI_DOUBLE_LOG names a file to which each misuse is appended as "FUNCTION: what". Objects that are not freed
// when the library is unloaded are also a misuse. The variable TAPER_NNAPI_DOUBLE makes the library behave badly;
// switches.c lists its values.
//
// All functions of the API hold one lock, which is released during the arithmetic of a run.
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

// ---- beginning and end of each NNAPI call (switches.c)

// Takes the lock and records the function's name. Returns the error that a switch requires for this call, or 0.
int double_enter(const char *function);
void double_leave(void);
void double_resume(const char *function); // takes the lock again, which double_leave released
void double_wait(void);                   // releases the lock until a call of double_wake
void double_wake(void);
// Logs a misuse of the API function that is running. Returns code.
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
// Returns from the API function with the code of the expression, unless this code is NO_ERROR.
#define TRY(expression)                                                                                                \
    do {                                                                                                               \
        const int tried_ = (expression);                                                                               \
        if (tried_ != ANEURALNETWORKS_NO_ERROR) {                                                                      \
            double_leave();                                                                                            \
            return tried_;                                                                                             \
        }                                                                                                              \
    } while (0)

// These functions read the current switches.
bool double_refuses(int32_t operation);
bool double_has_no_devices(void);
bool double_is_wrong(void);
bool double_holds(void);
bool double_has_garbage_sizes(void);
unsigned double_slowness(void); // returns how many milliseconds longer each execution takes
bool double_is_lost(void);      // returns true if the accelerator is simulated as lost
void double_count_run(void);    // counts a run on the accelerator

// ---- objects (objects.c). Handles stay in a table forever, so that a freed handle is recognized.

typedef enum double_kind {
    DOUBLE_MEMORY,
    DOUBLE_MEMORY_DESC,
    DOUBLE_MODEL,
    DOUBLE_COMPILATION,
    DOUBLE_EXECUTION,
    DOUBLE_BURST,
    DOUBLE_EVENT
} double_kind;

// The first member of each object to which a handle refers. The object exists as long as its handle, or a reference to
// the object.
typedef struct double_body {
    uint32_t holders;
    uint32_t id;
    void (*destroy)(void *body);
} double_body;

// Returns a handle for the body, which gets its first reference, or NULL if memory runs out.
void *double_object(double_kind kind, void *body, void (*destroy)(void *body));
// Finds the body of a handle. If the handle is NULL, freed, of another kind or unknown, logs a misuse.
int double_find(const void *handle, double_kind kind, void *body);
// Ends a handle. Ending a handle twice is a misuse; NULL is ignored. The caller has a reference to *body, which it
// releases with double_drop.
int double_end(void *handle, double_kind kind, void *body);
void double_hold(void *body);
void double_drop(void *body);

// ---- devices (device.c)

// Sets *bits to the bits of the devices: 1 for the accelerator, 2 for the reference. An unknown device is a misuse.
int double_devices(const ANeuralNetworksDevice *const *devices, uint32_t count, uint32_t *bits);

#endif
