/* SPDX-License-Identifier: BSD-2-Clause */
// Lists of element types for macros: each calls row(type in C++, name of the enumerator).
#ifndef TAPER_CPP_SCALAR_TYPE_MACROS_H
#define TAPER_CPP_SCALAR_TYPE_MACROS_H

#define AT_FORALL_INT_TYPES(row)                                                                                       \
    row(uint8_t, Byte) row(int8_t, Char) row(int16_t, Short) row(int, Int) row(int64_t, Long)
#define AT_FORALL_SCALAR_TYPES(row) AT_FORALL_INT_TYPES(row) row(float, Float) row(double, Double)
#define AT_FORALL_SCALAR_TYPES_AND(more, row)                                                                          \
    AT_FORALL_SCALAR_TYPES(row) row(decltype(::c10::impl::ScalarTypeToCPPType<::c10::ScalarType::more>::t), more)
#define AT_FORALL_SCALAR_TYPES_AND2(more, more2, row)                                                                  \
    AT_FORALL_SCALAR_TYPES_AND(more, row)                                                                              \
    row(decltype(::c10::impl::ScalarTypeToCPPType<::c10::ScalarType::more2>::t), more2)
#define AT_FORALL_SCALAR_TYPES_AND3(more, more2, more3, row)                                                           \
    AT_FORALL_SCALAR_TYPES_AND2(more, more2, row)                                                                      \
    row(decltype(::c10::impl::ScalarTypeToCPPType<::c10::ScalarType::more3>::t), more3)
#define AT_FORALL_QINT_TYPES(row)                                                                                      \
    row(c10::qint8, QInt8) row(c10::quint8, QUInt8) row(c10::qint32, QInt32) row(c10::quint4x2, QUInt4x2)              \
        row(c10::quint2x4, QUInt2x4)
#define AT_FORALL_COMPLEX_TYPES(row) row(c10::complex<float>, ComplexFloat) row(c10::complex<double>, ComplexDouble)
#define AT_FORALL_SCALAR_TYPES_WITH_COMPLEX_EXCEPT_COMPLEX_HALF(row)                                                   \
    AT_FORALL_INT_TYPES(row)                                                                                           \
    row(at::Half, Half) row(float, Float) row(double, Double) AT_FORALL_COMPLEX_TYPES(row) row(bool, Bool)             \
        row(at::BFloat16, BFloat16)
#define AT_FORALL_SCALAR_TYPES_WITH_COMPLEX(row)                                                                       \
    AT_FORALL_INT_TYPES(row)                                                                                           \
    row(at::Half, Half) row(float, Float) row(double, Double) row(c10::complex<c10::Half>, ComplexHalf)                \
        AT_FORALL_COMPLEX_TYPES(row) row(bool, Bool) row(at::BFloat16, BFloat16)
#define AT_FORALL_SCALAR_TYPES_WITH_COMPLEX_AND_QINTS(row)                                                             \
    AT_FORALL_SCALAR_TYPES_WITH_COMPLEX(row) AT_FORALL_QINT_TYPES(row)

#endif
