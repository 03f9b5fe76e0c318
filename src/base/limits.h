// SPDX-License-Identifier: BSD-2-Clause
// Every limit that a file or a caller can run into. Beyond one of them loading or running ends in a clear error.
#ifndef TAPER_BASE_LIMITS_H
#define TAPER_BASE_LIMITS_H

#include <stdint.h>

#define TAPER_OVERREAD 64 // readable bytes behind every storage that Taper allocates
#define TAPER_ALIGNMENT 64

// What a load may cost by itself, with a share for each byte of the file: bytes held, and steps of some nanoseconds
// (base/budget.h). The networks of torchvision take up to nine million. Of the 128 MB and 16 bytes a byte that a
// process may take for a file the rest is left to what is no block: the mapping, the allocator's own, the program.
#define TAPER_LOAD_BYTES ((uint64_t)88 << 20)
#define TAPER_LOAD_BYTES_A_BYTE 12
#define TAPER_LOAD_STEPS ((uint64_t)200000000)
#define TAPER_LOAD_STEPS_A_BYTE 400

#define TAPER_LIMIT_ZIP_ENTRIES 1000000
#define TAPER_LIMIT_RECORD_NAME 4096
#define TAPER_LIMIT_INFLATED_BYTES ((size_t)1 << 30) // one deflated record
#define TAPER_LIMIT_INFLATE_RATIO 1100               // deflate's own maximum is 1032

#define TAPER_LIMIT_PICKLE_STACK 4000000
#define TAPER_LIMIT_PICKLE_MEMO 4000000
#define TAPER_LIMIT_VALUE_DEPTH 500 // nesting of lists, tuples, dicts, objects: two for a module
#define TAPER_LIMIT_TYPE_DEPTH 32
#define TAPER_LIMIT_TYPE_TEXT 65536
#define TAPER_LIMIT_WRITTEN_TYPES ((size_t)64 << 20) // characters of the types of a file that is written

#define TAPER_LIMIT_JSON_DEPTH 250 // arrays and objects within each other; a graph within a graph takes seven

#define TAPER_LIMIT_FUNCTIONS 100000
#define TAPER_LIMIT_INSTRUCTIONS 10000000 // of one file
#define TAPER_LIMIT_REGISTERS 1000000     // of one function
#define TAPER_LIMIT_ARGUMENTS 4096        // of one instruction
#define TAPER_LIMIT_BLOCK_DEPTH 200       // nested if and loop
#define TAPER_LIMIT_CALL_DEPTH 200        // frames of one run

#define TAPER_LIMIT_SOURCE_BYTES ((size_t)64 << 20) // of all TorchScript sources of a file, unpacked
#define TAPER_LIMIT_SOURCE_DEPTH 200                // nested expressions and blocks of one function
#define TAPER_LIMIT_NAME_PROBES 1000000             // of the table of names, beyond 64 for each
#define TAPER_LIMIT_INLINE_DEPTH 720 // calls, blocks and expressions within each other while inlining; real models: 35
#define TAPER_LIMIT_INLINED_NODES(source_bytes) (400000 + 2 * (source_bytes)) // real models: about one a byte
#define TAPER_LIMIT_SOURCE_RATIO 16 // bytes of source that count for one of the file: text repeated packs very small

// Of a tensor, and of any block. Where size_t has 32 bits, elements of less than 8 bytes count as 8: then 31 bytes for
// each of them, as sorting or indexing needs beside it, do not overflow either.
#if SIZE_MAX > UINT32_MAX
#define TAPER_LIMIT_TENSOR_BYTES ((int64_t)1 << 46)
#define TAPER_LEAST_ITEM 1
#define TAPER_LIMIT_TRANSFORM ((size_t)1 << 40) // the length of a Fourier transform, whose tables are 200 times that
#else
#define TAPER_LIMIT_TENSOR_BYTES ((int64_t)1 << 30)
#define TAPER_LEAST_ITEM 8
#define TAPER_LIMIT_TRANSFORM ((size_t)1 << 23)
#endif
#define TAPER_LIMIT_CONTAINER_ITEMS 100000000
#define TAPER_LIMIT_STRING_BYTES ((size_t)1 << 30)
#define TAPER_LIMIT_PLANS 8 // memory plans kept by a session

#endif
