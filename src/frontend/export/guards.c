// SPDX-License-Identifier: BSD-2-Clause
// Turns guards into assertions. A guard is an assumption of PyTorch about the arguments during export, such as
// "L['x'].size()[0] % 2 == 0". Guards are parsed as the expressions that torch.export prints. A guard that cannot be
// parsed is an error, because the program may be wrong for arguments other than those of the export.
#include <stdio.h>
#include <stdlib.h>

#include "base/name_map.h"
#include "frontend/export/parts.h"

enum { DEEPEST = 100, NAME = 256, OPERANDS = 4 };

typedef struct guard {
    taper_export_lowering *l;
    taper_ir_value *const *inputs;
    const taper_name_map *leaves; // maps the name by which guards call an input to the index of the input
    const char *text, *at;
    int depth;
} guard;

static taper_status not_understood(const guard *g)
{
    return taper_export_refuse(g->l, "the guard %.200s is not understood; without guards (--no-guards) it runs",
                               g->text);
}

static void skip_space(guard *g)
{
    g->at += strspn(g->at, " \t\n");
}

// If the text continues with `sign`, skips it and returns true.
static bool take(guard *g, const char *sign)
{
    skip_space(g);
    const size_t length = strlen(sign);
    if (strncmp(g->at, sign, length) != 0) {
        return false;
    }
    g->at += length;
    return true;
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static bool take_word(guard *g, const char *word)
{
    skip_space(g);
    const size_t length = strlen(word);
    return strncmp(g->at, word, length) == 0 && !is_word(g->at[length]) && take(g, word);
}

static taper_status apply(guard *g, const char *target, taper_ir_value **operands, size_t count, taper_ir_value **value)
{
    taper_ir_value *result = NULL;
    TAPER_TRY(taper_export_apply(g->l, target, operands, count, &result));
    *value = result;
    return result != NULL ? TAPER_OK : not_understood(g);
}

static taper_status read_or(guard *g, taper_ir_value **value);

// ---- arguments: L['x']['k'][0]

static taper_status read_index(guard *g, char *path, size_t *length)
{
    char part[NAME];
    size_t size = 0;
    skip_space(g);
    const char quote = *g->at;
    if (quote == '\'' || quote == '"') {
        const char *end = strchr(++g->at, quote);
        size = end != NULL ? (size_t)(end - g->at) : NAME;
    } else {
        size = strspn(g->at, "0123456789");
    }
    if (size == 0 || size + 2 > NAME - *length) {
        return not_understood(g);
    }
    memcpy(part, g->at, size);
    g->at += size + (quote == '\'' || quote == '"');
    if (*length != 0) {
        path[(*length)++] = '.';
    }
    memcpy(path + *length, part, size);
    *length += size;
    path[*length] = '\0';
    return take(g, "]") ? TAPER_OK : not_understood(g);
}

// Guards omit the prefix "kwargs.". If two inputs match a name, the guard means the first of them.
static taper_status name_leaves(taper_export_lowering *l, const char *const *names, taper_name_map *leaves)
{
    static const char keyword[] = "kwargs.";
    const taper_pt2_program *p = l->program;
    const taper_allocator *allocator = l->module->allocator;
    for (size_t i = 0, leaf = 0; i < p->input_count; i++) {
        if (p->inputs[i].kind != TAPER_PT2_INPUT_USER && p->inputs[i].kind != TAPER_PT2_INPUT_CONSTANT) {
            continue;
        }
        const char *name = names[leaf++];
        TAPER_TRY(taper_name_add(allocator, leaves, name, strlen(name), i, l->emit.error));
        if (strncmp(name, keyword, sizeof keyword - 1) == 0) {
            name += sizeof keyword - 1;
            TAPER_TRY(taper_name_add(allocator, leaves, name, strlen(name), i, l->emit.error));
        }
    }
    return TAPER_OK;
}

static taper_status read_argument(guard *g, taper_ir_value **value)
{
    char path[NAME] = "";
    size_t length = 0;
    while (take(g, "[")) {
        TAPER_TRY(read_index(g, path, &length));
    }
    const size_t *at = taper_name_find(g->l->module->allocator, g->leaves, path, length);
    if (at == NULL) {
        return not_understood(g);
    }
    *value = g->inputs[*at];
    return TAPER_OK;
}

// Parses .size()[0], .stride()[0] or .storage_offset().
static taper_status read_member(guard *g, taper_ir_value **value)
{
    taper_emitter *e = &g->l->emit;
    if (take(g, ".storage_offset()")) {
        return TAPER_EMIT_CALL(e, TAPER_OP(aten_storage_offset), value, *value);
    }
    const bool size = take(g, ".size()[");
    if (!size && !take(g, ".stride()[")) {
        return TAPER_OK;
    }
    taper_ir_value *dim;
    skip_space(g);
    char *end;
    const long long number = strtoll(g->at, &end, 10);
    if (end == g->at || number < 0 || number >= TAPER_MAX_RANK) {
        return not_understood(g);
    }
    g->at = end;
    TAPER_TRY(taper_emit_constant(e, taper_val_int(number), &dim));
    TAPER_TRY(size ? TAPER_EMIT_CALL(e, TAPER_OP(aten_size_int), value, *value, dim)
                   : TAPER_EMIT_CALL(e, TAPER_OP(aten_stride_int), value, *value, dim));
    return take(g, "]") ? TAPER_OK : not_understood(g);
}

// ---- expressions, from the highest precedence to the lowest

static taper_status read_call(guard *g, taper_ir_value **value)
{
    char name[64];
    size_t length = 0;
    while (length + 1 < sizeof name && (is_word(g->at[length]) || g->at[length] == '.')) {
        name[length] = g->at[length];
        length++;
    }
    name[length] = '\0';
    g->at += length;
    taper_ir_value *operands[OPERANDS];
    size_t count = 0;
    if (length == 0 || !take(g, "(")) {
        return not_understood(g);
    }
    do {
        if (count == OPERANDS) {
            return not_understood(g);
        }
        TAPER_TRY(read_or(g, &operands[count++]));
    } while (take(g, ","));
    char full[80];
    (void)snprintf(full, sizeof full, "%s%s", strchr(name, '.') == NULL ? "builtins." : "", name);
    return take(g, ")") ? apply(g, full, operands, count, value) : not_understood(g);
}

static taper_status read_number(guard *g, taper_ir_value **value)
{
    enum { MOST_DIGITS = 18 }; // numbers with this many digits always fit in 64 bits
    const size_t digits = strspn(g->at, "0123456789");
    size_t length = digits;
    while (g->at[length] != '\0' &&
           (strchr("0123456789.eE", g->at[length]) != NULL ||
            (strchr("+-", g->at[length]) != NULL && strchr("eE", g->at[length - 1]) != NULL))) {
        length++;
    }
    const char *text = g->at;
    double number;
    if (!taper_parse_double(text, length, &number) || (length == digits && digits > MOST_DIGITS)) {
        return not_understood(g);
    }
    g->at += length;
    return taper_emit_constant(
        &g->l->emit, length == digits ? taper_val_int(strtoll(text, NULL, 10)) : taper_val_double(number), value);
}

static taper_status read_atom(guard *g, taper_ir_value **value)
{
    skip_space(g);
    if (*g->at >= '0' && *g->at <= '9') {
        return read_number(g, value);
    }
    if (take_word(g, "True") || take_word(g, "False")) {
        return taper_emit_constant(&g->l->emit, taper_val_bool(g->at[-2] == 'u'), value);
    }
    if (take(g, "(")) {
        TAPER_TRY(read_or(g, value));
        return take(g, ")") ? TAPER_OK : not_understood(g);
    }
    if (g->at[0] == 'L' && g->at[1] == '[') {
        g->at++;
        TAPER_TRY(read_argument(g, value));
        return read_member(g, value);
    }
    return read_call(g, value);
}

static taper_status read_unary(guard *g, taper_ir_value **value);

static taper_status read_power(guard *g, taper_ir_value **value)
{
    taper_ir_value *operands[2];
    TAPER_TRY(read_atom(g, value));
    if (!take(g, "**")) {
        return TAPER_OK;
    }
    operands[0] = *value;
    TAPER_TRY(read_unary(g, &operands[1]));
    return apply(g, "_operator.pow", operands, 2, value);
}

static taper_status read_unary(guard *g, taper_ir_value **value)
{
    if (++g->depth > DEEPEST) {
        return not_understood(g);
    }
    const bool minus = take(g, "-");
    TAPER_TRY(minus || take(g, "+") ? read_unary(g, value) : read_power(g, value));
    g->depth--;
    return minus ? apply(g, "_operator.neg", value, 1, value) : TAPER_OK;
}

typedef struct sign {
    const char *text, *target;
} sign;

// Parses a chain of operators with the same precedence, from left to right.
static taper_status read_chain(guard *g, const sign *signs, size_t count,
                               taper_status (*read)(guard *g, taper_ir_value **value), taper_ir_value **value)
{
    TAPER_TRY(read(g, value));
    for (size_t i = 0; i < count;) {
        if (!take(g, signs[i].text)) {
            i++;
            continue;
        }
        taper_ir_value *operands[2] = {*value};
        TAPER_TRY(read(g, &operands[1]));
        TAPER_TRY(apply(g, signs[i].target, operands, 2, value));
        i = 0;
    }
    return TAPER_OK;
}

static taper_status read_product(guard *g, taper_ir_value **value)
{
    static const sign signs[] = {
        {"//", "_operator.floordiv"}, {"/", "_operator.truediv"}, {"*", "_operator.mul"}, {"%", "_operator.mod"}};
    return read_chain(g, signs, 4, read_unary, value);
}

static taper_status read_sum(guard *g, taper_ir_value **value)
{
    static const sign signs[] = {{"+", "_operator.add"}, {"-", "_operator.sub"}};
    return read_chain(g, signs, 2, read_product, value);
}

// Parses comparisons: a < b <= c means a < b and b <= c.
static taper_status read_comparison(guard *g, taper_ir_value **value)
{
    static const sign signs[] = {{"==", "_operator.eq"}, {"!=", "_operator.ne"}, {"<=", "_operator.le"},
                                 {">=", "_operator.ge"}, {"<", "_operator.lt"},  {">", "_operator.gt"}};
    taper_ir_value *left, *all = NULL;
    TAPER_TRY(read_sum(g, &left));
    for (size_t i = 0; i < sizeof signs / sizeof signs[0];) {
        if (!take(g, signs[i].text)) {
            i++;
            continue;
        }
        taper_ir_value *operands[2] = {left}, *holds;
        TAPER_TRY(read_sum(g, &operands[1]));
        left = operands[1];
        TAPER_TRY(apply(g, signs[i].target, operands, 2, &holds));
        taper_ir_value *both[2] = {all, holds};
        TAPER_TRY(all == NULL ? TAPER_OK : apply(g, "_operator.and_", both, 2, &holds));
        all = holds;
        i = 0;
    }
    *value = all != NULL ? all : left;
    return TAPER_OK;
}

static taper_status read_not(guard *g, taper_ir_value **value)
{
    bool turned = false;
    while (take_word(g, "not")) {
        turned = !turned;
    }
    TAPER_TRY(read_comparison(g, value));
    return turned ? apply(g, "_operator.not_", value, 1, value) : TAPER_OK;
}

static taper_status read_and(guard *g, taper_ir_value **value)
{
    static const sign signs[] = {{"and ", "_operator.and_"}, {"&", "_operator.and_"}};
    return read_chain(g, signs, 2, read_not, value);
}

static taper_status read_or(guard *g, taper_ir_value **value)
{
    static const sign signs[] = {{"or ", "_operator.or_"}, {"|", "_operator.or_"}};
    if (++g->depth > DEEPEST) {
        return not_understood(g);
    }
    TAPER_TRY(read_chain(g, signs, 2, read_and, value));
    g->depth--;
    return TAPER_OK;
}

static taper_status check_guards(taper_export_lowering *l, taper_ir_value *const *inputs, const taper_name_map *leaves)
{
    for (size_t i = 0; i < l->program->guard_count; i++) {
        guard g = {.l = l, .inputs = inputs, .leaves = leaves};
        g.text = g.at = l->program->guards[i];
        taper_ir_value *holds;
        char text[320];
        TAPER_TRY(taper_charge(l->module->allocator, strlen(g.text), l->emit.error));
        TAPER_TRY(read_or(&g, &holds));
        skip_space(&g);
        if (*g.at != '\0' || holds->type == NULL || holds->type->kind != TAPER_TYPE_BOOL) {
            return not_understood(&g);
        }
        (void)snprintf(text, sizeof text,
                       "the program was exported for arguments of which this holds: %.200s (--no-guards runs it all "
                       "the same)",
                       g.text);
        TAPER_TRY(taper_emit_assert(&l->emit, holds, text));
    }
    return TAPER_OK;
}

taper_status taper_export_check_guards(taper_export_lowering *l, taper_ir_value *const *inputs,
                                       const char *const *names)
{
    if (l->program->guard_count == 0) {
        return TAPER_OK;
    }
    taper_name_map leaves = {.size = 0};
    taper_status status = name_leaves(l, names, &leaves);
    if (status == TAPER_OK) {
        status = check_guards(l, inputs, &leaves);
    }
    taper_name_free(l->module->allocator, &leaves);
    return status;
}
