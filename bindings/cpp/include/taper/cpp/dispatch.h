/* SPDX-License-Identifier: BSD-2-Clause */
// AT_DISPATCH_…: macros that call a lambda with scalar_t as the C++ type of a ScalarType.
#ifndef TAPER_CPP_DISPATCH_H
#define TAPER_CPP_DISPATCH_H

#include <taper/cpp/scalar_type.h>

#define AT_PRIVATE_CASE_TYPE_USING_HINT(type, hint, ...)                                                               \
    case type: {                                                                                                       \
        using hint C10_UNUSED = c10::impl::ScalarTypeToCPPTypeT<type>;                                                 \
        return __VA_ARGS__();                                                                                          \
    }
#define AT_DISPATCH_CASE(type, ...) AT_PRIVATE_CASE_TYPE_USING_HINT(type, scalar_t, __VA_ARGS__)
#define AT_DISPATCH_SWITCH(type, name, ...)                                                                            \
    [&] {                                                                                                              \
        const auto taper_cpp_type = ::taper::cpp::scalar_type_of(type);                                                \
        const char *taper_cpp_name = name;                                                                             \
        switch (taper_cpp_type) {                                                                                      \
            __VA_ARGS__                                                                                                \
        default:                                                                                                       \
            AT_ERROR('"', taper_cpp_name, "\" not implemented for '", ::c10::toString(taper_cpp_type), "'");           \
        }                                                                                                              \
    }()

namespace taper
{
namespace cpp
{
inline c10::ScalarType scalar_type_of(c10::ScalarType type)
{
    return type;
}
template <class T> auto scalar_type_of(const T &properties) -> decltype(properties.scalarType())
{
    return properties.scalarType();
}
} // namespace cpp
} // namespace taper

#define AT_DISPATCH_CASE_FLOATING_TYPES(...)                                                                           \
    AT_DISPATCH_CASE(at::ScalarType::Double, __VA_ARGS__)                                                              \
    AT_DISPATCH_CASE(at::ScalarType::Float, __VA_ARGS__)
#define AT_DISPATCH_CASE_COMPLEX_TYPES(...)                                                                            \
    AT_DISPATCH_CASE(at::ScalarType::ComplexDouble, __VA_ARGS__)                                                       \
    AT_DISPATCH_CASE(at::ScalarType::ComplexFloat, __VA_ARGS__)
#define AT_DISPATCH_CASE_INTEGRAL_TYPES(...)                                                                           \
    AT_DISPATCH_CASE(at::ScalarType::Byte, __VA_ARGS__)                                                                \
    AT_DISPATCH_CASE(at::ScalarType::Char, __VA_ARGS__)                                                                \
    AT_DISPATCH_CASE(at::ScalarType::Int, __VA_ARGS__)                                                                 \
    AT_DISPATCH_CASE(at::ScalarType::Long, __VA_ARGS__)                                                                \
    AT_DISPATCH_CASE(at::ScalarType::Short, __VA_ARGS__)
#define AT_DISPATCH_CASE_ALL_TYPES(...)                                                                                \
    AT_DISPATCH_CASE_INTEGRAL_TYPES(__VA_ARGS__)                                                                       \
    AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__)
#define AT_DISPATCH_CASE_FLOATING_AND_COMPLEX_TYPES(...)                                                               \
    AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__)                                                                       \
    AT_DISPATCH_CASE_COMPLEX_TYPES(__VA_ARGS__)
#define AT_DISPATCH_CASE_ALL_TYPES_AND_COMPLEX(...)                                                                    \
    AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__)                                                                            \
    AT_DISPATCH_CASE_COMPLEX_TYPES(__VA_ARGS__)
#define AT_DISPATCH_CASE_FLOATING_TYPES_AND_HALF(...)                                                                  \
    AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__)                                                                       \
    AT_DISPATCH_CASE(at::ScalarType::Half, __VA_ARGS__)
#define AT_DISPATCH_CASE_QINT_TYPES(...)                                                                               \
    AT_DISPATCH_CASE(at::ScalarType::QInt8, __VA_ARGS__)                                                               \
    AT_DISPATCH_CASE(at::ScalarType::QUInt8, __VA_ARGS__)                                                              \
    AT_DISPATCH_CASE(at::ScalarType::QInt32, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_TYPES(type, name, ...)                                                                    \
    AT_DISPATCH_SWITCH(type, name, AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES_AND_HALF(type, name, ...)                                                           \
    AT_DISPATCH_SWITCH(type, name, AT_DISPATCH_CASE_FLOATING_TYPES_AND_HALF(__VA_ARGS__))
#define AT_DISPATCH_COMPLEX_TYPES(type, name, ...)                                                                     \
    AT_DISPATCH_SWITCH(type, name, AT_DISPATCH_CASE_COMPLEX_TYPES(__VA_ARGS__))
#define AT_DISPATCH_INTEGRAL_TYPES(type, name, ...)                                                                    \
    AT_DISPATCH_SWITCH(type, name, AT_DISPATCH_CASE_INTEGRAL_TYPES(__VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES(type, name, ...) AT_DISPATCH_SWITCH(type, name, AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__))
#define AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES(type, name, ...)                                                        \
    AT_DISPATCH_SWITCH(type, name, AT_DISPATCH_CASE_FLOATING_AND_COMPLEX_TYPES(__VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES_AND_COMPLEX(type, name, ...)                                                             \
    AT_DISPATCH_SWITCH(type, name, AT_DISPATCH_CASE_ALL_TYPES_AND_COMPLEX(__VA_ARGS__))
#define AT_DISPATCH_QINT_TYPES(type, name, ...) AT_DISPATCH_SWITCH(type, name, AT_DISPATCH_CASE_QINT_TYPES(__VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES_AND(more, type, name, ...)                                                          \
    AT_DISPATCH_SWITCH(type, name, AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(more, __VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES_AND2(more, more2, type, name, ...)                                                  \
    AT_DISPATCH_SWITCH(type, name,                                                                                     \
                       AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(more, __VA_ARGS__)                \
                           AT_DISPATCH_CASE(more2, __VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES_AND3(more, more2, more3, type, name, ...)                                           \
    AT_DISPATCH_SWITCH(type, name,                                                                                     \
                       AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(more, __VA_ARGS__)                \
                           AT_DISPATCH_CASE(more2, __VA_ARGS__) AT_DISPATCH_CASE(more3, __VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES_AND4(more, more2, more3, more4, type, name, ...)                                    \
    AT_DISPATCH_SWITCH(type, name,                                                                                     \
                       AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(more, __VA_ARGS__)                \
                           AT_DISPATCH_CASE(more2, __VA_ARGS__) AT_DISPATCH_CASE(more3, __VA_ARGS__)                   \
                               AT_DISPATCH_CASE(more4, __VA_ARGS__))
#define AT_DISPATCH_INTEGRAL_TYPES_AND(more, type, name, ...)                                                          \
    AT_DISPATCH_SWITCH(type, name, AT_DISPATCH_CASE_INTEGRAL_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(more, __VA_ARGS__))
#define AT_DISPATCH_INTEGRAL_TYPES_AND2(more, more2, type, name, ...)                                                  \
    AT_DISPATCH_SWITCH(type, name,                                                                                     \
                       AT_DISPATCH_CASE_INTEGRAL_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(more, __VA_ARGS__)                \
                           AT_DISPATCH_CASE(more2, __VA_ARGS__))
#define AT_DISPATCH_INTEGRAL_TYPES_AND3(more, more2, more3, type, name, ...)                                           \
    AT_DISPATCH_SWITCH(type, name,                                                                                     \
                       AT_DISPATCH_CASE_INTEGRAL_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(more, __VA_ARGS__)                \
                           AT_DISPATCH_CASE(more2, __VA_ARGS__) AT_DISPATCH_CASE(more3, __VA_ARGS__))
#define AT_DISPATCH_INTEGRAL_TYPES_AND4(more, more2, more3, more4, type, name, ...)                                    \
    AT_DISPATCH_SWITCH(type, name,                                                                                     \
                       AT_DISPATCH_CASE_INTEGRAL_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(more, __VA_ARGS__)                \
                           AT_DISPATCH_CASE(more2, __VA_ARGS__) AT_DISPATCH_CASE(more3, __VA_ARGS__)                   \
                               AT_DISPATCH_CASE(more4, __VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES_AND(more, type, name, ...)                                                               \
    AT_DISPATCH_SWITCH(type, name, AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(more, __VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES_AND2(more, more2, type, name, ...)                                                       \
    AT_DISPATCH_SWITCH(type, name,                                                                                     \
                       AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(more, __VA_ARGS__)                     \
                           AT_DISPATCH_CASE(more2, __VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES_AND3(more, more2, more3, type, name, ...)                                                \
    AT_DISPATCH_SWITCH(type, name,                                                                                     \
                       AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(more, __VA_ARGS__)                     \
                           AT_DISPATCH_CASE(more2, __VA_ARGS__) AT_DISPATCH_CASE(more3, __VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES_AND4(more, more2, more3, more4, type, name, ...)                                         \
    AT_DISPATCH_SWITCH(type, name,                                                                                     \
                       AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(more, __VA_ARGS__)                     \
                           AT_DISPATCH_CASE(more2, __VA_ARGS__) AT_DISPATCH_CASE(more3, __VA_ARGS__)                   \
                               AT_DISPATCH_CASE(more4, __VA_ARGS__))
#define AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES_AND(more, type, name, ...)                                              \
    AT_DISPATCH_SWITCH(type, name,                                                                                     \
                       AT_DISPATCH_CASE_FLOATING_AND_COMPLEX_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(more, __VA_ARGS__))
#define AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES_AND2(more, more2, type, name, ...)                                      \
    AT_DISPATCH_SWITCH(type, name,                                                                                     \
                       AT_DISPATCH_CASE_FLOATING_AND_COMPLEX_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(more, __VA_ARGS__)    \
                           AT_DISPATCH_CASE(more2, __VA_ARGS__))
#define AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES_AND3(more, more2, more3, type, name, ...)                               \
    AT_DISPATCH_SWITCH(type, name,                                                                                     \
                       AT_DISPATCH_CASE_FLOATING_AND_COMPLEX_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(more, __VA_ARGS__)    \
                           AT_DISPATCH_CASE(more2, __VA_ARGS__) AT_DISPATCH_CASE(more3, __VA_ARGS__))
#define AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES_AND4(more, more2, more3, more4, type, name, ...)                        \
    AT_DISPATCH_SWITCH(type, name,                                                                                     \
                       AT_DISPATCH_CASE_FLOATING_AND_COMPLEX_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(more, __VA_ARGS__)    \
                           AT_DISPATCH_CASE(more2, __VA_ARGS__) AT_DISPATCH_CASE(more3, __VA_ARGS__)                   \
                               AT_DISPATCH_CASE(more4, __VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES_AND_COMPLEX_AND(more, type, name, ...)                                                   \
    AT_DISPATCH_SWITCH(type, name,                                                                                     \
                       AT_DISPATCH_CASE_ALL_TYPES_AND_COMPLEX(__VA_ARGS__) AT_DISPATCH_CASE(more, __VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES_AND_COMPLEX_AND2(more, more2, type, name, ...)                                           \
    AT_DISPATCH_SWITCH(type, name,                                                                                     \
                       AT_DISPATCH_CASE_ALL_TYPES_AND_COMPLEX(__VA_ARGS__) AT_DISPATCH_CASE(more, __VA_ARGS__)         \
                           AT_DISPATCH_CASE(more2, __VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES_AND_COMPLEX_AND3(more, more2, more3, type, name, ...)                                    \
    AT_DISPATCH_SWITCH(type, name,                                                                                     \
                       AT_DISPATCH_CASE_ALL_TYPES_AND_COMPLEX(__VA_ARGS__) AT_DISPATCH_CASE(more, __VA_ARGS__)         \
                           AT_DISPATCH_CASE(more2, __VA_ARGS__) AT_DISPATCH_CASE(more3, __VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES_AND_COMPLEX_AND4(more, more2, more3, more4, type, name, ...)                             \
    AT_DISPATCH_SWITCH(type, name,                                                                                     \
                       AT_DISPATCH_CASE_ALL_TYPES_AND_COMPLEX(__VA_ARGS__) AT_DISPATCH_CASE(more, __VA_ARGS__)         \
                           AT_DISPATCH_CASE(more2, __VA_ARGS__) AT_DISPATCH_CASE(more3, __VA_ARGS__)                   \
                               AT_DISPATCH_CASE(more4, __VA_ARGS__))
#define AT_DISPATCH_INDEX_TYPES(type, name, ...)                                                                       \
    AT_DISPATCH_SWITCH(type, name,                                                                                     \
                       AT_PRIVATE_CASE_TYPE_USING_HINT(at::ScalarType::Int, index_t, __VA_ARGS__)                      \
                           AT_PRIVATE_CASE_TYPE_USING_HINT(at::ScalarType::Long, index_t, __VA_ARGS__))

#endif
