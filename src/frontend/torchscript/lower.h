// SPDX-License-Identifier: BSD-2-Clause
// Turns TorchScript functions into graphs. Every call of a function or method in the sources is inlined. Only methods
// of interfaces and of native classes are called at run time. This header is shared by the parts of the front end.
#ifndef TAPER_TORCHSCRIPT_LOWER_H
#define TAPER_TORCHSCRIPT_LOWER_H

#include "frontend/torchscript/torchscript.h"
#include "frontend/torchscript/unit.h"
#include "ir/graph.h"

// The meaning of a name or an expression: a value, or a definition in the sources.
typedef struct taper_ts_binding {
    taper_ir_value *value;
    const taper_type *type; // type; NULL if unknown, because of a missing operator or a native method
    // More specific type, for an Optional that is known to be None or not; or NULL.
    const taper_type *actual;
    taper_ts_definition *definition; // function, class or enum, if there is no value
    const taper_ts_function *nested; // a def inside the function
    const taper_object *object;      // object that it certainly is, or NULL; used only with option `fixed`
} taper_ts_binding;

static inline const taper_type *taper_ts_actual(const taper_ts_binding *b)
{
    return b->actual != NULL ? b->actual : b->type;
}

static inline bool taper_ts_is_bound(const taper_ts_binding *b)
{
    return b->value != NULL || b->definition != NULL || b->nested != NULL;
}

// Statements that remain after an if with a return in a branch, the innermost first.
typedef struct taper_ts_rest {
    taper_ts_node *next; // first of the remaining statements
    struct taper_ts_rest *outer;
} taper_ts_rest;

// A function being inlined.
typedef struct taper_ts_frame {
    taper_ts_function *function;
    taper_ts_binding *locals; // locals by slot
    uint32_t called_from;     // number of the place of the call
    const char *instance;     // object on which the method is called, as in taper_module_place
    bool returned;
    bool closed; // true in a loop, with or nested function, which cannot return from the function
    taper_ts_rest *rest;
    taper_ts_binding result;
} taper_ts_frame;

typedef struct taper_ts_change {
    uint32_t slot;
    taper_ts_binding before;
} taper_ts_change;

// For listing: a called function, lowered to its own graph.
typedef struct taper_ts_prepared {
    taper_graph *graph;
    int depth; // nesting depth of its blocks
} taper_ts_prepared;

// The state that the lowering of all functions shares.
typedef struct taper_ts_lowering {
    taper_ts_unit *unit;
    taper_torchscript *result;
    taper_graph *graph;
    taper_block *block; // block that receives nodes
    taper_ts_frame *frame;
    taper_ts_change *trail; // changes of the frame's locals by blocks, undone at the end of each block
    size_t trail_count, trail_capacity;
    size_t nodes_left;
    int depth;
    uint32_t at;                        // byte of the source that is being lowered, for places
    bool listing;                       // true for `taper ops`: also makes nodes that are not needed in a run
    bool of_root;                       // true while methods of the root are lowered
    struct taper_ts_prepared *prepared; // called functions, if listing
    size_t prepared_count, prepared_capacity;
    const taper_torchscript_options *options;
    taper_ir_value *pooled[16];
    // Methods called through interfaces, by name; classes of the objects that they may be called on.
    uint32_t *interface_methods;
    size_t interface_count, interface_capacity;
    taper_ts_definition **created;
    size_t created_count, created_capacity;
} taper_ts_lowering;

TAPER_COLD taper_status taper_ts_refuse(const taper_ts_lowering *l, const taper_ts_node *node, const char *format, ...)
    TAPER_PRINTF(3, 4);

// ---- lower.c

// The caller undoes it by l->depth--.
TAPER_MUST_USE taper_status taper_ts_deeper(taper_ts_lowering *l, const taper_ts_node *node);
// Charges `things` steps of a search against the limit on nodes, so that the time of loading is in proportion to the
// length of the file.
TAPER_MUST_USE taper_status taper_ts_charge(taper_ts_lowering *l, size_t things);
TAPER_MUST_USE taper_status taper_ts_add_node(taper_ts_lowering *l, taper_node_kind kind, size_t inputs, size_t outputs,
                                              taper_node **node);
// Makes a constant. Takes over the reference.
TAPER_MUST_USE taper_status taper_ts_constant(taper_ts_lowering *l, taper_val value, taper_ir_value **made);
TAPER_MUST_USE taper_status taper_ts_bind_constant(taper_ts_lowering *l, taper_val value, const taper_type *type,
                                                   taper_ts_binding *out);
TAPER_MUST_USE taper_status taper_ts_set_local(taper_ts_lowering *l, uint32_t slot, taper_ts_binding value);
// Inlines the call. args: one for each parameter, in order.
TAPER_MUST_USE taper_status taper_ts_inline(taper_ts_lowering *l, taper_ts_function *function,
                                            const taper_ts_binding *args, taper_ts_binding *out);
// For listing: lowers the function to its own graph, and sets f->prepared.
TAPER_MUST_USE taper_status taper_ts_prepare(taper_ts_lowering *l, taper_ts_function *f);
// Lowers the function and adds it to the result, unless it is already there.
TAPER_MUST_USE taper_status taper_ts_add_function(taper_ts_lowering *l, taper_ts_function *function);
// Lowers all functions of the module, whose root and pending objects exist.
TAPER_MUST_USE taper_status taper_ts_lower_module(taper_ts_lowering *l);
// Notes that objects of the class may exist. Methods of interfaces may be called on them.
TAPER_MUST_USE taper_status taper_ts_add_class(taper_ts_lowering *l, taper_ts_definition *class);
void taper_ts_lowering_free(taper_ts_lowering *l);
TAPER_MUST_USE taper_status taper_ts_missing(taper_ts_lowering *l, const char *name);

// ---- list_calls.c: listing (list.h)

// Adds a call of the function, and lowers it to its own graph if this was not done yet.
TAPER_MUST_USE taper_status taper_ts_call_apart(taper_ts_lowering *l, taper_ts_function *f,
                                                const taper_ts_binding *args, taper_ts_binding *out);
// taper_ts_finish_listed completes the graph of a method of the root for the list. taper_ts_finish_prepared completes
// the graph of a called function, which replaces its calls.
TAPER_MUST_USE taper_status taper_ts_finish_listed(taper_ts_lowering *l);
// Depth: nesting depth of its blocks.
TAPER_MUST_USE taper_status taper_ts_finish_prepared(taper_ts_lowering *l, int *depth);

// ---- lower_statement.c

// Restores the variables to their state when the trail had length `mark`.
void taper_ts_undo(taper_ts_lowering *l, size_t mark);
TAPER_MUST_USE taper_status taper_ts_statements(taper_ts_lowering *l, const taper_ts_node *block);
TAPER_MUST_USE taper_status taper_ts_statements_from(taper_ts_lowering *l, taper_ts_node *node);
// Evaluates the condition of an if as a bool. *taken: the branch that is taken, or NULL if this is not known.
TAPER_MUST_USE taper_status taper_ts_condition(taper_ts_lowering *l, taper_ts_node *node, taper_ts_binding *condition,
                                               taper_ts_node **taken);

// ---- lower_return.c

// Returns true if a statement contains a return outside of loops. things: incremented by the number of visited nodes.
bool taper_ts_returns(const taper_ts_node *node, size_t *things);
// Lowers an if for which taper_ts_returns is true. Unless its condition is known, the function has returned afterwards.
TAPER_MUST_USE taper_status taper_ts_returning_if(taper_ts_lowering *l, taper_ts_node *node);

// ---- lower_expression.c

TAPER_MUST_USE taper_status taper_ts_value(taper_ts_lowering *l, taper_ts_node *node, const taper_type *hint,
                                           taper_ts_binding *out); // the result must be a value
TAPER_MUST_USE taper_status taper_ts_lower(taper_ts_lowering *l, taper_ts_node *node, const taper_type *hint,
                                           taper_ts_binding *out);
// Gets the items of a tuple or list, which must be `count`.
TAPER_MUST_USE taper_status taper_ts_unpack(taper_ts_lowering *l, const taper_ts_node *node, taper_ts_binding whole,
                                            size_t count, taper_ts_binding *items);
// Makes a LIST, DICT or TUPLE of the items.
TAPER_MUST_USE taper_status taper_ts_make_container(taper_ts_lowering *l, taper_node_kind kind, const taper_type *type,
                                                    const taper_ts_binding *items, size_t count, taper_ts_binding *out);
TAPER_MUST_USE taper_status taper_ts_make_tuple(taper_ts_lowering *l, const taper_ts_binding *items, size_t count,
                                                taper_ts_binding *out);

// ---- fixed_attributes.c

// Returns the attribute of a known object if no statement assigns to an attribute of that name, otherwise NULL.
const taper_val *taper_ts_fixed_attribute(const taper_ts_lowering *l, const taper_object *object,
                                          const taper_ts_definition *d, uint32_t atom, int64_t slot);
// Returns true if the value is a number, text or None of this type, and may thus be a constant.
bool taper_ts_is_fixed_as(taper_val value, const taper_type *type);

// ---- lower_call.c

TAPER_MUST_USE taper_status taper_ts_call(taper_ts_lowering *l, taper_ts_node *node, const taper_type *hint,
                                          taper_ts_binding *out);
TAPER_MUST_USE taper_status taper_ts_call_method(taper_ts_lowering *l, const taper_ts_node *node,
                                                 taper_ts_binding object, uint32_t method, const taper_ts_binding *args,
                                                 size_t count, taper_ts_binding *out);

// ---- overload.c

enum { TAPER_TS_ARGUMENTS = 64 };

typedef struct taper_ts_arguments {
    taper_ts_binding items[TAPER_TS_ARGUMENTS];
    const char *keywords[TAPER_TS_ARGUMENTS]; // name of a keyword argument; NULL if positional
    size_t count;
} taper_ts_arguments;

// Calls an operator, such as "aten::add". A missing operator is noted, and its result is unknown.
TAPER_MUST_USE taper_status taper_ts_call_operator(taper_ts_lowering *l, const taper_ts_node *node, const char *name,
                                                   const taper_ts_arguments *args, taper_ts_binding *out);
// Calls an operator. keywords: NULL for each positional argument, or NULL if all are positional.
TAPER_MUST_USE taper_status taper_ts_builtin(taper_ts_lowering *l, const taper_ts_node *node, const char *name,
                                             const taper_ts_binding *args, const char *const *keywords, size_t count,
                                             taper_ts_binding *out);
enum { TAPER_TS_ALIAS_BYTES = 64 };
// Returns the name that an alias stands for, or NULL if name is not an alias. in_place: a buffer that the result may
// use.
const char *taper_ts_alias_of(const char *name, char *in_place, size_t size);
// Finds the operator by which PyTorch replaces a call of an alias. For rsub, it swaps the inputs to call sub. *op is
// NULL, and *normal unchanged, if `called` is not an alias or no such operator takes these inputs.
TAPER_MUST_USE taper_status taper_ts_normalize(taper_ts_lowering *l, const taper_op *called, const taper_schema *schema,
                                               taper_ir_value **inputs, size_t count, const taper_op **op,
                                               const taper_schema **normal);
// Computes the result of an operator on constants. Returns false if this is not possible.
bool taper_ts_fold(const taper_ts_lowering *l, const taper_op *op, const taper_schema *schema,
                   taper_ir_value *const *inputs, size_t count, taper_val *result);
// Returns true if a value of this type may be None.
bool taper_ts_may_be_none(const taper_type *type);
// Gets an attribute or method of a value of unknown type. The result is unknown too, if a missing operator is the
// cause.
TAPER_MUST_USE taper_status taper_ts_part_of_unknown(taper_ts_lowering *l, const taper_ts_node *node, const char *part,
                                                     taper_ts_binding *out);

// ---- own_functions.c

// Calls a function that PyTorch implements itself, if the call fits none of the operators with this name.
TAPER_MUST_USE taper_status taper_ts_own_function(taper_ts_lowering *l, const taper_ts_node *node, const char *name,
                                                  const taper_ts_binding *args, size_t count, bool *done,
                                                  taper_ts_binding *out);

// ---- sort_objects.c

// Calls sort or sorted on a list of objects whose class has an order. *done remains false for other calls.
TAPER_MUST_USE taper_status taper_ts_sort_objects(taper_ts_lowering *l, const taper_ts_node *node, const char *name,
                                                  const taper_ts_arguments *args, bool *done, taper_ts_binding *out);

// ---- local_objects.c

// Removes objects whose only uses are accesses to attributes, in one block. looks: limit of visited nodes; decremented.
void taper_ts_dissolve_objects(taper_block *block, size_t *looks);

// ---- match.c: compatibility of types, as in PyTorch's compiler

bool taper_ts_subtype(taper_ts_lowering *l, const taper_type *a, const taper_type *b);
// Finds a type for values of both types, or NULL if there is none.
TAPER_MUST_USE taper_status taper_ts_unify(taper_ts_lowering *l, const taper_type *a, const taper_type *b,
                                           const taper_type **type);
// Like taper_ts_unify, for items of a list or dict, which are at least a Union.
TAPER_MUST_USE taper_status taper_ts_unify_items(taper_ts_lowering *l, const taper_type *a, const taper_type *b,
                                                 const taper_type **type);
// taper_ts_converts returns true if a value can be converted to the type; taper_ts_convert does it. implicit: also with
// the implicit conversions of calls, of tensors to numbers and of strings to devices. size: n of int[n], otherwise -1.
bool taper_ts_converts(taper_ts_lowering *l, const taper_type *from, const taper_type *to, int32_t size, bool implicit);
TAPER_MUST_USE taper_status taper_ts_convert(taper_ts_lowering *l, const taper_ts_node *node, taper_ts_binding value,
                                             const taper_type *to, int32_t size, taper_ts_binding *out);
// Finds the number from which a tensor was made, if its type is `to`. PyTorch does this in called functions, but not in
// methods of the root.
bool taper_ts_number_behind(const taper_ts_lowering *l, taper_ts_binding value, const taper_type *to,
                            taper_ts_binding *out);
// Type variables of a schema, with the types that they stand for.
typedef struct taper_ts_variables {
    const char *names[8];
    const taper_type *types[8];
    size_t count;
} taper_ts_variables;
TAPER_MUST_USE taper_status taper_ts_bind_variables(taper_ts_lowering *l, const taper_type *formal,
                                                    const taper_type *actual, taper_ts_variables *variables,
                                                    bool *fits);
TAPER_MUST_USE taper_status taper_ts_substitute(taper_ts_lowering *l, const taper_type *formal,
                                                const taper_ts_variables *variables, const taper_type **type);
const taper_type *taper_ts_value_type(taper_ts_lowering *l, taper_val value);

#endif
