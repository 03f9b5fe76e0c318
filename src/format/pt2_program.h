// SPDX-License-Identifier: BSD-2-Clause
// What a .pt2 file holds (torch.export.save): a program as PyTorch's export schema describes it, whichever layout and
// version it came in. A zip archive in one of two layouts:
//   archive (PyTorch 2.8 on)                                  legacy (2.1 to 2.7), no folder around it
//   archive_format, archive_version, byteorder                version
//   models/NAME.json                                          serialized_exported_program.json
//   data/weights/NAME_weights_config.json, weight_N           serialized_state_dict.pt (.json until 2.2)
//   data/constants/NAME_constants_config.json, tensor_N       serialized_constants.pt (.json until 2.2, none in 2.1)
//   extra/FILE                                                extra_files/FILE
// PyTorch 2.8 has data/weights/NAME.pt and data/constants/NAME.pt for the tables and their records; these and the
// legacy ones, .json or not, are zip archives of torch.save. Sample inputs are not read.
// Everything but the weights' tensors is in the arena of the module that it was read into. Texts are NUL-terminated.
//
// The reader checks the structure, not the meaning: which names targets have, whether arguments fit an operator and
// whether a value is made before it is used is for who makes graphs of it.
#ifndef TAPER_FORMAT_PT2_PROGRAM_H
#define TAPER_FORMAT_PT2_PROGRAM_H

#include "format/module.h"
#include "format/zip.h"

typedef struct taper_pt2_graph taper_pt2_graph;
typedef struct taper_pt2_named taper_pt2_named;

typedef enum taper_pt2_kind {
    TAPER_PT2_NONE,
    TAPER_PT2_VALUE, // a value of the graph: tensors, symbolic numbers, custom objects
    TAPER_PT2_INT,
    TAPER_PT2_FLOAT,
    TAPER_PT2_BOOL,
    TAPER_PT2_COMPLEX,
    TAPER_PT2_STRING,
    TAPER_PT2_DTYPE, // a number as PyTorch's operators take it (ScalarType): a taper_dtype, or one Taper has none of
    TAPER_PT2_MEMORY_FORMAT, // the same: contiguous 0, preserve 1, channels last 2, channels last 3d 3
    TAPER_PT2_LAYOUT,        // the same: strided 0
    TAPER_PT2_DEVICE,        // "cpu", "cuda:0"
    TAPER_PT2_OPERATOR,      // the target of a node: "torch.ops.aten.add.Tensor"
    TAPER_PT2_GRAPH,         // of higher-order operators
    TAPER_PT2_LIST,
    TAPER_PT2_DICT
} taper_pt2_kind;

// One of the alternatives of the schema's Argument: as_sym_int is a VALUE or an INT, as_sym_ints a list of these,
// as_optional_tensor a VALUE or NONE, and so on.
typedef struct taper_pt2_argument {
    uint8_t kind;   // taper_pt2_kind
    uint8_t of;     // of a LIST: what it is declared to hold, also where it is empty: VALUE (tensors), INT, FLOAT, …
    uint32_t count; // of LIST and DICT; of texts, in bytes
    union {
        int64_t i; // INT, BOOL, DTYPE, MEMORY_FORMAT, LAYOUT
        double f;
        const double *complex; // real, imaginary
        const char *text;      // STRING, DEVICE, OPERATOR
        size_t value;          // number in the graph's values
        const taper_pt2_graph *graph;
        struct taper_pt2_argument *items;
        taper_pt2_named *entries;
    } as;
} taper_pt2_argument;

// An argument of a node, an entry of a dict.
struct taper_pt2_named {
    const char *name; // "" for arguments of higher-order operators
    bool keyword;     // false as well where the file does not say
    taper_pt2_argument argument;
};

// A size, a stride, an offset, a symbolic number.
typedef struct taper_pt2_number {
    const char *expression; // "Symbol('s0', positive=True, integer=True)"; NULL: it is i (f of a float)
    union {
        int64_t i;
        double f;
    } as;
} taper_pt2_number;

// What the file says of a tensor; sizes may depend on those of the inputs.
typedef struct taper_pt2_meta {
    int dtype; // as in TAPER_PT2_DTYPE; -1: not said
    int layout;
    size_t rank; // not more than TAPER_MAX_RANK
    bool requires_grad;
    const char *device; // "cpu"
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
    uint8_t type;               // taper_pt2_type
    const taper_pt2_meta *meta; // of a tensor; NULL: not said
    taper_pt2_number number;    // of a symbolic number
    const char *class_name;     // of an object; NULL: not said
} taper_pt2_value;

typedef struct taper_pt2_node {
    const char *target;      // "torch.ops.aten.conv2d.default", "_operator.add"
    const char *name;        // NULL: not said
    const char *stack_trace; // source lines, the innermost last; NULL: not said
    const char *module;      // the path of the module that it came from: "features.0", ""; NULL: not said
    bool single;             // a higher-order operator gives a lone tensor rather than a tuple of one
    taper_pt2_named *inputs;
    taper_pt2_argument *outputs;
    size_t input_count, output_count;
} taper_pt2_node;

// The names of a graph are its own; those within it see none of them.
struct taper_pt2_graph {
    const char *name;        // of a graph within another: "true_graph_0"
    taper_pt2_value *values; // all that are named in it, made or not, sorted by name
    taper_pt2_argument *inputs, *outputs;
    taper_pt2_node *nodes;
    size_t value_count, input_count, output_count, node_count;
    bool single; // gives a lone tensor rather than a tuple of one
};

// How inputs and outputs are packed (torch.utils._pytree). None is a leaf.
typedef enum taper_pt2_tree_kind {
    TAPER_PT2_LEAF,
    TAPER_PT2_TUPLE,
    TAPER_PT2_TREE_LIST,
    TAPER_PT2_TREE_DICT, // OrderedDict and defaultdict too
    TAPER_PT2_NAMED_TUPLE,
    TAPER_PT2_OTHER // a class that was registered
} taper_pt2_tree_kind;

typedef struct taper_pt2_tree {
    uint8_t kind;        // taper_pt2_tree_kind
    const char *type;    // "builtins.dict"; NULL of a leaf
    const char *context; // JSON as the file has it: "null", "[\"a\", \"b\"]"; NULL of a leaf
    // Of a dict its keys, of a named tuple its fields (STRING), as many as children; NULL where the file has none.
    const taper_pt2_argument *keys;
    const struct taper_pt2_tree *children;
    size_t count, leaves; // children; leaves within it
} taper_pt2_tree;

// A parameter, buffer or constant.
typedef struct taper_pt2_weight {
    const char *name;     // "conv.weight"
    taper_tensor *tensor; // owned; storages are shared as in the file. NULL: cannot be had
    const char *refusal;  // why not: "its dtype is float8_e4m3fn, which …"
} taper_pt2_weight;

typedef enum taper_pt2_input_kind {
    TAPER_PT2_INPUT_USER,
    TAPER_PT2_INPUT_CONSTANT, // a number, a text or None that the caller gave when it was exported
    TAPER_PT2_INPUT_PARAMETER,
    TAPER_PT2_INPUT_BUFFER,
    TAPER_PT2_INPUT_TENSOR, // a tensor constant
    TAPER_PT2_INPUT_OBJECT, // a custom object
    TAPER_PT2_INPUT_TOKEN
} taper_pt2_input_kind;

// What an input of the graph is.
typedef struct taper_pt2_input {
    uint8_t kind; // taper_pt2_input_kind
    bool persistent;
    const char *target;             // the weight's name, the constant's name; NULL: none
    const taper_pt2_weight *weight; // of PARAMETER, BUFFER, TENSOR, OBJECT: never NULL
    taper_pt2_argument argument;    // the graph's input
} taper_pt2_input;

typedef enum taper_pt2_output_kind {
    TAPER_PT2_OUTPUT_USER,
    TAPER_PT2_OUTPUT_LOSS,
    TAPER_PT2_OUTPUT_BUFFER,    // the new value of a buffer
    TAPER_PT2_OUTPUT_PARAMETER, // of a parameter
    TAPER_PT2_OUTPUT_INPUT,     // of a tensor that the caller gave
    TAPER_PT2_OUTPUT_PARAMETER_GRADIENT,
    TAPER_PT2_OUTPUT_INPUT_GRADIENT,
    TAPER_PT2_OUTPUT_TOKEN
} taper_pt2_output_kind;

typedef struct taper_pt2_output {
    uint8_t kind;                // taper_pt2_output_kind
    const char *target;          // the buffer, parameter or input; NULL: none
    size_t input;                // which input that is, where there is a target
    taper_pt2_argument argument; // the graph's output
} taper_pt2_output;

typedef struct taper_pt2_opset {
    const char *name; // "aten"
    int64_t version;
} taper_pt2_opset;

typedef struct taper_pt2_range {
    const char *name;    // of a symbol: "s0"
    int64_t least, most; // INT64_MIN, INT64_MAX: no bound
} taper_pt2_range;

typedef struct taper_pt2_program {
    const char *method;             // that it becomes
    struct taper_pt2_program *next; // the archive's next one
    int64_t major, minor;           // of the schema; 0: not said
    const char *torch_version;      // NULL: not said
    taper_pt2_opset *opsets;
    taper_pt2_range *ranges;
    const char **guards; // Python expressions
    size_t opset_count, range_count, guard_count;

    const taper_pt2_graph *graph;
    taper_pt2_input *inputs;   // as many as the graph has
    taper_pt2_output *outputs; // the same
    size_t input_count, output_count;
    taper_pt2_tree in_tree; // a tuple of the positional arguments (a tuple) and the named ones (a dict)
    taper_pt2_tree out_tree;
    const char **argument_names; // of forward; none where the file has none
    size_t argument_name_count;

    taper_pt2_weight
        *weights; // sorted by name; of several programs each begins with its program's: "encoder.conv.weight"
    size_t weight_count;
} taper_pt2_program;

// Whether an archive was written by torch.export.save, or holds code that AOTInductor made of one.
bool taper_pt2_is(const taper_zip *zip);

// Reads the programs. One alone is the method forward, as is of several that which torch.export.save names, model; the
// others are methods of their names. module is as for the readers of module.h; it gets the extra files. What is in the
// programs when this fails is to be released, too.
TAPER_MUST_USE taper_status taper_pt2_read(taper_blob *blob, taper_module *module, taper_pt2_program *program,
                                           taper_error *error);
// Gives the tensors back; before taper_module_free.
void taper_pt2_release(taper_pt2_program *program);

// The name of a dtype as PyTorch numbers it, "float8_e4m3fn"; "unknown".
const char *taper_pt2_dtype_name(int dtype);

#endif
