/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_TORCH_CSRC_JIT_FRONTEND_ERROR_REPORT_H
#define TAPER_CPP_AS_TORCH_CSRC_JIT_FRONTEND_ERROR_REPORT_H

#include <taper/cpp/error_report.h>

#endif
