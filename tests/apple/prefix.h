// SPDX-License-Identifier: BSD-2-Clause
// Declarations that the types of instance variables need. interface_variables.py moves these variables from
// implementations to interfaces; each source it has changed includes this header first.
#include <pthread.h>
#include <stdbool.h>
#include <taper/taper_compile.h>
#ifdef __cplusplus
#include <torch/script.h>
#endif
