// SPDX-License-Identifier: BSD-2-Clause
// Before each source whose instance variables interface_variables.py moved: what these are of.
#include <pthread.h>
#include <stdbool.h>
#include <taper/taper_compile.h>
#ifdef __cplusplus
#include <torch/script.h>
#endif
