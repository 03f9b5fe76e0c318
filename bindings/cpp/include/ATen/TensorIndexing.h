/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_ATEN_TENSORINDEXING_H
#define TAPER_CPP_AS_ATEN_TENSORINDEXING_H

#include <taper/cpp/indexing.h>

#endif
