// SPDX-License-Identifier: BSD-2-Clause
// Interleaves four rows of bytes, written with the macros of simd_i8_x86.h or simd_i8_wasm.h. Include it after that
// file, once for each width.

// Interleaves the bytes of four rows. Each 32 bits of r[q] are the bytes with one index in each of the four rows. In
// each 128 bits, r[0] has the first four of sixteen indices, r[1] the next four, and so on.
TAPER_TEMPLATE void I8(zip)(Q a0, Q a1, Q a2, Q a3, Q r[4])
{
    const Q x = P(unpacklo_epi8)(a0, a1), y = P(unpackhi_epi8)(a0, a1);
    const Q u = P(unpacklo_epi8)(a2, a3), v = P(unpackhi_epi8)(a2, a3);
    r[0] = P(unpacklo_epi16)(x, u);
    r[1] = P(unpackhi_epi16)(x, u);
    r[2] = P(unpacklo_epi16)(y, v);
    r[3] = P(unpackhi_epi16)(y, v);
}
