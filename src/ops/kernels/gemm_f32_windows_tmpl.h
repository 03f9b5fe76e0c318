// SPDX-License-Identifier: BSD-2-Clause
// The body of the windows kernels of floats (gemm_f32.h), included after gemm_f32_tmpl.h. Rows of A overlap, at a fixed
// distance in floats. Each tile has MR_MAX rows. The last tile of a call repeats some rows.
typedef struct windows {
    size_t nc, kc, ks;
    const float *const *a;
    size_t at; // offset of the tile's first row, in floats
    const float *w;
    float *c;
    size_t c_stride;
    const taper_gemm_epilogue *e;
} windows;

// Computes a tile of MR_MAX rows. If the step is constant, one pointer gives all addresses of A.
TAPER_TEMPLATE void window_tile(const size_t step, const size_t nv, const windows *t, const float *w, float *c,
                                const float *add, VT t0, VT t1)
{
    V acc[MR_MAX][2];
    begin_tile(MR_MAX, nv, w, acc);
    w += NR;
    for (size_t tap = 0; tap < t->ks; tap++) {
        const float *a = t->a[tap] + t->at;
        TAPER_NO_UNROLL
        for (size_t k = 0; k < t->kc; k++, a++, w += NR) {
            V b[2];
            __asm__("" : "+r"(a)); // keeps gcc from reusing values of the previous k, which would need more registers
            TAPER_UNROLL
            for (size_t j = 0; j < nv; j++)
                b[j] = v_load(w + VN * j);
            TAPER_UNROLL
            for (size_t i = 0; i < MR_MAX; i++) {
                const V x = v_set(a[i * step]);
                TAPER_UNROLL
                for (size_t j = 0; j < nv; j++)
                    acc[i][j] = v_fma(x, b[j], acc[i][j]);
            }
        }
    }
    end_tile(MR_MAX, nv, MR_MAX, t->e, c, t->c_stride, add, t0, t1, acc);
}

TAPER_TEMPLATE void window_strip(const size_t step, const windows *t)
{
    const size_t panel = (t->ks * t->kc + 1) * NR;
    const float *w = t->w, *add = t->e->add;
    float *c = t->c;
    size_t n = t->nc;
    for (; n > VN; n -= n < NR ? n : NR) {
        window_tile(step, 2, t, w, c, add, v_first(VN), v_first(n < NR ? n - VN : VN));
        w += panel;
        c += NR;
        add = add != NULL ? add + NR : NULL;
    }
    if (n > 0)
        window_tile(step, 1, t, w, c, add, v_first(n), v_first(n));
}

TAPER_INSTANCE void window_strip_1(const windows *t)
{
    window_strip(1, t);
}

TAPER_INSTANCE void window_strip_2(const windows *t)
{
    window_strip(2, t);
}

#define GEMM_F32_WINDOWS(name)                                                                                         \
    void name(size_t m, size_t nc, size_t kc, size_t ks, const float *const *a, size_t step, const float *w, float *c, \
              size_t c_stride, const taper_gemm_epilogue *e)                                                           \
    {                                                                                                                  \
        for (size_t i = 0; i < m; i += MR_MAX) {                                                                       \
            i = i + MR_MAX > m ? m - MR_MAX : i; /* the last tile repeats some rows of the tile before it */           \
            taper_gemm_epilogue epilogue = *e;                                                                         \
            epilogue.add = e->add != NULL ? e->add + i * e->add_stride : NULL;                                         \
            const windows t = {nc, kc, ks, a, i * step, w, c + i * c_stride, c_stride, &epilogue};                     \
            (step == 1 ? window_strip_1 : window_strip_2)(&t);                                                         \
        }                                                                                                              \
    }
