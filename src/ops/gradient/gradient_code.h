// SPDX-License-Identifier: BSD-2-Clause
// The words of a formula's code, which make_gradients.c writes and formula.c runs on a stack of values. The upper four
// bits of a word are the instruction, the lower twelve its number.
#ifndef TAPER_OPS_GRADIENT_CODE_H
#define TAPER_OPS_GRADIENT_CODE_H

enum {
    TAPER_GRADIENT_ARGUMENT = 0x0000, // pushes argument `number` of the call
    TAPER_GRADIENT_RESULT = 0x1000,   // pushes result `number` of the call
    TAPER_GRADIENT_GRAD = 0x2000,     // pushes the gradient of result `number`
    TAPER_GRADIENT_GRADS = 0x3000,    // pushes the list of the gradients of the items of result 0
    TAPER_GRADIENT_INT = 0x4000,      // pushes the int `number` of the table
    TAPER_GRADIENT_FLOAT = 0x5000,    // pushes the float `number` of the table
    TAPER_GRADIENT_NONE = 0x6000,     // pushes None
    TAPER_GRADIENT_BOOL = 0x7000,     // pushes the bool `number`
    TAPER_GRADIENT_LIST = 0x8000,     // replaces `number` values by a list; the next word is the kind of the items
    TAPER_GRADIENT_CALL = 0x9000,     // replaces `number` arguments by the results of the row in the next word
    TAPER_GRADIENT_MASK = 0xa000,     // pushes a list of bools: which targets of the formula are wanted
    TAPER_GRADIENT_DEFAULT = 0xb000,  // pushes a placeholder for an argument that has its default value
    TAPER_GRADIENT_PICK = 0xc000,     // replaces the last values by value `number` of them; the next word is how many
                                      // they are
    TAPER_GRADIENT_WORD = 0xf000,     // the bits of the instruction
    TAPER_GRADIENT_NUMBER = 0x0fff    // the bits of the number
};

// The kinds of a list's items.
enum { TAPER_GRADIENT_OF_TENSORS, TAPER_GRADIENT_OF_INTS, TAPER_GRADIENT_OF_FLOATS, TAPER_GRADIENT_OF_BOOLS };

#endif
