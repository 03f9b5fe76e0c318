/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Looking inside: graphs as they run, the memory plan, where time goes, results of single operators. All of it is
 * experimental, because it shows how this version works. The conventions of taper.h hold here.
 */
#ifndef TAPER_TAPER_INSPECT_H
#define TAPER_TAPER_INSPECT_H

#include <taper/taper.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Receives text in pieces, which do not end with a zero byte. */
typedef void (*taper_write_function)(void *user, const char *text, size_t length);

/* ---- graphs ---- */

/* Writes the graph of a method (NULL: "forward") as it runs, after what the compiler did while the model was loaded.
 * This function and the next two are absent from a library that is built without drafts and programs. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_inspect_graph(taper_model *model, const char *method,
                                                                             taper_write_function write, void *user,
                                                                             taper_error *error);

/* Returns the default value of argument `index` of a method (NULL: "forward"), to be given as that input when a later
 * input is given. *value is a new reference. An argument without a default is TAPER_ERROR_ARGUMENT. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_inspect_default(const taper_model *model,
                                                                               const char *method, size_t index,
                                                                               taper_value **value, taper_error *error);

/* Writes the header of a selective build (CMake: -DTAPER_OP_CONFIG=FILE) that has what this model needs and no more:
 * its operators, the operators that instructions and upgraders stand for, and its classes. The library that loads the
 * model must have all of them. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_inspect_config(const taper_model *model,
                                                                              taper_write_function write, void *user,
                                                                              taper_error *error);

/* ---- memory ---- */

/* One storage of a memory plan. */
typedef struct taper_plan_item {
    size_t struct_size;        /* sizeof(taper_plan_item) */
    size_t bytes;              /* size of the storage */
    size_t offset;             /* place in the arena; undefined if outlives_run is 1 */
    uint32_t born, died;       /* steps of the run; each birth and each death of a storage is one step */
    int outlives_run;          /* 1: a result or an attribute, which is not in the arena */
    const char *operator_name; /* operator_length bytes: the operator that made it, "aten::conv2d"; NULL: not known */
    size_t operator_length;
} taper_plan_item;

/* Returns the number of storages in the session's latest plan, or 0 before the first run and within a run. */
TAPER_API TAPER_EXPERIMENTAL size_t taper_inspect_plan_count(const taper_session *session);
/* Fills *item; set item->struct_size first. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_inspect_plan_item(const taper_session *session,
                                                                                 size_t index, taper_plan_item *item,
                                                                                 taper_error *error);

/* Calls each(user, arena, item) for every storage that the model's device keeps between layers, arena by arena. There
 * is an arena for each part of the program that ran on the device last, and steps count what the device was given to
 * do. The item and its texts are valid during the call of each(). */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_inspect_device_plan(
    const taper_session *session, void (*each)(void *user, size_t arena, const taper_plan_item *item), void *user,
    taper_error *error);

/* ---- time ---- */

/* Time that the calls of one operator at one place of the program took while profiling was on. The session owns the
 * texts; they are valid until profiling is turned on again. */
typedef struct taper_profile_item {
    size_t struct_size; /* sizeof(taper_profile_item) */
    const char *name;   /* name_length bytes, "aten::conv2d" */
    size_t name_length;
    const char *kernel; /* name of the kernel that was chosen; "reference": the portable operator did it */
    int fused;          /* 1: the operators after it are computed with it */
    uint64_t calls;
    double seconds; /* of all calls */
    double flops;   /* floating-point operations of one call, counted as direct sums; 0: not known. A layer that is
                       computed by transforms may exceed peak_flops */
    /* The method, "__torch__.Net.forward", and the number of the first result, as in taper_observation. If operators
     * are fused, the number is that of the layer with which they begin. NULL and 0 before the first call. */
    const char *method;
    uint32_t value;
    const struct taper_node *node; /* for taper_inspect_place; valid as long as the model */
    double bytes;                  /* bytes that one call reads and writes; 0: not known */
    double peak_flops; /* operations a second that the kernels of the CPU on all threads, or the device, can do, as
                          measured for this profile; 0: not known */
    double peak_bytes; /* bytes a second that they can read and write; 0: not known */
    /* The reason why the model's device leaves the operator to the CPU; NULL: it does not, or there is no device. What
     * the device declined while it ran has no calls, because the CPU's operators are others. */
    const char *cpu_reason;
} taper_profile_item;

/* Turns profiling on (1), which clears what was measured, or off (0), which keeps it. Within a run of the session it is
 * TAPER_ERROR_ARGUMENT. The first time it measures what the CPU can do, which takes a tenth of a second and 64 MB. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_profile_set(taper_session *session, int on,
                                                                           taper_error *error);
/* Returns the number of items: the operators in the order of the program, then what devices did within them, whose time
 * is not counted twice. Returns 0 within a run. */
TAPER_API TAPER_EXPERIMENTAL size_t taper_profile_count(const taper_session *session);
/* Fills *item; set item->struct_size first. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_profile_get(const taper_session *session, size_t index,
                                                                           taper_profile_item *item,
                                                                           taper_error *error);

/* ---- results of single operators ---- */

/* A result that was just computed. Valid during the call that reports it. */
typedef struct taper_observation {
    size_t struct_size; /* of the struct that the library fills */
    const char *method; /* method that runs, "__torch__.Net.forward" */
    uint32_t value;     /* number of the result in the graph: 12 for %12 */
    const char *name;   /* name_length bytes, "aten::conv2d" or "prim::ListConstruct" */
    size_t name_length;
    taper_value *result; /* retain it to keep it; the model may write to it later in the run */
    /* Number of the value that this result is in the graph without fusing; `value` if the operator is not fused. The
     * compiler keeps the number of a value as long as the same operator computes it. A TorchScript model has the
     * numbers of the file if disabled_passes contains "fix_attributes": then branches on attributes that nobody sets
     * are kept while the sources are read. */
    uint32_t source_value;
    const struct taper_node *node; /* for taper_inspect_place; valid as long as the model */
} taper_observation;
/* Receives each result after its operator in every run of the session. Operators that are fused are one operator, whose
 * inner results are not reported; a model that is loaded with the pass "segments" disabled fuses nothing. Runs are
 * slower while they are observed. */
typedef void (*taper_observe_function)(void *user, const taper_observation *observation);
/* Sets the observer; NULL: none. Within a run of the session a new observer may be called from the next run on; with
 * NULL no result after this call is reported. */
TAPER_API TAPER_EXPERIMENTAL void taper_session_observe(taper_session *session, taper_observe_function observe,
                                                        void *user);

/* What taper_inspect_place tells of an operator. */
typedef enum taper_place_part {
    TAPER_PLACE_MODULE = 0, /* "layer1.0.conv1", the module whose attribute it takes, if the model runs as saved */
    TAPER_PLACE_SOURCE = 1  /* lines of TorchScript, or the modules of the file, as errors show them */
} taper_place_part;
/* Writes where an operator stands, or nothing if that is not known. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_inspect_place(const taper_model *model,
                                                                             const struct taper_node *node,
                                                                             taper_place_part part,
                                                                             taper_write_function write, void *user,
                                                                             taper_error *error);

#ifdef __cplusplus
}
#endif
#endif
