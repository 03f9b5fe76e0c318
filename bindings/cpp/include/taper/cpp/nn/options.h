/* SPDX-License-Identifier: BSD-2-Clause */
// The parts that options of torch::nn share, and the base of modules that are made from options.
#ifndef TAPER_CPP_NN_OPTIONS_H
#define TAPER_CPP_NN_OPTIONS_H

#include <taper/cpp/nn/enum.h>
#include <taper/cpp/nn/expanding_array.h>
#include <taper/cpp/nn/module.h>

// Opens the namespaces of options that functions take, for one declaration.
#define TAPER_CPP_NN_FUNC_OPTIONS(name, of)                                                                            \
    namespace functional                                                                                               \
    {                                                                                                                  \
    using name##FuncOptions = of;                                                                                      \
    }
// The names of a family of options, one for each number of dimensions.
#define TAPER_CPP_NN_OPTIONS_2D(family)                                                                                \
    using family##2dOptions = family##Options<2>;                                                                      \
    using family##3dOptions = family##Options<3>;
#define TAPER_CPP_NN_OPTIONS_ND(family)                                                                                \
    using family##1dOptions = family##Options<1>;                                                                      \
    TAPER_CPP_NN_OPTIONS_2D(family)

// The classes of a family for one number of dimensions, with the constructors of the base.
#define TAPER_CPP_NN_MODULE_OF(base, name, D)                                                                          \
    class name##Impl : public base##Impl<D, name##Impl>                                                                \
    {                                                                                                                  \
      public:                                                                                                          \
        using base##Impl<D, name##Impl>::base##Impl;                                                                   \
    };                                                                                                                 \
    TORCH_MODULE(name);
#define TAPER_CPP_NN_MODULES_2D(base)                                                                                  \
    TAPER_CPP_NN_MODULE_OF(base, base##2d, 2)                                                                          \
    TAPER_CPP_NN_MODULE_OF(base, base##3d, 3)
#define TAPER_CPP_NN_MODULES_ND(base)                                                                                  \
    TAPER_CPP_NN_MODULE_OF(base, base##1d, 1)                                                                          \
    TAPER_CPP_NN_MODULES_2D(base)

// Precedes a constructor. It makes the constructor a template, which a unit compiles only if the unit uses it. Without
// the macro, each unit with torch/torch.h would compile the copying and the virtual functions of more than a hundred
// modules.
#define TAPER_CPP_NN_LATE template <class Late = void>

namespace torch
{
namespace nn
{
namespace detail
{

// A module without parameters: it keeps its options and has nothing to reset.
template <class Derived, class Options> class PlainModule : public Cloneable<Derived>
{
  public:
    explicit PlainModule(const Options &from) : options(from)
    {
    }
    void reset() override
    {
    }
    Options options;
};

} // namespace detail
} // namespace nn
} // namespace torch

#endif
