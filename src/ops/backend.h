// SPDX-License-Identifier: BSD-2-Clause
// The seam: what runs a part of a graph other than node by node. A backend is a row of backends/backend_list.inc and
// this table; nothing in compiler and runtime knows one from another. Private until 1.0: it may change with every
// version, and grows at the end.
//
// In the order in which things happen:
//   open     once per context, when a model is loaded that asks for the device. The core has allocated the state.
//   claim    while loading: a region of a graph is shown, and the backend says which nodes it takes.
//   plan     the nodes it got have become a segment with inputs and outputs; the backend keeps what it wants to know of
//            it in the graph's arena, and says in what form it takes the inputs. It may still decline.
//   record   when a segment is first run with given shapes: all that these decide is worked out. It may decline: then,
//            as whenever it does, the plain nodes of the segment run instead.
//   run      with the inputs of this run.
//   measured when a call that run declined has been done by the plain nodes: how long they took.
//   forget   a recording goes.
//   close    when the context has gone and no memory of the device is left, in the thread that let go last.
//
// Whatever returns a status may also say TAPER_DEVICE_LOST: the device is left alone from then on, and the CPU goes on.
// Memory is still dropped then, recordings are forgotten, and close is called.
// Whoever declines changed nothing. What a claim, a plan or a recording may keep: nodes, constants and the arena live
// as long as the segment; arguments of a call only as long as the call.
//
// Threads: claim and plan run in the thread that loads, record, run, store and forget in the session's; several
// sessions at the same time; memory is fetched and dropped by whoever looks at a tensor, or lets go of it. What they
// share of the device, the backend locks.
#ifndef TAPER_OPS_BACKEND_H
#define TAPER_OPS_BACKEND_H

#include "ir/graph.h"
#include "ir/infer.h"
#include "ops/call/call.h"

typedef struct taper_backend taper_backend;
typedef struct taper_segment taper_segment;

typedef struct taper_device_words {
    char called[256], facts[640];
    bool by_name; // it is only taken by its name
} taper_device_words;

// An opened backend.
typedef struct taper_device {
    const taper_backend *backend;
    const char *name;   // as it was asked for: "vulkan:1"
    unsigned index;     // of several of its kind
    const char *called; // the one of that name, where one was asked for: "nnapi:NAME"; NULL: index says which
    const taper_device_setting *settings; // taper_load_options.settings; a device is opened for each set of them
    size_t setting_count;
    const char *cache_dir;     // where it may keep things, taper_context_options.cache_dir; NULL: nowhere
    taper_memory_owner *owner; // what its memory is told to be of
    const taper_allocator *allocator;
    uint64_t cpu; // TAPER_ISA_ bits allowed
    void *state;  // backend->state_bytes, zeroed before open
} taper_device;

// Nodes of one block, in order, that may be computed together: operators (and lists, taper_backend.copies) without
// effects, whose results are new, or written in place where nobody can tell. NULL: already in a segment. Other nodes
// may stand between them. Values have types, also those of files that name none, as far as schemas tell.
typedef struct taper_region {
    taper_node *const *nodes;
    size_t count;
    size_t from; // what is before was claimed or refused
    taper_graph *graph;
    taper_shapes *shapes; // taper_region_shape's
} taper_region;

typedef struct taper_claim {
    size_t *takes;   // numbers of the region's nodes that shall be one segment, ascending; there is room for all
    size_t count;    // 0: nothing
    size_t next;     // where to be asked from again; the region's count: nothing more here
    size_t refused;  // a node that it came to and left; the region's count: none
    const char *why; // it did, a static text
} taper_claim;

// The form in which a segment takes an input.
typedef enum taper_form {
    TAPER_FORM_PLAIN,  // the host's memory, in PyTorch's order
    TAPER_FORM_HOST,   // the host's memory; hidden NHWC as it is (ir/tensor.h)
    TAPER_FORM_DEVICE, // the device's memory, in a layout and precision of its own; of a list of tensors: as HOST
    TAPER_FORM_EITHER  // where it is: with the device, or else as HOST. Calls are told apart by that
} taper_form;

struct taper_segment {
    taper_device *device;
    taper_node *node; // SEGMENT: inputs are what the nodes of blocks[1] take from outside, argument by argument,
                      // constants among them; outputs what is looked at outside
    const void *plan;
    taper_form *forms; // of inputs, PLAIN before plan; outputs may have any
    // For profiles and messages: the operator that names it, the first if plan says nothing else.
    const taper_op *op;
    const taper_schema *schema;
    bool required;         // declining is an error: the host would rather fail than have the CPU do it
    double seconds, saved; // what plan thinks it costs, and what it saves against the plain nodes; 0: not known
};

// Of the memory that a recording has between its layers.
typedef struct taper_device_storage {
    uint64_t bytes, offset;
    uint32_t born, died;    // in steps of the recording
    const taper_node *node; // that made it; NULL: it is not known
} taper_device_storage;
typedef void taper_each_storage(void *user, const taper_device_storage *storage);

struct taper_backend {
    size_t struct_size;
    const char *name; // "cpu"
    taper_device_kind kind;
    size_t state_bytes; // of an open device
    // What it gives are tensors of its own also where the operator gives a view: it is shown views whose memory nobody
    // else writes to, and lists of tensors that are made for operators of the region, or taken apart in it (nodes LIST
    // and LIST_UNPACK). Implied for views where there is a store.
    bool copies;
    size_t recording_bytes; // of what is prepared for shapes, zeroed; 0: nothing is, record and forget are NULL
    // Declines where there is no such device; *why then says why there is none (a static text, or one in the state).
    taper_status (*open)(taper_device *device, const char **why, taper_error *error); // NULL: always there
    void (*close)(taper_device *device);                                              // NULL: nothing to do
    // Declines where there is nothing (more) for it in the region.
    taper_status (*claim)(taper_device *device, taper_region *region, taper_claim *claim, taper_error *error);
    taper_status (*plan)(taper_device *device, taper_segment *segment, taper_arena *arena, taper_error *error);
    // call->args: the segment's inputs in their forms; taper_segment_shapes tells those of values inside.
    taper_status (*record)(const taper_segment *segment, taper_call *call, void *recording);
    // recording NULL where recording_bytes is 0. Leaves its results in call->rets.
    taper_status (*run)(const taper_segment *segment, taper_call *call, void *recording);
    void (*forget)(const taper_segment *segment, void *recording);
    // The kernel of a single operator that is done faster than by its row; NULL: none. For backends of the host's
    // memory; a kernel that declines leaves the call to the row's.
    taper_kernel (*kernel)(taper_device *device, const taper_op *op);
    // The device's copy of a tensor of the host, which has any strides and may be hidden NHWC. May decline. NULL: the
    // backend asks for none, and takes tensors where they are.
    taper_status (*store)(taper_device *device, taper_run *run, const taper_tensor *from, taper_memory **memory);
    // The plain nodes did a call that run declined, in so many seconds. With run->replan set, here or in run, the next
    // runs' memory is planned anew: what is done from now on is something else. NULL: nobody wants to know.
    void (*measured)(const taper_segment *segment, taper_run *run, void *recording, double seconds);
    // For people: what an opened device calls itself, and what it can do. NULL: nothing is said.
    void (*describe)(const taper_device *device, taper_device_words *words);
    taper_option listing; // set to 1 when devices are listed; 0: none
    taper_option half;    // set to 1, it computes with half precision; 0: it cannot
    // For pictures: what the recording has between its layers. NULL: nothing is said.
    void (*storages)(const taper_segment *segment, const void *recording, taper_each_storage *each, void *user);
    bool lasting; // recordings cost much: a call that none can be kept of is not asked about, the plain nodes do it
};

// ---- for backends

// What is known of a value before any run: often little. Worked out for the graph when first asked.
taper_shape taper_region_shape(taper_region *region, const taper_ir_value *value);
// Shapes of what the segment's nodes give in a call of it, as far as they follow from shapes (ir/infer.h). In memory of
// the run's heap, to be given back. Fails without memory only.
TAPER_MUST_USE taper_status taper_segment_shapes(const taper_segment *segment, const taper_call *call,
                                                 taper_shapes *shapes);
void taper_segment_shapes_free(const taper_call *call, taper_shapes *shapes);
// Runs the plain nodes: what a backend's answer is held against. device: whose kernels; NULL: the rows' own.
TAPER_MUST_USE taper_status taper_segment_run_plain(const taper_segment *segment, taper_device *device,
                                                    taper_call *call);
// ---- for who runs them

// Calls the segment: brings arguments into their forms, prepares where the call is none like the ones before, runs.
// TAPER_DECLINED: the plain nodes are to run.
TAPER_MUST_USE taper_status taper_segment_call(taper_call *call);
// The storages of the recording that is kept, if this is one of a segment.
void taper_segment_storages(const struct taper_prepared *prepared, taper_each_storage *each, void *user);
// The plain nodes have done what the last call declined.
void taper_segment_done_plain(const taper_segment *segment, taper_run *run, struct taper_prepared *prepared);

#endif
