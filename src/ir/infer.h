// SPDX-License-Identifier: BSD-2-Clause
// Infers sizes and dtypes of results from the known facts about the arguments, by the operator's rule (SHAPE and RESULT
// in ir/op.h). A backend that claims nodes asks before a run, when little is known. A device that records a segment
// asks for the shapes of a run, when the shapes of all inputs are known. Debug builds compare the inferred facts with
// the results of the operators (TAPER_CHECK_SHAPES).
#ifndef TAPER_IR_INFER_H
#define TAPER_IR_INFER_H

#include "ir/effects.h"
#include "ir/tensor_def.h"

#define TAPER_UNKNOWN INT64_MIN // value of an unknown number

// The known facts about a tensor.
typedef struct taper_shape {
    int rank;  // number of dimensions; -1 if unknown
    int dtype; // a taper_dtype; -1 if unknown
    // For an unknown rank: tensors with an equal `like` have equal ranks. NULL gives no information.
    const void *like;
    int64_t sizes[TAPER_MAX_RANK]; // TAPER_UNKNOWN for an unknown size
} taper_shape;

typedef enum taper_known_kind {
    TAPER_KNOWN_NOTHING,
    TAPER_KNOWN_NONE,
    TAPER_KNOWN_TENSOR,  // the argument is a tensor; shapes[0] describes it
    TAPER_KNOWN_TENSORS, // the argument is a list of `count` tensors, which `shapes` describes
    TAPER_KNOWN_INTS,    // the argument is a list of `count` numbers in `ints`; some may be TAPER_UNKNOWN
    TAPER_KNOWN_VALUE    // the argument is `value`: a number, a string or another value
} taper_known_kind;

typedef struct taper_known {
    taper_known_kind kind;
    const taper_shape *shapes;
    const int64_t *ints;
    size_t count;
    taper_val value; // value of the argument, borrowed
} taper_known;

static inline taper_shape taper_shape_unknown(void)
{
    return (taper_shape){.rank = -1, .dtype = -1};
}
taper_shape taper_shape_of(const taper_tensor *tensor);

// Returns the known facts about result 0. If the result is a list of tensors, returns the facts that hold for each of
// its items. args: the arguments of the schema in order, including defaults.
taper_shape taper_infer(const taper_op *op, const taper_schema *schema, const taper_known *args, size_t count);
// Returns the known facts about result `result`, which is at least 1. taper_infer serves result 0.
taper_shape taper_infer_more(const taper_op *op, const taper_schema *schema, const taper_known *args, size_t count,
                             size_t result);

// ---- calls and nodes

// The known facts about the arguments of a call. The caller adds the arguments one after the other. If there is no
// space for an argument, it is unknown.
enum {
    TAPER_KNOWN_ARGUMENTS = 24,
    TAPER_KNOWN_ITEMS = 64,
    TAPER_KNOWN_INTS_MOST = TAPER_KNOWN_ARGUMENTS * TAPER_MAX_RANK
};
typedef struct taper_known_call {
    taper_known args[TAPER_KNOWN_ARGUMENTS];
    taper_shape shapes[TAPER_KNOWN_ARGUMENTS + TAPER_KNOWN_ITEMS];
    int64_t ints[TAPER_KNOWN_INTS_MOST];
    size_t count, shape_count, int_count;
} taper_known_call;
void taper_know_val(taper_known_call *call, taper_val value); // adds the next argument, whose value is known
// Adds the next argument, a tensor of this shape.
void taper_know_shape(taper_known_call *call, const taper_shape *shape);

// Shapes of the values in a graph, indexed by the values' ids.
typedef struct taper_shapes {
    taper_shape *of; // the shape of the value `id` is of[id - first]
    size_t first, count;
} taper_shapes;
taper_shape taper_shapes_get(const taper_shapes *shapes, const taper_ir_value *value);
// Infers result 0 of an operator from the shapes and constants known so far. arg: returns the value of an argument if
// other code knows it, otherwise NULL. Does nothing for other kinds of nodes.
void taper_shapes_learn(taper_shapes *shapes, const taper_node *node,
                        const taper_val *(*arg)(void *user, const taper_node *node, size_t at), void *user);

// Infers the shapes of all values of a graph from its constants, which often give little information. The result is
// allocated in the graph's arena. Returns NULL if memory is missing.
taper_shapes *taper_graph_shapes(taper_graph *graph);

// ---- for the files with the rules

typedef struct taper_infer_call {
    const taper_op *op;
    const taper_schema *schema;
    const taper_known *args;
    size_t count;
} taper_infer_call;

// Returns the argument with this name, or NULL if there is no such argument, or if the argument is unknown.
const taper_known *taper_infer_named(const taper_infer_call *call, const char *name);
// Returns the shape of the tensor that is argument `at`, or an unknown shape if the argument is not a tensor.
taper_shape taper_infer_tensor(const taper_infer_call *call, size_t at);
// Returns the int argument with this name. Returns `otherwise` if there is no such argument or it is None, and
// TAPER_UNKNOWN if it is unknown.
int64_t taper_infer_int(const taper_infer_call *call, const char *name, int64_t otherwise);
// Sets `want` ints from a list argument. A single int is used for all of them. If the list is empty, None or missing,
// all ints become `otherwise`. Returns false if the ints are unknown.
bool taper_infer_ints(const taper_infer_call *call, const char *name, size_t want, int64_t otherwise, int64_t *ints);
// Returns the dimension that an argument gives, counted from the front, or -1 if it is unknown.
int taper_infer_dim(const taper_infer_call *call, const char *name, int rank);
// Returns a shape with the rank of x and unknown sizes.
taper_shape taper_infer_same_rank(const taper_shape *x);

// The parameters of a convolution or pool, for each dimension of the image.
typedef struct taper_conv_shape {
    int64_t kernel[3], stride[3], padding[3], dilation[3], more[3];
    bool same, transposed, up;
} taper_conv_shape;
int64_t taper_infer_conv_size(const taper_conv_shape *conv, size_t d, int64_t size); // defined in infer_conv_size.c

// Infers the result of a layer with packed weights. Returns false if the weights are unknown (infer_packed.c).
bool taper_infer_packed(const taper_infer_call *call, taper_shape *shape);
// Returns 1 if a recurrent network runs in both directions, otherwise 0, or TAPER_UNKNOWN (infer_packed.c).
int64_t taper_infer_both_directions(const taper_infer_call *call);
taper_shape taper_infer_layer(const taper_infer_call *call, taper_op_shape rule); // defined in infer_layers.c
taper_shape taper_infer_view(const taper_infer_call *call, taper_op_shape rule);  // defined in infer_views.c

#endif
