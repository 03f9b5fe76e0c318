/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The optimizer. A program that links it passes taper_compiler() in taper_load_options.
 */
#ifndef TAPER_TAPER_COMPILE_H
#define TAPER_TAPER_COMPILE_H

#include <taper/taper.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Static; never NULL. */
TAPER_API const struct taper_compiler *taper_compiler(void);

/* Passes in the order they run; names are those of taper_load_options.disable_passes. */
TAPER_API size_t taper_compiler_pass_count(void);
TAPER_API const char *taper_compiler_pass_name(size_t index);
TAPER_API const char *taper_compiler_pass_summary(size_t index);

#ifdef __cplusplus
}
#endif
#endif
