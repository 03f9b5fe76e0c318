// SPDX-License-Identifier: BSD-2-Clause
// The content of a .pt2 file (torch.export.save): a program in the terms of PyTorch's export schema, whatever its
// layout and version. The file is a zip archive in one of two layouts:
//   archive (PyTorch 2.8 on)                                  legacy (2.1 to 2.7), no folder around it
//   archive_format, archive_version, byteorder                version
//   models/NAME.json                                          serialized_exported_program.json
//   data/weights/NAME_weights_config.json, weight_N           serialized_state_dict.pt (.json until 2.2)
//   data/constants/NAME_constants_config.json, tensor_N       serialized_constants.pt (.json until 2.2, none in 2.1)
//   extra/FILE                                                extra_files/FILE
// PyTorch 2.8 has data/weights/NAME.pt and data/constants/NAME.pt instead of the tables and their records. These files
// and the legacy ones, with or without .json, are zip archives of torch.save. Sample inputs are not read.
// The module's arena owns everything except the tensors of the weights. Texts are NUL-terminated.
//
// The reader checks the structure, not the meaning. The code that makes graphs of the program checks the names of
// targets, the arguments of operators, and that each value is defined before it is used.
#ifndef TAPER_FORMAT_PT2_PROGRAM_H
#define TAPER_FORMAT_PT2_PROGRAM_H

#include "format/module.h"
#include "format/zip.h"

typedef struct taper_pt2_graph taper_pt2_graph;
typedef struct taper_pt2_named taper_pt2_named;

typedef enum taper_pt2_kind {
    TAPER_PT2_NONE,
    TAPER_PT2_VALUE, // value of the graph: a tensor, symbolic number or custom object
    TAPER_PT2_INT,
    TAPER_PT2_FLOAT,
    TAPER_PT2_BOOL,
    TAPER_PT2_COMPLEX,
    TAPER_PT2_STRING,
    TAPER_PT2_DTYPE, // dtype: number that PyTorch's operators use (ScalarType), also for dtypes that Taper lacks
    // Memory format: contiguous 0, preserve 1, channels last 2, channels last 3d 3, as PyTorch's operators number them.
    TAPER_PT2_MEMORY_FORMAT,
    TAPER_PT2_LAYOUT,   // layout: strided 0, as PyTorch's operators number them
    TAPER_PT2_DEVICE,   // device, such as "cpu" or "cuda:0"
    TAPER_PT2_OPERATOR, // target of a node, such as "torch.ops.aten.add.Tensor"
    TAPER_PT2_GRAPH,    // graph that is an argument of a higher-order operator
    TAPER_PT2_LIST,
    TAPER_PT2_DICT
} taper_pt2_kind;

// An argument, as the schema's union Argument defines it. as_sym_int becomes a VALUE or an INT, as_sym_ints becomes a
// list of these, as_optional_tensor becomes a VALUE or NONE, and so on.
typedef struct taper_pt2_argument {
    uint8_t kind; // a taper_pt2_kind
    // Kind that the schema declares for the items of a LIST, even if it is empty: VALUE (tensors), INT, FLOAT, ….
    uint8_t of;
    uint32_t count; // number of items of a LIST or DICT; length of a text in bytes
    union {
        int64_t i; // value of an INT, BOOL, DTYPE, MEMORY_FORMAT or LAYOUT
        double f;
        const double *complex; // real and imaginary part
        const char *text;      // text of a STRING, DEVICE or OPERATOR
        size_t value;          // index in the graph's values
        const taper_pt2_graph *graph;
        struct taper_pt2_argument *items;
        taper_pt2_named *entries;
    } as;
} taper_pt2_argument;

// An argument of a node, or an entry of a dict.
struct taper_pt2_named {
    const char *name; // name of the argument or key; "" for arguments of higher-order operators
    bool keyword;     // true for a keyword argument; false if the file does not say
    taper_pt2_argument argument;
};

// A size, stride, offset or symbolic number.
typedef struct taper_pt2_number {
    // Expression, for example "Symbol('s0', positive=True, integer=True)". NULL if the number is the constant `i` (or
    // `f` for a float).
    const char *expression;
    union {
        int64_t i;
        double f;
    } as;
} taper_pt2_number;

// Facts about a tensor in the file. Sizes may be expressions of the sizes of the inputs.
typedef struct taper_pt2_meta {
    int dtype; // dtype as a number like TAPER_PT2_DTYPE; -1 if missing
    int layout;
    size_t rank; // number of dimensions, at most TAPER_MAX_RANK
    bool requires_grad;
    const char *device; // device, such as "cpu"
    const taper_pt2_number *sizes, *strides;
    taper_pt2_number offset;
} taper_pt2_meta;

typedef enum taper_pt2_type {
    TAPER_PT2_TYPE_TENSOR,
    TAPER_PT2_TYPE_INT,
    TAPER_PT2_TYPE_FLOAT,
    TAPER_PT2_TYPE_BOOL,
    TAPER_PT2_TYPE_OBJECT,
    TAPER_PT2_TYPE_TOKEN
} taper_pt2_type;

typedef struct taper_pt2_value {
    const char *name;
    uint8_t type;               // a taper_pt2_type
    const taper_pt2_meta *meta; // facts about a tensor; NULL if missing
    taper_pt2_number number;    // value of a symbolic number
    const char *class_name;     // class of a custom object; NULL if missing
} taper_pt2_value;

typedef struct taper_pt2_node {
    const char *target;      // operator or function, such as "torch.ops.aten.conv2d.default" or "_operator.add"
    const char *name;        // name of the node; NULL if missing
    const char *stack_trace; // source lines, the innermost last; NULL if missing
    const char *module;      // path of the module that contained the node, such as "features.0" or ""; NULL if missing
    bool single; // true if a higher-order operator returns a tensor, false if it returns a tuple with one tensor
    taper_pt2_named *inputs;
    taper_pt2_argument *outputs;
    size_t input_count, output_count;
} taper_pt2_node;

// A graph. Its names are local: nested graphs cannot use them.
struct taper_pt2_graph {
    const char *name;        // name of a nested graph, such as "true_graph_0"
    taper_pt2_value *values; // every value that the graph names, defined or not, sorted by name
    taper_pt2_argument *inputs, *outputs;
    taper_pt2_node *nodes;
    size_t value_count, input_count, output_count, node_count;
    bool single; // true if the graph returns a tensor, false if it returns a tuple with one tensor
};

// How inputs and outputs are nested in containers (torch.utils._pytree). None is a leaf.
typedef enum taper_pt2_tree_kind {
    TAPER_PT2_LEAF,
    TAPER_PT2_TUPLE,
    TAPER_PT2_TREE_LIST,
    TAPER_PT2_TREE_DICT, // dict, OrderedDict or defaultdict
    TAPER_PT2_NAMED_TUPLE,
    TAPER_PT2_OTHER // any other class registered with torch.utils._pytree
} taper_pt2_tree_kind;

typedef struct taper_pt2_tree {
    uint8_t kind;        // a taper_pt2_tree_kind
    const char *type;    // type of the container, such as "builtins.dict"; NULL for a leaf
    const char *context; // JSON text from the file, such as "null" or "[\"a\", \"b\"]"; NULL for a leaf
    // Keys of a dict, or field names of a named tuple (STRING), one for each child. NULL if the file has no names.
    const taper_pt2_argument *keys;
    const struct taper_pt2_tree *children;
    size_t count, leaves; // number of children; number of leaves of the whole subtree
} taper_pt2_tree;

// A parameter, buffer or constant of the program.
typedef struct taper_pt2_weight {
    const char *name; // name, such as "conv.weight"
    // Tensor, a reference that this struct owns; shares storages as in the file; NULL if it is not available.
    taper_tensor *tensor;
    // Reason if the tensor is not available, such as "its dtype is float8_e4m3fn, which …"; otherwise NULL.
    const char *refusal;
} taper_pt2_weight;

typedef enum taper_pt2_input_kind {
    TAPER_PT2_INPUT_USER,
    TAPER_PT2_INPUT_CONSTANT, // number, text or None that the caller passed during the export
    TAPER_PT2_INPUT_PARAMETER,
    TAPER_PT2_INPUT_BUFFER,
    TAPER_PT2_INPUT_TENSOR, // tensor constant
    TAPER_PT2_INPUT_OBJECT, // custom object
    TAPER_PT2_INPUT_TOKEN
} taper_pt2_input_kind;

// The meaning of an input of the graph.
typedef struct taper_pt2_input {
    uint8_t kind; // a taper_pt2_input_kind
    bool persistent;
    // Name of the weight or constant that the input stands for, or NULL if it stands for none.
    const char *target;
    const taper_pt2_weight *weight; // the weight that `target` names; never NULL for PARAMETER, BUFFER, TENSOR, OBJECT
    // If the input is a tensor of a Python subclass, the weight is its first part, and this is the number of bytes of
    // ".PART" at the end of the weight's name. Otherwise 0.
    size_t part_length;
    taper_pt2_argument argument; // the input in the graph
} taper_pt2_input;

typedef enum taper_pt2_output_kind {
    TAPER_PT2_OUTPUT_USER,
    TAPER_PT2_OUTPUT_LOSS,
    TAPER_PT2_OUTPUT_BUFFER,    // new value of a buffer
    TAPER_PT2_OUTPUT_PARAMETER, // new value of a parameter
    TAPER_PT2_OUTPUT_INPUT,     // new value of a tensor that the caller passed
    TAPER_PT2_OUTPUT_PARAMETER_GRADIENT,
    TAPER_PT2_OUTPUT_INPUT_GRADIENT,
    TAPER_PT2_OUTPUT_TOKEN
} taper_pt2_output_kind;

typedef struct taper_pt2_output {
    uint8_t kind; // a taper_pt2_output_kind
    // Name of the buffer, parameter or input that gets the new value, or NULL if there is none.
    const char *target;
    size_t input;                // index of the input that gets the new value, if there is a target
    taper_pt2_argument argument; // the output in the graph
} taper_pt2_output;

typedef struct taper_pt2_opset {
    const char *name; // name of an operator namespace, such as "aten"
    int64_t version;
} taper_pt2_opset;

typedef struct taper_pt2_range {
    const char *name;    // name of a symbol, such as "s0"
    int64_t least, most; // bounds of the symbol; INT64_MIN and INT64_MAX mean no bound
} taper_pt2_range;

typedef struct taper_pt2_program {
    const char *method;             // name of the method that the program becomes
    struct taper_pt2_program *next; // next program of the archive
    int64_t major, minor;           // version of the export schema; 0 if missing
    const char *torch_version;      // version of PyTorch that wrote the file; NULL if missing
    taper_pt2_opset *opsets;
    taper_pt2_range *ranges;
    const char **guards; // conditions on the inputs, as Python expressions
    size_t opset_count, range_count, guard_count;

    const taper_pt2_graph *graph;
    taper_pt2_input *inputs;   // one for each input of the graph
    taper_pt2_output *outputs; // one for each output of the graph
    size_t input_count, output_count;
    taper_pt2_tree in_tree; // tuple of the positional arguments (a tuple) and the keyword arguments (a dict)
    taper_pt2_tree out_tree;
    const char **argument_names; // names of the arguments of forward; empty if the file has none
    size_t argument_name_count;

    taper_pt2_weight
        // Weights sorted by name. If there are several programs, a name begins with the name of its program:
        // "encoder.conv.weight".
        *weights;
    size_t weight_count;
} taper_pt2_program;

// Returns true if torch.export.save wrote the archive, or if it contains code that AOTInductor made from such a
// program.
bool taper_pt2_is(const taper_zip *zip);

// Reads the programs of the file. A single program becomes the method forward. If there are several, the program named
// model, which torch.export.save writes, becomes forward, and the others become methods with their own names. Before
// the call, the caller sets the members of the module that module.h requires for its readers. The module receives the
// extra files. The caller releases the programs, also after a failure.
TAPER_MUST_USE taper_status taper_pt2_read(taper_blob *blob, taper_module *module, taper_pt2_program *program,
                                           taper_error *error);
// Releases the tensors. Call this before taper_module_free.
void taper_pt2_release(taper_pt2_program *program);

// Returns the name of the dtype with this number in PyTorch, such as "float8_e4m3fn", or "unknown".
const char *taper_pt2_dtype_name(int dtype);

#endif
