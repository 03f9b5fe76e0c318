// SPDX-License-Identifier: BSD-2-Clause
// Implements in clang's C++ what the Metal code from spirv-cross needs, so that the kernels run unmodified
// (kernels.py).
#ifndef TAPER_TEST_MSL_H
#define TAPER_TEST_MSL_H

#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "base/half.h"
#include "metal/kernels.h"

typedef uint32_t uint;
typedef float float2 __attribute__((ext_vector_type(2)));
struct half2 { // a float struct, because clang supports half only on some processors
    uint16_t x, y;
};
typedef uint uint2 __attribute__((ext_vector_type(2)));
typedef float float4 __attribute__((ext_vector_type(4)));
typedef uint uint3 __attribute__((ext_vector_type(3)));
typedef uint uint4 __attribute__((ext_vector_type(4)));
typedef int int4 __attribute__((ext_vector_type(4)));
typedef int4 bool4; // type of the results of comparisons; every non-zero number is true

#define device
#define constant const
#define thread
#define threadgroup static // memory of a workgroup can be static, because groups run one after the other

template <class V, class T> inline V msl_vector(T x)
{
    V v = {};
    for (unsigned i = 0; i < sizeof(V) / sizeof(v[0]); i++) {
        v[i] = (decltype(v[0] + v[0]))x;
    }
    return v;
}
inline uint3 msl_make(uint3, uint a, uint b, uint c)
{
    return uint3{a, b, c};
}
inline uint4 msl_make(uint4, uint a, uint b, uint c, uint d)
{
    return uint4{a, b, c, d};
}
inline float4 msl_make(float4, float a, float b, float c, float d)
{
    return float4{a, b, c, d};
}
template <class V, class T> inline V msl_make(V, T x)
{
    return msl_vector<V>(x);
}
inline uint3 msl_make(uint3, uint3 v)
{
    return v;
}
inline uint3 msl_make(uint3, uint2 v, uint z)
{
    return uint3{v.x, v.y, z};
}
inline uint2 msl_make(uint2, uint a, uint b)
{
    return uint2{a, b};
}
inline half2 msl_make(half2, float2 v)
{
    return half2{taper_float_to_f16(v.x), taper_float_to_f16(v.y)};
}
inline int4 msl_make(int4, float4 v)
{
    return __builtin_convertvector(v, int4);
}
// Makes an int4 of truth values. Kernels do not make other vectors from an int4.
inline int4 msl_make(int4, uint4 v)
{
    return __builtin_convertvector(v, int4);
}
inline uint4 msl_make(uint4, int4 v)
{
    return __builtin_convertvector(v, uint4);
}
inline float4 msl_make(float4, bool4 v)
{
    return float4{v.x != 0 ? 1.0f : 0.0f, v.y != 0 ? 1.0f : 0.0f, v.z != 0 ? 1.0f : 0.0f, v.w != 0 ? 1.0f : 0.0f};
}
inline float2 msl_make(float2, half2 v)
{
    return float2{taper_f16_to_float(v.x), taper_f16_to_float(v.y)};
}
inline float4 msl_make(float4, float2 a, float2 b)
{
    return float4{a.x, a.y, b.x, b.y};
}
// Lets NAME(…) make a vector, while NAME alone remains a type.
template <class T> using msl_type = T; // without parentheses, so that the name is not expanded as a call
#define float2(...) msl_make(float2{}, __VA_ARGS__)
#define half2(...) msl_make(half2{}, __VA_ARGS__)
#define uint2(...) msl_make(uint2{}, __VA_ARGS__)
#define float4(...) msl_make(float4{}, __VA_ARGS__)
#define uint3(...) msl_make(uint3{}, __VA_ARGS__)
#define uint4(...) msl_make(uint4{}, __VA_ARGS__)
#define int4(...) msl_make(int4{}, __VA_ARGS__)
#define bool4(...) msl_make(bool4{}, __VA_ARGS__)

// Replaces spirv-cross' own array, which has functions for each address space.
template <class T, size_t N> struct spvUnsafeArray {
    T elements[N];
    T &operator[](size_t i)
    {
        return elements[i];
    }
    const T &operator[](size_t i) const
    {
        return elements[i];
    }
};

namespace metal
{

enum class mem_flags { mem_threadgroup };

inline void threadgroup_barrier(mem_flags)
{
    metal_wait();
}

#define MSL_EACH(name, call)                                                                                           \
    inline float name(float x)                                                                                         \
    {                                                                                                                  \
        return call;                                                                                                   \
    }                                                                                                                  \
    inline float4 name(float4 v)                                                                                       \
    {                                                                                                                  \
        float4 y;                                                                                                      \
        for (int i = 0; i < 4; i++) {                                                                                  \
            const float x = v[i];                                                                                      \
            y[i] = call;                                                                                               \
        }                                                                                                              \
        return y;                                                                                                      \
    }
MSL_EACH(exp, std::exp(x))
MSL_EACH(log, std::log(x))
MSL_EACH(exp2, std::exp2(x))
MSL_EACH(log2, std::log2(x))
MSL_EACH(fract, x - std::floor(x))
MSL_EACH(sqrt, std::sqrt(x))
MSL_EACH(rsqrt, 1 / std::sqrt(x))
MSL_EACH(sin, std::sin(x))
MSL_EACH(cos, std::cos(x))
MSL_EACH(abs, std::fabs(x))
MSL_EACH(floor, std::floor(x))
MSL_EACH(ceil, std::ceil(x))
MSL_EACH(round, std::round(x))
MSL_EACH(rint, std::rint(x))
MSL_EACH(trunc, std::trunc(x))
MSL_EACH(sign, float((x > 0) - (x < 0)))
inline uint clz(uint x)
{
    return x == 0 ? 32u : (uint)__builtin_clz(x);
}
inline bool isnan(float x)
{
    return std::isnan(x);
}
namespace precise
{
MSL_EACH(tanh, std::tanh(x))
}

// Arguments may be literals of any width.
template <class A, class B, class C> inline std::enable_if_t<std::is_arithmetic_v<A>, float> fma(A a, B b, C c)
{
    return std::fma((float)a, (float)b, (float)c);
}
inline float4 fma(float4 a, float4 b, float4 c)
{
    return float4{fma(a.x, b.x, c.x), fma(a.y, b.y, c.y), fma(a.z, b.z, c.z), fma(a.w, b.w, c.w)};
}
inline float dot(float4 a, float4 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
}
template <class V> inline V select(V a, V b, bool4 c)
{
    for (int i = 0; i < 4; i++) {
        a[i] = c[i] ? b[i] : a[i];
    }
    return a;
}
inline float select(float a, float b, bool c)
{
    return c ? b : a;
}
inline uint select(uint a, uint b, bool c)
{
    return c ? b : a;
}
inline uint min(uint a, uint b)
{
    return a < b ? a : b;
}
inline uint max(uint a, uint b)
{
    return a > b ? a : b;
}
inline int min(int a, int b)
{
    return a < b ? a : b;
}
inline int max(int a, int b)
{
    return a > b ? a : b;
}
inline int clamp(int x, int a, int b)
{
    return min(max(x, a), b);
}
namespace fast
{
inline float min(float a, float b)
{
    return a < b ? a : b;
}
inline float max(float a, float b)
{
    return a > b ? a : b;
}
inline float4 min(float4 a, float4 b)
{
    return select(b, a, a < b);
}
inline float4 max(float4 a, float4 b)
{
    return select(b, a, a > b);
}
template <class V> inline V clamp(V x, V a, V b)
{
    return min(max(x, a), b);
}
inline float clamp(float x, float a, float b)
{
    return min(max(x, a), b);
}
} // namespace fast
template <class D, class S> inline D as_type(S s)
{
    static_assert(sizeof(D) == sizeof(S), "the same bits");
    D d;
    memcpy(&d, &s, sizeof d);
    return d;
}

} // namespace metal

inline uint3 msl_position(const uint32_t at[3])
{
    return uint3{at[0], at[1], at[2]};
}

#endif
