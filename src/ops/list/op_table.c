// SPDX-License-Identifier: BSD-2-Clause
// The rows of the operator list, read from the tables that make_op_table.c writes during the build.
#include "ops/list/op_table.h"

#include "ops/list/name_hash.h"
#include "ops/list/op_rows.h"
#include "ops/list/param_headers.h"

// The external definitions of the header's inline functions, for compilers that call them.
extern bool taper_node_calls(const taper_node *node, const taper_op *op);

#define TAKES(type, kernel) typedef type kernel##_takes;
#include "ops/list/param_types.inc"

// The facts in a row (ir/op.h).
#define SHAPE(what) TAPER_FACT(SHAPE, what)
#define RESULT(what) TAPER_FACT(RESULT, what)
#define FUNCTION(what) TAPER_FACT(FUNCTION, what)
#define LAYER(what) TAPER_FACT(LAYER, what)
#define PACKER(what) TAPER_FACT(PACKER, what)
#define QUANTIZED(what) TAPER_FACT(QUANTIZED, what)
#define AUTOCAST(what) TAPER_FACT(AUTOCAST, what)
// The facts about an operator of the host. Only its schema says what it writes to.
#define HOSTS_OPERATOR (TAPER_OP_REGISTERED | TAPER_OP_EFFECT | TAPER_OP_VIEW)

// A value that few rows have. Lists of such values are sorted by row, with {UINT16_MAX, 0} at the end.
typedef struct rare {
    uint16_t row, value;
} rare;
#include "ops/list/op_table.inc"

#define KERNEL(name) taper_status name(taper_call *call);
OP_KERNELS(KERNEL)
#undef KERNEL

_Static_assert(sizeof taper_ops / sizeof taper_ops[0] == TAPER_ROW_COUNT + 1, "rows and numbers come from one list");

const uint16_t taper_row_count = TAPER_ROW_COUNT;

enum { LETTER = 65535 }; // marks a letter in the table of pairs

// CMakeLists.txt sets this if a pointer to a function takes 32 bytes in the library's file.
#ifdef TAPER_KERNELS_BY_OFFSET
// The entries are differences between the addresses of a function and the table. C cannot express them, but assemblers
// can.
#define KERNEL(name) ".long " #name " - taper_op_kernels\n"
__asm__(".section .rodata.taper_op_kernels,\"a\"\n.balign 4\n.hidden taper_op_kernels\n.globl taper_op_kernels\n"
        "taper_op_kernels:\n" OP_KERNELS(KERNEL) ".previous");
extern const int32_t taper_op_kernels[] __attribute__((visibility("hidden")));

static taper_kernel kernel_at(size_t index)
{
    return (taper_kernel)((uintptr_t)taper_op_kernels + (uintptr_t)(intptr_t)taper_op_kernels[index]);
}
#else
#define KERNEL(name) name,
static const taper_kernel op_kernels[] = {OP_KERNELS(KERNEL)};

static taper_kernel kernel_at(size_t index)
{
    return op_kernels[index];
}
#endif

taper_kernel taper_row_kernel(const taper_op *op)
{
#ifdef TAPER_WITH_OPERATORS
    if (taper_row_is_registered(op)) {
        return taper_op_registered;
    }
#endif
    return kernel_at(op->kernel);
}

// Returns the value that the list has for the row, or `otherwise` if the list has no value for the row.
static unsigned rare_of(const rare *list, size_t count, const taper_op *op, unsigned otherwise)
{
    const size_t row = (size_t)(op - taper_ops);
    size_t low = 0, high = count - 1; // the last entry marks the end and is no row
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (list[middle].row < row) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return list[low].row == row ? list[low].value : otherwise;
}

unsigned taper_row_on_quantized(const taper_op *op)
{
    return taper_row_is_registered(op)
               ? (unsigned)TAPER_ON_QUANTIZED_ANY
               : rare_of(on_quantized, sizeof on_quantized / sizeof *on_quantized, op, TAPER_ON_QUANTIZED_NONE);
}

// Returns the number of the row that computes the same as op: for an in-place variant the number of the functional row,
// for an operator of the host TAPER_ROW_COUNT.
static unsigned work_of(const taper_op *op)
{
    return taper_row_is_registered(op)
               ? (unsigned)TAPER_ROW_COUNT
               : rare_of(other_works, sizeof other_works / sizeof *other_works, op, (unsigned)(op - taper_ops));
}

taper_kernel taper_row_quantized_kernel(const taper_op *op)
{
    return kernel_at((taper_row_on_quantized(op) - (unsigned)TAPER_ON_QUANTIZED_OWN) / 2);
}

const void *taper_row_param(const taper_op *op)
{
    return op_params[op->param];
}

static unsigned next_symbol(const uint8_t **at)
{
    unsigned symbol = *(*at)++;
    if (symbol >= SINGLE_BYTES) {
        symbol = SINGLE_BYTES + (symbol - SINGLE_BYTES) * 256 + *(*at)++;
    }
    return symbol;
}

// Writes the letters of a symbol to `to`, and returns the address after them. Symbols consist of earlier symbols. The
// tables are made by the build, so the depth of this recursion is bounded.
static char *expand(char *to, unsigned symbol)
{
    if (pairs[symbol][1] == LETTER) {
        *to = (char)pairs[symbol][0];
        return to + 1;
    }
    return expand(expand(to, pairs[symbol][0]), pairs[symbol][1]);
}

const char *taper_row_text(const taper_op *op, taper_arena *arena)
{
#ifdef TAPER_WITH_OPERATORS
    if (taper_row_is_registered(op)) {
        return taper_registered_text(op);
    }
#endif
    char text[LONGEST_TEXT + 1], *end = text;
    const uint8_t *at = texts + op->text;
    for (unsigned symbol; (symbol = next_symbol(&at)) != 0;) {
        end = expand(end, symbol);
    }
    return taper_arena_string(arena, text, (size_t)(end - text));
}

// The rest of the text that a row is compared with. In most rows an early letter differs and ends the comparison.
typedef struct wanted {
    const char *at, *end;
} wanted;

static bool agrees(wanted *w, unsigned symbol)
{
    if (pairs[symbol][1] != LETTER) {
        return agrees(w, pairs[symbol][0]) && (w->at == w->end || agrees(w, pairs[symbol][1]));
    }
    return *w->at++ == (char)pairs[symbol][0];
}

// Returns true if the row's text begins with these letters.
static bool begins(const taper_op *op, const char *letters, size_t count)
{
#ifdef TAPER_WITH_OPERATORS
    if (taper_row_is_registered(op)) {
        return strncmp(taper_registered_text(op), letters, count) == 0;
    }
#endif
    wanted w = {letters, letters + count};
    const uint8_t *at = texts + op->text;
    while (w.at != w.end) {
        const unsigned symbol = next_symbol(&at);
        if (symbol == 0 || !agrees(&w, symbol)) {
            return false;
        }
    }
    return true;
}

// An operator's name, with its overload if one is given, and the character that follows in the schema: '(', or '.'
// before an overload.
typedef struct key {
    char letters[LONGEST_TEXT + 2];
    size_t length;
} key;

static bool key_make(key *k, const char *name, const char *overload, char end)
{
    const size_t base = strlen(name), extra = overload != NULL && *overload != '\0' ? strlen(overload) + 1 : 0;
    k->length = base + extra + 1;
    if (base > LONGEST_TEXT || extra > LONGEST_TEXT || k->length > LONGEST_TEXT || strcspn(name, ".(") != base) {
        return false;
    }
    memcpy(k->letters, name, base);
    if (extra != 0) {
        k->letters[base] = '.';
        memcpy(k->letters + base + 1, overload, extra - 1);
    }
    k->letters[base + extra] = end;
    return true;
}

static const taper_op *first_listed(const char *name)
{
    key k;
    if (!key_make(&k, name, NULL, '(')) {
        return NULL;
    }
    for (size_t slot = taper_name_hash(name, k.length - 1) % SLOTS; first_row[slot] != 0; slot = (slot + 1) % SLOTS) {
        const taper_op *op = &taper_ops[first_row[slot] - 1];
        k.letters[k.length - 1] = '(';
        if (begins(op, k.letters, k.length)) {
            return op;
        }
        k.letters[k.length - 1] = '.';
        if (begins(op, k.letters, k.length)) {
            return op;
        }
    }
    return NULL;
}

const taper_op *taper_row_first(const char *name)
{
    const taper_op *const op = first_listed(name);
#ifdef TAPER_WITH_OPERATORS
    if (op == NULL) {
        return taper_registered_first(name);
    }
#endif
    return op;
}

bool taper_row_is_listed(const char *name)
{
    return first_listed(name) != NULL;
}

const taper_op *taper_row_next(const taper_op *op)
{
#ifdef TAPER_WITH_OPERATORS
    if (taper_row_is_registered(op)) {
        return taper_registered_next(op);
    }
#endif
    const taper_op *const next = &taper_ops[op->next];
    return next->text > op->text ? next : NULL; // the last row leads back to the first, whose text has a lower address
}

const taper_op *taper_row_find(const char *name, const char *overload)
{
    key k;
    if (!key_make(&k, name, overload, '(')) {
        return NULL;
    }
    const taper_op *op = taper_row_first(name);
    while (op != NULL && !begins(op, k.letters, k.length)) {
        op = taper_row_next(op);
    }
    return op;
}

const taper_op *taper_row_where(uint64_t mask, uint64_t facts)
{
    const taper_op *first = NULL;
    for (size_t row = 0; row < TAPER_ROW_COUNT; row++) {
        const taper_op *const op = &taper_ops[row];
        if ((taper_op_facts(op) & mask) == facts && (first == NULL || op->text < first->text)) {
            first = op;
        }
    }
    return first;
}

bool taper_row_is_in_place(const taper_op *op)
{
    return !taper_row_is_registered(op) && work_of(op) != (size_t)(op - taper_ops);
}

const taper_op *taper_row_functional(const taper_op *op)
{
    return taper_row_is_in_place(op) && work_of(op) < TAPER_ROW_COUNT ? &taper_ops[work_of(op)] : NULL;
}

unsigned taper_node_work(const taper_node *node)
{
    const uint64_t facts = taper_op_facts(node->op);
    // The tensor that an in-place operator has written may differ from the functional row's result: eq_ writes 0 and 1
    // as numbers of its tensor's dtype, not as bools.
    const bool differs =
        (facts & (TAPER_OP_RESIZES | TAPER_OP_REPLACES)) != 0 || TAPER_FIELD(facts, RESULT) == TAPER_RESULT_BOOL;
    return differs && !taper_row_is_registered(node->op) ? (unsigned)(node->op - taper_ops) : work_of(node->op);
}

bool taper_row_is_overload(const taper_op *op, const taper_op *of)
{
    if (taper_row_is_registered(op)) {
        return op == of;
    }
    const taper_op *row = op;
    do {
        if (row == of) {
            return true;
        }
        row = &taper_ops[row->next];
    } while (row != op);
    return false;
}
