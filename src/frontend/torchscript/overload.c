// SPDX-License-Identifier: BSD-2-Clause
// Lowers calls of operators. The first overload that fits the types of the arguments is selected, as in PyTorch's
// compiler. Overloads that fit without implicit conversions are preferred.
#include "frontend/torchscript/lower.h"
#include "frontend/upgrade.h"
#include "ir/effects.h"
#include "ops/call/fold.h"
#include "ops/lang/scalar.h"
#include "ops/list/op_names.h"

static void describe(const taper_ts_arguments *args, taper_text *text)
{
    for (size_t i = 0; i < args->count; i++) {
        taper_text_string(text, i == 0 ? "(" : ", ");
        if (args->keywords[i] != NULL) {
            taper_text_format(text, "%s=", args->keywords[i]);
        }
        if (args->items[i].type != NULL) {
            taper_type_print(args->items[i].type, text);
        } else {
            taper_text_string(text, "?");
        }
    }
    taper_text_string(text, args->count == 0 ? "()" : ")");
}

// ---- operators

// Returns the index of the argument that the call passes for the schema's argument i. Returns -1 if the schema's
// default applies, and -2 if the argument is missing.
static int source_of(const taper_schema *schema, const taper_ts_arguments *args, size_t positional, size_t i)
{
    if (i < positional && !schema->args[i].keyword_only) {
        return (int)i;
    }
    for (size_t k = positional; k < args->count; k++) {
        if (strcmp(args->keywords[k], schema->args[i].name) == 0) {
            return (int)k;
        }
    }
    return schema->args[i].has_default ? -1 : -2;
}

static bool is_enum(taper_ts_lowering *l, const taper_type *type)
{
    taper_ts_definition *d;
    return type == NULL ||
           (taper_ts_find_type(l->unit, type, &d) == TAPER_OK && d != NULL && d->kind == TAPER_TS_AN_ENUM);
}

// Sets *fits to true if the call fits the schema, and binds the type variables of the schema.
static taper_status fits_schema(taper_ts_lowering *l, const taper_schema *schema, const taper_ts_arguments *args,
                                size_t positional, bool implicit, taper_ts_variables *variables, bool *fits)
{
    size_t used = 0;
    *fits = false;
    variables->count = 0;
    if (schema->vararg) {
        *fits = true;
        return TAPER_OK;
    }
    for (size_t i = 0; i < schema->arg_count; i++) {
        const taper_schema_arg *formal = &schema->args[i];
        const int at = source_of(schema, args, positional, i);
        if (at == -1) {
            continue;
        }
        if (at == -2) {
            return TAPER_OK;
        }
        used++;
        const taper_type *actual = args->items[at].type, *concrete;
        bool bound;
        TAPER_TRY(taper_ts_bind_variables(l, formal->type, actual, variables, &bound));
        TAPER_TRY(taper_ts_substitute(l, formal->type, variables, &concrete));
        if (!bound || !taper_ts_converts(l, actual, concrete, formal->size, implicit) ||
            (strncmp(formal->type_text, "AnyEnumType", 11) == 0 && !is_enum(l, actual))) {
            return TAPER_OK;
        }
    }
    *fits = used == args->count;
    return TAPER_OK;
}

// Returns true if the operator takes enum members, which are immutable.
static bool is_of_enums(const taper_schema *schema)
{
    return schema->arg_count != 0 && strncmp(schema->args[0].type_text, "AnyEnumType", 11) == 0;
}

// Operators on numbers, strings and enum members are computed here, so that branches that depend on their results need
// not be lowered. is_grad_enabled() and similar operators are excluded, because `taper ops` lists them, as PyTorch
// does. A listing also excludes variadic operators such as "{}".format(…), which PyTorch never computes in advance.
bool taper_ts_fold(const taper_ts_lowering *l, const taper_op *op, const taper_schema *schema,
                   taper_ir_value *const *inputs, size_t count, taper_val *result)
{
    taper_val args[TAPER_FOLD_INPUTS];
    bool written = (l->listing && schema->vararg) || taper_op_has(op, TAPER_OP_EFFECT | TAPER_OP_NONDETERMINISTIC) ||
                   count == 0 || count > TAPER_FOLD_INPUTS;
    for (size_t i = 0; i < schema->arg_count; i++) {
        written |= schema->args[i].written;
    }
    for (size_t i = 0; !written && i < count; i++) {
        const taper_node *constant = taper_value_constant(inputs[i]);
        if (constant == NULL || (taper_val_is_object(constant->constant) && constant->constant.tag != TAPER_STRING &&
                                 !is_of_enums(schema))) {
            return false;
        }
        args[i] = constant->constant;
    }
    return !written && taper_fold(l->unit->registry, l->unit->module->heap, op, schema, args, count, result);
}

static taper_status emit(taper_ts_lowering *l, const taper_ts_node *at, const taper_op *op, const taper_schema *schema,
                         const taper_ts_arguments *args, size_t positional, const taper_ts_variables *variables,
                         taper_ts_binding *out)
{
    const size_t inputs = schema->vararg ? args->count : schema->arg_count;
    taper_ir_value *values[TAPER_TS_ARGUMENTS];
    if (inputs > TAPER_TS_ARGUMENTS) {
        return taper_ts_refuse(l, at, "%s has too many arguments", schema->name);
    }
    for (size_t i = 0; i < inputs; i++) {
        const int from = schema->vararg ? (int)i : source_of(schema, args, positional, i);
        if (from < 0) {
            TAPER_TRY(taper_ts_constant(l, taper_val_retain(schema->args[i].default_value), &values[i]));
            continue;
        }
        taper_ts_binding value = args->items[from];
        if (!schema->vararg) {
            const taper_type *concrete;
            TAPER_TRY(taper_ts_substitute(l, schema->args[i].type, variables, &concrete));
            TAPER_TRY(taper_ts_convert(l, at, value, concrete, schema->args[i].size, &value));
        }
        values[i] = value.value;
    }
    *out = (taper_ts_binding){.value = NULL};
    taper_val folded;
    if (taper_ts_fold(l, op, schema, values, inputs, &folded)) {
        TAPER_TRY(taper_ts_bind_constant(l, folded, schema->rets[0].type, out));
        return taper_ts_substitute(l, schema->rets[0].type, variables, &out->type);
    }
    taper_node *node;
    const size_t outputs = schema->varret ? 1 : schema->ret_count;
    TAPER_TRY(taper_ts_add_node(l, TAPER_NODE_OP, inputs, outputs, &node));
    const taper_op *normal_op;
    const taper_schema *normal_schema = NULL;
    TAPER_TRY(taper_ts_normalize(l, op, schema, values, inputs, &normal_op, &normal_schema));
    taper_node_set_op(node, normal_op != NULL ? normal_op : op, normal_op != NULL ? normal_schema : schema);
    taper_ts_binding results[8];
    taper_ir_value *made[8];
    if (outputs > 8) {
        return taper_ts_refuse(l, at, "%s has too many results", schema->name);
    }
    for (size_t i = 0; i < inputs; i++) {
        taper_node_set_input(node, i, values[i]);
    }
    for (size_t i = 0; i < outputs; i++) {
        made[i] = &node->outputs[i];
    }
    if (normal_op == NULL) { // an alias means the newest operator, whatever the version of the file
        TAPER_TRY(taper_upgrade_node(l->graph, node, l->unit->registry, l->unit->module, made, l->unit->error));
    }
    for (size_t i = 0; i < outputs; i++) {
        results[i] = (taper_ts_binding){.value = made[i]};
        if (!schema->varret) {
            TAPER_TRY(taper_ts_substitute(l, schema->rets[i].type, variables, &results[i].type));
            made[i]->type = results[i].type;
        }
    }
    if (outputs == 1) {
        *out = results[0];
        return TAPER_OK;
    }
    return outputs == 0 ? taper_ts_bind_constant(l, taper_val_none(), &taper_type_none, out)
                        : taper_ts_make_tuple(l, results, outputs, out);
}

static taper_status unknown(taper_ts_lowering *l, taper_ts_binding *out)
{
    return taper_ts_bind_constant(l, taper_val_none(), NULL, out);
}

taper_status taper_ts_part_of_unknown(taper_ts_lowering *l, const taper_ts_node *node, const char *part,
                                      taper_ts_binding *out)
{
    return l->result->missing.count != 0
               ? unknown(l, out)
               : taper_ts_refuse(l, node, "%s of a value whose type the source does not tell", part);
}

bool taper_ts_may_be_none(const taper_type *type)
{
    if (type == NULL || type->kind == TAPER_TYPE_UNION) {
        return true;
    }
    return type->kind == TAPER_TYPE_NONE || type->kind == TAPER_TYPE_OPTIONAL || type->kind == TAPER_TYPE_ANY ||
           type->kind == TAPER_TYPE_VARIABLE;
}

// Returns true for the gradient of a tensor (x.grad), which can be None although its type is Tensor.
static bool is_sum_of_leaf(const taper_ts_binding *b)
{
    return b->value != NULL && b->value->node != NULL && taper_node_calls(b->value->node, TAPER_OP(prim_grad));
}

// Decides `x is None` and `x is not None` by types. *known is false if the types do not tell.
static taper_status none_test(taper_ts_lowering *l, const char *name, const taper_ts_arguments *args, bool *known,
                              taper_ts_binding *out)
{
    const bool is = strcmp(name, TAPER_NAME_IS) == 0;
    if ((!is && strcmp(name, TAPER_NAME_ISNOT) != 0) || args->count != 2) {
        return TAPER_OK;
    }
    const taper_type *a = taper_ts_actual(&args->items[0]), *b = taper_ts_actual(&args->items[1]);
    if (a == NULL || b == NULL || (a->kind != TAPER_TYPE_NONE && b->kind != TAPER_TYPE_NONE) ||
        is_sum_of_leaf(&args->items[0]) || is_sum_of_leaf(&args->items[1])) {
        return TAPER_OK;
    }
    const bool both = a->kind == b->kind;
    *known = both || !taper_ts_may_be_none(a) || !taper_ts_may_be_none(b);
    if (*known) {
        TAPER_TRY(taper_ts_bind_constant(l, taper_val_bool(both == is), &taper_type_bool, out));
    }
    return TAPER_OK;
}

// If `steps` is missing or None, fills in 100. Up to version 7, `linspace` had the argument `int? steps=None`, and None
// meant 100. The same holds for `logspace` up to version 8. The operators of this library still accept None, but their
// schemas require an int, so a call with None would match no overload.
static bool old_steps(const taper_ts_lowering *l, const char *name, const taper_ts_arguments *args,
                      taper_ts_arguments *upgraded)
{
    const bool lin = strcmp(name, TAPER_NAME_LINSPACE) == 0;
    if ((!lin && strcmp(name, TAPER_NAME_LOGSPACE) != 0) || l->unit->module->operator_version > (lin ? 7 : 8)) {
        return false;
    }
    size_t at = 0;
    while (at < args->count && (args->keywords[at] == NULL ? at != 2 : strcmp(args->keywords[at], "steps") != 0)) {
        at++;
    }
    if (at == TAPER_TS_ARGUMENTS || (at < args->count && args->items[at].type == &taper_type_int)) {
        return false;
    }
    *upgraded = *args;
    if (at == args->count) {
        upgraded->items[at] = (taper_ts_binding){.value = NULL};
        upgraded->keywords[at] = "steps";
        upgraded->count++;
    }
    upgraded->items[at].type = &taper_type_int;
    upgraded->items[at].actual = NULL;
    return true;
}

static taper_status call_upgraded(taper_ts_lowering *l, const taper_ts_node *node, const char *name,
                                  const taper_ts_arguments *args, taper_ts_binding *out, bool *done)
{
    taper_ts_arguments upgraded;
    *done = old_steps(l, name, args, &upgraded);
    if (!*done) {
        return TAPER_OK;
    }
    for (size_t i = 0; i < upgraded.count; i++) {
        if (upgraded.items[i].value == NULL) {
            TAPER_TRY(taper_ts_bind_constant(l, taper_val_int(100), &taper_type_int, &upgraded.items[i]));
        }
    }
    return taper_ts_call_operator(l, node, name, &upgraded, out);
}

// Converts constant tensors without dimensions to numbers, as PyTorch's executor does. The numbers then do not affect
// the dtype of the result. A trace makes such tensors from `x * 0.5`.
static taper_status call_with_number(taper_ts_lowering *l, const taper_ts_node *node, const char *name,
                                     const taper_ts_arguments *args, bool *done, taper_ts_binding *out)
{
    static const struct {
        const char *name;
        bool alpha;
    } numeric[] = {
#define NUMERIC(name, alpha) {name, alpha},
#include "ops/list/own_names.h"
    };
    const taper_node *constant = taper_value_constant(args->items[1].value);
    const taper_type *self = args->items[0].type;
    if (constant == NULL || constant->constant.tag != TAPER_TENSOR || constant->constant.as.tensor->rank != 0 ||
        self == NULL || self->kind != TAPER_TYPE_TENSOR) {
        return TAPER_OK;
    }
    const size_t count = sizeof numeric / sizeof *numeric;
    size_t i = 0;
    while (i < count && strcmp(name, numeric[i].name) != 0) {
        i++;
    }
    if (i == count || (args->count == 3 && !numeric[i].alpha)) { // the third argument of div is rounding_mode
        return TAPER_OK;
    }
    taper_ts_binding with[3] = {args->items[0], args->items[1], args->items[2]};
    taper_run run = taper_run_on(l->unit->module->heap, l->unit->registry, l->unit->error);
    taper_val number;
    TAPER_TRY(taper_tensor_number(&run, constant->constant.as.tensor, &number));
    TAPER_TRY(taper_ts_bind_constant(l, number, &taper_type_number, &with[1]));
    *done = true;
    return taper_ts_builtin(l, node, name, with, args->keywords, args->count, out);
}

taper_status taper_ts_call_operator(taper_ts_lowering *l, const taper_ts_node *node, const char *name,
                                    const taper_ts_arguments *args, taper_ts_binding *out)
{
    size_t positional = 0;
    bool blurred = false, known = false;
    char in_place[TAPER_TS_ALIAS_BYTES];
    const char *normal = taper_row_first(name) == NULL ? taper_ts_alias_of(name, in_place, sizeof in_place) : NULL;
    if (normal != NULL) { // a selective build made from `taper ops` has the operator only under its normal name
        name = normal;
    }
    if (!l->listing) { // a listing contains this operator too, even if its result is known
        TAPER_TRY(none_test(l, name, args, &known, out));
    }
    if (!known && !l->listing && (args->count == 2 || args->count == 3) && args->keywords[1] == NULL) {
        TAPER_TRY(call_with_number(l, node, name, args, &known, out));
    }
    if (!known && !l->listing) {
        TAPER_TRY(taper_ts_sort_objects(l, node, name, args, &known, out));
    }
    if (known) {
        return TAPER_OK;
    }
    while (positional < args->count && args->keywords[positional] == NULL) {
        positional++;
    }
    for (size_t i = 0; i < args->count; i++) {
        blurred |= args->items[i].type == NULL;
        if (i > positional && args->keywords[i] == NULL) {
            return taper_ts_refuse(l, node, "a positional argument follows keyword arguments");
        }
    }
    for (int implicit = 0; implicit < 2; implicit++) {
        for (const taper_op *op = taper_row_first(name); op != NULL; op = taper_row_next(op)) {
            const taper_schema *schema;
            taper_ts_variables variables;
            bool fits;
            TAPER_TRY(taper_registry_schema(l->unit->registry, op, &schema, l->unit->error));
            TAPER_TRY(fits_schema(l, schema, args, positional, implicit != 0, &variables, &fits));
            if (fits) {
                return emit(l, node, op, schema, args, positional, &variables, out);
            }
        }
        if (implicit == 0 && positional == args->count) {
            TAPER_TRY(taper_ts_own_function(l, node, name, args->items, args->count, &known, out));
            if (known) {
                return TAPER_OK;
            }
        }
    }
    TAPER_TRY(call_upgraded(l, node, name, args, out, &known));
    if (known) {
        return TAPER_OK;
    }
    // If an argument is the result of a missing operator, its type is unknown, and this may be the only reason why no
    // overload fits. The missing operator has already been reported.
    const bool told = blurred && l->result->missing.count != 0;
    if (!told || taper_row_first(name) == NULL) {
        taper_text text = taper_text_make(l->unit->allocator);
        taper_text_string(&text, name);
        if (taper_row_first(name) != NULL) {
            describe(args, &text);
        }
        const taper_status status =
            text.failed ? taper_fail_memory(l->unit->error) : taper_ts_missing(l, taper_text_get(&text));
        taper_text_free(&text);
        TAPER_TRY(status);
    }
    return unknown(l, out);
}

taper_status taper_ts_builtin(taper_ts_lowering *l, const taper_ts_node *node, const char *name,
                              const taper_ts_binding *args, const char *const *keywords, size_t count,
                              taper_ts_binding *out)
{
    taper_ts_arguments all = {.count = taper_min_size(count, TAPER_TS_ARGUMENTS)};
    for (size_t i = 0; i < all.count; i++) {
        all.items[i] = args[i];
        all.keywords[i] = keywords != NULL ? keywords[i] : NULL;
    }
    return taper_ts_call_operator(l, node, name, &all, out);
}
