// SPDX-License-Identifier: BSD-2-Clause
// Folds specialization constants, see spirv.h. The numbers of opcodes are from the SPIR-V specification, section 3.49.
// OpSpecConstantOp names an operation by the number of the ordinary instruction.
#include "backends/gpu/vulkan/spirv.h"

#include <string.h>

#include "backends/gpu/vulkan/spirv_words.h"
#include "ops/call/call.h"

enum {
    MAGIC = 0x07230203,
    TYPE_BOOL = 20,
    CONSTANT = 43,
    CONSTANT_COMPOSITE = 44,
    SPEC_TRUE = 48,
    SPEC_FALSE = 49,
    SPEC_CONSTANT = 50,
    SPEC_COMPOSITE = 51,
    SPEC_OP = 52,
    SPEC_ID = 1, // number of the decoration SpecId
};

enum {
    COMPOSITE_EXTRACT = 81,
    I_ADD = 128,
    I_SUB = 130,
    I_MUL = 132,
    U_DIV = 134,
    U_MOD = 137,
    LOGICAL_EQUAL = 164,
    LOGICAL_NOT_EQUAL,
    LOGICAL_OR,
    LOGICAL_AND,
    LOGICAL_NOT,
    SELECT = 169,
    I_EQUAL,
    I_NOT_EQUAL,
    U_GREATER,
    U_GREATER_EQUAL = 174,
    U_LESS = 176,
    U_LESS_EQUAL = 178,
    SHIFT_RIGHT = 194,
    SHIFT_LEFT = 196,
    BITWISE_OR,
    BITWISE_XOR,
    BITWISE_AND,
    NOT
};

// Facts about an id.
typedef struct meaning {
    enum { UNKNOWN, BOOL_TYPE, NUMBER, COMPOSITE } kind;
    uint32_t value; // value of a NUMBER (1 or 0 for bool); index in `made` of the constituents of a COMPOSITE
    uint32_t parts; // number of constituents of a COMPOSITE
    uint32_t given; // 1 + the constant's SpecId; 0 if the id is not a specialization constant
} meaning;

typedef struct folding {
    const uint32_t *values;
    uint32_t count, bound;
    meaning *ids;
    uint32_t *made;
    size_t at; // number of words written so far
} folding;

static meaning *id_of(const folding *f, uint32_t id)
{
    return &f->ids[id < f->bound ? id : f->bound]; // the last entry is for invalid ids
}

static void put_number(folding *f, uint32_t type, uint32_t id, uint32_t value)
{
    const bool truth = id_of(f, type)->kind == BOOL_TYPE;
    const uint32_t words = truth ? 3 : 4, code = !truth       ? CONSTANT
                                                 : value != 0 ? SPIRV_CONSTANT_TRUE
                                                              : SPIRV_CONSTANT_FALSE;
    meaning *m = id_of(f, id);
    m->kind = NUMBER;
    m->value = value;
    f->made[f->at] = words << 16 | code;
    f->made[f->at + 1] = type;
    f->made[f->at + 2] = id;
    if (!truth) {
        f->made[f->at + 3] = value;
    }
    f->at += words;
}

static bool compute(uint32_t operation, const uint32_t *n, uint32_t *result)
{
    switch (operation) {
    case I_ADD:
        *result = n[0] + n[1];
        return true;
    case I_SUB:
        *result = n[0] - n[1];
        return true;
    case I_MUL:
        *result = n[0] * n[1];
        return true;
    case U_DIV:
        *result = n[1] != 0 ? n[0] / n[1] : 0;
        return n[1] != 0;
    case U_MOD:
        *result = n[1] != 0 ? n[0] % n[1] : 0;
        return n[1] != 0;
    case LOGICAL_EQUAL:
    case I_EQUAL:
        *result = n[0] == n[1];
        return true;
    case LOGICAL_NOT_EQUAL:
    case I_NOT_EQUAL:
        *result = n[0] != n[1];
        return true;
    case LOGICAL_OR:
    case BITWISE_OR:
        *result = n[0] | n[1];
        return true;
    case LOGICAL_AND:
    case BITWISE_AND:
        *result = n[0] & n[1];
        return true;
    case LOGICAL_NOT:
        *result = n[0] == 0;
        return true;
    case SELECT:
        *result = n[0] != 0 ? n[1] : n[2];
        return true;
    case U_GREATER:
        *result = n[0] > n[1];
        return true;
    case U_GREATER_EQUAL:
        *result = n[0] >= n[1];
        return true;
    case U_LESS:
        *result = n[0] < n[1];
        return true;
    case U_LESS_EQUAL:
        *result = n[0] <= n[1];
        return true;
    case SHIFT_RIGHT:
        *result = n[1] < 32 ? n[0] >> n[1] : 0;
        return n[1] < 32;
    case SHIFT_LEFT:
        *result = n[1] < 32 ? n[0] << n[1] : 0;
        return n[1] < 32;
    case BITWISE_XOR:
        *result = n[0] ^ n[1];
        return true;
    case NOT:
        *result = ~n[0];
        return true;
    default:
        return false;
    }
}

// Folds an OpSpecConstantOp: type, result, operation, operands.
static bool fold_operation(folding *f, const uint32_t *from, uint32_t words)
{
    uint32_t n[3] = {0}, result = 0;
    if (words < 5 || words - 4 > 3) {
        return false;
    }
    const uint32_t *operands = from + 4;
    if (from[3] == COMPOSITE_EXTRACT) {
        const meaning *whole = id_of(f, operands[0]);
        if (words != 6 || whole->kind != COMPOSITE || operands[1] >= whole->parts) {
            return false;
        }
        const meaning *part = id_of(f, f->made[whole->value + operands[1]]);
        if (part->kind != NUMBER) {
            return false;
        }
        put_number(f, from[1], from[2], part->value);
        return true;
    }
    for (uint32_t i = 0; i < words - 4; i++) {
        const meaning *operand = id_of(f, operands[i]);
        if (operand->kind != NUMBER) {
            return false;
        }
        n[i] = operand->value;
    }
    if (!compute(from[3], n, &result)) {
        return false;
    }
    put_number(f, from[1], from[2], result);
    return true;
}

// Folds or copies one instruction. Returns false if this code cannot handle the instruction.
static bool fold_one(folding *f, const uint32_t *from, uint32_t words)
{
    const uint32_t code = from[0] & 0xffff;
    switch (code) {
    case SPIRV_DECORATE:
        if (words == 4 && from[2] == SPEC_ID) {
            id_of(f, from[1])->given = from[3] < UINT32_MAX ? from[3] + 1 : 0;
            return true; // the decoration SpecId is omitted
        }
        break;
    case TYPE_BOOL:
        if (words == 2) {
            id_of(f, from[1])->kind = BOOL_TYPE;
        }
        break;
    case CONSTANT:
    case SPEC_CONSTANT:
    case SPIRV_CONSTANT_TRUE:
    case SPIRV_CONSTANT_FALSE:
    case SPEC_TRUE:
    case SPEC_FALSE: {
        const bool number = code == CONSTANT || code == SPEC_CONSTANT;
        if (words != (number ? 4U : 3U)) { // the constant has 64 bits
            if (code == CONSTANT) {
                break;
            }
            return false;
        }
        if (!number && id_of(f, from[1])->kind != BOOL_TYPE) {
            return false;
        }
        const bool is_given = code == SPEC_CONSTANT || code == SPEC_TRUE || code == SPEC_FALSE;
        const uint32_t given = is_given ? id_of(f, from[2])->given : 0;
        const uint32_t own = number ? from[3] : code == SPIRV_CONSTANT_TRUE || code == SPEC_TRUE;
        put_number(f, from[1], from[2], given != 0 && given <= f->count ? f->values[given - 1] : own);
        return true;
    }
    case CONSTANT_COMPOSITE:
    case SPEC_COMPOSITE:
        if (words >= 3) {
            meaning *m = id_of(f, from[2]);
            m->kind = COMPOSITE;
            m->value = (uint32_t)f->at + 3;
            m->parts = words - 3;
            memcpy(f->made + f->at, from, words * sizeof *from);
            f->made[f->at] = words << 16 | CONSTANT_COMPOSITE;
            f->at += words;
            return true;
        }
        return false;
    case SPEC_OP:
        return fold_operation(f, from, words);
    default:
        break;
    }
    memcpy(f->made + f->at, from, words * sizeof *from);
    f->at += words;
    return true;
}

taper_status taper_spirv_fold(const taper_allocator *allocator, const uint32_t *code, size_t words,
                              const uint32_t *values, uint32_t count, uint32_t *made, size_t *made_words)
{
    if (words < SPIRV_HEADER || words > UINT32_MAX || code[0] != MAGIC || code[SPIRV_BOUND] > SPIRV_MOST_IDS) {
        return TAPER_DECLINED;
    }
    folding f = {.values = values, .count = count, .bound = code[SPIRV_BOUND], .made = made, .at = SPIRV_HEADER};
    const size_t room = ((size_t)f.bound + 1) * sizeof *f.ids;
    f.ids = taper_alloc_zeroed(allocator, room);
    if (f.ids == NULL) {
        return TAPER_ERROR_RESOURCE;
    }
    memcpy(made, code, SPIRV_HEADER * sizeof *code);
    bool folds = true;
    for (size_t at = SPIRV_HEADER; folds && at < words;) {
        const uint32_t length = code[at] >> 16;
        folds = length != 0 && length <= words - at && fold_one(&f, code + at, length);
        at += length;
    }
    taper_free(allocator, f.ids, room);
    *made_words = f.at;
    return folds ? TAPER_OK : TAPER_DECLINED;
}
