/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_TORCH_DATA_H
#define TAPER_CPP_AS_TORCH_DATA_H

#include <taper/cpp/all.h>
#include <taper/cpp/data_loader.h>
#include <taper/cpp/spaces.h>

#endif
