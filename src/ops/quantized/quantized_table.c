// SPDX-License-Identifier: BSD-2-Clause
// Functions of one quantized byte, as tables of 256 results.
#include "ops/kernels/kernel_select.h"
#include "ops/quantized/quantized_walk.h"

void taper_q_translate(const taper_run *run, const uint8_t *table, size_t count, const uint8_t *x, uint8_t *y)
{
    const taper_vector_u8_entry *vector = taper_vector_u8_select(run->cpu);
    if (vector->translate != NULL && !run->portable) {
        vector->translate(count, table, x, y);
        return;
    }
    size_t i = 0;
    for (; i + 8 <= count; i += 8) {
        uint8_t eight[8]; // separate memory, so that the next loads do not wait for the stores
        for (size_t k = 0; k < 8; k++) {
            eight[k] = table[x[i + k]];
        }
        memcpy(y + i, eight, 8);
    }
    for (; i < count; i++) {
        y[i] = table[x[i]];
    }
}

void taper_q_table_row(const void *tables, const taper_q_row *row)
{
    const taper_q_tables *t = tables;
    const uint8_t *x = (const uint8_t *)row->a + row->a_at;
    uint8_t *y = (uint8_t *)row->y + row->y_at;
    if (row->a_step == 1 && row->y_step == 1) {
        taper_q_translate(t->run, t->wide, (size_t)row->wide, x, y);
        taper_q_translate(t->run, t->plain, (size_t)(row->count - row->wide), x + row->wide, y + row->wide);
        return;
    }
    for (int64_t i = 0; i < row->count; i++) {
        y[i * row->y_step] = (i < row->wide ? t->wide : t->plain)[x[i * row->a_step]];
    }
}
