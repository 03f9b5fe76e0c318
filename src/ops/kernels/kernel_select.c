// SPDX-License-Identifier: BSD-2-Clause
// The selection tables, made from the lists.
#include "ops/kernels/kernel_select.h"

// Expands to a row of a list if its kernel is built (kernels.cmake).
#define TAPER_IF_KERNEL(family, isa, ...) TAPER_IF_ISA(isa, TAPER_UNLESS(TAPER_LEFT_OUT_##family##_##isa, __VA_ARGS__))

// Returns true if `cpu` has the instruction sets that an entry needs.
static int allows(uint64_t cpu, uint64_t need)
{
    return (cpu & need) == need;
}

static const taper_gemm_entry gemm_entries[] = {
#define KERNEL(isa, tile, mr, nr, over_read, windows)                                                                  \
    TAPER_IF_KERNEL(gemm_f32, isa,                                                                                     \
                    {#tile "_" #isa, TAPER_ISA_##isa, mr, nr, over_read, taper_gemm_f32_##tile##_##isa,                \
                     taper_igemm_f32_##tile##_##isa, TAPER_GEMM_##windows(taper_gemm_f32_windows_##tile##_##isa),      \
                     TAPER_PRECISION_fp32, 1, 0}, )
#include "ops/kernels/gemm_f32_list.inc"
#undef KERNEL
};

static const taper_gemm_entry gemm_half_entries[] = {
#define KERNEL(isa, precision, tile, mr, nr, kr, rounds, over_read)                                                    \
    TAPER_IF_KERNEL(gemm_half, isa,                                                                                    \
                    {#precision "_" #tile "_" #isa, TAPER_ISA_##isa, mr, nr, over_read,                                \
                     taper_gemm_##precision##_##tile##_##isa, taper_igemm_##precision##_##tile##_##isa, NULL,          \
                     TAPER_PRECISION_##precision, kr, rounds}, )
#include "ops/kernels/gemm_half_list.inc"
#undef KERNEL
};

static const taper_dwconv_entry dwconv_entries[] = {
#define KERNEL(isa, shape, kernel, stride, block, over_read)                                                           \
    TAPER_IF_KERNEL(                                                                                                   \
        dwconv_f32, isa,                                                                                               \
        {#shape "_" #isa, TAPER_ISA_##isa, kernel, stride, block, over_read, taper_dwconv_f32_##shape##_##isa}, )
#define KERNEL_TAPS(isa, block, over_read)
#include "ops/kernels/dwconv_f32_list.inc"
#undef KERNEL
#undef KERNEL_TAPS
    {.name = NULL}, // the end of the list; a selective build may have no kernels of halves
};

static const taper_dwconv_taps_entry dwconv_taps_entries[] = {
#define KERNEL(isa, shape, kernel, stride, block, over_read)
#define KERNEL_TAPS(isa, block, over_read)                                                                             \
    TAPER_IF_KERNEL(dwconv_f32, isa, {#isa, TAPER_ISA_##isa, block, over_read, taper_dwconv_taps_f32_##isa}, )
#include "ops/kernels/dwconv_f32_list.inc"
#undef KERNEL
#undef KERNEL_TAPS
};

static const taper_vector_entry *const vector_entries[] = {
#define KERNEL(isa) TAPER_IF_KERNEL(vector_f32, isa, &taper_vector_f32_##isa, )
#include "ops/kernels/vector_f32_list.inc"
#undef KERNEL
};

static const taper_winograd_entry winograd_entries[] = {
#define KERNEL(isa, size, outputs, stride, lanes)                                                                      \
    TAPER_IF_KERNEL(winograd_f32, isa,                                                                                 \
                    {#size "_" #isa, TAPER_ISA_##isa, outputs, stride, lanes, taper_winograd_f32_##size##_input_##isa, \
                     taper_winograd_f32_##size##_output_##isa, taper_winograd_f32_##size##_weights_##isa}, )
#include "ops/kernels/winograd_f32_list.inc"
#undef KERNEL
};

static const taper_planar_entry planar_entries[] = {
#define KERNEL(isa, block, lanes)                                                                                      \
    TAPER_IF_KERNEL(planar_f32, isa, {"planar_" #isa, TAPER_ISA_##isa, block, lanes, taper_planar_f32_##isa}, )
#include "ops/kernels/planar_f32_list.inc"
#undef KERNEL
};

static const taper_gemm_i8_entry gemm_i8_entries[] = {
#define KERNEL(isa, tile, mr, nr, kr, shift, over_read, marks, windows, rows, mark_steps)                              \
    TAPER_IF_KERNEL(gemm_i8, isa,                                                                                      \
                    {#tile "_" #isa, TAPER_ISA_##isa, mr, nr, kr, shift, over_read, TAPER_I8_##marks,                  \
                     taper_gemm_i8_##tile##_##isa, TAPER_GEMM_##windows(taper_gemm_i8_windows_##tile##_##isa), rows,   \
                     mark_steps}, )
#include "ops/kernels/gemm_i8_list.inc"
#undef KERNEL
};

static const taper_dwconv_i8_entry dwconv_i8_entries[] = {
#define KERNEL(isa, block, least, over_read, shift, rows, columns, words)                                              \
    TAPER_IF_KERNEL(                                                                                                   \
        dwconv_i8, isa,                                                                                                \
        {#isa, TAPER_ISA_##isa, block, least, over_read, shift, rows, columns, words, taper_dwconv_i8_##isa}, )
#include "ops/kernels/dwconv_i8_list.inc"
#undef KERNEL
};

static const taper_winograd_i8_entry winograd_i8_entries[] = {
#define KERNEL(isa, mr, nr, kr, inputs, lanes, cost)                                                                   \
    TAPER_IF_KERNEL(winograd_i8, isa,                                                                                  \
                    {"winograd_i8_" #isa, TAPER_ISA_##isa, mr, nr, kr, inputs, lanes, cost,                            \
                     taper_winograd_i8_input_##isa, taper_winograd_i8_weights_##isa, taper_winograd_i8_product_##isa,  \
                     taper_winograd_i8_output_##isa}, )
#include "ops/kernels/winograd_i8_list.inc"
#undef KERNEL
    {.name = NULL}, // the end of the list; a build may have no such kernel
};

static const taper_vector_u8_entry *const vector_u8_entries[] = {
#define KERNEL(isa) TAPER_IF_KERNEL(vector_u8, isa, &taper_vector_u8_##isa, )
#include "ops/kernels/vector_u8_list.inc"
#undef KERNEL
};

static const taper_narrow_entry *const narrow_entries[] = {
#define KERNEL(isa, nr) TAPER_IF_KERNEL(narrow_f32, isa, &taper_narrow_f32_##isa, )
#include "ops/kernels/narrow_f32_list.inc"
#undef KERNEL
};

static const taper_cast_entry *const cast_entries[] = {
#define KERNEL(isa) TAPER_IF_KERNEL(cast, isa, &taper_cast_##isa, )
#include "ops/kernels/cast_list.inc"
#undef KERNEL
};

static const taper_native_entry *const native_entries[] = {
#define KERNEL(isa) TAPER_IF_KERNEL(native, isa, &taper_native_##isa, )
#include "ops/kernels/native_list.inc"
#undef KERNEL
};

static const taper_fft_entry *const fft_entries[] = {
#define KERNEL(isa) TAPER_IF_KERNEL(fft_f32, isa, &taper_fft_f32_##isa, )
#include "ops/kernels/fft_f32_list.inc"
#undef KERNEL
};

#define COUNT(array) (sizeof(array) / sizeof *(array))

const taper_gemm_entry *taper_gemm_f32_entry(size_t index)
{
    return index < COUNT(gemm_entries) ? &gemm_entries[index] : NULL;
}

const taper_gemm_entry *taper_gemm_f32_select(uint64_t cpu)
{
    size_t i = 0;
    while (!allows(cpu, gemm_entries[i].cpu))
        i++;
    return &gemm_entries[i];
}

const taper_gemm_entry *taper_gemm_half_entry(size_t index)
{
    return index < COUNT(gemm_half_entries) ? &gemm_half_entries[index] : NULL;
}

const taper_gemm_entry *taper_gemm_select(uint64_t cpu, taper_precision precision)
{
    if (precision == TAPER_PRECISION_fp32)
        return taper_gemm_f32_select(cpu);
    size_t i = 0;
    while (!allows(cpu, gemm_half_entries[i].cpu) || gemm_half_entries[i].precision != precision)
        i++;
    return &gemm_half_entries[i];
}

const taper_dwconv_entry *taper_dwconv_f32_entry(size_t index)
{
    return index + 1 < COUNT(dwconv_entries) ? &dwconv_entries[index] : NULL;
}

const taper_dwconv_taps_entry *taper_dwconv_taps_f32_entry(size_t index)
{
    return index < COUNT(dwconv_taps_entries) ? &dwconv_taps_entries[index] : NULL;
}

const taper_dwconv_taps_entry *taper_dwconv_taps_f32_select(uint64_t cpu)
{
    size_t i = 0;
    while (!allows(cpu, dwconv_taps_entries[i].cpu))
        i++;
    return &dwconv_taps_entries[i];
}

const taper_dwconv_entry *taper_dwconv_f32_select(uint64_t cpu, size_t kernel, size_t stride)
{
    // An entry of an older instruction set is slower than the taps entry of the best instruction set, and needs a
    // different packing of weights. So an entry must have the block of that taps entry.
    const uint32_t block = taper_dwconv_taps_f32_select(cpu)->block;
    for (size_t i = 0; dwconv_entries[i].name != NULL; i++) {
        const taper_dwconv_entry *e = &dwconv_entries[i];
        if (allows(cpu, e->cpu) && e->kernel == kernel && e->stride == stride && e->block == block)
            return e;
    }
    return NULL;
}

const taper_vector_entry *taper_vector_f32_entry(size_t index)
{
    return index < COUNT(vector_entries) ? vector_entries[index] : NULL;
}

const taper_vector_entry *taper_vector_f32_select(uint64_t cpu)
{
    size_t i = 0;
    while (!allows(cpu, vector_entries[i]->cpu))
        i++;
    return vector_entries[i];
}

const taper_planar_entry *taper_planar_f32_entry(size_t index)
{
    return index < COUNT(planar_entries) ? &planar_entries[index] : NULL;
}
const taper_planar_entry *taper_planar_f32_select(uint64_t cpu)
{
    size_t i = 0;
    while (!allows(cpu, planar_entries[i].cpu))
        i++;
    return &planar_entries[i];
}

const taper_winograd_entry *taper_winograd_f32_entry(size_t index)
{
    return index < COUNT(winograd_entries) ? &winograd_entries[index] : NULL;
}

const taper_winograd_entry *taper_winograd_f32_select(uint64_t cpu, size_t outputs, size_t stride)
{
    size_t i = 0;
    while (!allows(cpu, winograd_entries[i].cpu) || winograd_entries[i].outputs != outputs ||
           winograd_entries[i].stride != stride)
        i++;
    return &winograd_entries[i];
}

const taper_gemm_i8_entry *taper_gemm_i8_entry_at(size_t index)
{
    return index < COUNT(gemm_i8_entries) ? &gemm_i8_entries[index] : NULL;
}

const taper_gemm_i8_entry *taper_gemm_i8_select(uint64_t cpu)
{
    size_t i = 0;
    while (!allows(cpu, gemm_i8_entries[i].cpu))
        i++;
    return &gemm_i8_entries[i];
}

const taper_dwconv_i8_entry *taper_dwconv_i8_entry_at(size_t index)
{
    return index < COUNT(dwconv_i8_entries) ? &dwconv_i8_entries[index] : NULL;
}

const taper_dwconv_i8_entry *taper_dwconv_i8_select(uint64_t cpu)
{
    size_t i = 0;
    while (!allows(cpu, dwconv_i8_entries[i].cpu))
        i++;
    return &dwconv_i8_entries[i];
}

const taper_winograd_i8_entry *taper_winograd_i8_entry_at(size_t index)
{
    return index + 1 < COUNT(winograd_i8_entries) ? &winograd_i8_entries[index] : NULL;
}

const taper_winograd_i8_entry *taper_winograd_i8_select(uint64_t cpu)
{
    const uint64_t direct = taper_gemm_i8_select(cpu)->cpu;
    for (size_t i = 0; winograd_i8_entries[i].name != NULL; i++) {
        if (winograd_i8_entries[i].cpu == direct)
            return &winograd_i8_entries[i];
    }
    return NULL;
}

const taper_vector_u8_entry *taper_vector_u8_entry_at(size_t index)
{
    return index < COUNT(vector_u8_entries) ? vector_u8_entries[index] : NULL;
}

const taper_vector_u8_entry *taper_vector_u8_select(uint64_t cpu)
{
    size_t i = 0;
    while (!allows(cpu, vector_u8_entries[i]->cpu))
        i++;
    return vector_u8_entries[i];
}

const taper_narrow_entry *taper_narrow_f32_entry_at(size_t index)
{
    return index < COUNT(narrow_entries) ? narrow_entries[index] : NULL;
}

const taper_narrow_entry *taper_narrow_f32_select(uint64_t cpu)
{
    size_t i = 0;
    while (!allows(cpu, narrow_entries[i]->cpu))
        i++;
    return narrow_entries[i];
}

const taper_cast_entry *taper_cast_entry_at(size_t index)
{
    return index < COUNT(cast_entries) ? cast_entries[index] : NULL;
}

const taper_cast_entry *taper_cast_select(uint64_t cpu)
{
    size_t i = 0;
    while (!allows(cpu, cast_entries[i]->cpu))
        i++;
    return cast_entries[i];
}

const taper_native_entry *taper_native_entry_at(size_t index)
{
    return index < COUNT(native_entries) ? native_entries[index] : NULL;
}

const taper_native_entry *taper_native_select(uint64_t cpu)
{
    size_t i = 0;
    while (!allows(cpu, native_entries[i]->cpu))
        i++;
    return native_entries[i];
}

const taper_fft_entry *taper_fft_f32_entry(size_t index)
{
    return index < COUNT(fft_entries) ? fft_entries[index] : NULL;
}

const taper_fft_entry *taper_fft_f32_select(uint64_t cpu)
{
    size_t i = 0;
    while (!allows(cpu, fft_entries[i]->cpu))
        i++;
    return fft_entries[i];
}
