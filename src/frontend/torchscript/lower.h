// SPDX-License-Identifier: BSD-2-Clause
// Turns TorchScript functions into graphs. Every call of a function or method in the sources is inlined. Only methods
// of interfaces and of native classes are called at run time. The files of this front end share this header.
#ifndef TAPER_TORCHSCRIPT_LOWER_H
#define TAPER_TORCHSCRIPT_LOWER_H

#include "frontend/torchscript/torchscript.h"
#include "frontend/torchscript/unit.h"
#include "ir/graph.h"

// The meaning of a name or an expression: a value, or a definition in the sources.
typedef struct taper_ts_binding {
    taper_ir_value *value;
    // Static type; NULL if unknown, because an operator is missing or a native method has no declared type.
    const taper_type *type;
    // A more specific type, if an Optional is known to be None or not to be None; otherwise NULL.
    const taper_type *actual;
    taper_ts_definition *definition; // function, class or enum, if `value` is NULL
    // Function that is defined inside the current function, if the name means one; otherwise NULL.
    const taper_ts_function *nested;
    const taper_object *object; // object in the value, NULL if unknown; used only with the option `fixed`
} taper_ts_binding;

static inline const taper_type *taper_ts_actual(const taper_ts_binding *b)
{
    return b->actual != NULL ? b->actual : b->type;
}

static inline bool taper_ts_is_bound(const taper_ts_binding *b)
{
    return b->value != NULL || b->definition != NULL || b->nested != NULL;
}

// Statements that remain after an if that returns in one branch. The list begins with the innermost block.
typedef struct taper_ts_rest {
    taper_ts_node *next; // first of the remaining statements in this block
    struct taper_ts_rest *outer;
} taper_ts_rest;

// A function whose call is being inlined.
typedef struct taper_ts_frame {
    taper_ts_function *function;
    taper_ts_binding *locals; // bindings of the local variables, by slot
    uint32_t called_from;     // number of the place from which the function was called
    const char *instance;     // attribute on which the method is called, as in taper_module_place
    bool returned;
    bool closed; // true inside a loop, with statement or nested function, where a return cannot leave the function
    taper_ts_rest *rest;
    taper_ts_binding result;
} taper_ts_frame;

typedef struct taper_ts_change {
    uint32_t slot;
    taper_ts_binding before;
} taper_ts_change;

// For listing: a called function that was lowered to its own graph.
typedef struct taper_ts_prepared {
    taper_graph *graph;
    int depth; // nesting depth of blocks in the graph
} taper_ts_prepared;

// The state that is shared while all functions are lowered.
typedef struct taper_ts_lowering {
    taper_ts_unit *unit;
    taper_torchscript *result;
    taper_graph *graph;
    taper_block *block; // block to which new nodes are appended
    taper_ts_frame *frame;
    // Old bindings of local variables that blocks have changed, restored at the end of each block.
    taper_ts_change *trail;
    size_t trail_count, trail_capacity;
    size_t nodes_left;
    int depth;
    uint32_t at;                        // byte position in the source that is being lowered, to which new nodes refer
    bool listing;                       // true for `taper ops`: also makes nodes that a run does not need
    bool of_root;                       // true while a method of the root is lowered
    struct taper_ts_prepared *prepared; // for listing: called functions that were lowered
    size_t prepared_count, prepared_capacity;
    const taper_torchscript_options *options;
    taper_ir_value *pooled[16];
    // Names of methods that are called through interfaces, and the classes of objects on which they may be called.
    uint32_t *interface_methods;
    size_t interface_count, interface_capacity;
    taper_ts_definition **created;
    size_t created_count, created_capacity;
} taper_ts_lowering;

TAPER_COLD taper_status taper_ts_refuse(const taper_ts_lowering *l, const taper_ts_node *node, const char *format, ...)
    TAPER_PRINTF(3, 4);

// ---- lower.c

// Increments l->depth, or fails at the limit. The caller decrements l->depth afterwards.
TAPER_MUST_USE taper_status taper_ts_deeper(taper_ts_lowering *l, const taper_ts_node *node);
// Charges `things` steps of a search against the limit on nodes, so that loading takes time in proportion to the length
// of the file.
TAPER_MUST_USE taper_status taper_ts_charge(taper_ts_lowering *l, size_t things);
TAPER_MUST_USE taper_status taper_ts_add_node(taper_ts_lowering *l, taper_node_kind kind, size_t inputs, size_t outputs,
                                              taper_node **node);
// Makes a constant. Takes over the reference to `value`.
TAPER_MUST_USE taper_status taper_ts_constant(taper_ts_lowering *l, taper_val value, taper_ir_value **made);
TAPER_MUST_USE taper_status taper_ts_bind_constant(taper_ts_lowering *l, taper_val value, const taper_type *type,
                                                   taper_ts_binding *out);
TAPER_MUST_USE taper_status taper_ts_set_local(taper_ts_lowering *l, uint32_t slot, taper_ts_binding value);
// Inlines a call of the function. args: one binding for each parameter, in order.
TAPER_MUST_USE taper_status taper_ts_inline(taper_ts_lowering *l, taper_ts_function *function,
                                            const taper_ts_binding *args, taper_ts_binding *out);
// For listing: lowers the function to its own graph, and sets function->prepared.
TAPER_MUST_USE taper_status taper_ts_prepare(taper_ts_lowering *l, taper_ts_function *f);
// Lowers the function and adds it to the result, unless the result already contains it.
TAPER_MUST_USE taper_status taper_ts_add_function(taper_ts_lowering *l, taper_ts_function *function);
// Lowers all functions of the module. The root and the pending objects must already exist.
TAPER_MUST_USE taper_status taper_ts_lower_module(taper_ts_lowering *l);
// Records that objects of the class may exist, so that methods of interfaces may be called on them.
TAPER_MUST_USE taper_status taper_ts_add_class(taper_ts_lowering *l, taper_ts_definition *class);
void taper_ts_lowering_free(taper_ts_lowering *l);
TAPER_MUST_USE taper_status taper_ts_missing(taper_ts_lowering *l, const char *name);

// ---- list_calls.c: listing (list.h)

// Adds a call of the function, which is lowered to its own graph at its first call.
TAPER_MUST_USE taper_status taper_ts_call_apart(taper_ts_lowering *l, taper_ts_function *f,
                                                const taper_ts_binding *args, taper_ts_binding *out);
// taper_ts_finish_listed completes the graph of a method of the root for the listing. taper_ts_finish_prepared
// completes the graph of a called function, which replaces its calls.
TAPER_MUST_USE taper_status taper_ts_finish_listed(taper_ts_lowering *l);
// depth: receives the nesting depth of blocks in the graph.
TAPER_MUST_USE taper_status taper_ts_finish_prepared(taper_ts_lowering *l, int *depth);

// ---- lower_statement.c

// Undoes the changes of variables that were made since the trail had length `mark`.
void taper_ts_undo(taper_ts_lowering *l, size_t mark);
TAPER_MUST_USE taper_status taper_ts_statements(taper_ts_lowering *l, const taper_ts_node *block);
TAPER_MUST_USE taper_status taper_ts_statements_from(taper_ts_lowering *l, taper_ts_node *node);
// Evaluates the condition of an if as a bool. *taken: branch that is taken, or NULL if the condition is not known
// before the run.
TAPER_MUST_USE taper_status taper_ts_condition(taper_ts_lowering *l, taper_ts_node *node, taper_ts_binding *condition,
                                               taper_ts_node **taken);

// ---- lower_return.c

// Returns true if a statement from this one on contains a return outside of loops. *things is incremented by the number
// of visited nodes.
bool taper_ts_returns(const taper_ts_node *node, size_t *things);
// Lowers an if that contains a return outside of loops. If the condition is not known before the run, the rest of the
// function is lowered inside the if, so the caller must not lower the statements after the if.
TAPER_MUST_USE taper_status taper_ts_returning_if(taper_ts_lowering *l, taper_ts_node *node);

// ---- lower_expression.c

TAPER_MUST_USE taper_status taper_ts_value(taper_ts_lowering *l, taper_ts_node *node, const taper_type *hint,
                                           taper_ts_binding *out); // fails unless the result is a value
TAPER_MUST_USE taper_status taper_ts_lower(taper_ts_lowering *l, taper_ts_node *node, const taper_type *hint,
                                           taper_ts_binding *out);
// Gets the items of a tuple or list. Fails unless it has `count` items.
TAPER_MUST_USE taper_status taper_ts_unpack(taper_ts_lowering *l, const taper_ts_node *node, taper_ts_binding whole,
                                            size_t count, taper_ts_binding *items);
// Makes a LIST, DICT or TUPLE node of the items.
TAPER_MUST_USE taper_status taper_ts_make_container(taper_ts_lowering *l, taper_node_kind kind, const taper_type *type,
                                                    const taper_ts_binding *items, size_t count, taper_ts_binding *out);
TAPER_MUST_USE taper_status taper_ts_make_tuple(taper_ts_lowering *l, const taper_ts_binding *items, size_t count,
                                                taper_ts_binding *out);

// ---- fixed_attributes.c

// Returns the attribute of a known object if no statement in the sources assigns to an attribute of that name.
// Otherwise returns NULL.
const taper_val *taper_ts_fixed_attribute(const taper_ts_lowering *l, const taper_object *object,
                                          const taper_ts_definition *d, uint32_t atom, int64_t slot);
// Returns true if the value is a number, string or None of this type, so that it may become a constant.
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
    const char *keywords[TAPER_TS_ARGUMENTS]; // name of each keyword argument; NULL for a positional argument
    size_t count;
} taper_ts_arguments;

// Calls an operator by name, such as "aten::add". If the operator is missing, it is recorded as missing, and the result
// has an unknown type.
TAPER_MUST_USE taper_status taper_ts_call_operator(taper_ts_lowering *l, const taper_ts_node *node, const char *name,
                                                   const taper_ts_arguments *args, taper_ts_binding *out);
// Calls an operator. keywords[i] is NULL for a positional argument; `keywords` may be NULL if all arguments are
// positional.
TAPER_MUST_USE taper_status taper_ts_builtin(taper_ts_lowering *l, const taper_ts_node *node, const char *name,
                                             const taper_ts_binding *args, const char *const *keywords, size_t count,
                                             taper_ts_binding *out);
enum { TAPER_TS_ALIAS_BYTES = 64 };
// Returns the name of the operator that an alias stands for, or NULL if `name` is not an alias. in_place: buffer of
// `size` bytes that the returned name may use.
const char *taper_ts_alias_of(const char *name, char *in_place, size_t size);
// Finds the operator by which PyTorch replaces a call of an alias. For rsub, this function swaps the inputs and returns
// sub. If `called` is not an alias, or no operator takes these inputs, *op is NULL and *normal does not change.
TAPER_MUST_USE taper_status taper_ts_normalize(taper_ts_lowering *l, const taper_op *called, const taper_schema *schema,
                                               taper_ir_value **inputs, size_t count, const taper_op **op,
                                               const taper_schema **normal);
// Computes the result of an operator on constants. Returns false if the result cannot be computed before the run.
bool taper_ts_fold(const taper_ts_lowering *l, const taper_op *op, const taper_schema *schema,
                   taper_ir_value *const *inputs, size_t count, taper_val *result);
// Returns true if a value of this type may be None.
bool taper_ts_may_be_none(const taper_type *type);
// Gets an attribute or method of a value with an unknown type. If the type is unknown because of a missing operator,
// the result has an unknown type too. Otherwise fails.
TAPER_MUST_USE taper_status taper_ts_part_of_unknown(taper_ts_lowering *l, const taper_ts_node *node, const char *part,
                                                     taper_ts_binding *out);

// ---- own_functions.c

// Calls a function that PyTorch implements in its compiler, if the call fits none of the operators with this name.
TAPER_MUST_USE taper_status taper_ts_own_function(taper_ts_lowering *l, const taper_ts_node *node, const char *name,
                                                  const taper_ts_binding *args, size_t count, bool *done,
                                                  taper_ts_binding *out);

// ---- sort_objects.c

// Lowers sort or sorted on a list of objects whose class defines an order. *done remains false for other calls.
TAPER_MUST_USE taper_status taper_ts_sort_objects(taper_ts_lowering *l, const taper_ts_node *node, const char *name,
                                                  const taper_ts_arguments *args, bool *done, taper_ts_binding *out);

// ---- local_objects.c

// Removes the block's objects that are used only for access to their attributes. *looks is the number of nodes that may
// still be visited. The function subtracts the number of nodes that it visits.
void taper_ts_dissolve_objects(taper_block *block, size_t *looks);

// ---- match.c: compatibility of types, as in PyTorch's compiler

bool taper_ts_subtype(taper_ts_lowering *l, const taper_type *a, const taper_type *b);
// Finds a type to which the values of both types belong, or sets *type to NULL if there is no such type.
TAPER_MUST_USE taper_status taper_ts_unify(taper_ts_lowering *l, const taper_type *a, const taper_type *b,
                                           const taper_type **type);
// Works like taper_ts_unify, for items of a list or dict, for which a Union is always possible.
TAPER_MUST_USE taper_status taper_ts_unify_items(taper_ts_lowering *l, const taper_type *a, const taper_type *b,
                                                 const taper_type **type);
// taper_ts_converts returns true if a value of type `from` can be converted to type `to`; taper_ts_convert converts it.
// implicit: true to also allow the conversions that only calls make, from tensors to numbers and from strings to
// devices. size: n of int[n], otherwise -1.
bool taper_ts_converts(taper_ts_lowering *l, const taper_type *from, const taper_type *to, int32_t size, bool implicit);
TAPER_MUST_USE taper_status taper_ts_convert(taper_ts_lowering *l, const taper_ts_node *node, taper_ts_binding value,
                                             const taper_type *to, int32_t size, taper_ts_binding *out);
// If a tensor was made from a number of type `to`, returns true and the number in *out. PyTorch uses the number instead
// of the tensor in called functions, but not in methods of the root.
bool taper_ts_number_behind(const taper_ts_lowering *l, taper_ts_binding value, const taper_type *to,
                            taper_ts_binding *out);
// Type variables of a schema, with the types that replace them in a call.
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
