/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_TORCH_CSRC_JIT_FRONTEND_FUNCTION_SCHEMA_PARSER_H
#define TAPER_CPP_AS_TORCH_CSRC_JIT_FRONTEND_FUNCTION_SCHEMA_PARSER_H

#include <taper/cpp/schema_text.h>

#endif
