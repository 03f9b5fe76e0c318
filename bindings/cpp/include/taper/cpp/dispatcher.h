/* SPDX-License-Identifier: BSD-2-Clause */
// c10::Dispatcher: finds operators by name, and calls them with C++ values or with a stack.
#ifndef TAPER_CPP_DISPATCHER_H
#define TAPER_CPP_DISPATCHER_H

#include <cstring>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include <taper/cpp/ivalue.h>
#include <taper/cpp/schema_text.h>
#include <taper/cpp/stack_operator.h>

namespace c10
{

using Stack = std::vector<IValue>;

namespace impl
{

// Converts the results of a call to the type that the app has named.
template <class R> struct CallResult {
    static R of(const std::vector<taper::cpp::Handle> &results)
    {
        if (results.size() != 1) {
            throw Error("the operator has another number of results than the type of the call");
        }
        return IValue(results[0]).to<std::decay_t<R>>();
    }
};
template <> struct CallResult<void> {
    static void of(const std::vector<taper::cpp::Handle> &)
    {
    }
};
template <class... T> struct CallResult<std::tuple<T...>> {
    static std::tuple<T...> of(const std::vector<taper::cpp::Handle> &results)
    {
        if (results.size() == 1) {
            return IValue(results[0]).to<std::tuple<T...>>();
        }
        if (results.size() != sizeof...(T)) {
            throw Error("the operator has another number of results than the type of the call");
        }
        return each(results, std::index_sequence_for<T...>());
    }

  private:
    template <size_t... I>
    static std::tuple<T...> each(const std::vector<taper::cpp::Handle> &results, std::index_sequence<I...>)
    {
        return std::tuple<T...>(IValue(results[I]).to<std::decay_t<T>>()...);
    }
};

inline std::vector<taper::cpp::Handle> call_stack(const std::string &name, const std::vector<IValue> &values)
{
    std::vector<taper::cpp::Handle> arguments;
    for (const IValue &each : values) {
        arguments.push_back(each.isNone() ? taper::cpp::make_value(taper_value_none) : each.handle());
    }
    return taper::cpp::call_operator(taper::cpp::operator_named(name), arguments);
}

} // namespace impl

template <class Function> class TypedOperatorHandle;

class OperatorHandle
{
  public:
    explicit OperatorHandle(OperatorName name, std::string schema) : name_(std::move(name)), schema_(std::move(schema))
    {
    }
    // Returns the handle of an operator by its name.
    static OperatorHandle named(const std::string &name)
    {
        taper_operator *found = nullptr;
        taper::cpp::ErrorScope error;
        error.check(taper_operator_find(taper::cpp::context(), name.c_str(), &found, error));
        std::string schema = taper_operator_schema(found);
        taper_operator_release(found);
        return OperatorHandle(torch::jit::parseName(name), std::move(schema));
    }
    const OperatorName &operator_name() const
    {
        return name_;
    }
    bool hasSchema() const
    {
        return true;
    }
    FunctionSchema schema() const
    {
        return torch::jit::parseSchema(schema_);
    }
    std::string debug() const
    {
        return schema_;
    }
    // Returns true only for the key CPU, because all operators compute on the CPU.
    bool hasKernelForDispatchKey(DispatchKey key) const
    {
        return key == DispatchKey::CPU;
    }
    // The type of the call is not compared with the schema: wrong arguments fail when the operator is called.
    template <class Function> TypedOperatorHandle<Function> typed() const
    {
        return TypedOperatorHandle<Function>(*this);
    }
    // Replaces the arguments, which are the last values of the stack, by the results.
    void callBoxed(std::vector<IValue> &stack) const
    {
        const size_t count = schema().arguments().size();
        if (stack.size() < count) {
            throw Error("the stack has fewer values than " + toString(name_) + " has arguments");
        }
        const auto first = stack.end() - static_cast<std::ptrdiff_t>(count);
        const std::vector<taper::cpp::Handle> results =
            impl::call_stack(toString(name_), std::vector<IValue>(first, stack.end()));
        stack.erase(first, stack.end());
        for (const taper::cpp::Handle &each : results) {
            stack.emplace_back(each);
        }
    }
    void callBoxed(std::vector<IValue> *stack) const
    {
        callBoxed(*stack);
    }
    std::string dumpState() const
    {
        return "name: " + toString(name_) + "\nschema: " + schema_ + "\nCPU: of Taper\n";
    }
    bool hasComputedKernelForDispatchKey(DispatchKey key) const
    {
        return hasKernelForDispatchKey(key);
    }
    [[noreturn]] ArrayRef<at::Tag> getTags() const
    {
        throw NotImplementedError("OperatorHandle::getTags: operators of Taper have no tags");
    }
    [[noreturn]] bool hasTag(const at::Tag &) const
    {
        getTags();
    }
    // Calls the function for the CPU, for any key.
    void callBoxedForDispatchKey(DispatchKey, std::vector<IValue> &stack) const
    {
        callBoxed(stack);
    }

  private:
    OperatorName name_;
    std::string schema_;
};

template <class R, class... Args> class TypedOperatorHandle<R(Args...)> final : public OperatorHandle
{
  public:
    explicit TypedOperatorHandle(const OperatorHandle &from) : OperatorHandle(from)
    {
    }
    R call(Args... arguments) const
    {
        return result(static_cast<R *>(nullptr),
                      impl::call_stack(toString(operator_name()), std::vector<IValue>{IValue(arguments)...}),
                      arguments...);
    }

  private:
    template <class T, class... Rest>
    static T result(T *, const std::vector<taper::cpp::Handle> &results, const Rest &...)
    {
        return impl::CallResult<T>::of(results);
    }
};

// The handle of an operator that returns one of its arguments by reference.
template <class... Args> class TypedOperatorHandle<at::Tensor &(Args...)> final : public OperatorHandle
{
  public:
    explicit TypedOperatorHandle(const OperatorHandle &from) : OperatorHandle(from)
    {
    }
    at::Tensor &call(Args... arguments) const
    {
        impl::call_stack(toString(operator_name()), std::vector<IValue>{IValue(arguments)...});
        return written(nullptr, arguments...);
    }

  private:
    // Returns the last argument that is a tensor and may be written.
    static at::Tensor &written(at::Tensor *found)
    {
        return found != nullptr ? *found : throw Error("the operator writes no argument");
    }
    template <class... Rest> static at::Tensor &written(at::Tensor *, at::Tensor &first, Rest &...rest)
    {
        return written(&first, rest...);
    }
    template <class T, class... Rest> static at::Tensor &written(at::Tensor *found, T &, Rest &...rest)
    {
        return written(found, rest...);
    }
};

class Dispatcher final
{
  public:
    static Dispatcher &singleton()
    {
        static Dispatcher dispatcher;
        return dispatcher;
    }
    static Dispatcher &realSingleton()
    {
        return singleton();
    }
    optional<OperatorHandle> findSchema(const OperatorName &name)
    {
        taper_operator *found = nullptr;
        if (taper_operator_find(taper::cpp::context(), toString(name).c_str(), &found, nullptr) != TAPER_OK) {
            return nullopt;
        }
        std::string schema = taper_operator_schema(found);
        taper_operator_release(found);
        return OperatorHandle(name, std::move(schema));
    }
    optional<OperatorHandle> findOp(const OperatorName &name)
    {
        return findSchema(name);
    }
    OperatorHandle findSchemaOrThrow(const char *name, const char *overload_name)
    {
        const optional<OperatorHandle> found = findSchema(OperatorName(name, overload_name));
        if (!found.has_value()) {
            throw Error(std::string("Could not find schema for ") + name + "." + overload_name);
        }
        return *found;
    }
    template <class R, class... Args> R call(const TypedOperatorHandle<R(Args...)> &op, Args... arguments) const
    {
        return op.call(arguments...);
    }
    void callBoxed(const OperatorHandle &op, std::vector<IValue> *stack) const
    {
        op.callBoxed(*stack);
    }
    void callBoxedForDispatchKey(const OperatorHandle &op, DispatchKey key, std::vector<IValue> *stack) const
    {
        op.callBoxedForDispatchKey(key, *stack);
    }
    // Returns the names of the library's operators.
    std::vector<OperatorName> getAllOpNames() const
    {
        std::vector<OperatorName> all;
        const char *schema = nullptr;
        for (size_t i = 0; (schema = taper_operator_listed(taper::cpp::context(), i)) != nullptr; i++) {
            if (*schema != '\0') {
                all.push_back(torch::jit::parseName(schema));
            }
        }
        return all;
    }
    // All operators have functions for the CPU and for no other device.
    std::vector<OperatorName> getRegistrationsForDispatchKey(optional<DispatchKey> key) const
    {
        return key.value_or(DispatchKey::CPU) == DispatchKey::CPU ? getAllOpNames() : std::vector<OperatorName>();
    }
    bool hasBackendFallbackForDispatchKey(DispatchKey) const
    {
        return false;
    }

  private:
    Dispatcher() = default;
};

} // namespace c10

namespace torch
{
namespace jit
{
inline FunctionSchema Operator::schema() const
{
    FunctionSchema made = parseSchema(schema_);
    made.setAliasAnalysis(kind_);
    return made;
}
inline Operator::Operator(const c10::OperatorHandle &handle, Operation operation)
    : schema_(handle.debug()), operation_(std::move(operation)), is_listed_(true)
{
}

namespace detail
{
inline std::shared_ptr<Operator> operator_of(const c10::OperatorHandle &handle)
{
    return std::make_shared<Operator>(handle, Operation([handle](Stack &stack) { handle.callBoxed(stack); }));
}
// Returns the library's operators for whose schemas the function `wanted` returns true.
template <class Wanted> std::vector<std::shared_ptr<Operator>> operators_where(const Wanted &wanted)
{
    std::vector<std::shared_ptr<Operator>> all;
    const char *schema = nullptr;
    for (size_t i = 0; (schema = taper_operator_listed(taper::cpp::context(), i)) != nullptr; i++) {
        if (*schema != '\0' && wanted(schema)) {
            all.push_back(operator_of(c10::OperatorHandle(parseName(schema), schema)));
        }
    }
    return all;
}
} // namespace detail

// Returns the operators of the library. Operators that the app has registered are not in the list; findSchema finds
// them by name.
inline std::vector<std::shared_ptr<Operator>> getAllOperators()
{
    return detail::operators_where([](const char *) { return true; });
}
inline std::vector<std::shared_ptr<Operator>> getAllOperatorsFor(Symbol name)
{
    const std::string text = name.toQualString();
    return detail::operators_where([&text](const char *schema) {
        return text.compare(0, std::string::npos, schema, std::strcspn(schema, ".(")) == 0;
    });
}
// Returns the operator of this name, or null if there is none.
inline std::shared_ptr<Operator> findOperatorFor(const c10::OperatorName &name)
{
    const c10::optional<c10::OperatorHandle> found = c10::Dispatcher::singleton().findSchema(name);
    return found.has_value() ? detail::operator_of(*found) : nullptr;
}
// Returns the operator of this schema, or null if the library has a different schema of this name, or no schema.
inline std::shared_ptr<Operator> getOperatorForLiteral(const char *schema)
{
    const std::shared_ptr<Operator> found = findOperatorFor(parseName(schema));
    return found != nullptr && c10::toString(found->schema()) == c10::toString(parseSchema(schema)) ? found : nullptr;
}
// Returns the names of operators that differ from `name` in at most two letters. The most similar name is first.
inline std::vector<Symbol> findSimilarOperators(Symbol name)
{
    const std::string wanted = name.toQualString();
    std::map<std::string, size_t> found;
    for (const c10::OperatorName &each : c10::Dispatcher::singleton().getAllOpNames()) {
        const std::string &other = each.name;
        std::vector<size_t> row(other.size() + 1), next(other.size() + 1);
        for (size_t i = 0; i <= other.size(); i++) {
            row[i] = i;
        }
        for (size_t i = 0; i < wanted.size(); i++) { // computes the Levenshtein distance of the two names
            next[0] = i + 1;
            for (size_t j = 0; j < other.size(); j++) {
                next[j + 1] = std::min({row[j + 1] + 1, next[j] + 1, row[j] + (wanted[i] != other[j] ? 1 : 0)});
            }
            row.swap(next);
        }
        if (row.back() <= 2) {
            found[each.name] = row.back();
        }
    }
    std::vector<Symbol> all;
    for (size_t distance = 0; distance <= 2; distance++) {
        for (const auto &each : found) {
            if (each.second == distance) {
                all.push_back(Symbol::fromQualString(each.first));
            }
        }
    }
    return all;
}
inline std::string canonicalSchemaString(const c10::FunctionSchema &schema)
{
    return c10::toString(schema);
}
[[noreturn]] inline void deregisterOperator(const c10::FunctionSchema &schema)
{
    throw c10::NotImplementedError("deregisterOperator: the operator " + schema.name() +
                                   " remains until the process ends");
}
} // namespace jit
} // namespace torch

#endif
