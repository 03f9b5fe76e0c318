// SPDX-License-Identifier: BSD-2-Clause
// Every limit that a file or a caller can reach. Beyond a limit, loading or running ends in a clear error.
#ifndef TAPER_BASE_LIMITS_H
#define TAPER_BASE_LIMITS_H

#include <stdint.h>

#define TAPER_OVERREAD 64 // bytes that Taper allocates after every storage, because kernels may read past its end
#define TAPER_ALIGNMENT 64

// The default limits of a load: bytes allocated, and steps of some nanoseconds (base/budget.h). Each limit has a
// constant part and a part for each byte of the file. The whole process should stay below 128 MB plus 16 bytes for each
// byte of the file. The limits on allocated bytes are lower, because the mapping of the file, the allocator's own data
// and the program need memory too. The networks of torchvision need up to nine million steps.
#define TAPER_LOAD_BYTES ((uint64_t)88 << 20)
#define TAPER_LOAD_BYTES_A_BYTE 12
#define TAPER_LOAD_STEPS ((uint64_t)200000000)
#define TAPER_LOAD_STEPS_A_BYTE 400

#define TAPER_LIMIT_ZIP_ENTRIES 1000000
#define TAPER_LIMIT_RECORD_NAME 4096
#define TAPER_LIMIT_INFLATED_BYTES ((size_t)1 << 30) // bytes of one deflated record, after inflating
#define TAPER_LIMIT_INFLATE_RATIO 1100 // inflated bytes for each deflated byte; deflate's own maximum is 1032

#define TAPER_LIMIT_PICKLE_STACK 4000000
#define TAPER_LIMIT_PICKLE_MEMO 4000000
#define TAPER_LIMIT_VALUE_DEPTH 500 // nesting depth of lists, tuples, dicts and objects; a module needs two levels
#define TAPER_LIMIT_TYPE_DEPTH 32
#define TAPER_LIMIT_TYPE_TEXT 65536
#define TAPER_LIMIT_WRITTEN_TYPES ((size_t)64 << 20) // total characters of the types in a file that Taper writes

#define TAPER_LIMIT_JSON_DEPTH 250 // nesting depth of arrays and objects; a graph within a graph needs seven levels

#define TAPER_LIMIT_FUNCTIONS 100000
#define TAPER_LIMIT_INSTRUCTIONS 10000000 // instructions of one file
#define TAPER_LIMIT_REGISTERS 1000000     // registers of one function
#define TAPER_LIMIT_ARGUMENTS 4096        // arguments of one instruction
#define TAPER_LIMIT_BLOCK_DEPTH 200       // nesting depth of blocks of if and loop
#define TAPER_LIMIT_CALL_DEPTH 200        // nested calls of one run

#define TAPER_LIMIT_SOURCE_BYTES ((size_t)64 << 20) // bytes of all TorchScript sources of a file, unpacked
#define TAPER_LIMIT_SOURCE_DEPTH 200                // nesting depth of expressions and blocks in one function
#define TAPER_LIMIT_NAME_PROBES 1000000 // probes of the table of names, beyond the 64 probes that each name may use
// Nesting depth of calls, blocks and expressions while inlining. Real models need 35.
#define TAPER_LIMIT_INLINE_DEPTH 720
// Nodes of the graphs after inlining. Real models have about one node for each byte of source.
#define TAPER_LIMIT_INLINED_NODES(source_bytes) (400000 + 2 * (source_bytes))
// Number of bytes of source text that count as one byte of the file: source text is compressed, and repeated text
// compresses very well.
#define TAPER_LIMIT_SOURCE_RATIO 16

// The largest size of a tensor and of any block, in bytes. If size_t has 32 bits, elements of less than 8 bytes count
// as 8 bytes. Sorting and indexing need up to 31 bytes for each element, and with this rule the product does not
// overflow either.
#if SIZE_MAX > UINT32_MAX
#define TAPER_LIMIT_TENSOR_BYTES ((int64_t)1 << 46)
#define TAPER_LEAST_ITEM 1
// Longest Fourier transform, in elements. Its tables need 200 bytes for each element.
#define TAPER_LIMIT_TRANSFORM ((size_t)1 << 40)
#else
#define TAPER_LIMIT_TENSOR_BYTES ((int64_t)1 << 30)
#define TAPER_LEAST_ITEM 8
#define TAPER_LIMIT_TRANSFORM ((size_t)1 << 23)
#endif
#define TAPER_LIMIT_CONTAINER_ITEMS 100000000
#define TAPER_LIMIT_STRING_BYTES ((size_t)1 << 30)
#define TAPER_LIMIT_PLANS 8 // memory plans that a session keeps

#endif
