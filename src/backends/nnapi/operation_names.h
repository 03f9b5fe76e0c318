// SPDX-License-Identifier: BSD-2-Clause
// What operations are called in messages.
#ifndef TAPER_BACKENDS_OPERATION_NAMES_H
#define TAPER_BACKENDS_OPERATION_NAMES_H

#include <stdint.h>

const char *taper_nnapi_operation_name(int32_t code); // "CONV_2D"; "" for one that is not known here

#endif
