/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_TORCH_ALL_H
#define TAPER_CPP_AS_TORCH_ALL_H

#include <taper/cpp/all.h>
#include <taper/cpp/nn/all.h>
#include <taper/cpp/serialize.h>
#include <taper/cpp/spaces.h>

#endif
