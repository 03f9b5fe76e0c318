// SPDX-License-Identifier: BSD-2-Clause
// Parses statements, functions and classes.
#include <string.h>

#include "base/limits.h"
#include "frontend/torchscript/parser.h"

static taper_status end_of_line(taper_ts_parser *p)
{
    return p->lexer.token.kind == TAPER_TS_TOKEN_LINE ? taper_ts_next(&p->lexer)
                                                      : taper_ts_unexpected(p, "the line was expected to end here");
}

static taper_status name(taper_ts_parser *p, uint32_t *atom)
{
    if (p->lexer.token.kind != TAPER_TS_TOKEN_NAME || p->lexer.token.atom < TAPER_ATOM_KEYWORDS_END) {
        return taper_ts_unexpected(p, "a name was expected");
    }
    *atom = p->lexer.token.atom;
    return taper_ts_next(&p->lexer);
}

// ---- statements

static taper_status statement(taper_ts_parser *p, taper_ts_node **node);
static taper_status function(taper_ts_parser *p, bool nested, taper_ts_function **made);

// Parses ":" and the block after it: statements on the following lines, or one statement on the same line.
static taper_status block(taper_ts_parser *p, taper_ts_node **node)
{
    TAPER_TRY(taper_ts_make(p, TAPER_TS_BLOCK, node));
    TAPER_TRY(taper_ts_expect(p, ':'));
    taper_ts_node **tail = &(*node)->child;
    if (p->lexer.token.kind != TAPER_TS_TOKEN_LINE) {
        return statement(p, tail);
    }
    TAPER_TRY(taper_ts_next(&p->lexer));
    if (p->lexer.token.kind != TAPER_TS_TOKEN_INDENT) {
        return taper_ts_unexpected(p, "a block was expected");
    }
    if (++p->depth > TAPER_LIMIT_SOURCE_DEPTH) {
        return taper_ts_unexpected(p, "blocks are nested too deep");
    }
    TAPER_TRY(taper_ts_next(&p->lexer));
    while (p->lexer.token.kind != TAPER_TS_TOKEN_DEDENT && p->lexer.token.kind != TAPER_TS_TOKEN_END) {
        TAPER_TRY(statement(p, tail));
        while (*tail != NULL) {
            tail = &(*tail)->next;
        }
    }
    p->depth--;
    return p->lexer.token.kind == TAPER_TS_TOKEN_DEDENT ? taper_ts_next(&p->lexer) : TAPER_OK;
}

static taper_status branch(taper_ts_parser *p, taper_ts_node *node)
{
    TAPER_TRY(taper_ts_expression(p, &node->child));
    TAPER_TRY(block(p, &node->child->next));
    taper_ts_node **other = &node->child->next->next;
    if (!taper_ts_at_name(p, TAPER_ATOM_ELSE)) {
        return taper_ts_make(p, TAPER_TS_BLOCK, other);
    }
    TAPER_TRY(taper_ts_next(&p->lexer));
    return block(p, other);
}

// Reports the attributes among the targets of an assignment.
static taper_status targets(taper_ts_parser *p, const taper_ts_node *target)
{
    if (target->kind == TAPER_TS_ATTRIBUTE) {
        return p->parse->assigned(p->parse->user, target->atom);
    }
    const bool several = target->kind == TAPER_TS_TUPLE_OF || target->kind == TAPER_TS_ITEMS;
    for (const taper_ts_node *item = several ? target->child : NULL; item != NULL; item = item->next) {
        TAPER_TRY(targets(p, item));
    }
    return TAPER_OK;
}

static taper_status counted(taper_ts_parser *p, taper_ts_node *node)
{
    TAPER_TRY(taper_ts_expressions(p, &node->child));
    TAPER_TRY(targets(p, node->child));
    if (!taper_ts_at_name(p, TAPER_ATOM_IN)) {
        return taper_ts_unexpected(p, "'in' was expected");
    }
    TAPER_TRY(taper_ts_next(&p->lexer));
    TAPER_TRY(taper_ts_expression(p, &node->child->next));
    return block(p, &node->child->next->next);
}

static taper_status scope(taper_ts_parser *p, taper_ts_node *node)
{
    taper_ts_node *target = NULL;
    TAPER_TRY(taper_ts_expression(p, &node->child));
    if (taper_ts_at_name(p, TAPER_ATOM_AS)) {
        TAPER_TRY(taper_ts_next(&p->lexer));
        TAPER_TRY(taper_ts_expression(p, &target));
        TAPER_TRY(targets(p, target));
    }
    TAPER_TRY(block(p, &node->child->next));
    node->child->next->next = target;
    return TAPER_OK;
}

// Parses a simple statement: a = e; a, b = e; a : T = e; a : T; or e.
static taper_status simple(taper_ts_parser *p, taper_ts_node *node)
{
    node->kind = TAPER_TS_EXPRESSION;
    TAPER_TRY(taper_ts_expressions(p, &node->child));
    taper_ts_node *type = NULL;
    if (taper_ts_at(p, ':')) {
        node->kind = TAPER_TS_DECLARE;
        TAPER_TRY(taper_ts_next(&p->lexer));
        TAPER_TRY(taper_ts_expression(p, &type));
        node->child->next = type;
    }
    if (taper_ts_at(p, '=')) {
        node->kind = TAPER_TS_ASSIGN;
        TAPER_TRY(targets(p, node->child));
        TAPER_TRY(taper_ts_next(&p->lexer));
        TAPER_TRY(taper_ts_expressions(p, &node->child->next));
        node->child->next->next = type;
    }
    return end_of_line(p);
}

static taper_status statement(taper_ts_parser *p, taper_ts_node **node)
{
    if (taper_ts_at_name(p, TAPER_ATOM_PASS)) {
        TAPER_TRY(taper_ts_next(&p->lexer));
        return end_of_line(p);
    }
    TAPER_TRY(taper_ts_make(p, TAPER_TS_EXPRESSION, node));
    taper_ts_node *made = *node;
    if (p->lexer.token.kind != TAPER_TS_TOKEN_NAME) {
        return simple(p, made);
    }
    switch (p->lexer.token.atom) {
    case TAPER_ATOM_IF:
        made->kind = TAPER_TS_BRANCH;
        TAPER_TRY(taper_ts_next(&p->lexer));
        return branch(p, made);
    case TAPER_ATOM_FOR:
        made->kind = TAPER_TS_COUNTED;
        TAPER_TRY(taper_ts_next(&p->lexer));
        return counted(p, made);
    case TAPER_ATOM_WHILE:
        made->kind = TAPER_TS_REPEAT;
        TAPER_TRY(taper_ts_next(&p->lexer));
        TAPER_TRY(taper_ts_expression(p, &made->child));
        return block(p, &made->child->next);
    case TAPER_ATOM_WITH:
        made->kind = TAPER_TS_SCOPE;
        TAPER_TRY(taper_ts_next(&p->lexer));
        return scope(p, made);
    case TAPER_ATOM_RETURN:
        made->kind = TAPER_TS_GIVE;
        TAPER_TRY(taper_ts_next(&p->lexer));
        if (p->lexer.token.kind != TAPER_TS_TOKEN_LINE) {
            TAPER_TRY(taper_ts_expressions(p, &made->child));
        }
        return end_of_line(p);
    case TAPER_ATOM_DEF: {
        taper_ts_function *nested;
        made->kind = TAPER_TS_NESTED;
        TAPER_TRY(function(p, true, &nested));
        made->as.function = nested;
        return taper_ts_slot(p, nested->atom, &made->slot);
    }
    default:
        return simple(p, made);
    }
}

// ---- functions

static taper_status parameters(taper_ts_parser *p, taper_ts_function *f)
{
    size_t capacity = 0, count = 0;
    taper_ts_parameter *found = NULL;
    taper_status status = taper_ts_expect(p, '(');
    while (status == TAPER_OK && !taper_ts_at(p, ')')) {
        taper_ts_parameter one = {.type = NULL};
        status = count >= TAPER_LIMIT_ARGUMENTS
                     ? taper_ts_unexpected(p, "the function has too many parameters")
                     : TAPER_GROW(p->parse->allocator, found, capacity, count + 1, p->parse->error);
        if (status == TAPER_OK) {
            status = name(p, &one.atom);
        }
        if (status == TAPER_OK) {
            status = taper_ts_slot(p, one.atom, &one.slot);
        }
        if (status == TAPER_OK && taper_ts_at(p, ':')) {
            status = taper_ts_next(&p->lexer);
            status = status == TAPER_OK ? taper_ts_expression(p, &one.type) : status;
        }
        if (status == TAPER_OK && taper_ts_at(p, '=')) {
            status = taper_ts_next(&p->lexer);
            status = status == TAPER_OK ? taper_ts_expression(p, &one.default_value) : status;
        }
        if (status == TAPER_OK) {
            found[count++] = one;
            if (!taper_ts_at(p, ',')) {
                break;
            }
            status = taper_ts_next(&p->lexer);
        }
    }
    if (status == TAPER_OK) {
        f->parameter_count = (uint32_t)count;
        f->parameters = taper_arena_array(p->parse->arena, count, sizeof *found);
        status = f->parameters == NULL ? taper_fail_memory(p->parse->error) : taper_ts_expect(p, ')');
    }
    if (status == TAPER_OK && count != 0) {
        memcpy(f->parameters, found, count * sizeof *found);
    }
    taper_free(p->parse->allocator, found, capacity * sizeof *found);
    return status;
}

static taper_status qualify(taper_ts_parser *p, const char *outer, uint32_t atom, uint32_t *qualified)
{
    const char *inner = p->parse->atoms->names[atom];
    taper_text text = taper_text_make(p->parse->allocator);
    taper_text_string(&text, outer);
    taper_text_append(&text, ".", 1);
    taper_text_string(&text, inner);
    const taper_status status =
        text.failed ? taper_fail_memory(p->parse->error)
                    : taper_ts_atom(p->parse->atoms, taper_text_get(&text), text.length, qualified, p->parse->error);
    taper_text_free(&text);
    return status;
}

// Parses a function, beginning with "def". A nested function shares the variables of the enclosing function.
static taper_status function(taper_ts_parser *p, bool nested, taper_ts_function **made)
{
    taper_ts_function *f = *made = taper_arena_alloc(p->parse->arena, sizeof *f);
    if (f == NULL) {
        return taper_fail_memory(p->parse->error);
    }
    f->file = p->parse->file;
    f->at = p->lexer.token.at;
    f->owner = p->owner;
    TAPER_TRY(taper_ts_next(&p->lexer));
    TAPER_TRY(name(p, &f->atom));
    const char *outer = p->owner != NULL ? p->parse->atoms->names[p->owner->qualified] : p->parse->module_name;
    TAPER_TRY(qualify(p, outer, f->atom, &f->qualified));
    if (!nested) {
        p->stamp++;
        p->slot_count = 0;
    }
    TAPER_TRY(parameters(p, f));
    if (p->lexer.token.kind == TAPER_TS_TOKEN_ARROW) {
        TAPER_TRY(taper_ts_next(&p->lexer));
        TAPER_TRY(taper_ts_expression(p, &f->returns));
    }
    TAPER_TRY(block(p, &f->body));
    f->slots = p->slot_count;
    return TAPER_OK;
}

// ---- classes

static bool is_list_of_names(uint32_t atom)
{
    return atom == TAPER_ATOM_PARAMETERS || atom == TAPER_ATOM_BUFFERS || atom == TAPER_ATOM_FORWARD_HOOKS ||
           atom == TAPER_ATOM_FORWARD_PRE_HOOKS || atom == TAPER_ATOM_ANNOTATIONS;
}

// Parses one line of a class. *declares is true if it declares the attribute *out.
static taper_status member(taper_ts_parser *p, taper_ts_definition *class, taper_ts_attribute *out, bool *declares)
{
    taper_ts_node *node;
    *declares = false;
    TAPER_TRY(taper_ts_make(p, TAPER_TS_EXPRESSION, &node));
    TAPER_TRY(simple(p, node));
    taper_ts_node *target = node->child, *second = target->next;
    if (node->kind == TAPER_TS_EXPRESSION) {
        return taper_ts_syntax(&p->lexer, node->at, "a class holds attributes and methods only");
    }
    if (target->kind == TAPER_TS_INDEX && target->child->kind == TAPER_TS_NAME &&
        target->child->atom == TAPER_ATOM_ANNOTATIONS && target->child->next->kind == TAPER_TS_STRING) {
        *declares = true; // the line is __annotations__["0"] = T
        out->type = second;
        return taper_ts_atom(p->parse->atoms, target->child->next->as.text, target->child->next->length, &out->atom,
                             p->parse->error);
    }
    if (target->kind != TAPER_TS_NAME) {
        return taper_ts_syntax(&p->lexer, node->at, "a class holds attributes and methods only");
    }
    out->atom = target->atom;
    if (node->kind == TAPER_TS_DECLARE) {
        *declares = true;
        out->type = second;
    } else if (second->next != NULL) { // the line is name : Final[T] = literal
        *declares = true;
        out->value = second;
        out->type = second->next;
    } else if (is_list_of_names(target->atom)) {
        if (target->atom == TAPER_ATOM_FORWARD_HOOKS) {
            class->hooks = second;
        } else if (target->atom == TAPER_ATOM_FORWARD_PRE_HOOKS) {
            class->pre_hooks = second;
        }
    } else { // the line is a member of an enum
        *declares = true;
        out->value = second;
    }
    return TAPER_OK;
}

static taper_status class_body(taper_ts_parser *p, taper_ts_definition *class)
{
    taper_ts_attribute *found = NULL;
    size_t capacity = 0, count = 0;
    taper_ts_function **tail = &class->function;
    taper_status status = TAPER_OK;
    while (status == TAPER_OK && p->lexer.token.kind != TAPER_TS_TOKEN_DEDENT &&
           p->lexer.token.kind != TAPER_TS_TOKEN_END) {
        if (taper_ts_at_name(p, TAPER_ATOM_DEF)) {
            status = function(p, false, tail);
            tail = status == TAPER_OK ? &(*tail)->next : tail;
            class->method_count++;
        } else if (taper_ts_at_name(p, TAPER_ATOM_PASS)) {
            taper_ts_node *unused;
            status = statement(p, &unused);
        } else {
            bool declares;
            taper_ts_attribute one = {.type = NULL};
            status = member(p, class, &one, &declares);
            if (status == TAPER_OK && declares) {
                status = TAPER_GROW(p->parse->allocator, found, capacity, count + 1, p->parse->error);
                if (status == TAPER_OK) {
                    found[count++] = one;
                }
            }
        }
    }
    if (status == TAPER_OK) {
        class->attribute_count = (uint32_t)count;
        class->attributes = taper_arena_array(p->parse->arena, count, sizeof *found);
        status = class->attributes == NULL ? taper_fail_memory(p->parse->error) : TAPER_OK;
    }
    if (status == TAPER_OK && count != 0) {
        memcpy(class->attributes, found, count * sizeof *found);
    }
    taper_free(p->parse->allocator, found, capacity * sizeof *found);
    return status == TAPER_OK ? taper_ts_index_members(p->parse, class) : status;
}

static taper_status definition(taper_ts_parser *p, taper_ts_definition **made)
{
    *made = taper_arena_alloc(p->parse->arena, sizeof **made);
    if (*made == NULL) {
        return taper_fail_memory(p->parse->error);
    }
    (*made)->file = p->parse->file;
    (*made)->at = p->lexer.token.at;
    return TAPER_OK;
}

static taper_status class(taper_ts_parser *p)
{
    taper_ts_definition *d;
    uint32_t atom, base = 0;
    TAPER_TRY(definition(p, &d));
    TAPER_TRY(taper_ts_next(&p->lexer));
    TAPER_TRY(name(p, &atom));
    TAPER_TRY(qualify(p, p->parse->module_name, atom, &d->qualified));
    if (taper_ts_at(p, '(')) {
        TAPER_TRY(taper_ts_next(&p->lexer));
        TAPER_TRY(name(p, &base));
        TAPER_TRY(taper_ts_expect(p, ')'));
    }
    d->kind = base == TAPER_ATOM_NAMED_TUPLE                                        ? TAPER_TS_A_NAMED_TUPLE
              : base == TAPER_ATOM_INTERFACE || base == TAPER_ATOM_MODULE_INTERFACE ? TAPER_TS_AN_INTERFACE
              : base == TAPER_ATOM_ENUM                                             ? TAPER_TS_AN_ENUM
                                                                                    : TAPER_TS_A_CLASS;
    TAPER_TRY(taper_ts_expect(p, ':'));
    if (p->lexer.token.kind != TAPER_TS_TOKEN_LINE) {
        return taper_ts_unexpected(p, "the body of the class was expected below");
    }
    TAPER_TRY(taper_ts_next(&p->lexer));
    if (p->lexer.token.kind == TAPER_TS_TOKEN_INDENT) { // without an indented block, the class is empty
        TAPER_TRY(taper_ts_next(&p->lexer));
        p->owner = d;
        TAPER_TRY(class_body(p, d));
        p->owner = NULL;
        if (p->lexer.token.kind == TAPER_TS_TOKEN_DEDENT) {
            TAPER_TRY(taper_ts_next(&p->lexer));
        }
    }
    return p->parse->define(p->parse->user, d);
}

// Skips "op_version_set = 1" and "import a.b.c" of the oldest files, which have no meaning here.
static taper_status leading_line(taper_ts_parser *p)
{
    while (p->lexer.token.kind != TAPER_TS_TOKEN_LINE && p->lexer.token.kind != TAPER_TS_TOKEN_END) {
        TAPER_TRY(taper_ts_next(&p->lexer));
    }
    return p->lexer.token.kind == TAPER_TS_TOKEN_END ? TAPER_OK : taper_ts_next(&p->lexer);
}

static taper_status file(taper_ts_parser *p)
{
    TAPER_TRY(taper_ts_next(&p->lexer));
    while (p->lexer.token.kind != TAPER_TS_TOKEN_END) {
        if (taper_ts_at_name(p, TAPER_ATOM_CLASS)) {
            TAPER_TRY(class(p));
        } else if (taper_ts_at_name(p, TAPER_ATOM_DEF)) {
            taper_ts_definition *d;
            TAPER_TRY(definition(p, &d));
            TAPER_TRY(function(p, false, &d->function));
            d->qualified = d->function->qualified;
            TAPER_TRY(p->parse->define(p->parse->user, d));
        } else if (p->lexer.token.kind == TAPER_TS_TOKEN_NAME) {
            TAPER_TRY(leading_line(p));
        } else {
            return taper_ts_unexpected(p, "a class or a function was expected");
        }
    }
    return TAPER_OK;
}

taper_status taper_ts_parse_file(const taper_ts_parse *parse)
{
    if (parse->length > UINT32_MAX / 2) {
        TAPER_FAIL(parse->error, TAPER_ERROR_RESOURCE, "%s is too long", parse->file_name);
    }
    taper_ts_parser p = {.parse = parse, .lexer = {.parse = parse, .fresh = true}, .stamp = 1};
    const taper_status status = file(&p);
    taper_free(parse->allocator, p.slots, p.slot_capacity * sizeof *p.slots);
    return status;
}
