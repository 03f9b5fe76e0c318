/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Selects a part of a long sweep for the quick tiers. TAPER_STRIDE=7 runs every seventh step, and TAPER_SEED selects
 * the first of them: ./dev sets both, derives the seed from the commit and prints it. Without them all steps run.
 */
#ifndef TAPER_TESTS_SAMPLE_H
#define TAPER_TESTS_SAMPLE_H

#include <stddef.h>
#include <stdlib.h>

static inline size_t sample_number(const char *name, size_t otherwise)
{
    const char *const text = getenv(name);
    return text != NULL && *text != '\0' ? (size_t)strtoul(text, NULL, 10) : otherwise;
}

/* Returns the distance between two steps that are run: 1 or more. */
static inline size_t sample_stride(void)
{
    const size_t stride = sample_number("TAPER_STRIDE", 1);
    return stride == 0 ? 1 : stride;
}

/* Returns the seed of random choices, or 0 without TAPER_SEED. */
static inline size_t sample_seed(void)
{
    return sample_number("TAPER_SEED", 0);
}

/*
 * Returns the index of the first step that is run, which is less than the stride. The index of each further step is
 * sample_stride() higher than the index of the step before.
 */
static inline size_t sample_first(void)
{
    return sample_seed() % sample_stride();
}

#endif
