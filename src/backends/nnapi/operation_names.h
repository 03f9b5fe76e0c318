// SPDX-License-Identifier: BSD-2-Clause
// Names of operations for messages.
#ifndef TAPER_BACKENDS_OPERATION_NAMES_H
#define TAPER_BACKENDS_OPERATION_NAMES_H

#include <stdint.h>

const char *taper_nnapi_operation_name(int32_t code); // returns a name such as "CONV_2D", or "" if the code is unknown

#endif
