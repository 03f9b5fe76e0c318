/* SPDX-License-Identifier: BSD-2-Clause */
// All of torch::nn.
#ifndef TAPER_CPP_NN_ALL_H
#define TAPER_CPP_NN_ALL_H

#include <taper/cpp/nn/adaptive.h>
#include <taper/cpp/nn/batchnorm.h>
#include <taper/cpp/nn/conv.h>
#include <taper/cpp/nn/embedding.h>
#include <taper/cpp/nn/loss.h>
#include <taper/cpp/nn/pooling.h>
#include <taper/cpp/nn/recurrent_cells.h>
#include <taper/cpp/nn/transformer.h>
#include <taper/cpp/nn/vision.h>

#endif
