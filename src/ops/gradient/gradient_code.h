// SPDX-License-Identifier: BSD-2-Clause
// The bytes of the table of derivatives, which make_gradients.c writes. gradient.c finds the record of an operator in
// the table, and formula.c runs the code of a formula on a stack of values.
//
// A record is a byte with flags, the bits of the arguments without a derivative if the flag says so, and the formulas.
// A formula is the bits of its targets, the number of bytes of its code, and the code. A zero byte in the place of the
// targets ends the record. Bits and numbers of bytes are written in groups of seven bits, the lowest first. The upper
// bit of a byte says that another group follows.
#ifndef TAPER_OPS_GRADIENT_CODE_H
#define TAPER_OPS_GRADIENT_CODE_H

// The flags of a record.
enum {
    TAPER_GRADIENT_COMPOSED = 1,   // the formulas give the results, as a composition of other operators
    TAPER_GRADIENT_SOME_NONE = 2,  // the bits of arguments without a derivative follow the flags
    TAPER_GRADIENT_NO_FORMULA = 4, // no result of the operator has a gradient
    TAPER_GRADIENT_ALL_NONE = 8    // no argument has a derivative
};

// The instructions of a formula. An instruction with a number N has one byte for each value of N; each enumerator below
// is the byte for N = 0.
enum {
    TAPER_GRADIENT_ARGUMENT = 0x00, // pushes argument N of the call
    TAPER_GRADIENT_SHAPE = 0x20,    // pushes argument N, of which only the sizes and the dtype are read
    TAPER_GRADIENT_RESULT = 0x40,   // pushes result N of the call
    TAPER_GRADIENT_GRAD = 0x48,     // pushes the gradient of result N
    TAPER_GRADIENT_INT = 0x50,      // pushes the int N of the table
    TAPER_GRADIENT_FLOAT = 0x5c,    // pushes the float N of the table
    TAPER_GRADIENT_GRADS = 0x78,    // pushes the list of the gradients of the items of result 0
    TAPER_GRADIENT_NONE = 0x79,     // pushes None
    TAPER_GRADIENT_FALSE = 0x7a,    // pushes False
    TAPER_GRADIENT_TRUE = 0x7b,     // pushes True
    TAPER_GRADIENT_MASK = 0x7c,     // pushes a list of bools: which targets of the formula are wanted
    TAPER_GRADIENT_DEFAULT = 0x7d,  // pushes a placeholder for an argument that gets its default
    TAPER_GRADIENT_LIST = 0x7e,     // makes a list; the next byte is 4 * the number of values + the kind of the items
    TAPER_GRADIENT_PICK = 0x7f, // keeps one of the top values; the next byte is 16 * its index + the number of values
    TAPER_GRADIENT_CALL = 0x80, // replaces its arguments by the results of call N of the table
    TAPER_GRADIENT_RARE = 0xfc  // like CALL, for call 256 * N + the next byte + the number of calls that CALL can name
};

// The kinds of a list's items.
enum { TAPER_GRADIENT_OF_TENSORS, TAPER_GRADIENT_OF_INTS, TAPER_GRADIENT_OF_FLOATS, TAPER_GRADIENT_OF_BOOLS };

#endif
