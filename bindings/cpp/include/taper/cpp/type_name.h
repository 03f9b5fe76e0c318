/* SPDX-License-Identifier: BSD-2-Clause */
// The TorchScript types of C++ types: TypeName<List<int64_t>>::text() is "List[int]".
#include <taper/cpp/ivalue.h> // the two headers include each other, so that a program may include either first
#ifndef TAPER_CPP_TYPE_NAME_H
#define TAPER_CPP_TYPE_NAME_H

namespace c10
{
namespace impl
{

// known is false for a C++ type, such as IValue, whose values have different TorchScript types.
template <class T> struct TypeName;

#define TAPER_CPP_TYPE_NAME(type, name)                                                                                \
    template <> struct TypeName<type> {                                                                                \
        static constexpr bool known = true;                                                                            \
        static std::string text()                                                                                      \
        {                                                                                                              \
            return name;                                                                                               \
        }                                                                                                              \
    };
TAPER_CPP_TYPE_NAME(int64_t, "int")
TAPER_CPP_TYPE_NAME(int, "int")
TAPER_CPP_TYPE_NAME(double, "float")
TAPER_CPP_TYPE_NAME(float, "float")
TAPER_CPP_TYPE_NAME(bool, "bool")
TAPER_CPP_TYPE_NAME(std::string, "str")
TAPER_CPP_TYPE_NAME(at::Tensor, "Tensor")
TAPER_CPP_TYPE_NAME(complex<double>, "complex")
TAPER_CPP_TYPE_NAME(Device, "Device")
#undef TAPER_CPP_TYPE_NAME

template <> struct TypeName<IValue> {
    static constexpr bool known = false;
    static std::string text()
    {
        return "Any";
    }
};
template <class... T> struct TypeName<std::tuple<T...>> {
    static constexpr bool known = true;
    static std::string text()
    {
        const std::string all[] = {std::string(), TypeName<T>::text()...};
        std::string inside;
        for (size_t i = 1; i <= sizeof...(T); i++) {
            inside += (i == 1 ? "" : ", ") + all[i];
        }
        return "Tuple[" + inside + "]";
    }
};
template <class T> struct TypeName<List<T>> {
    static constexpr bool known = TypeName<T>::known;
    static std::string text()
    {
        return "List[" + TypeName<T>::text() + "]";
    }
};
template <class T> struct TypeName<std::vector<T>> : TypeName<List<T>> {
};
template <class T> struct TypeName<optional<T>> {
    static constexpr bool known = TypeName<T>::known;
    static std::string text()
    {
        return "Optional[" + TypeName<T>::text() + "]";
    }
};
template <class K, class V> struct TypeName<Dict<K, V>> {
    static constexpr bool known = TypeName<K>::known && TypeName<V>::known;
    static std::string text()
    {
        return "Dict[" + TypeName<K>::text() + ", " + TypeName<V>::text() + "]";
    }
};
template <class K, class V> struct TypeName<std::unordered_map<K, V>> : TypeName<Dict<K, V>> {
};

} // namespace impl
} // namespace c10

#endif
