/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_TORCH_SERIALIZE_INPUT_ARCHIVE_H
#define TAPER_CPP_AS_TORCH_SERIALIZE_INPUT_ARCHIVE_H

#include <taper/cpp/serialize.h>

#endif
