/* SPDX-License-Identifier: BSD-2-Clause */
// torch::jit::Operator: operators whose functions take their arguments from a stack and push their results.
#ifndef TAPER_CPP_STACK_OPERATOR_H
#define TAPER_CPP_STACK_OPERATOR_H

#include <taper/cpp/default_dtype.h>
#include <taper/cpp/register_operators.h>

namespace c10
{
class OperatorHandle;
}

namespace torch
{
namespace jit
{

inline IValue pop(Stack &stack)
{
    if (stack.empty()) {
        throw c10::Error("there is nothing on the stack");
    }
    IValue last = std::move(stack.back());
    stack.pop_back();
    return last;
}
inline IValue pop(Stack *stack)
{
    return pop(*stack);
}
template <class... T> void push(Stack &stack, T &&...values)
{
    const int each[] = {0, (stack.emplace_back(std::forward<T>(values)), 0)...};
    (void)each;
}
template <class... T> void push(Stack *stack, T &&...values)
{
    push(*stack, std::forward<T>(values)...);
}
// Returns value i of the last n values of the stack.
inline IValue &peek(Stack &stack, size_t i, size_t n)
{
    if (n > stack.size() || i >= n) {
        throw c10::Error("there is too little on the stack");
    }
    return stack[stack.size() - n + i];
}
inline void drop(Stack &stack, size_t n)
{
    if (n > stack.size()) {
        throw c10::Error("there is too little on the stack");
    }
    stack.erase(stack.end() - static_cast<std::ptrdiff_t>(n), stack.end());
}
inline std::vector<IValue> last(const Stack &stack, size_t n)
{
    if (n > stack.size()) {
        throw c10::Error("there is too little on the stack");
    }
    return {stack.end() - static_cast<std::ptrdiff_t>(n), stack.end()};
}
// pop(stack, a, b) moves the last values of the stack to a and b, in the order in which they were pushed.
template <class... T> void pop(Stack &stack, T &...values)
{
    size_t i = 0;
    const int each[] = {0, (values = peek(stack, i++, sizeof...(T)).template to<T>(), 0)...};
    (void)each;
    drop(stack, sizeof...(T));
}

inline IValue &peek(Stack *stack, size_t i, size_t n)
{
    return peek(*stack, i, n);
}
inline const IValue &peek(const Stack &stack, size_t i, size_t n)
{
    return peek(const_cast<Stack &>(stack), i, n);
}
inline const IValue &peek(const Stack *stack, size_t i, size_t n)
{
    return peek(*stack, i, n);
}
// Returns `count` of the last n values of the stack, from value i of them on.
inline std::vector<IValue> peekSlice(const Stack &stack, size_t i, size_t count, size_t n)
{
    const std::vector<IValue> all = last(stack, n);
    if (i + count > n) {
        throw c10::Error("there is too little on the stack");
    }
    return {all.begin() + static_cast<std::ptrdiff_t>(i), all.begin() + static_cast<std::ptrdiff_t>(i + count)};
}
inline std::vector<IValue> last(const Stack *stack, size_t n)
{
    return last(*stack, n);
}
inline void drop(Stack *stack, size_t n)
{
    drop(*stack, n);
}
inline std::vector<IValue> pop(Stack &stack, size_t n)
{
    std::vector<IValue> values = last(stack, n);
    drop(stack, n);
    return values;
}
template <class T> void push_one(Stack &stack, T &&value)
{
    stack.emplace_back(std::forward<T>(value));
}
template <class T> void push_list_elements(Stack &stack, const c10::List<T> &list)
{
    for (const T each : list) {
        stack.emplace_back(each);
    }
}
template <class T> void pack(Stack &stack, T &&value)
{
    stack.emplace_back(std::forward<T>(value));
}
template <class T> void pack(Stack *stack, T &&value)
{
    pack(*stack, std::forward<T>(value));
}

// Pushes the items of a tuple, for operators whose functions return tuples.
template <class... T> struct TuplePacker {
    static void execute(Stack &stack, std::tuple<T...> &&values)
    {
        c10::impl::each_of(values, stack, std::index_sequence_for<T...>());
    }
};

struct Node;

class Operation
{
  public:
    Operation(std::nullptr_t)
    {
    }
    explicit operator bool() const noexcept
    {
        return static_cast<bool>(function_);
    }
    template <class Function, class = decltype(std::declval<Function &>()(std::declval<Stack &>()))>
    Operation(Function function) : function_(std::move(function))
    {
    }
    void operator()(Stack &stack) const
    {
        function_(stack);
    }

  private:
    std::function<void(Stack &)> function_;
};

// A function that makes an Operation for a node of a graph. Taper does not call such functions, because its graphs are
// not libtorch's.
using OperationCreator = Operation (*)(const Node *);

class Operator
{
  public:
    // An operator of the library or of the app; defined in dispatcher.h.
    Operator(const c10::OperatorHandle &handle, Operation operation);
    Operator(const std::string &name, const std::string &overload_name, std::vector<c10::Argument> arguments,
             std::vector<c10::Argument> returns, Operation operation, c10::AliasAnalysisKind kind)
        : Operator(c10::toString(c10::FunctionSchema(name, overload_name, std::move(arguments), std::move(returns))),
                   std::move(operation), kind)
    {
    }
    Operator(std::string schema, OperationCreator creator, c10::AliasAnalysisKind kind)
        : Operator(std::move(schema), Operation(nullptr), kind)
    {
        creator_ = creator;
    }
    Operator(c10::Symbol name, OperationCreator creator, c10::AliasAnalysisKind kind)
        : Operator(std::string(name.toQualString()) + "(...) -> ...", creator, kind)
    {
    }
    // schema: for example "my_ops::warp(Tensor image, Tensor flow) -> Tensor".
    Operator(std::string schema, Operation operation, c10::AliasAnalysisKind kind = c10::AliasAnalysisKind::FROM_SCHEMA)
        : schema_(std::move(schema)), operation_(std::move(operation)), kind_(kind)
    {
    }
    FunctionSchema schema() const; // defined in dispatcher.h, because parsing schemas costs time to compile
    // Returns false for an operator with a function of its own, because no dispatcher chooses its function.
    bool isC10Op() const
    {
        return is_listed_;
    }
    bool hasOperation() const
    {
        return static_cast<bool>(operation_);
    }
    Operation getOperation(const Node *node = nullptr) const
    {
        return creator_ != nullptr ? creator_(node) : operation_;
    }
    // Returns one function for every key, because all operators compute on the CPU.
    Operation getOperationForDispatchKey(c10::DispatchKey) const
    {
        TORCH_CHECK(is_listed_, "calling a JIT operator for dispatch key is not supported");
        return operation_;
    }
    c10::AliasAnalysisKind aliasAnalysisKind() const
    {
        return kind_;
    }
    c10::ArrayRef<at::Tag> getTags() const
    {
        if (is_listed_) {
            throw c10::NotImplementedError("Operator::getTags: operators of Taper have no tags");
        }
        return {};
    }

  private:
    friend void registerOperator(Operator op);
    std::string schema_;
    Operation operation_;
    c10::AliasAnalysisKind kind_ = c10::AliasAnalysisKind::FROM_SCHEMA;
    OperationCreator creator_ = nullptr;
    bool is_listed_ = false;
};

// Registers an operator forever, as in PyTorch.
inline void registerOperator(Operator op)
{
    if (!op.operation_) {
        throw c10::NotImplementedError("registerOperator: " + op.schema_ +
                                       " has only a function that makes its code; register the code itself");
    }
    const std::shared_ptr<taper::cpp::OperatorFunction> function = std::make_shared<taper::cpp::OperatorFunction>();
    const Operation operation = std::move(op.operation_);
    function->call = [operation](std::vector<c10::IValue> &arguments, std::vector<c10::IValue> &results) {
        operation(arguments);
        results = std::move(arguments);
    };
    taper::cpp::Registrations done;
    done.define(op.schema_, c10::DispatchKey::CatchAll, function, "by torch::jit::RegisterOperators");
    done.keep();
}

struct RegisterOperators {
    RegisterOperators() = default;
    explicit RegisterOperators(std::vector<c10::optional<Operator>> operators)
    {
        for (c10::optional<Operator> &op : operators) {
            if (op.has_value()) {
                registerOperator(std::move(*op));
            }
        }
    }
};

} // namespace jit
} // namespace torch

#endif
