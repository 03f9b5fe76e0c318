/* SPDX-License-Identifier: BSD-2-Clause */
// IValue::to<T>(): converts a value to a C++ type.
#include <taper/cpp/ivalue.h> // the two headers include each other, so that a program may include either first
#ifndef TAPER_CPP_CONVERT_H
#define TAPER_CPP_CONVERT_H

#include <taper/cpp/dict.h>

namespace c10
{

#define TAPER_CPP_CONVERT(type, how)                                                                                   \
    template <> struct Convert<type> {                                                                                 \
        static type from(const IValue &value)                                                                          \
        {                                                                                                              \
            return how;                                                                                                \
        }                                                                                                              \
    };
TAPER_CPP_CONVERT(IValue, value)
TAPER_CPP_CONVERT(at::Tensor, value.toTensor())
TAPER_CPP_CONVERT(bool, value.toBool())
TAPER_CPP_CONVERT(int, static_cast<int>(value.toInt()))
TAPER_CPP_CONVERT(int64_t, value.toInt())
TAPER_CPP_CONVERT(float, static_cast<float>(value.toDouble()))
TAPER_CPP_CONVERT(double, value.toDouble())
TAPER_CPP_CONVERT(Scalar, value.toScalar())
TAPER_CPP_CONVERT(complex<double>, value.toComplexDouble())
TAPER_CPP_CONVERT(ScalarType, static_cast<ScalarType>(value.toInt()))
TAPER_CPP_CONVERT(MemoryFormat, static_cast<MemoryFormat>(value.toInt()))
TAPER_CPP_CONVERT(Device, value.toDevice())
TAPER_CPP_CONVERT(std::string, value.toStringRef())
TAPER_CPP_CONVERT(intrusive_ptr<ivalue::Tuple>, value.toTuple())
TAPER_CPP_CONVERT(intrusive_ptr<ivalue::ConstantString>, value.toString())
TAPER_CPP_CONVERT(intrusive_ptr<ivalue::Object>, value.toObject())
#undef TAPER_CPP_CONVERT

template <class T> struct Convert<intrusive_ptr<T>> {
    static intrusive_ptr<T> from(const IValue &value)
    {
        return value.toCustomClass<T>();
    }
};
template <class T> struct Convert<List<T>> {
    static List<T> from(const IValue &value)
    {
        return List<T>(value.toList().handle());
    }
};
template <class T> struct Convert<std::vector<T>> {
    static std::vector<T> from(const IValue &value)
    {
        return Convert<List<T>>::from(value).vec();
    }
};
template <class K, class V> struct Convert<Dict<K, V>> {
    static Dict<K, V> from(const IValue &value)
    {
        return Dict<K, V>(value.toGenericDict().handle());
    }
};
template <class K, class V> struct Convert<std::unordered_map<K, V>> {
    static std::unordered_map<K, V> from(const IValue &value)
    {
        std::unordered_map<K, V> all;
        for (const auto &item : Convert<Dict<K, V>>::from(value)) {
            all.emplace(item.key(), item.value());
        }
        return all;
    }
};
template <class T> struct Convert<optional<T>> {
    static optional<T> from(const IValue &value)
    {
        return value.toOptional<T>();
    }
};
template <class... T> struct Convert<std::tuple<T...>> {
    static std::tuple<T...> from(const IValue &value)
    {
        const intrusive_ptr<ivalue::Tuple> tuple = value.toTuple();
        if (tuple->size() != sizeof...(T)) {
            throw Error(str("Expected a tuple of ", sizeof...(T), " elements but got ", tuple->size()));
        }
        return each(tuple->elements(), std::index_sequence_for<T...>());
    }

  private:
    template <size_t... I> static std::tuple<T...> each(const std::vector<IValue> &all, std::index_sequence<I...>)
    {
        return std::tuple<T...>(all[I].template to<T>()...);
    }
};

} // namespace c10

#endif
