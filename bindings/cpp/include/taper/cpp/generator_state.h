/* SPDX-License-Identifier: BSD-2-Clause */
// The states of generators as tensors of bytes.
#ifndef TAPER_CPP_GENERATOR_STATE_H
#define TAPER_CPP_GENERATOR_STATE_H

#include <taper/cpp/functions.h>
#include <taper/cpp/generator.h>

namespace at
{

inline Tensor Generator::get_state() const
{
    Tensor bytes = empty({TAPER_GENERATOR_STATE_SIZE}, c10::TensorOptions(c10::kByte));
    taper_generator_get_state(get(), bytes.data_ptr());
    return bytes;
}
inline void Generator::set_state(const Tensor &bytes)
{
    TORCH_CHECK_TYPE(bytes.scalar_type() == c10::kByte, "RNG state must be a torch.ByteTensor");
    TORCH_CHECK(bytes.is_contiguous(), "RNG state must be contiguous");
    restore(bytes.const_data_ptr(), static_cast<size_t>(bytes.numel()));
}

} // namespace at

#endif
