// SPDX-License-Identifier: BSD-2-Clause
// The interface of backends, which run a part of a graph as a whole instead of node by node. A backend is a row of
// backends/backend_list.inc and a table of type taper_backend. The compiler and the runtime know no backend by name.
// The interface is private until 1.0: it may change with every version, and new members come at the end.
//
// The functions are called in this order:
//   open      once per context, when a model is loaded that asks for the device. The core has allocated the state.
//   claim     while loading. The backend is shown a region of a graph and says which nodes it takes.
//   plan      when these nodes have become a segment with inputs and outputs. The backend keeps its own data about the
//             segment in the graph's arena and says in which form it takes the inputs. It may still decline.
//   record    when a segment is first run with given shapes. The backend works out everything that depends on them. If
//             it declines here or later, the plain nodes of the segment (the operators that it replaces) run instead.
//   run       with the inputs of a run.
//   measured  when the plain nodes have done a call that `run` declined, with the time that they took.
//   forget    when a recording ends.
//   close     when the context is gone and no memory of the device is left, in the thread that released the last
//             memory.
//
// Each function that returns a status may also return TAPER_DEVICE_LOST. After that the device is not called again, and
// the CPU computes instead. Memory is still released, recordings are still forgotten, and close is still called. A
// function that declines must have changed nothing. A claim, a plan or a recording may keep pointers to nodes,
// constants and the arena, which live as long as the segment. The arguments of a call live only as long as the call.
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
    bool by_name; // true if the device can be chosen only by its name
} taper_device_words;

// An opened device of a backend.
typedef struct taper_device {
    const taper_backend *backend;
    const char *name; // name that was requested, such as "vulkan:1"
    unsigned index;   // index of the device among the devices of its kind
    // Name of the requested device, such as NAME in "nnapi:NAME"; NULL if `index` selects the device.
    const char *called;
    const taper_device_setting *settings; // taper_load_options.settings; each set of settings opens a separate device
    size_t setting_count;
    const char *cache_dir;     // directory for the backend's files (taper_context_options.cache_dir), or NULL
    taper_memory_owner *owner; // owner of the memory that the device allocates
    const taper_allocator *allocator;
    uint64_t cpu; // TAPER_ISA_ bits of the instruction sets that may be used
    void *state;  // backend->state_bytes bytes, zeroed before open
} taper_device;

// Nodes of one block, in order, that may be computed together. They are operators without effects, and lists
// (taper_backend.copies). The results of these nodes are new, or written in place if no other node can see that. An
// item is NULL if the node is already in a segment. The block may contain other nodes between these nodes. Values have
// the types that the schemas give them, also in files that store no types.
typedef struct taper_region {
    taper_node *const *nodes;
    size_t count;
    size_t from; // index of the first node to consider; all nodes before it were claimed or refused
    taper_graph *graph;
    taper_shapes *shapes; // known shapes, used only by taper_region_shape
} taper_region;

typedef struct taper_claim {
    size_t *takes; // ascending indices of the region's nodes that the backend takes for one segment; room for all nodes
    size_t count;  // number of items in takes; 0: the backend takes no node
    size_t next;   // index at which the next claim starts; the region's count if the backend takes no further node
    size_t refused;  // index of a node that the backend considered and refused; the region's count if there is none
    const char *why; // reason why that node was refused, a static text
} taper_claim;

// The memory and the layout in which a segment takes an input.
typedef enum taper_form {
    TAPER_FORM_PLAIN, // the host's memory, in PyTorch's order
    TAPER_FORM_HOST,  // the host's memory; a hidden NHWC order is kept (ir/tensor.h)
    // The device's memory, in the device's own layout and precision; a list of tensors is in the host's memory.
    TAPER_FORM_DEVICE,
    // The device's memory if the input is already in it, otherwise the host's memory. Each case has a separate
    // recording.
    TAPER_FORM_EITHER
} taper_form;

struct taper_segment {
    taper_device *device;
    // A SEGMENT node. Its inputs are the values that the nodes of blocks[1] take from outside, in the order of their
    // arguments, including constants. Its outputs are the values that nodes outside use.
    taper_node *node;
    const void *plan;
    taper_form *forms; // form of each input, PLAIN until `plan` sets it; an output may have any form
    // The operator that names the segment in profiles and messages. It is the first operator, unless `plan` sets
    // another operator.
    const taper_op *op;
    const taper_schema *schema;
    bool required; // declining is an error, because the host prefers a failure to running on the CPU
    // Estimates by `plan`: seconds of a run, and seconds saved compared with the plain nodes; 0 if unknown.
    double seconds, saved;
};

// A piece of the device's memory that holds a result between the layers of a recording.
typedef struct taper_device_storage {
    uint64_t bytes, offset;
    uint32_t born, died;    // steps of the recording: the step that writes this piece first, and the first step that no
                            // longer needs it
    const taper_node *node; // node whose result is stored here, or NULL if unknown
} taper_device_storage;
typedef void taper_each_storage(void *user, const taper_device_storage *storage);

struct taper_backend {
    size_t struct_size;
    const char *name; // name of the backend, for example "cpu"
    taper_device_kind kind;
    size_t state_bytes; // number of bytes of taper_device.state
    // True if the results are new tensors even for operators that return views. The backend is then also given views
    // whose memory no other node writes, and lists of tensors (nodes LIST and LIST_UNPACK) that are made for operators
    // of the region or unpacked in it. A backend with `store` is given such views in any case.
    bool copies;
    // Size of a recording in bytes, which are zero at first. 0 if the backend has no recordings; `record` and `forget`
    // are then NULL.
    size_t recording_bytes;
    // Opens the device. Declines if the device does not exist, and sets *why to the reason (a static text, or a text in
    // the state). NULL if the device always exists.
    taper_status (*open)(taper_device *device, const char **why, taper_error *error);
    void (*close)(taper_device *device); // closes the device; NULL if there is nothing to close
    // Chooses nodes of the region. Declines if the region contains no further node that the backend takes.
    taper_status (*claim)(taper_device *device, taper_region *region, taper_claim *claim, taper_error *error);
    taper_status (*plan)(taper_device *device, taper_segment *segment, taper_arena *arena, taper_error *error);
    // Makes a recording. call->args contains the segment's inputs in the forms that `plan` chose. taper_segment_shapes
    // gives the shapes of values inside the segment.
    taper_status (*record)(const taper_segment *segment, taper_call *call, void *recording);
    // Runs the recording, and stores the results in call->rets. recording is NULL if recording_bytes is 0.
    taper_status (*run)(const taper_segment *segment, taper_call *call, void *recording);
    void (*forget)(const taper_segment *segment, void *recording);
    // Returns a kernel for a single operator that is faster than the kernel of the operator list, or NULL if there is
    // none. If the returned kernel declines a call, the kernel of the operator list runs it. Only backends that use the
    // host's memory have this function.
    taper_kernel (*kernel)(taper_device *device, const taper_op *op);
    // Copies a tensor from the host to the device. The tensor may have any strides, and may be hidden NHWC. The
    // function may decline. It is NULL if the backend takes tensors in the host's memory and needs no copies.
    taper_status (*store)(taper_device *device, taper_run *run, const taper_tensor *from, taper_memory **memory);
    // Receives the seconds that the plain nodes took for a call that `run` declined. This function and `run` may set
    // run->replan. The memory of later runs is then planned again, because later runs will run other nodes. NULL if the
    // backend does not need the time.
    void (*measured)(const taper_segment *segment, taper_run *run, void *recording, double seconds);
    // Describes an opened device to people: its name and its abilities. NULL if there is no description.
    void (*describe)(const taper_device *device, taper_device_words *words);
    taper_option listing; // option that is set to 1 while devices are listed; 0 if there is none
    taper_option half;    // option with which the device computes in half precision if set to 1; 0 if there is none
    // Lists the memory that the recording uses between its layers, for diagrams. NULL if there is no list.
    void (*storages)(const taper_segment *segment, const void *recording, taper_each_storage *each, void *user);
    // True if making a recording is expensive. If the recording of a call cannot be kept, the plain nodes then run the
    // call, and the backend is not called.
    bool lasting;
};

// ---- for backends

// Returns what is known before any run about the value's dtype and sizes; often little is known. The first call
// computes these facts for the whole graph.
taper_shape taper_region_shape(taper_region *region, const taper_ir_value *value);
// Computes the result shapes of the segment's nodes for this call (ir/infer.h). A shape remains unknown if it depends
// on elements, and not only on the shapes of inputs. The caller frees *shapes with taper_segment_shapes_free. Fails
// only if memory runs out.
TAPER_MUST_USE taper_status taper_segment_shapes(const taper_segment *segment, const taper_call *call,
                                                 taper_shapes *shapes);
void taper_segment_shapes_free(const taper_call *call, taper_shapes *shapes);
// Runs the plain nodes, for comparison with the backend's results. They use the kernels of `device`, or the kernels of
// the operator list if device is NULL.
TAPER_MUST_USE taper_status taper_segment_run_plain(const taper_segment *segment, taper_device *device,
                                                    taper_call *call);
// ---- for the callers of backends

// Calls the segment: converts the arguments to their forms, makes a recording unless the kept one fits, and runs the
// recording. Returns TAPER_DECLINED if the plain nodes must run.
TAPER_MUST_USE taper_status taper_segment_call(taper_call *call);
// Lists the memory of the recording that `prepared` keeps, if `prepared` is a call of a segment.
void taper_segment_storages(const struct taper_prepared *prepared, taper_each_storage *each, void *user);
// Records that the plain nodes have completed the call that was declined last. This ends the measurement of the plain
// nodes' time.
void taper_segment_done_plain(const taper_segment *segment, taper_run *run, struct taper_prepared *prepared);

#endif
