/* SPDX-License-Identifier: BSD-2-Clause */
// The named values of options of torch::nn, such as torch::kReflect. Each name has a type of its own, which has no
// other value.
#ifndef TAPER_CPP_NN_ENUM_H
#define TAPER_CPP_NN_ENUM_H

#include <string>

#include <taper/cpp/array_ref.h>
#include <taper/cpp/nn/variant.h>
#include <taper/cpp/utility.h>

// Constructors of options from one of the values of an option.
#define TORCH_OPTIONS_CTOR_VARIANT_ARG3(name, option, A, B, C)                                                         \
    name()                                                                                                             \
    {                                                                                                                  \
    }                                                                                                                  \
    name(torch::enumtype::A option) : option##_(option)                                                                \
    {                                                                                                                  \
    }                                                                                                                  \
    name(torch::enumtype::B option) : option##_(option)                                                                \
    {                                                                                                                  \
    }                                                                                                                  \
    name(torch::enumtype::C option) : option##_(option)                                                                \
    {                                                                                                                  \
    }
#define TORCH_OPTIONS_CTOR_VARIANT_ARG4(name, option, A, B, C, D)                                                      \
    TORCH_OPTIONS_CTOR_VARIANT_ARG3(name, option, A, B, C)                                                             \
    name(torch::enumtype::D option) : option##_(option)                                                                \
    {                                                                                                                  \
    }

#define TAPER_CPP_NN_ENUMS(E)                                                                                          \
    E(Linear)                                                                                                          \
    E(Conv1D)                                                                                                          \
    E(Conv2D)                                                                                                          \
    E(Conv3D)                                                                                                          \
    E(ConvTranspose1D)                                                                                                 \
    E(ConvTranspose2D)                                                                                                 \
    E(ConvTranspose3D)                                                                                                 \
    E(Sigmoid)                                                                                                         \
    E(Tanh)                                                                                                            \
    E(ReLU)                                                                                                            \
    E(GELU) E(SiLU) E(Mish) E(LeakyReLU) E(FanIn) E(FanOut) E(Constant) E(Reflect) E(Replicate) E(Circular) E(Nearest) \
        E(Bilinear) E(Bicubic) E(Trilinear) E(Area) E(NearestExact) E(Sum) E(Mean) E(Max) E(None) E(BatchMean)         \
            E(Zeros) E(Border) E(Reflection) E(RNN_TANH) E(RNN_RELU) E(LSTM) E(GRU) E(Valid) E(Same)

namespace torch
{
using namespace at;

namespace enumtype
{
#define TAPER_CPP_NN_TYPE(name)                                                                                        \
    struct k##name {                                                                                                   \
        constexpr k##name()                                                                                            \
        {                                                                                                              \
        }                                                                                                              \
        static const char *text()                                                                                      \
        {                                                                                                              \
            return "k" #name;                                                                                          \
        }                                                                                                              \
    };
TAPER_CPP_NN_ENUMS(TAPER_CPP_NN_TYPE)
#undef TAPER_CPP_NN_TYPE

struct _compute_enum_name {
    template <class Value> std::string operator()(const Value &) const
    {
        return Value::text();
    }
};
template <class Variant> std::string get_enum_name(const Variant &value)
{
    return c10::visit(_compute_enum_name(), value);
}

template <class Variant> at::Reduction::Reduction reduction_get_enum(const Variant &value)
{
    const std::string name = get_enum_name(value);
    if (name == "kNone") {
        return at::Reduction::None;
    }
    TORCH_CHECK(name == "kMean" || name == "kSum", name, " is not a valid value for reduction");
    return name == "kMean" ? at::Reduction::Mean : at::Reduction::Sum;
}
} // namespace enumtype

#define TAPER_CPP_NN_VALUE(name) constexpr enumtype::k##name k##name;
TAPER_CPP_NN_ENUMS(TAPER_CPP_NN_VALUE)
#undef TAPER_CPP_NN_VALUE

} // namespace torch

#undef TAPER_CPP_NN_ENUMS

#endif
