// SPDX-License-Identifier: BSD-2-Clause
// Included before each source whose instance variables interface_variables.py has moved: the declarations that their
// types need.
#include <pthread.h>
#include <stdbool.h>
#include <taper/taper_compile.h>
#ifdef __cplusplus
#include <torch/script.h>
#endif
