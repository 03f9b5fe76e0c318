// SPDX-License-Identifier: BSD-2-Clause
// TorchScript functions to graphs. Every call of a function or method of the sources is inlined where it stands; only
// methods of interfaces and of native classes are called at run time. Between the parts of the front end.
#ifndef TAPER_TORCHSCRIPT_LOWER_H
#define TAPER_TORCHSCRIPT_LOWER_H

#include "frontend/torchscript/torchscript.h"
#include "frontend/torchscript/unit.h"
#include "ir/graph.h"

// What a name or an expression stands for: a value, or something of the sources.
typedef struct taper_ts_binding {
    taper_ir_value *value;
    const taper_type *type;          // NULL: not known, because an operator is missing or a native method was called
    const taper_type *actual;        // what is known beyond: an Optional that is there, or is not; NULL: nothing
    taper_ts_definition *definition; // a function, class or enum, when there is no value
    const taper_ts_function *nested; // a def within the function
    const taper_object *object;      // the one it is for sure; NULL: not known, or nobody asks (fixed)
} taper_ts_binding;

static inline const taper_type *taper_ts_actual(const taper_ts_binding *b)
{
    return b->actual != NULL ? b->actual : b->type;
}

static inline bool taper_ts_is_bound(const taper_ts_binding *b)
{
    return b->value != NULL || b->definition != NULL || b->nested != NULL;
}

// What is left to do behind an if that returns in a branch, innermost first.
typedef struct taper_ts_rest {
    taper_ts_node *next; // statements from here on
    struct taper_ts_rest *outer;
} taper_ts_rest;

// A function being inlined.
typedef struct taper_ts_frame {
    taper_ts_function *function;
    taper_ts_binding *locals; // by slot
    uint32_t called_from;     // place of the call
    const char *instance;     // what a method was called on, as in taper_module_place
    bool returned;
    bool closed; // in a loop, with or nested function, out of which nothing returns
    taper_ts_rest *rest;
    taper_ts_binding result;
} taper_ts_frame;

typedef struct taper_ts_change {
    uint32_t slot;
    taper_ts_binding before;
} taper_ts_change;

// For listing: a function that is called, apart.
typedef struct taper_ts_prepared {
    taper_graph *graph;
    int depth; // of blocks in it
} taper_ts_prepared;

// The program as it is lowered: what all functions share.
typedef struct taper_ts_lowering {
    taper_ts_unit *unit;
    taper_torchscript *result;
    taper_graph *graph;
    taper_block *block; // where nodes go
    taper_ts_frame *frame;
    taper_ts_change *trail; // what blocks did to the locals of the frame, undone at their end
    size_t trail_count, trail_capacity;
    size_t nodes_left;
    int depth;
    uint32_t at;                        // byte of what is being lowered, for places
    bool listing;                       // to list the operators: what needs no node when it runs has one all the same
    bool of_root;                       // what is lowered are the methods of the root
    struct taper_ts_prepared *prepared; // listing: functions that are called
    size_t prepared_count, prepared_capacity;
    const taper_torchscript_options *options;
    taper_ir_value *pooled[16];
    // Methods called through interfaces, by name; classes that may be what they are called on.
    uint32_t *interface_methods;
    size_t interface_count, interface_capacity;
    taper_ts_definition **created;
    size_t created_count, created_capacity;
} taper_ts_lowering;

TAPER_COLD taper_status taper_ts_refuse(const taper_ts_lowering *l, const taper_ts_node *node, const char *format, ...)
    TAPER_PRINTF(3, 4);

// ---- lower.c

TAPER_MUST_USE taper_status taper_ts_deeper(taper_ts_lowering *l, const taper_ts_node *node); // undone by l->depth--
// Counts work that is not a node, a search through so many things, against the same limit: what a file can make loading
// do stays in proportion to its length.
TAPER_MUST_USE taper_status taper_ts_charge(taper_ts_lowering *l, size_t things);
TAPER_MUST_USE taper_status taper_ts_add_node(taper_ts_lowering *l, taper_node_kind kind, size_t inputs, size_t outputs,
                                              taper_node **node);
// Takes over the reference.
TAPER_MUST_USE taper_status taper_ts_constant(taper_ts_lowering *l, taper_val value, taper_ir_value **made);
TAPER_MUST_USE taper_status taper_ts_bind_constant(taper_ts_lowering *l, taper_val value, const taper_type *type,
                                                   taper_ts_binding *out);
TAPER_MUST_USE taper_status taper_ts_set_local(taper_ts_lowering *l, uint32_t slot, taper_ts_binding value);
// Inlines the call; args in the order of the parameters, all of them.
TAPER_MUST_USE taper_status taper_ts_inline(taper_ts_lowering *l, taper_ts_function *function,
                                            const taper_ts_binding *args, taper_ts_binding *out);
// For listing: lowers the function to a graph of its own, whose number is f->prepared then.
TAPER_MUST_USE taper_status taper_ts_prepare(taper_ts_lowering *l, taper_ts_function *f);
// Lowers the function and adds it to those of the result, if it is not among them yet.
TAPER_MUST_USE taper_status taper_ts_add_function(taper_ts_lowering *l, taper_ts_function *function);
// All functions of the module, whose root and pending objects are there.
TAPER_MUST_USE taper_status taper_ts_lower_module(taper_ts_lowering *l);
// Objects of the class may be at hand: what interfaces are called on.
TAPER_MUST_USE taper_status taper_ts_add_class(taper_ts_lowering *l, taper_ts_definition *class);
void taper_ts_lowering_free(taper_ts_lowering *l);
TAPER_MUST_USE taper_status taper_ts_missing(taper_ts_lowering *l, const char *name);

// ---- list_calls.c: for listing (list.h)

// A call of the function, which is lowered apart if nobody did before.
TAPER_MUST_USE taper_status taper_ts_call_apart(taper_ts_lowering *l, taper_ts_function *f,
                                                const taper_ts_binding *args, taper_ts_binding *out);
// The graph of a method of the root, once it is lowered, becomes what is listed; that of a function that is called,
// what stands for its calls.
TAPER_MUST_USE taper_status taper_ts_finish_listed(taper_ts_lowering *l);
TAPER_MUST_USE taper_status taper_ts_finish_prepared(taper_ts_lowering *l, int *depth); // of blocks in it

// ---- lower_statement.c

// Gives the variables back what they were when the trail had that length.
void taper_ts_undo(taper_ts_lowering *l, size_t mark);
TAPER_MUST_USE taper_status taper_ts_statements(taper_ts_lowering *l, const taper_ts_node *block);
TAPER_MUST_USE taper_status taper_ts_statements_from(taper_ts_lowering *l, taper_ts_node *node);
// The condition of an if as a bool, and the branch that is taken where it is known, otherwise NULL.
TAPER_MUST_USE taper_status taper_ts_condition(taper_ts_lowering *l, taper_ts_node *node, taper_ts_binding *condition,
                                               taper_ts_node **taken);

// ---- lower_return.c

// Whether a statement returns, as seen from outside of loops; things counts what was looked at.
bool taper_ts_returns(const taper_ts_node *node, size_t *things);
// An if of which taper_ts_returns is true; unless its condition is known the function has returned then.
TAPER_MUST_USE taper_status taper_ts_returning_if(taper_ts_lowering *l, taper_ts_node *node);

// ---- lower_expression.c

TAPER_MUST_USE taper_status taper_ts_value(taper_ts_lowering *l, taper_ts_node *node, const taper_type *hint,
                                           taper_ts_binding *out); // a value, nothing else
TAPER_MUST_USE taper_status taper_ts_lower(taper_ts_lowering *l, taper_ts_node *node, const taper_type *hint,
                                           taper_ts_binding *out);
// The items of a tuple or list, as many as wanted.
TAPER_MUST_USE taper_status taper_ts_unpack(taper_ts_lowering *l, const taper_ts_node *node, taper_ts_binding whole,
                                            size_t count, taper_ts_binding *items);
// A LIST, DICT or TUPLE of the items.
TAPER_MUST_USE taper_status taper_ts_make_container(taper_ts_lowering *l, taper_node_kind kind, const taper_type *type,
                                                    const taper_ts_binding *items, size_t count, taper_ts_binding *out);
TAPER_MUST_USE taper_status taper_ts_make_tuple(taper_ts_lowering *l, const taper_ts_binding *items, size_t count,
                                                taper_ts_binding *out);

// ---- fixed_attributes.c

// The attribute of an object that is known, if nothing assigns to one of that name; else NULL.
const taper_val *taper_ts_fixed_attribute(const taper_ts_lowering *l, const taper_object *object,
                                          const taper_ts_definition *d, uint32_t atom, int64_t slot);
// Whether it is a number, text or None, and as the type has it: then it may stand as a constant.
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
    const char *keywords[TAPER_TS_ARGUMENTS]; // NULL: positional
    size_t count;
} taper_ts_arguments;

// name: "aten::add". An operator that is missing is noted, and its result unknown.
TAPER_MUST_USE taper_status taper_ts_call_operator(taper_ts_lowering *l, const taper_ts_node *node, const char *name,
                                                   const taper_ts_arguments *args, taper_ts_binding *out);
// keywords: NULL where an argument has none; or none has.
TAPER_MUST_USE taper_status taper_ts_builtin(taper_ts_lowering *l, const taper_ts_node *node, const char *name,
                                             const taper_ts_binding *args, const char *const *keywords, size_t count,
                                             taper_ts_binding *out);
enum { TAPER_TS_ALIAS_BYTES = 64 };
// Returns the name that an alias stands for, or NULL if name is no alias. in_place: room for it, which may be used.
const char *taper_ts_alias_of(const char *name, char *in_place, size_t size);
// Finds the operator that PyTorch replaces a call of an alias with; of rsub, the inputs change places for sub. *op is
// NULL if `called` is no alias, or if no such operator takes these inputs; *normal is then unchanged.
TAPER_MUST_USE taper_status taper_ts_normalize(taper_ts_lowering *l, const taper_op *called, const taper_schema *schema,
                                               taper_ir_value **inputs, size_t count, const taper_op **op,
                                               const taper_schema **normal);
// The result of an operator on constants, which is computed at once.
bool taper_ts_fold(const taper_ts_lowering *l, const taper_op *op, const taper_schema *schema,
                   taper_ir_value *const *inputs, size_t count, taper_val *result);
// Whether None is among what a value of this type may be.
bool taper_ts_may_be_none(const taper_type *type);
// An attribute or method of a value of unknown type: unknown as well, where that comes of a missing operator.
TAPER_MUST_USE taper_status taper_ts_part_of_unknown(taper_ts_lowering *l, const taper_ts_node *node, const char *part,
                                                     taper_ts_binding *out);

// ---- own_functions.c

// A call that fits none of the operators of this name as it stands, but a function that PyTorch has of its own.
TAPER_MUST_USE taper_status taper_ts_own_function(taper_ts_lowering *l, const taper_ts_node *node, const char *name,
                                                  const taper_ts_binding *args, size_t count, bool *done,
                                                  taper_ts_binding *out);

// ---- sort_objects.c

// sort and sorted of a list of objects whose class has an order; *done stays false for all else.
TAPER_MUST_USE taper_status taper_ts_sort_objects(taper_ts_lowering *l, const taper_ts_node *node, const char *name,
                                                  const taper_ts_arguments *args, bool *done, taper_ts_binding *out);

// ---- local_objects.c

// Objects of which only attributes are looked at, in one block, go. looks: at most so many nodes are looked at.
void taper_ts_dissolve_objects(taper_block *block, size_t *looks);

// ---- match.c: which types fit, as PyTorch's compiler has it

bool taper_ts_subtype(taper_ts_lowering *l, const taper_type *a, const taper_type *b);
// The type of a value that is either; NULL when there is none.
TAPER_MUST_USE taper_status taper_ts_unify(taper_ts_lowering *l, const taper_type *a, const taper_type *b,
                                           const taper_type **type);
// The same for items of a list or dict, which are a Union at the least.
TAPER_MUST_USE taper_status taper_ts_unify_items(taper_ts_lowering *l, const taper_type *a, const taper_type *b,
                                                 const taper_type **type);
// Whether a value can be made one of the type, and making it one. implicit: with the conversions that calls make last,
// of tensors to numbers and strings to devices. size: of int[2], -1 otherwise.
bool taper_ts_converts(taper_ts_lowering *l, const taper_type *from, const taper_type *to, int32_t size, bool implicit);
TAPER_MUST_USE taper_status taper_ts_convert(taper_ts_lowering *l, const taper_ts_node *node, taper_ts_binding value,
                                             const taper_type *to, int32_t size, taper_ts_binding *out);
// The number behind a tensor that was made of it, if it is one of type `to`. PyTorch does this in functions that are
// called, not in the methods of the root.
bool taper_ts_number_behind(const taper_ts_lowering *l, taper_ts_binding value, const taper_type *to,
                            taper_ts_binding *out);
// Type variables of a schema.
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
