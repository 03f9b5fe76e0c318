// SPDX-License-Identifier: BSD-2-Clause
// See spirv.h. Removes the never taken side of each branch on a constant, with the blocks and functions that only this
// side reached. The numbers of opcodes are from the SPIR-V specification, sections 3.42 and 3.49; the rules of blocks
// from 2.11 and 2.16.
#include "backends/gpu/vulkan/spirv.h"

#include <string.h>

#include "backends/gpu/vulkan/spirv_words.h"
#include "ops/call/call.h"

enum {
    NAME = 5,
    MEMBER_NAME = 6,
    ENTRY_POINT = 15,
    FUNCTION = 54,
    FUNCTION_END = 56,
    FUNCTION_CALL = 57,
    MEMBER_DECORATE = 72,
    PHI = 245,
    LOOP_MERGE = 246,
    SELECTION_MERGE = 247,
    LABEL = 248,
    BRANCH = 249,
    BRANCH_CONDITIONAL = 250,
    SWITCH = 251,
    UNREACHABLE = 255,
};

typedef struct block {
    uint32_t begin, last, end; // indices of words: the label; the last instruction; the word after the last instruction
    uint32_t label;
    uint32_t merge; // index of the merge instruction before the last instruction, or 0 if there is none
    uint32_t taken; // label that a constant condition selects, or 0 if no constant decides
    // GONE: not reached; EMPTY: not reached, but the end of a construct; LIVE: reached.
    enum { GONE, EMPTY, LIVE } state;
} block;

// Facts about an id.
typedef struct meaning {
    uint32_t block;    // for a label, the number of its block + 1; for a function, the number of its first block + 1
    uint32_t function; // index of a function's first word
    uint8_t truth;     // value of a bool constant: 1 false, 2 true; 0 for other ids
    bool live, gone;   // live: true for a function that is called; gone: true for the result of an omitted instruction
} meaning;

typedef struct cutting {
    const uint32_t *code;
    uint32_t *made;
    size_t words, made_words;
    uint32_t bound;
    meaning *ids;
    block *blocks;
    uint32_t *waiting; // numbers of blocks to visit
    size_t block_count, waiting_count;
    bool is_odd; // true if the module contains something that is not supported
} cutting;

static meaning *id_of(cutting *c, uint32_t id)
{
    if (id >= c->bound) {
        c->is_odd = true;
        id = c->bound; // the last entry is for invalid ids
    }
    return &c->ids[id];
}

static uint32_t code_at(const cutting *c, size_t at)
{
    return c->code[at] & 0xffff;
}

static uint32_t length_at(const cutting *c, size_t at)
{
    return c->code[at] >> 16;
}

// Returns true if every instruction is inside the module and has all words that are read below. Counts the blocks.
static bool is_sound(cutting *c)
{
    static const struct {
        uint16_t code, words;
    } least[] = {{NAME, 2},
                 {MEMBER_NAME, 2},
                 {ENTRY_POINT, 3},
                 {SPIRV_CONSTANT_TRUE, 3},
                 {SPIRV_CONSTANT_FALSE, 3},
                 {FUNCTION, 5},
                 {FUNCTION_CALL, 4},
                 {SPIRV_DECORATE, 2},
                 {MEMBER_DECORATE, 2},
                 {PHI, 3},
                 {LOOP_MERGE, 3},
                 {SELECTION_MERGE, 3},
                 {LABEL, 2},
                 {BRANCH, 2},
                 {BRANCH_CONDITIONAL, 4},
                 {SWITCH, 3}};
    for (size_t at = SPIRV_HEADER; at < c->words; at += length_at(c, at)) {
        if (length_at(c, at) == 0 || length_at(c, at) > c->words - at) {
            return false;
        }
        for (size_t i = 0; i < sizeof least / sizeof *least; i++) {
            if (code_at(c, at) == least[i].code && length_at(c, at) < least[i].words) {
                return false;
            }
        }
        c->block_count += code_at(c, at) == LABEL;
    }
    return true;
}

static void find_taken(cutting *c, block *b, size_t before_last)
{
    const uint32_t *last = c->code + b->last;
    const bool tells =
        before_last > b->begin && (code_at(c, before_last) == SELECTION_MERGE || code_at(c, before_last) == LOOP_MERGE);
    b->merge = tells ? (uint32_t)before_last : 0;
    if (tells && code_at(c, before_last) == SELECTION_MERGE && code_at(c, b->last) == BRANCH_CONDITIONAL) {
        const uint8_t truth = id_of(c, last[1])->truth;
        b->taken = truth == 0 ? 0 : truth == 2 ? last[2] : last[3];
    }
}

// Finds functions, their blocks, and constants.
static void find_blocks(cutting *c)
{
    block *b = NULL;
    uint32_t function = 0;
    size_t count = 0, before_last = 0;
    for (size_t at = SPIRV_HEADER; at < c->words; at += length_at(c, at)) {
        const uint32_t code = code_at(c, at);
        if (b != NULL && (code == LABEL || code == FUNCTION_END)) {
            b->end = (uint32_t)at;
            c->is_odd |= b->last == b->begin; // the block has no terminator
            find_taken(c, b, before_last);
            b = NULL;
        }
        if (b != NULL) {
            before_last = b->last;
            b->last = (uint32_t)at;
        }
        if (code == SPIRV_CONSTANT_TRUE || code == SPIRV_CONSTANT_FALSE) {
            id_of(c, c->code[at + 2])->truth = code == SPIRV_CONSTANT_TRUE ? 2 : 1;
        } else if (code == FUNCTION) {
            function = c->code[at + 2];
            id_of(c, function)->function = (uint32_t)at;
        } else if (code == LABEL) {
            b = &c->blocks[count++];
            b->begin = b->last = (uint32_t)at;
            b->label = c->code[at + 1];
            id_of(c, b->label)->block = (uint32_t)count;
            meaning *f = id_of(c, function);
            f->block = f->block == 0 ? (uint32_t)count : f->block;
        }
    }
    c->is_odd |= b != NULL;
}

static void reach(cutting *c, uint32_t label)
{
    const uint32_t number = id_of(c, label)->block;
    if (number == 0) {
        c->is_odd = true;
    } else if (c->blocks[number - 1].state != LIVE) {
        c->blocks[number - 1].state = LIVE;
        c->waiting[c->waiting_count++] = number - 1;
    }
}

static void reach_function(cutting *c, uint32_t id)
{
    meaning *f = id_of(c, id);
    if (!f->live) {
        f->live = true;
        reach(c, f->block != 0 ? c->blocks[f->block - 1].label : c->bound);
    }
}

// Returns true if the last instruction of the block may branch to the label.
static bool goes_to(const cutting *c, const block *b, uint32_t label)
{
    const uint32_t *last = c->code + b->last, words = length_at(c, b->last);
    switch (code_at(c, b->last)) {
    case BRANCH:
        return last[1] == label;
    case BRANCH_CONDITIONAL:
        return b->taken != 0 ? b->taken == label : last[2] == label || last[3] == label;
    case SWITCH:
        for (uint32_t i = 2; i < words; i += 2) { // the default label, then the labels after one-word literals
            if (last[i] == label) {
                return true;
            }
        }
        return false;
    default:
        return false;
    }
}

static void reach_from(cutting *c, const block *b)
{
    const uint32_t *last = c->code + b->last, words = length_at(c, b->last);
    for (size_t at = b->begin; at < b->end; at += length_at(c, at)) {
        if (code_at(c, at) == FUNCTION_CALL) {
            reach_function(c, c->code[at + 3]);
        }
    }
    if (code_at(c, b->last) == BRANCH) {
        reach(c, last[1]);
    } else if (code_at(c, b->last) == BRANCH_CONDITIONAL) {
        reach(c, b->taken != 0 ? b->taken : last[2]);
        reach(c, b->taken != 0 ? b->taken : last[3]);
    } else if (code_at(c, b->last) == SWITCH) {
        c->is_odd |= words % 2 == 0; // the literals may have 64 bits
        for (uint32_t i = 2; i < words; i += 2) {
            reach(c, last[i]);
        }
    }
}

// Keeps the blocks that end a construct, because these blocks must exist. A module with a loop that can never repeat is
// left to the driver (is_odd).
static void keep_ends(cutting *c)
{
    for (size_t i = 0; i < c->block_count; i++) {
        const block *b = &c->blocks[i];
        if (b->state != LIVE || b->merge == 0 || b->taken != 0) {
            continue;
        }
        const uint32_t end = id_of(c, c->code[b->merge + 1])->block;
        c->is_odd |= end == 0;
        if (end != 0 && c->blocks[end - 1].state == GONE) {
            c->blocks[end - 1].state = EMPTY;
        }
        if (code_at(c, b->merge) == LOOP_MERGE) {
            const uint32_t next = id_of(c, c->code[b->merge + 2])->block;
            c->is_odd |= next == 0 || c->blocks[next - 1].state != LIVE;
        }
    }
}

// Returns true if an instruction inside a function defines the id in its third word.
static bool makes_id(uint32_t code)
{
    // These instructions define no id: they store, wait, end blocks or refer to the source.
    static const uint16_t others[] = {0, 8, 62, 63, 64, 99, 218, 219, 220, 221, 224, 225, 228, 317};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (code == others[i]) {
            return false;
        }
    }
    return code < LOOP_MERGE || code > UNREACHABLE;
}

static void forget(cutting *c, size_t begin, size_t end)
{
    for (size_t at = begin; at < end; at += length_at(c, at)) {
        if (code_at(c, at) == LABEL) {
            continue; // labels are never decorated
        }
        if (length_at(c, at) >= 3 && makes_id(code_at(c, at))) {
            id_of(c, c->code[at + 2])->gone = true;
        }
    }
}

static void copy(cutting *c, size_t from, size_t words)
{
    memcpy(c->made + c->made_words, c->code + from, words * sizeof *c->code);
    c->made_words += words;
}

// Copies a phi instruction with the pairs whose block still branches to this label.
static void copy_phi(cutting *c, size_t at, uint32_t label)
{
    const size_t begin = c->made_words;
    copy(c, at, 3);
    for (size_t i = at + 3; i + 1 < at + length_at(c, at); i += 2) {
        const uint32_t from = id_of(c, c->code[i + 1])->block;
        if (from != 0 && c->blocks[from - 1].state == LIVE && goes_to(c, &c->blocks[from - 1], label)) {
            copy(c, i, 2);
        }
    }
    c->made[begin] = (uint32_t)(c->made_words - begin) << 16 | PHI;
}

static void copy_block(cutting *c, const block *b)
{
    if (b->state == EMPTY) {
        copy(c, b->begin, 2);
        c->made[c->made_words++] = 1U << 16 | UNREACHABLE;
        return;
    }
    const size_t end = b->taken != 0 ? b->merge : b->end;
    for (size_t at = b->begin; at < end; at += length_at(c, at)) {
        if (code_at(c, at) == PHI) {
            copy_phi(c, at, b->label);
        } else {
            copy(c, at, length_at(c, at));
        }
    }
    if (b->taken != 0) {
        c->made[c->made_words] = 2U << 16 | BRANCH;
        c->made[c->made_words + 1] = b->taken;
        c->made_words += 2;
    }
}

static bool is_of_gone(cutting *c, size_t at)
{
    const uint32_t code = code_at(c, at);
    return (code == NAME || code == MEMBER_NAME || code == SPIRV_DECORATE || code == MEMBER_DECORATE) &&
           id_of(c, c->code[at + 1])->gone;
}

// Calls of(c, block, in, begin, end) for all words after the header, block by block. `block` is NULL for words between
// blocks. `in` is the id of the enclosing function, or 0 outside of functions.
static void walk(cutting *c, void (*of)(cutting *c, const block *b, uint32_t in, size_t begin, size_t end))
{
    uint32_t in = 0;
    size_t number = 0;
    for (size_t at = SPIRV_HEADER; at < c->words;) {
        const bool labels = code_at(c, at) == LABEL;
        in = code_at(c, at) == FUNCTION ? c->code[at + 2] : in;
        const block *b = labels ? &c->blocks[number++] : NULL;
        const size_t end = labels ? b->end : at + length_at(c, at);
        of(c, b, in, at, end);
        in = code_at(c, at) == FUNCTION_END ? 0 : in;
        at = end;
    }
}

static bool is_left_out(cutting *c, const block *b, uint32_t in)
{
    return (in != 0 && !id_of(c, in)->live) || (b != NULL && b->state == GONE);
}

static void forget_one(cutting *c, const block *b, uint32_t in, size_t begin, size_t end)
{
    if (is_left_out(c, b, in) || (b != NULL && b->state == EMPTY)) {
        forget(c, begin, end);
    }
}

static void copy_one(cutting *c, const block *b, uint32_t in, size_t begin, size_t end)
{
    if (is_left_out(c, b, in) || (b == NULL && is_of_gone(c, begin))) {
        return;
    }
    if (b != NULL) {
        copy_block(c, b);
    } else {
        copy(c, begin, end - begin);
    }
}

static void cut(cutting *c)
{
    find_blocks(c);
    for (size_t at = SPIRV_HEADER; at < c->words; at += length_at(c, at)) {
        if (code_at(c, at) == ENTRY_POINT) {
            reach_function(c, c->code[at + 2]);
        }
    }
    while (c->waiting_count != 0) {
        reach_from(c, &c->blocks[c->waiting[--c->waiting_count]]);
    }
    keep_ends(c);
    if (c->is_odd) {
        return;
    }
    walk(c, forget_one);
    memcpy(c->made, c->code, SPIRV_HEADER * sizeof *c->code);
    c->made_words = SPIRV_HEADER;
    walk(c, copy_one);
}

taper_status taper_spirv_cut(const taper_allocator *allocator, const uint32_t *code, size_t words, uint32_t *made,
                             size_t *made_words)
{
    cutting c = {.code = code, .words = words, .made = made};
    if (words < SPIRV_HEADER || words > UINT32_MAX || code[SPIRV_BOUND] > SPIRV_MOST_IDS || !is_sound(&c)) {
        return TAPER_DECLINED;
    }
    c.bound = code[SPIRV_BOUND];
    const size_t ids = ((size_t)c.bound + 1) * sizeof *c.ids, blocks = (c.block_count + 1) * sizeof *c.blocks,
                 waiting = (c.block_count + 1) * sizeof *c.waiting;
    c.ids = taper_alloc_zeroed(allocator, ids);
    c.blocks = taper_alloc_zeroed(allocator, blocks);
    c.waiting = taper_alloc(allocator, waiting);
    const bool room = c.ids != NULL && c.blocks != NULL && c.waiting != NULL;
    if (room) {
        cut(&c);
    }
    taper_free(allocator, c.ids, ids);
    taper_free(allocator, c.blocks, blocks);
    taper_free(allocator, c.waiting, waiting);
    *made_words = c.made_words;
    return !room ? TAPER_ERROR_RESOURCE : c.is_odd ? TAPER_DECLINED : TAPER_OK;
}
