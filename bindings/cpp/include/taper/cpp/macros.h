/* SPDX-License-Identifier: BSD-2-Clause */
// Macros that libtorch's headers define and that programs use in their own code. There is no library to export from,
// so the macros for visibility expand to nothing.
#ifndef TAPER_CPP_MACROS_H
#define TAPER_CPP_MACROS_H

#define TORCH_VERSION_MAJOR 1
#define TORCH_VERSION_MINOR 13
#define TORCH_VERSION_PATCH 1
#define TORCH_VERSION "1.13.1"

#define C10_EXPORT
#define C10_IMPORT
#define C10_API
#define C10_EXPORT_CAFFE2_OP_TO_C10_CPU_ONLY
#define C10_API_ENUM
#define TORCH_API
#define TORCH_CUDA_CPP_API
#define TORCH_CUDA_CU_API
#define TORCH_HIP_API
#define TORCH_PYTHON_API
#define CAFFE2_API

#if defined(__GNUC__) || defined(__clang__)
#define C10_HIDDEN __attribute__((visibility("hidden")))
#define C10_NOINLINE __attribute__((noinline))
#define C10_ALWAYS_INLINE __attribute__((always_inline)) inline
#define C10_LIKELY(condition) (__builtin_expect(static_cast<bool>(condition), 1))
#define C10_UNLIKELY(condition) (__builtin_expect(static_cast<bool>(condition), 0))
#define C10_UNUSED __attribute__((__unused__))
#define C10_USED __attribute__((__used__))
#define C10_RESTRICT __restrict
#elif defined(_MSC_VER)
#define C10_HIDDEN
#define C10_NOINLINE __declspec(noinline)
#define C10_ALWAYS_INLINE __forceinline
#define C10_LIKELY(condition) (condition)
#define C10_UNLIKELY(condition) (condition)
#define C10_UNUSED __pragma(warning(suppress : 4100 4101))
#define C10_USED
#define C10_RESTRICT __restrict
#else
#define C10_HIDDEN
#define C10_NOINLINE
#define C10_ALWAYS_INLINE inline
#define C10_LIKELY(condition) (condition)
#define C10_UNLIKELY(condition) (condition)
#define C10_UNUSED
#define C10_USED
#define C10_RESTRICT
#endif
#define C10_ALWAYS_INLINE_UNLESS_MOBILE C10_ALWAYS_INLINE
#define C10_ATTR_VISIBILITY_HIDDEN C10_HIDDEN
#define C10_ERASE C10_HIDDEN
#if __cplusplus >= 201703L
#define C10_NODISCARD [[nodiscard]]
#define C10_FALLTHROUGH [[fallthrough]]
#define C10_CPP14_CONSTEXPR constexpr
#else
#define C10_NODISCARD
#define C10_FALLTHROUGH
#define C10_CPP14_CONSTEXPR constexpr
#endif
#define C10_DEPRECATED [[deprecated]]
#define C10_DEPRECATED_MESSAGE(message) [[deprecated(message)]]

// In libtorch these macros mark functions for the CPU and a GPU; here all functions are for the CPU.
#define C10_HOST
#define C10_DEVICE
#define C10_HOST_DEVICE
#define C10_HIP_HOST_DEVICE
#define C10_HOST_CONSTEXPR constexpr
#define C10_HOST_CONSTEXPR_EXCEPT_WIN_CUDA constexpr
#define C10_CONSTEXPR_EXCEPT_WIN_CUDA constexpr

#define C10_CONCATENATE_IMPL(a, b) a##b
#define C10_CONCATENATE(a, b) C10_CONCATENATE_IMPL(a, b)
#define C10_MACRO_EXPAND(arguments) arguments
#define C10_STRINGIZE_IMPL(x) #x
#define C10_STRINGIZE(x) C10_STRINGIZE_IMPL(x)
#define C10_UID __COUNTER__
#define C10_ANONYMOUS_VARIABLE(name) C10_CONCATENATE(name, C10_UID)
#define C10_DISABLE_COPY_AND_ASSIGN(type)                                                                              \
    type(const type &) = delete;                                                                                       \
    type &operator=(const type &) = delete

#endif
