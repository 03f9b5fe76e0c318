// SPDX-License-Identifier: BSD-2-Clause
// make_gradients TABLE runs on the build machine. It parses the table of derivatives (gradient_list.h), checks it
// against the schemas of the operator list, and writes TABLE (gradient_table.inc): each formula as a few bytes of code
// for a stack (gradient_code.h). A formula that names an operator, an argument or a type that does not exist stops the
// build. A selective build leaves out the rows that need an operator it lacks.
//
// A row names an operator and says for each tensor argument how its gradient follows:
//     self = grad * cos(self); other = none
// A composition says for each result how it follows from the arguments: result = mul(self, 2).
// `grad` is the gradient of the result, grad0, grad1 … those of several results, and `grads` the list of gradients of
// a list. `result`, result0 … are the results, and the other names are arguments. A call names an operator of the
// list without its namespace; the types of its arguments choose the overload, unless the formula names the overload, as
// in sum.dim_IntList( ). + - * / stand for aten::add, sub, mul and div. (a, b) = f( ) uses several results of an
// operator, f( ).1 only the second. `mask` is a list with a bool for each target of the formula, or for each item if
// the only target is a list: true if the gradient is wanted.
// `none` as a formula means that the result does not depend on the argument in a differentiable way.
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ops/gradient/gradient_code.h"

static void fail(const char *what, const char *which)
{
    fprintf(stderr, "make_gradients: %s: %s\n", what, which);
    exit(1);
}

#include "ops/gradient/formula_text.h"
#include "ops/list/expand_rows.h"

typedef struct gradient {
    const char *id, *text;
    bool composed; // true if the formulas compute results, as a composition
} gradient;

static const gradient gradients[] = {
#define GRADIENT(id, text) {#id, text, false},
#define COMPOSED(id, text) {#id, text, true},
#define NO_GRADIENT(id) {#id, "", false},
#include "ops/gradient/gradient_list.h"
#undef GRADIENT
#undef COMPOSED
#undef NO_GRADIENT
};

enum { GRADIENTS = sizeof gradients / sizeof gradients[0], MOST_ARGS = 32, MOST_CODE = 1 << 16, MOST_NUMBERS = 256 };

// ---- reading schemas

typedef struct field {
    char name[48], type[48];
    bool has_default;
} field;

typedef struct signature {
    field args[MOST_ARGS], rets[MOST_ARGS];
    int arg_count, ret_count;
} signature;

// Writes the type without alias annotations and sizes: "Tensor(a!)" becomes "Tensor", "SymInt[2]?" becomes "int[]?".
static void plain_type(const char *text, size_t length, char *type)
{
    static const char *const ints[] = {"SymInt", "ScalarType", "Layout", "MemoryFormat"};
    size_t to = 0;
    for (size_t i = 0; i < length && to < 40; i++) {
        for (size_t k = 0; k < sizeof ints / sizeof *ints; k++) {
            if (strncmp(text + i, ints[k], strlen(ints[k])) == 0 && i + strlen(ints[k]) <= length) {
                memcpy(type + to, "int", 3);
                to += 3;
                i += strlen(ints[k]);
                break;
            }
        }
        if (i < length && text[i] == '(') {
            i += strcspn(text + i, ")");
        } else if (i < length && !isdigit((unsigned char)text[i])) {
            type[to++] = text[i];
        }
    }
    type[to] = '\0';
}

// Reads one argument or result, "Tensor(a!) self=None", that ends before the given length.
static void read_field(const char *text, size_t length, field *f)
{
    size_t end = 0, deep = 0;
    while (end < length && (text[end] != ' ' || deep != 0)) {
        deep += text[end] == '(' ? 1 : 0;
        deep -= text[end] == ')' ? 1 : 0;
        end++;
    }
    plain_type(text, end, f->type);
    const char *const name = text + end + (end < length ? 1 : 0);
    const size_t rest = length - (size_t)(name - text), named = strcspn(name, "=");
    snprintf(f->name, sizeof f->name, "%.*s", (int)(named < rest ? named : rest), name);
    f->has_default = named < rest;
}

static int read_fields(const char *text, size_t length, field *fields)
{
    int count = 0;
    for (size_t at = 0; at < length;) {
        size_t end = at, deep = 0;
        while (end < length && (text[end] != ',' || deep != 0)) {
            deep += text[end] == '(' || text[end] == '[' ? 1 : 0;
            deep -= text[end] == ')' || text[end] == ']' ? 1 : 0;
            end++;
        }
        if (strncmp(text + at, "*", end - at) != 0) {
            if (count == MOST_ARGS) {
                fail("too many arguments", text);
            }
            read_field(text + at, end - at, &fields[count++]);
        }
        at = end + strlen(", ");
    }
    return count;
}

static signature read_signature(const row *r)
{
    signature s = {.arg_count = 0};
    const char *const open = strchr(r->schema, '('), *const arrow = strstr(r->schema, ") -> ");
    if (open == NULL || arrow == NULL) {
        fail("no schema", r->schema);
    }
    s.arg_count = read_fields(open + 1, (size_t)(arrow - open - 1), s.args);
    const char *const results = arrow + strlen(") -> ");
    const size_t length = strlen(results);
    s.ret_count = *results == '(' ? read_fields(results + 1, length - 2, s.rets) : read_fields(results, length, s.rets);
    return s;
}

static const row *row_of_id(const char *id)
{
    for (size_t i = 0; i < ALL_ROWS; i++) {
        if (strcmp(rows[i].id, id) == 0) {
            return &rows[i];
        }
    }
    return NULL;
}

// Returns true if a value of type `given` may be an argument of type `wanted`.
static bool fits(const char *given, const char *wanted)
{
    const size_t length = strlen(wanted);
    if (strcmp(given, wanted) == 0 || strcmp(given, "default") == 0) {
        return true;
    }
    if (length > 1 && wanted[length - 1] == '?') {
        char inner[48];
        char given_inner[48];
        const size_t given_length = strlen(given);
        snprintf(inner, sizeof inner, "%.*s", (int)length - 1, wanted);
        snprintf(given_inner, sizeof given_inner, "%.*s", (int)given_length - 1, given);
        return strcmp(given, "None") == 0 || fits(given, inner) ||
               (given_length > 1 && given[given_length - 1] == '?' && fits(given_inner, inner));
    }
    const bool number = strcmp(given, "int") == 0 || strcmp(given, "float") == 0 || strcmp(given, "bool") == 0;
    return (strcmp(wanted, "Scalar") == 0 && number) || (strcmp(wanted, "float") == 0 && strcmp(given, "int") == 0) ||
           (strcmp(wanted, "int[]") == 0 && strcmp(given, "int") == 0) ||
           (strcmp(wanted, "Tensor?[]") == 0 && strcmp(given, "Tensor[]") == 0);
}

// ---- compiling formulas to code

static unsigned code[MOST_CODE];       // instructions of all formulas; the entry of a call is its number of arguments
static const row *code_row[MOST_CODE]; // for an instruction that is a call, the row of its operator; otherwise NULL
static size_t code_count;
static double floats[MOST_NUMBERS];
static long long ints[MOST_NUMBERS];
static size_t float_count, int_count;

static void emit(unsigned byte, const row *of)
{
    if (code_count == MOST_CODE) {
        fail("too much code", "");
    }
    code_row[code_count] = of;
    code[code_count++] = byte;
}

typedef struct context {
    const gradient *of;
    const row *row;
    signature schema;
    bool reads_shape; // true while an argument is compiled whose elements the call does not read
    bool complete;    // true if this build has all operators of the formula
} context;

static int argument_at(const signature *s, const char *name)
{
    for (int i = 0; i < s->arg_count; i++) {
        if (strcmp(s->args[i].name, name) == 0) {
            return i;
        }
    }
    return -1;
}

// Returns the number at the end of "grad1" or "result0", or -1 for any other name.
static int numbered(const char *name, const char *stem)
{
    const size_t length = strlen(stem);
    return strncmp(name, stem, length) == 0 && isdigit((unsigned char)name[length]) && name[length + 1] == '\0'
               ? name[length] - '0'
               : -1;
}

static const char *compile(context *c, const expression *e);

// Emits instruction `number` of the range of instructions from `first` to before `end`.
static void emit_numbered(unsigned first, unsigned end, size_t number)
{
    if (number >= end - first) {
        fail("the code has no instruction with so large a number", "gradient_code.h");
    }
    emit(first + (unsigned)number, NULL);
}

static const char *compile_name(context *c, const char *name)
{
    const int at = argument_at(&c->schema, name);
    const int grad = strcmp(name, "grad") == 0 ? 0 : numbered(name, "grad");
    const int result = strcmp(name, "result") == 0 ? 0 : numbered(name, "result");
    if (at >= 0) {
        emit((c->reads_shape ? TAPER_GRADIENT_SHAPE : TAPER_GRADIENT_ARGUMENT) + (unsigned)at, NULL);
        return c->schema.args[at].type;
    }
    if (strcmp(name, "grads") == 0) {
        emit(TAPER_GRADIENT_GRADS, NULL);
        return "Tensor[]";
    }
    if (grad >= 0 && grad < c->schema.ret_count) {
        emit_numbered(TAPER_GRADIENT_GRAD, TAPER_GRADIENT_INT, (size_t)grad);
        return "Tensor";
    }
    if (result >= 0 && result < c->schema.ret_count) {
        emit_numbered(TAPER_GRADIENT_RESULT, TAPER_GRADIENT_GRAD, (size_t)result);
        return c->schema.rets[result].type;
    }
    if (strcmp(name, "mask") == 0) {
        emit(TAPER_GRADIENT_MASK, NULL);
        return "bool[]";
    }
    if (strcmp(name, "none") == 0) {
        emit(TAPER_GRADIENT_NONE, NULL);
        return "None";
    }
    if (strcmp(name, "true") == 0 || strcmp(name, "false") == 0) {
        emit(name[0] == 't' ? TAPER_GRADIENT_TRUE : TAPER_GRADIENT_FALSE, NULL);
        return "bool";
    }
    fail("no such name in the formula of", joined(c->of->id, strlen(c->of->id), ": ", name));
    return NULL;
}

static const char *compile_number(const char *text)
{
    if (strpbrk(text, ".e") != NULL) {
        const double number = strtod(text, NULL);
        size_t at = 0;
        while (at < float_count && floats[at] != number) {
            at++;
        }
        float_count += at == float_count ? 1 : 0;
        floats[at] = number;
        emit_numbered(TAPER_GRADIENT_FLOAT, TAPER_GRADIENT_GRADS, at);
        return "float";
    }
    const long long number = strtoll(text, NULL, 10);
    size_t at = 0;
    while (at < int_count && ints[at] != number) {
        at++;
    }
    int_count += at == int_count ? 1 : 0;
    ints[at] = number;
    emit_numbered(TAPER_GRADIENT_INT, TAPER_GRADIENT_FLOAT, at);
    return "int";
}

static const char *compile_list(context *c, const expression *e)
{
    static const char *const kinds[] = {"Tensor", "int", "float", "bool"}; // in the order of TAPER_GRADIENT_OF_
    const char *type = "int";
    for (size_t i = 0; i < e->count; i++) {
        type = compile(c, e->items[i]);
    }
    for (unsigned k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        if (strcmp(type, kinds[k]) == 0) {
            emit(TAPER_GRADIENT_LIST, NULL);
            emit((unsigned)e->count * 4 + k, NULL);
            return joined(type, strlen(type), "[]", "");
        }
    }
    fail("a list of this type", type);
    return NULL;
}

// Returns the index of the argument that gets item i of the call, or -1 if there is none.
static int argument_of_item(const signature *s, const expression *e, size_t i)
{
    return e->names[i] != NULL ? argument_at(s, e->names[i]) : (int)i < s->arg_count ? (int)i : -1;
}

static bool takes(const signature *s, const expression *e, const char *const *types)
{
    bool given[MOST_ARGS] = {false};
    for (size_t i = 0; i < e->count; i++) {
        const int at = argument_of_item(s, e, i);
        if (at < 0 || given[at] || !fits(types[i], s->args[at].type)) {
            return false;
        }
        given[at] = true;
    }
    for (int i = 0; i < s->arg_count; i++) {
        if (!given[i] && !s->args[i].has_default) {
            return false;
        }
    }
    return true;
}

// Returns true if the row has the name that the call gives: "add" or "add.Tensor", in the namespace aten, prim or
// taper.
static bool has_name(const row *r, const char *name)
{
    const char *const own = strstr(r->schema, "::") + 2;
    const size_t full = strcspn(own, "("), bare = strcspn(own, ".("), length = strlen(name);
    const size_t wanted = strchr(name, '.') != NULL ? full : bare;
    return (strncmp(r->schema, "aten::", 6) == 0 || strncmp(r->schema, "taper::", 7) == 0) && length == wanted &&
           strncmp(own, name, length) == 0;
}

// Compiles the items to find their types, and removes the code that this generates.
static void type_items(context *c, const expression *e, const char **types)
{
    for (size_t i = 0; i < e->count; i++) {
        const size_t bytes = code_count;
        types[i] = compile(c, e->items[i]);
        code_count = bytes;
    }
}

// Returns true if the operator reads only the sizes and the dtype of that argument.
static bool reads_shape(const row *r, const field *arg)
{
    static const char *const of_shapes[] = {"aten::zeros_like", "aten::ones_like", "aten::size", "aten::numel"};
    for (size_t i = 0; i < sizeof of_shapes / sizeof *of_shapes; i++) {
        if (strncmp(r->schema, of_shapes[i], strlen(of_shapes[i])) == 0 &&
            strchr("(.", r->schema[strlen(of_shapes[i])]) != NULL) {
            return true;
        }
    }
    return strncmp(r->schema, "taper::", 7) == 0 && (strcmp(arg->name, "like") == 0 || strcmp(arg->name, "likes") == 0);
}

// Compiles an argument of a call of the row.
static void compile_argument(context *c, const row *r, const field *arg, const expression *e)
{
    const bool before = c->reads_shape;
    c->reads_shape = e->kind == EXPRESSION_NAME && reads_shape(r, arg);
    compile(c, e);
    c->reads_shape = before;
}

static const char *compile_call(context *c, const expression *e)
{
    const char *types[MOST_ARGS];
    type_items(c, e, types);
    for (size_t r = 0; r < ALL_ROWS; r++) {
        if (rows[r].out || !has_name(&rows[r], e->text)) {
            continue;
        }
        const signature s = read_signature(&rows[r]);
        if (!takes(&s, e, types)) {
            continue;
        }
        const expression *of[MOST_ARGS] = {NULL};
        int count = 0;
        for (size_t i = 0; i < e->count; i++) {
            const int at = argument_of_item(&s, e, i);
            of[at] = e->items[i];
            count = at >= count ? at + 1 : count;
        }
        for (int i = 0; i < count; i++) {
            if (of[i] != NULL) {
                compile_argument(c, &rows[r], &s.args[i], of[i]);
            } else {
                emit(TAPER_GRADIENT_DEFAULT, NULL);
            }
        }
        c->complete = c->complete && rows[r].wanted;
        emit((unsigned)count, &rows[r]);
        if (s.ret_count == 1) {
            return joined(s.rets[0].type, strlen(s.rets[0].type), "", "");
        }
        char several[16];
        snprintf(several, sizeof several, "*%d", s.ret_count);
        return joined(several, strlen(several), "", "");
    }
    const char *text = joined(c->of->id, strlen(c->of->id), ": ", e->text);
    for (size_t i = 0; i < e->count; i++) {
        text = joined(text, strlen(text), i == 0 ? " of " : ", ", types[i]);
    }
    fail("no operator for the call in the formula of", text);
    return NULL;
}

// Writes the code of an expression and returns its type: the type in the schema, or "*N" for an operator of N results.
static const char *compile(context *c, const expression *e)
{
    switch (e->kind) {
    case EXPRESSION_NAME:
        return compile_name(c, e->text);
    case EXPRESSION_NUMBER:
        return compile_number(e->text);
    case EXPRESSION_LIST:
        return compile_list(c, e);
    case EXPRESSION_PICK: {
        const char *const type = compile(c, e->items[0]);
        if (*type != '*' || e->index >= atoi(type + 1)) {
            fail("picks a result that the operator does not have", c->of->id);
        }
        emit(TAPER_GRADIENT_PICK, NULL);
        emit((unsigned)e->index * 16 + (unsigned)atoi(type + 1), NULL);
        return "Tensor";
    }
    default:
        return compile_call(c, e);
    }
}

// ---- rows of the table of derivatives

typedef struct formula {
    unsigned long targets;
    size_t first, length; // first instruction of the formula's code, and number of its instructions
} formula;

static formula formulas[4 * GRADIENTS];
static size_t formula_count;

typedef struct entry {
    const row *row;
    size_t first, count; // first formula of the operator, and number of its formulas
    unsigned long none;  // arguments on which the result does not depend in a differentiable way
    bool composed, complete;
} entry;

static entry entries[GRADIENTS];

static bool is_tensor(const char *type)
{
    return strncmp(type, "Tensor", strlen("Tensor")) == 0;
}

// Returns the index of the argument (for a composition: of the result) that a formula computes, or -1.
static int target_at(const context *c, const char *name)
{
    const int result = strcmp(name, "result") == 0 ? 0 : numbered(name, "result");
    return !c->of->composed ? argument_at(&c->schema, name) : result < c->schema.ret_count ? result : -1;
}

static const char *target_type(const context *c, int at)
{
    return c->of->composed ? c->schema.rets[at].type : c->schema.args[at].type;
}

static void check_result(const context *c, const assignment *a, const char *type)
{
    if (a->target_count > 1) {
        if (*type != '*' || atoi(type + 1) < (int)a->target_count) {
            fail("the operator has fewer results than the formula has targets", c->of->id);
        }
        return;
    }
    const char *const wanted = target_type(c, target_at(c, a->targets[0]));
    const bool list = strchr(wanted, '[') != NULL;
    if (strcmp(type, "None") != 0 && (list != (strchr(type, '[') != NULL) || !is_tensor(type))) {
        fail("the formula gives no gradient of its argument's type",
             joined(c->of->id, strlen(c->of->id), ": ", joined(a->targets[0], strlen(a->targets[0]), " is ", type)));
    }
}

static void compile_assignment(context *c, const assignment *a, entry *to, unsigned long *covered)
{
    formula f = {.first = code_count};
    for (size_t i = 0; i < a->target_count; i++) {
        const int at = target_at(c, a->targets[i]);
        if (at < 0 || (*covered >> at & 1) != 0 || !is_tensor(target_type(c, at))) {
            fail("a target that is no tensor, or has a formula already",
                 joined(c->of->id, strlen(c->of->id), ": ", a->targets[i]));
        }
        f.targets |= 1UL << at;
    }
    *covered |= f.targets;
    check_result(c, a, compile(c, a->value));
    if (a->value->kind == EXPRESSION_NAME && strcmp(a->value->text, "none") == 0) {
        code_count = f.first;
        to->none |= f.targets;
        return;
    }
    f.length = code_count - f.first;
    formulas[formula_count++] = f;
    to->count++;
}

static void compile_gradient(const gradient *g, entry *to)
{
    context c = {.of = g, .row = row_of_id(g->id), .complete = true};
    if (c.row == NULL) {
        fail("the operator list has no row", g->id);
    }
    c.schema = read_signature(c.row);
    *to = (entry){.row = c.row, .first = formula_count};
    unsigned long covered = 0;
    reader r = {g->text, g->id};
    while (*g->text != '\0' && !at_end(&r)) {
        assignment a;
        read_assignment(&r, &a);
        compile_assignment(&c, &a, to, &covered);
    }
    const int targets = g->composed ? c.schema.ret_count : c.schema.arg_count;
    for (int i = 0; *g->text != '\0' && i < targets; i++) {
        if (is_tensor(target_type(&c, i)) && (covered >> i & 1) == 0) {
            fail("a tensor has no formula",
                 joined(g->id, strlen(g->id), ": ", g->composed ? "result" : c.schema.args[i].name));
        }
    }
    to->complete = c.complete;
    to->composed = g->composed;
    if (*g->text == '\0') {
        to->none = ~0UL & 0xffffffffUL;
    }
}

#include "ops/gradient/pack_gradients.h"

int main(int argc, char **argv)
{
    if (argc != 2 || freopen(argv[1], "w", stdout) == NULL) {
        fail("wanted: the name of the file to write", argc == 2 ? argv[1] : "");
    }
    expand_rows();
    for (size_t i = 0; i < GRADIENTS; i++) {
        compile_gradient(&gradients[i], &entries[i]);
    }
    print_table();
    return fflush(stdout) != 0 || ferror(stdout) ? 1 : 0;
}
