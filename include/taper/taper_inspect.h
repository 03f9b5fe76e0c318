/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Functions that show how a model runs: its graphs, its memory plan, its profile, and the result of each operator. All
 * of them are experimental, because they show how this version works. The conventions of taper.h hold here.
 */
#ifndef TAPER_TAPER_INSPECT_H
#define TAPER_TAPER_INSPECT_H

#include <taper/taper.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Receives the next `length` bytes of a text, without a zero byte at their end. A text may come in several calls, or in
 * none if it is empty. */
typedef void (*taper_write_function)(void *user, const char *text, size_t length);

/* ---- graphs ---- */

/* Writes the graph that a run of a method (NULL: "forward") executes. If the model was loaded with a compiler, this is
 * the optimized graph. A library that was built without drafts (CMake: TAPER_WITH_DRAFTS=OFF) and without the
 * command-line programs (TAPER_BUILD_TOOLS=OFF) may lack four functions: this one, taper_inspect_default,
 * taper_inspect_config and taper_inspect_place. Code that calls one of them then does not link. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_inspect_graph(taper_model *model, const char *method,
                                                                             taper_write_function write, void *user,
                                                                             taper_error *error);

/* Sets *value to a new reference to the default of argument `index` of a method (NULL: "forward"). To give a run a
 * later argument but not this one, pass *value as this argument. The function fails with TAPER_ERROR_ARGUMENT if the
 * argument has no default. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_inspect_default(const taper_model *model,
                                                                               const char *method, size_t index,
                                                                               taper_value **value, taper_error *error);

/* Writes the configuration header of a selective build (CMake: -DTAPER_OP_CONFIG=FILE). That build has only what this
 * model needs: its operators, the operators that its instructions and upgraders call, and its classes. The library
 * that loads the model for this call must have all of them. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_inspect_config(const taper_model *model,
                                                                              taper_write_function write, void *user,
                                                                              taper_error *error);

/* ---- memory ---- */

/* Describes a storage, the memory of one or more tensors, in a memory plan. An arena is a block of memory that contains
 * all storages which live only during a run. */
typedef struct taper_plan_item {
    size_t struct_size;        /* sizeof(taper_plan_item) */
    size_t bytes;              /* size of the storage, in bytes */
    size_t offset;             /* offset in the arena, in bytes; undefined if outlives_run is 1 */
    uint32_t born, died;       /* steps of the run; each birth and each death of a storage is one step */
    int outlives_run;          /* 1: the storage of a result or an attribute, which is not in the arena */
    const char *operator_name; /* operator that made the storage, operator_length bytes: "aten::conv2d"; or NULL */
    size_t operator_length;    /* bytes at operator_name */
} taper_plan_item;

/* Returns the number of storages in the session's latest plan, or 0 before the first run and during a run. */
TAPER_API TAPER_EXPERIMENTAL size_t taper_inspect_plan_count(const taper_session *session);
/* Fills *item with storage `index`; set item->struct_size first. The item's text is valid as long as the session. The
 * function fails with TAPER_ERROR_ARGUMENT during a run and if index is too large. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_inspect_plan_item(const taper_session *session,
                                                                                 size_t index, taper_plan_item *item,
                                                                                 taper_error *error);

/* Calls the callback each(user, arena, item) for every storage that the model's device keeps between layers, arena by
 * arena. Each part of the model that runs on the device has an arena of its own, as its latest call used it. born and
 * died of these items count commands of that call, not births and deaths. The item and its text are valid only during
 * the callback. The callback must not use the session. The function fails with TAPER_ERROR_ARGUMENT during a run. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_inspect_device_plan(
    const taper_session *session, void (*each)(void *user, size_t arena, const taper_plan_item *item), void *user,
    taper_error *error);

/* ---- time ---- */

/* Describes the calls of one operator, at one place of the model, while profiling was on. The session owns the texts.
 * They are valid until profiling is turned on again or the session is destroyed. */
typedef struct taper_profile_item {
    size_t struct_size; /* sizeof(taper_profile_item) */
    const char *name;   /* name of the operator, name_length bytes: "aten::conv2d" */
    size_t name_length; /* bytes at name */
    const char *kernel; /* name of the kernel that was chosen; "reference": the portable kernel of the operator */
    int fused;          /* 1: the kernel also computes the operators that follow */
    uint64_t calls;     /* number of calls */
    double seconds;     /* seconds of all calls together */
    /* Floating-point operations of one call, counted as for the direct algorithm; 0: not known. A layer that is
     * computed by a transform does fewer operations, so its operations per second may exceed peak_flops. */
    double flops;
    /* Name of the method that contains the operator, "__torch__.Net.forward"; NULL: not known, as before the first
     * call. */
    const char *method;
    /* Number of the operator's first result in the graph: 12 for %12. For fused operators it is the first result of the
     * first operator that has one. It is 0 if method is NULL. */
    uint32_t value;
    const struct taper_node *node; /* operator, for taper_inspect_place; valid as long as the model; NULL: not known */
    double bytes;                  /* bytes that one call reads and writes; 0: not known */
    /* Floating-point operations per second that the hardware reaches, as measured for this profile: the CPU with all
     * threads, or the device. For quantized operators of the CPU they are operations on integers. 0: not known. */
    double peak_flops;
    double peak_bytes; /* bytes per second that the same hardware reads and writes at most; 0: not known */
    /* Reason why the CPU runs the operator although the model has a device; NULL: there is no such reason.
     * If the device refused the latest call of a part of the model, the part has an item with the reason. This item
     * does not count the refused call. The operators that the CPU ran instead have items of their own. */
    const char *cpu_reason;
} taper_profile_item;

/* Starts profiling (on = 1), which clears the profile, or stops it (on = 0), which keeps the profile. The first start
 * of a session also measures the speed of the CPU, which takes a tenth of a second and 64 MB. The function fails with
 * TAPER_ERROR_ARGUMENT during a run of the session. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_profile_set(taper_session *session, int on,
                                                                           taper_error *error);
/* Returns the number of items, or 0 during a run and before profiling was first started. The operators come first, in
 * the order of the model. Then come the layers that devices computed. The time of such a layer is not part of the time
 * of the operator that called the device. */
TAPER_API TAPER_EXPERIMENTAL size_t taper_profile_count(const taper_session *session);
/* Fills *item with item `index`; set item->struct_size first. The function fails with TAPER_ERROR_ARGUMENT during a run
 * and if index is too large. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_profile_get(const taper_session *session, size_t index,
                                                                           taper_profile_item *item,
                                                                           taper_error *error);

/* ---- results of single operators ---- */

/* Describes a result that an operator has just computed. The struct and its texts are valid only during the call of the
 * observer. */
typedef struct taper_observation {
    size_t struct_size;  /* size of this struct, which the library sets */
    const char *method;  /* name of the method that runs: "__torch__.Net.forward" */
    uint32_t value;      /* number of the result in the graph: 12 for %12 */
    const char *name;    /* name of the operator, name_length bytes: "aten::conv2d" or "prim::ListConstruct" */
    size_t name_length;  /* bytes at name */
    taper_value *result; /* the result; retain it to keep it. The model may write to it later in the run */
    /* Number that the result has in the graph before fusion. It is equal to `value` if the operator is not fused.
     * Passes of the compiler do not renumber a value as long as the same operator computes it.
     * The load of a TorchScript model with a compiler drops branches on attributes that no code sets. This changes the
     * numbers of later values. If disabled_passes contains "fix_attributes" or "freeze", the load keeps the branches,
     * and values have the same numbers as in the file. */
    uint32_t source_value;
    const struct taper_node *node; /* operator, for taper_inspect_place; valid as long as the model */
} taper_observation;
/* An observer: receives each result, after the operator that computed it, in every run of the session. Fused operators
 * count as one operator, and their inner results are not reported. A model that is loaded with "segments" in
 * disabled_passes has no fused operators. Runs are slower while they are observed. Taper calls the observer in the
 * thread that runs the session. */
typedef void (*taper_observe_function)(void *user, const taper_observation *observation);
/* Sets the observer; NULL removes it. user must stay valid until another observer or NULL is set, or the session is
 * destroyed. During a run of the session, a callback in the thread of the run may call this function too:
 * - If it sets NULL, no later result of the run is reported.
 * - If it sets an observer, that observer gets every result from the next run on. It may also get some or all of the
 *   later results of the current run. */
TAPER_API TAPER_EXPERIMENTAL void taper_session_observe(taper_session *session, taper_observe_function observe,
                                                        void *user);

/* Selects what taper_inspect_place writes. */
typedef enum taper_place_part {
    /* Path of the module whose attribute the operator takes as an argument, for example a weight: "layer1.0.conv1". It
     * is known for methods of the root module if the model was loaded without a compiler. */
    TAPER_PLACE_MODULE = 0,
    /* Lines that errors show for the operator: its place in the TorchScript source, or the modules of a lite file. */
    TAPER_PLACE_SOURCE = 1
} taper_place_part;
/* Writes the place of an operator in the model, as `part` selects, or nothing if the place is not known. node comes
 * from a taper_profile_item or a taper_observation of the model. The function fails with TAPER_ERROR_ARGUMENT if node
 * is NULL. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_inspect_place(const taper_model *model,
                                                                             const struct taper_node *node,
                                                                             taper_place_part part,
                                                                             taper_write_function write, void *user,
                                                                             taper_error *error);

#ifdef __cplusplus
}
#endif
#endif
