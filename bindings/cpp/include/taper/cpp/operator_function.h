/* SPDX-License-Identifier: BSD-2-Clause */
// Wraps a C++ function as an operator: values are converted to arguments, and results to values.
#ifndef TAPER_CPP_OPERATOR_FUNCTION_H
#define TAPER_CPP_OPERATOR_FUNCTION_H

#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

#include <taper/cpp/function_schema.h>

namespace c10
{
// A base class for functors that implement operators.
struct OperatorKernel {
    virtual ~OperatorKernel() = default;
};

// A function whose address is part of the type, made by TORCH_FN(f).
template <class Function, Function *address> struct CompileTimeFunctionPointer {
    using FuncType = Function;
};
} // namespace c10

#define TORCH_FN_TYPE(f)                                                                                               \
    ::c10::CompileTimeFunctionPointer<std::remove_pointer_t<std::remove_reference_t<decltype(f)>>, f>
#define TORCH_FN(f) TORCH_FN_TYPE(f)()

namespace taper
{
namespace cpp
{

// A C++ function that implements an operator. Its arguments are in the order of the schema.
struct OperatorFunction {
    std::function<void(std::vector<c10::IValue> &arguments, std::vector<c10::IValue> &results)> call;
    bool typed = false; // true if signature is known
    Signature signature;
};

// Holds the converted argument while the function runs, because views of lists and texts need an owner.
template <class T> struct Held {
    explicit Held(const c10::IValue &value) : value_(value.to<T>())
    {
    }
    T &get()
    {
        return value_;
    }

  private:
    T value_;
};
template <class T> struct Held<c10::ArrayRef<T>> {
    explicit Held(const c10::IValue &value) : items_(value.to<std::vector<T>>())
    {
    }
    c10::ArrayRef<T> &get()
    {
        view_ = items_;
        return view_;
    }

  private:
    std::vector<T> items_;
    c10::ArrayRef<T> view_;
};
template <> struct Held<c10::ArrayRef<bool>> {
    explicit Held(const c10::IValue &value) : count_(value.toList().size()), items_(new bool[count_ + 1])
    {
        const c10::List<bool> list = value.to<c10::List<bool>>();
        for (size_t i = 0; i < count_; i++) {
            items_[i] = list.get(i);
        }
    }
    c10::ArrayRef<bool> &get()
    {
        view_ = c10::ArrayRef<bool>(items_.get(), count_);
        return view_;
    }

  private:
    size_t count_;
    std::unique_ptr<bool[]> items_;
    c10::ArrayRef<bool> view_;
};
template <class T, size_t N> struct Held<std::array<T, N>> {
    explicit Held(const c10::IValue &value)
    {
        const std::vector<T> items = value.to<std::vector<T>>();
        if (items.size() != N) {
            throw c10::Error(c10::str("expected a list of ", N, " items but got ", items.size()));
        }
        std::copy(items.begin(), items.end(), items_.begin());
    }
    std::array<T, N> &get()
    {
        return items_;
    }

  private:
    std::array<T, N> items_;
};
template <> struct Held<c10::string_view> {
    explicit Held(const c10::IValue &value) : value_(value)
    {
    }
    c10::string_view &get()
    {
        view_ = value_.toStringView();
        return view_;
    }

  private:
    c10::IValue value_;
    c10::string_view view_;
};
template <class T> struct Held<c10::optional<T>> {
    explicit Held(const c10::IValue &value) : value_(new c10::optional<T>())
    {
        if (!value.isNone()) {
            held_.reset(new Held<T>(value));
            *value_ = held_->get();
        }
    }
    c10::optional<T> &get()
    {
        return *value_;
    }

  private:
    std::unique_ptr<Held<T>> held_; // owner of the memory to which the argument refers
    std::unique_ptr<c10::optional<T>> value_;
};

template <class T> struct Held<c10::OptionalArrayRef<T>> {
    explicit Held(const c10::IValue &value) : held_(value), view_(held_.get())
    {
    }
    c10::OptionalArrayRef<T> &get()
    {
        return view_;
    }

  private:
    Held<c10::optional<c10::ArrayRef<T>>> held_;
    c10::OptionalArrayRef<T> view_;
};

template <class R> struct ResultValues {
    static void put(R result, std::vector<c10::IValue> &results)
    {
        results.emplace_back(std::forward<R>(result));
    }
};
template <class... T> struct ResultValues<std::tuple<T...>> {
    static void put(std::tuple<T...> result, std::vector<c10::IValue> &results)
    {
        c10::impl::each_of(result, results, std::index_sequence_for<T...>());
    }
};

template <class R> struct Caller {
    template <class Function, class... Args>
    static void call(Function &function, std::vector<c10::IValue> &results, Args &&...args)
    {
        ResultValues<R>::put(function(std::forward<Args>(args)...), results);
    }
};
template <> struct Caller<void> {
    template <class Function, class... Args>
    static void call(Function &function, std::vector<c10::IValue> &, Args &&...args)
    {
        function(std::forward<Args>(args)...);
    }
};

// Calls a function of type R(Args…).
template <class R, class... Args> struct FunctionCaller {
    template <class Function> static std::shared_ptr<OperatorFunction> make(Function function)
    {
        std::shared_ptr<OperatorFunction> made = std::make_shared<OperatorFunction>();
        made->typed = true;
        made->signature = signature_of<R, Args...>();
        // A shared pointer, because the function may not be copyable.
        const std::shared_ptr<Function> kept = std::make_shared<Function>(std::move(function));
        made->call = [kept](std::vector<c10::IValue> &arguments, std::vector<c10::IValue> &results) {
            each(*kept, arguments, results, std::index_sequence_for<Args...>());
        };
        return made;
    }

  private:
    template <class T> static T pass(Held<std::decay_t<T>> &held)
    {
        return static_cast<T>(held.get());
    }
    template <class Function, size_t... I>
    static void each(Function &function, std::vector<c10::IValue> &arguments, std::vector<c10::IValue> &results,
                     std::index_sequence<I...>)
    {
        if (arguments.size() != sizeof...(Args)) { // registration has checked the number of arguments of typed calls
            throw c10::Error("it was called with another number of arguments");
        }
        std::tuple<Held<std::decay_t<Args>>...> held{Held<std::decay_t<Args>>(arguments[I])...};
        (void)held;
        Caller<R>::call(function, results, pass<Args>(std::get<I>(held))...);
    }
};

template <class Function> struct FunctionTraits : FunctionTraits<decltype(&Function::operator())> {
};
template <class R, class... Args> struct FunctionTraits<R (*)(Args...)> {
    using Caller = FunctionCaller<R, Args...>;
};
template <class Class, class R, class... Args> struct FunctionTraits<R (Class::*)(Args...)> {
    using Caller = FunctionCaller<R, Args...>;
};
template <class Class, class R, class... Args> struct FunctionTraits<R (Class::*)(Args...) const> {
    using Caller = FunctionCaller<R, Args...>;
};
#ifdef __cpp_noexcept_function_type
template <class R, class... Args> struct FunctionTraits<R (*)(Args...) noexcept> {
    using Caller = FunctionCaller<R, Args...>;
};
template <class Class, class R, class... Args> struct FunctionTraits<R (Class::*)(Args...) noexcept> {
    using Caller = FunctionCaller<R, Args...>;
};
template <class Class, class R, class... Args> struct FunctionTraits<R (Class::*)(Args...) const noexcept> {
    using Caller = FunctionCaller<R, Args...>;
};
#endif

template <class Function> bool is_null(const Function &)
{
    return false;
}
template <class Function> bool is_null(Function *function)
{
    return function == nullptr;
}

// Wraps a pointer to a function, a lambda, or another object with a single call operator.
template <class Function> std::shared_ptr<OperatorFunction> operator_function(Function function)
{
    if (is_null(function)) {
        throw c10::Error("the function of an operator is null");
    }
    return FunctionTraits<Function>::Caller::make(std::move(function));
}
template <class Function, Function *address>
std::shared_ptr<OperatorFunction> operator_function(c10::CompileTimeFunctionPointer<Function, address>)
{
    return operator_function(address);
}

} // namespace cpp
} // namespace taper

#endif
