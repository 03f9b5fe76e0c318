// SPDX-License-Identifier: BSD-2-Clause
// The interface of backends, which run a part of a graph as a whole instead of node by node. A backend is a row of
// backends/backend_list.inc and a table of type taper_backend. The compiler and the runtime know no backend by name.
// The interface is private until 1.0: it may change with every version, and new members come at the end.
//
// The functions are called in this order:
//   open      once per context, when a model is loaded that asks for the device. The core has allocated the state.
//   claim     while loading. The backend is shown a region of a graph and says which nodes it takes.
//   plan      when these nodes have become a segment with inputs and outputs. The backend keeps its own data about it
//             in the graph's arena and says in which form it takes the inputs. It may still decline.
//   record    when a segment is first run with given shapes. The backend works out everything that depends on them. If
//             it declines here or later, the plain nodes of the segment run instead.
//   run       with the inputs of a run.
//   measured  when the plain nodes have done a call that run declined, with the time that they took.
//   forget    when a recording ends.
//   close     when the context is gone and no memory of the device is left, in the thread that released the last of it.
//
// Each function that returns a status may also return TAPER_DEVICE_LOST. The device is not called again, and the CPU
// goes on. Memory is still released, recordings are still forgotten, and close is still called. A function that
// declines must have changed nothing. A claim, a plan or a recording may keep pointers to nodes, constants and the
// arena, which live as long as the segment. The arguments of a call live only as long as the call.
//
// Threads: claim and plan run in the thread that loads the model. record, run, store and forget run in the session's
// thread, so several sessions may call them at the same time. Memory is fetched and released in any thread that reads a
// tensor or releases it. The backend locks the parts of the device that these threads share.
#ifndef TAPER_OPS_BACKEND_H
#define TAPER_OPS_BACKEND_H

#include "ir/graph.h"
#include "ir/infer.h"
#include "ops/call/call.h"

typedef struct taper_backend taper_backend;
typedef struct taper_segment taper_segment;

typedef struct taper_device_words {
    char called[256], facts[640];
    bool by_name; // the device can be chosen only by its name
} taper_device_words;

// An opened device of a backend.
typedef struct taper_device {
    const taper_backend *backend;
    const char *name;   // the name by which it was asked for, such as "vulkan:1"
    unsigned index;     // number among the devices of its kind
    const char *called; // name of the one device that was asked for, as in "nnapi:NAME"; NULL: index chooses
    const taper_device_setting *settings; // taper_load_options.settings; each set of settings opens a device of its own
    size_t setting_count;
    const char *cache_dir;     // directory for its files, taper_context_options.cache_dir; NULL: none
    taper_memory_owner *owner; // owner of the memory that the device allocates
    const taper_allocator *allocator;
    uint64_t cpu; // the TAPER_ISA_ bits that may be used
    void *state;  // backend->state_bytes bytes, zeroed before open
} taper_device;

// Nodes of one block, in order, that may be computed together. They are operators without effects, and lists
// (taper_backend.copies). Their results are new, or written in place if no other node can see that. An item is NULL if
// the node is already in a segment. Other nodes may stand between them. Values have types as far as schemas tell, also
// in files that store no types.
typedef struct taper_region {
    taper_node *const *nodes;
    size_t count;
    size_t from; // first node to consider; those before it were claimed or refused
    taper_graph *graph;
    taper_shapes *shapes; // known shapes, used only by taper_region_shape
} taper_region;

typedef struct taper_claim {
    size_t *takes;   // indices in the region of the nodes for one segment, ascending; has room for all of them
    size_t count;    // number of items in takes; 0: the backend takes no node
    size_t next;     // index from which to ask again; the region's count: there is no more to take
    size_t refused;  // index of a node that the backend considered and refused; the region's count: none
    const char *why; // reason for refusing it, a static text
} taper_claim;

// The form in which a segment takes an input.
typedef enum taper_form {
    TAPER_FORM_PLAIN,  // the host's memory, in PyTorch's order
    TAPER_FORM_HOST,   // the host's memory; a hidden NHWC order is kept (ir/tensor.h)
    TAPER_FORM_DEVICE, // the device's memory, in the device's own layout and precision; lists of tensors: as HOST
    // The device's memory if the input is there, otherwise as HOST; each case has a recording of its own.
    TAPER_FORM_EITHER
} taper_form;

struct taper_segment {
    taper_device *device;
    // A SEGMENT node. Its inputs are the values from outside that the nodes of blocks[1] take, argument by argument,
    // constants included. Its outputs are the values that are used outside.
    taper_node *node;
    const void *plan;
    taper_form *forms; // the form of each input, PLAIN before plan; an output may have any form
    // The operator that names the segment in profiles and messages. It is the first one unless plan sets another.
    const taper_op *op;
    const taper_schema *schema;
    bool required;         // declining is an error, because the host prefers a failure to running on the CPU
    double seconds, saved; // estimates of plan: the cost, and the saving against the plain nodes; 0: not known
};

// A piece of the memory that a recording uses between its layers.
typedef struct taper_device_storage {
    uint64_t bytes, offset;
    uint32_t born, died;    // steps of the recording: the one that makes it, and the first one that no longer needs it
    const taper_node *node; // the node whose result it is; NULL: not known
} taper_device_storage;
typedef void taper_each_storage(void *user, const taper_device_storage *storage);

struct taper_backend {
    size_t struct_size;
    const char *name; // for example "cpu"
    taper_device_kind kind;
    size_t state_bytes; // bytes of taper_device.state
    // The results are new tensors even if the operator returns a view. Then the backend is also shown views whose
    // memory is written by no other node, and lists of tensors (nodes LIST and LIST_UNPACK) that are made for operators
    // of the region or taken apart in it. A backend with store is shown such views in any case.
    bool copies;
    size_t recording_bytes; // bytes of a recording, zeroed; 0: there are none, and record and forget are NULL
    // Declines if there is no such device, and sets *why to the reason, a static text or one in the state.
    // NULL: the device is always there.
    taper_status (*open)(taper_device *device, const char **why, taper_error *error);
    void (*close)(taper_device *device); // NULL: nothing to close
    // Declines if the region contains no further node that the backend takes.
    taper_status (*claim)(taper_device *device, taper_region *region, taper_claim *claim, taper_error *error);
    taper_status (*plan)(taper_device *device, taper_segment *segment, taper_arena *arena, taper_error *error);
    // call->args has the segment's inputs in their forms; taper_segment_shapes gives the shapes of values inside.
    taper_status (*record)(const taper_segment *segment, taper_call *call, void *recording);
    // Leaves its results in call->rets. recording is NULL if recording_bytes is 0.
    taper_status (*run)(const taper_segment *segment, taper_call *call, void *recording);
    void (*forget)(const taper_segment *segment, void *recording);
    // Returns a kernel for a single operator that is faster than the row's; NULL: there is none. Only backends that use
    // the host's memory have this function. If the kernel declines, the row's runs.
    taper_kernel (*kernel)(taper_device *device, const taper_op *op);
    // Copies a tensor from the host to the device. It may have any strides, and may be hidden NHWC. The function may
    // decline. NULL: the backend takes tensors in the host's memory and needs no copies.
    taper_status (*store)(taper_device *device, taper_run *run, const taper_tensor *from, taper_memory **memory);
    // Learns how many seconds the plain nodes took for a call that run declined. This function and run may set
    // run->replan, which plans the memory of later runs again because they will run other nodes. NULL: not needed.
    void (*measured)(const taper_segment *segment, taper_run *run, void *recording, double seconds);
    // Describes an opened device to people: its name and its abilities. NULL: no description.
    void (*describe)(const taper_device *device, taper_device_words *words);
    taper_option listing; // option that is set to 1 while devices are listed; 0: none
    taper_option half;    // option that, set to 1, makes it compute in half precision; 0: it cannot
    // Lists the memory that the recording uses between its layers, for pictures. NULL: no list.
    void (*storages)(const taper_segment *segment, const void *recording, taper_each_storage *each, void *user);
    // Recordings are expensive. The plain nodes run a call whose recording cannot be kept, without asking the backend.
    bool lasting;
};

// ---- for backends

// Returns the facts about a value that are known before any run, which are often few. The first call computes them for
// the whole graph.
taper_shape taper_region_shape(taper_region *region, const taper_ir_value *value);
// Works out the shapes of the results of the segment's nodes in this call, as far as they follow from shapes
// (ir/infer.h). Free them with taper_segment_shapes_free. Fails only if memory runs out.
TAPER_MUST_USE taper_status taper_segment_shapes(const taper_segment *segment, const taper_call *call,
                                                 taper_shapes *shapes);
void taper_segment_shapes_free(const taper_call *call, taper_shapes *shapes);
// Runs the plain nodes, for comparison with the backend's results. It uses the kernels of device; NULL: those of the
// rows.
TAPER_MUST_USE taper_status taper_segment_run_plain(const taper_segment *segment, taper_device *device,
                                                    taper_call *call);
// ---- for the callers of backends

// Calls the segment: converts the arguments to their forms, makes a recording unless the kept one fits, and runs it.
// Returns TAPER_DECLINED if the plain nodes must run.
TAPER_MUST_USE taper_status taper_segment_call(taper_call *call);
// Lists the memory of the kept recording, if prepared is one of a segment.
void taper_segment_storages(const struct taper_prepared *prepared, taper_each_storage *each, void *user);
// Says that the plain nodes have done the call that was declined last. It ends the measurement of their time.
void taper_segment_done_plain(const taper_segment *segment, taper_run *run, struct taper_prepared *prepared);

#endif
