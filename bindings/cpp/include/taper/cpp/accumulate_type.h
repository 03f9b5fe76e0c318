/* SPDX-License-Identifier: BSD-2-Clause */
// The types in which kernels add numbers: at::acc_type, opmath_type and toAccumulateType.
#ifndef TAPER_CPP_ACCUMULATE_TYPE_H
#define TAPER_CPP_ACCUMULATE_TYPE_H

#include <taper/cpp/scalar_type.h>

namespace at
{

// On the CPU, a sum of floats is a double, and a sum of integers has 64 bits. On a GPU, a sum of floats is a float.
template <class T, bool is_cuda> struct AccumulateType {
    using type = std::conditional_t<std::is_integral<T>::value && !std::is_same<T, bool>::value, int64_t, T>;
};
#define TAPER_CPP_ACCUMULATE(from, on_gpu, on_cpu)                                                                     \
    template <> struct AccumulateType<from, true> {                                                                    \
        using type = on_gpu;                                                                                           \
    };                                                                                                                 \
    template <> struct AccumulateType<from, false> {                                                                   \
        using type = on_cpu;                                                                                           \
    };
TAPER_CPP_ACCUMULATE(c10::Half, float, float)
TAPER_CPP_ACCUMULATE(c10::BFloat16, float, float)
TAPER_CPP_ACCUMULATE(float, float, double)
TAPER_CPP_ACCUMULATE(double, double, double)
TAPER_CPP_ACCUMULATE(c10::complex<c10::Half>, c10::complex<float>, c10::complex<float>)
TAPER_CPP_ACCUMULATE(c10::complex<float>, c10::complex<float>, c10::complex<double>)
TAPER_CPP_ACCUMULATE(c10::complex<double>, c10::complex<double>, c10::complex<double>)
#undef TAPER_CPP_ACCUMULATE
template <class T, bool is_cuda> using acc_type = typename AccumulateType<T, is_cuda>::type;

inline c10::ScalarType toAccumulateType(c10::ScalarType type, bool is_cuda)
{
    switch (type) {
#define TAPER_CPP_CASE(scalar, name)                                                                                   \
    case c10::ScalarType::name:                                                                                        \
        return is_cuda ? c10::CppTypeToScalarType<acc_type<scalar, true>>::value                                       \
                       : c10::CppTypeToScalarType<acc_type<scalar, false>>::value;
        AT_FORALL_SCALAR_TYPES_WITH_COMPLEX_EXCEPT_COMPLEX_HALF(TAPER_CPP_CASE)
#undef TAPER_CPP_CASE
    default:
        TORCH_INTERNAL_ASSERT(false, "Unrecognized ScalarType: ", type);
        return type;
    }
}

// The type in which an operation on a single element computes.
template <class T> struct OpMathType {
    using type = T;
};
template <> struct OpMathType<c10::Half> {
    using type = float;
};
template <> struct OpMathType<c10::BFloat16> {
    using type = float;
};
template <> struct OpMathType<c10::complex<c10::Half>> {
    using type = c10::complex<float>;
};
template <class T> using opmath_type = typename OpMathType<T>::type;

} // namespace at

#endif
