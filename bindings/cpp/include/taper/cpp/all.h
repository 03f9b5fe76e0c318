/* SPDX-License-Identifier: BSD-2-Clause */
// All headers, and the standard headers that code for PyTorch uses without including them.
#ifndef TAPER_CPP_ALL_H
#define TAPER_CPP_ALL_H

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

#include <taper/cpp/autograd.h>
#include <taper/cpp/default_dtype.h>
#include <taper/cpp/device_guard.h>
#include <taper/cpp/dispatch.h>
#include <taper/cpp/functions.h>
#include <taper/cpp/generator_state.h>
#include <taper/cpp/global_context.h>
#include <taper/cpp/guards.h>
#include <taper/cpp/indexing.h>
#include <taper/cpp/library.h>
#include <taper/cpp/load.h>
#include <taper/cpp/pickle.h>
#include <taper/cpp/print.h>
#include <taper/cpp/stack_operator.h>
#include <taper/cpp/tensor_checks.h>
#include <taper/cpp/timer.h>
#include <taper/cpp/utility.h>

#endif
