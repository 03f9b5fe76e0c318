// SPDX-License-Identifier: BSD-2-Clause
// Sizes and dtypes of results, out of what is known of the arguments, by the rule in the operator's row (SHAPE and
// RESULT in ir/op.h). Whoever plans asks before a run, with little known; a device asks for the shapes of a run, with
// everything known. Builds for debugging hold the answers against what the operators gave (TAPER_CHECK_SHAPES).
#ifndef TAPER_IR_INFER_H
#define TAPER_IR_INFER_H

#include "ir/effects.h"
#include "ir/tensor_def.h"

#define TAPER_UNKNOWN INT64_MIN // a number that is not known

// What is known of a tensor.
typedef struct taper_shape {
    int rank;                      // -1: not known
    int dtype;                     // -1: not known
    const void *like;              // of an unknown rank: those with the same one have the same rank; NULL: nothing
    int64_t sizes[TAPER_MAX_RANK]; // TAPER_UNKNOWN where not known
} taper_shape;

typedef enum taper_known_kind {
    TAPER_KNOWN_NOTHING,
    TAPER_KNOWN_NONE,
    TAPER_KNOWN_TENSOR,  // shapes[0]
    TAPER_KNOWN_TENSORS, // a list: shapes[0 … count)
    TAPER_KNOWN_INTS,    // a list of numbers: ints[0 … count), some of them maybe TAPER_UNKNOWN
    TAPER_KNOWN_VALUE    // a number, string, …
} taper_known_kind;

typedef struct taper_known {
    taper_known_kind kind;
    const taper_shape *shapes;
    const int64_t *ints;
    size_t count;
    taper_val value; // borrowed
} taper_known;

static inline taper_shape taper_shape_unknown(void)
{
    return (taper_shape){.rank = -1, .dtype = -1};
}
taper_shape taper_shape_of(const taper_tensor *tensor);

// What is known of result 0; of a list of tensors, what all its items have in common. args: those of the schema, in
// order, defaults among them.
taper_shape taper_infer(const taper_op *op, const taper_schema *schema, const taper_known *args, size_t count);
// The same of result 1, 2, ….
taper_shape taper_infer_more(const taper_op *op, const taper_schema *schema, const taper_known *args, size_t count,
                             size_t result);

// ---- of calls and nodes

// What is known of a call's arguments, one after the other; what does not fit is not known.
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
void taper_know_val(taper_known_call *call, taper_val value);            // the next argument is this value
void taper_know_shape(taper_known_call *call, const taper_shape *shape); // it is a tensor of this shape

// Shapes of values that nodes of a graph give, by the values' ids.
typedef struct taper_shapes {
    taper_shape *of; // of[id - first]
    size_t first, count;
} taper_shapes;
taper_shape taper_shapes_get(const taper_shapes *shapes, const taper_ir_value *value);
// Result 0 of an operator, from what is known already and its constants; arg: a value for an argument that comes from
// elsewhere, or NULL. Other nodes teach nothing.
void taper_shapes_learn(taper_shapes *shapes, const taper_node *node,
                        const taper_val *(*arg)(void *user, const taper_node *node, size_t at), void *user);

// Of all values of a graph, as far as constants tell: often little. In the graph's arena; NULL without memory.
taper_shapes *taper_graph_shapes(taper_graph *graph);

// ---- for the rules' own files

typedef struct taper_infer_call {
    const taper_op *op;
    const taper_schema *schema;
    const taper_known *args;
    size_t count;
} taper_infer_call;

// The argument of that name; NULL: there is none, or nothing is known of it.
const taper_known *taper_infer_named(const taper_infer_call *call, const char *name);
// The tensor at a position; one of which nothing is known, where it is none.
taper_shape taper_infer_tensor(const taper_infer_call *call, size_t at);
// An int, or `otherwise` where there is no such argument or it is None; TAPER_UNKNOWN.
int64_t taper_infer_int(const taper_infer_call *call, const char *name, int64_t otherwise);
// `want` ints (a single one stands for all); false: not known. An empty list, None or no such argument: `otherwise`.
bool taper_infer_ints(const taper_infer_call *call, const char *name, size_t want, int64_t otherwise, int64_t *ints);
// The dimension, counted from the front; -1: not known.
int taper_infer_dim(const taper_infer_call *call, const char *name, int rank);
// Unknown sizes, as many as x has dimensions.
taper_shape taper_infer_same_rank(const taper_shape *x);

// What a convolution or pool does to one dimension.
typedef struct taper_conv_shape {
    int64_t kernel[3], stride[3], padding[3], dilation[3], more[3];
    bool same, transposed, up;
} taper_conv_shape;
int64_t taper_infer_conv_size(const taper_conv_shape *conv, size_t d, int64_t size); // infer_layers.c

// Of a layer whose weights are packed: false where they are not known (infer_packed.c).
bool taper_infer_packed(const taper_infer_call *call, taper_shape *shape);
// Whether a recurrent network runs in both directions: 0, 1, or TAPER_UNKNOWN (infer_packed.c).
int64_t taper_infer_both_directions(const taper_infer_call *call);
taper_shape taper_infer_layer(const taper_infer_call *call, taper_op_shape rule); // infer_layers.c
taper_shape taper_infer_view(const taper_infer_call *call, taper_op_shape rule);  // infer_views.c

#endif
