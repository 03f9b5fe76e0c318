/* SPDX-License-Identifier: BSD-2-Clause */
// All of torch::nn.
#ifndef TAPER_CPP_NN_ALL_H
#define TAPER_CPP_NN_ALL_H

#include <taper/cpp/nn/activation.h>
#include <taper/cpp/nn/archive.h>
#include <taper/cpp/nn/batchnorm.h>
#include <taper/cpp/nn/conv.h>
#include <taper/cpp/nn/dropout.h>
#include <taper/cpp/nn/linear.h>
#include <taper/cpp/nn/sequential.h>

#endif
