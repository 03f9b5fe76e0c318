/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Looking inside: graphs as they run, the memory plan, where the time goes. All of it is experimental: it shows how
 * this version works.
 */
#ifndef TAPER_TAPER_INSPECT_H
#define TAPER_TAPER_INSPECT_H

#include <taper/taper.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Receives text in pieces. */
typedef void (*taper_write_function)(void *user, const char *text, size_t length);

/* The graph of a method (NULL: "forward") as it runs, after whatever the compiler did at load. This function and the
 * next two are absent from a library built without drafts and programs. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_inspect_graph(taper_model *model, const char *method,
                                                                             taper_write_function write, void *user,
                                                                             taper_error *error);

/* What argument `index` of a method (NULL: "forward") is where an input is missing: a new reference, to be given as
 * that input when a later one is given. TAPER_ERROR_ARGUMENT: it has no default. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_inspect_default(const taper_model *model,
                                                                               const char *method, size_t index,
                                                                               taper_value **value, taper_error *error);

/* The header of a build that has what this model needs and no more (CMake: -DTAPER_OP_CONFIG=FILE): operators, those
 * that instructions and upgraders stand for, classes. The model must be loaded by a build that has them all. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_inspect_config(const taper_model *model,
                                                                              taper_write_function write, void *user,
                                                                              taper_error *error);

/* One storage of the latest memory plan of a session. */
typedef struct taper_plan_item {
    size_t struct_size;        /* sizeof(taper_plan_item) */
    size_t bytes;              /* of the storage */
    size_t offset;             /* in the arena; meaningless when it outlives the run */
    uint32_t born, died;       /* in steps of the run: each birth and each death is one */
    int outlives;              /* a result or an attribute: not in the arena */
    const char *operator_name; /* that made it, up to its parenthesis "aten::conv2d"; NULL when unknown */
    size_t operator_length;
} taper_plan_item;

/* 0 until a run with its shapes was made, and within a run. */
TAPER_API TAPER_EXPERIMENTAL size_t taper_inspect_plan_count(const taper_session *session);
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_inspect_plan_item(const taper_session *session,
                                                                                 size_t index, taper_plan_item *item,
                                                                                 taper_error *error);

/* The same of what lies between layers on the model's device: each(user, arena, item) for every storage, all of one
 * arena after the other. There is an arena for each part of the program that was last run there, and steps are what the
 * device was given to do. The item and its texts are gone when each() returns. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_inspect_device_plan(
    const taper_session *session, void (*each)(void *user, size_t arena, const taper_plan_item *item), void *user,
    taper_error *error);

/* Time per operator call site, summed over runs while profiling is on. */
typedef struct taper_profile_item {
    size_t struct_size; /* sizeof(taper_profile_item) */
    const char *name;   /* "aten::conv2d" up to its parenthesis; name_length counts */
    size_t name_length;
    const char *kernel; /* the kernel that was chosen; "reference" when no backend did it */
    int fused;          /* what follows the operator is done with it */
    uint64_t calls;
    double seconds;
    double flops; /* of one call, where the kernel says; 0: unknown */
    /* What it computes, as in taper_observation: the method, and the number of the first result; of what is fused that
     * of the layer that it begins with, as without fusing. NULL and 0 before its first call. */
    const char *method;
    uint32_t value;
    const struct taper_node *node; /* for taper_inspect_place; as long as the model */
    /* Bytes that one call reads and writes; and what the CPU's kernels, on all threads, or the device does at most in a
     * second, as it was measured for this profile. 0: unknown. flops are those of direct sums: layers that are computed
     * by transforms may pass what the machine does. */
    double bytes, most_flops, most_bytes;
    /* The model's device leaves it to the CPU; NULL: it does not, or there is none. What the device declined while it
     * ran is a site without calls: the CPU's operators are others. */
    const char *why;
} taper_profile_item;

/* on 1 clears and starts, 0 stops and keeps. Within a run of the session it is TAPER_ERROR_ARGUMENT. A session's first
 * start measures what the CPU does at most: a tenth of a second, and 64 MB for as long. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_profile_set(taper_session *session, int on,
                                                                           taper_error *error);
TAPER_API TAPER_EXPERIMENTAL size_t
taper_profile_count(const taper_session *session); /* call sites, in order of the program, then what devices did in
                                                      them: rows of their own, whose time is not the call's.
                                                      Within a run: 0 */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_profile_get(const taper_session *session, size_t index,
                                                                           taper_profile_item *item,
                                                                           taper_error *error);

/* A result that was just computed. */
typedef struct taper_observation {
    size_t struct_size; /* of the struct the library fills */
    const char *method; /* "__torch__.Net.forward" */
    uint32_t value;     /* its number in the graph: %12 */
    const char *name;   /* "aten::conv2d", or "prim::ListConstruct", up to name_length */
    size_t name_length;
    taper_value *result; /* borrowed: retain it to keep it; it may be written to later in the run */
    /* What is fused has a number of its own: this is that of the value it computes, as without fusing. Others: value.
     * The compiler keeps the number of a value as long as it is computed by the operator it was computed by. Of a
     * TorchScript model numbers are those of the model as it was saved if disable_passes has "fix_attributes", by which
     * branches on attributes that nobody sets are lowered all the same. */
    uint32_t stands_for;
    const struct taper_node *node; /* for taper_inspect_place; as long as the model */
} taper_observation;
/* Called in every run of the session after each operator, once for each of its results; what is fused is one operator,
 * whose inner results are not seen (load with disable_passes "segments" for those). observe NULL: no more.
 * Observed runs are slower. Within a run of the session a change may take effect only in the next run; with NULL there
 * are no more calls from the next result on. */
typedef void (*taper_observe_function)(void *user, const taper_observation *observation);
TAPER_API TAPER_EXPERIMENTAL void taper_session_observe(taper_session *session, taper_observe_function observe,
                                                        void *user);

/* Where an observed operator stands. */
typedef enum taper_place_part {
    TAPER_PLACE_MODULE = 0, /* "layer1.0.conv1": the module whose attribute it takes, when the model runs as saved */
    TAPER_PLACE_SOURCE = 1  /* lines of TorchScript or the file's module hierarchy, as errors show them */
} taper_place_part;
/* Writes nothing when it takes none. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_inspect_place(const taper_model *model,
                                                                             const struct taper_node *node,
                                                                             taper_place_part part,
                                                                             taper_write_function write, void *user,
                                                                             taper_error *error);

#ifdef __cplusplus
}
#endif
#endif
