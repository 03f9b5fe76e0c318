/* SPDX-License-Identifier: BSD-2-Clause */
// torch::jit::Function: a method of a module, with its schema.
#ifndef TAPER_CPP_FUNCTION_H
#define TAPER_CPP_FUNCTION_H

#include <exception>
#include <functional>

#include <taper/cpp/future.h>
#include <taper/cpp/method_schema.h>

namespace c10
{

// A reference to a function. The function must outlive the reference.
template <class F> class function_ref;
template <class R, class... Args> class function_ref<R(Args...)>
{
  public:
    function_ref() = default;
    function_ref(std::nullptr_t)
    {
    }
    template <class F, std::enable_if_t<!std::is_same<std::decay_t<F>, function_ref>::value, int> = 0>
    function_ref(F &&function)
        : call_([](intptr_t object, Args... arguments) -> R {
              return (*reinterpret_cast<std::remove_reference_t<F> *>(object))(std::forward<Args>(arguments)...);
          }),
          object_(reinterpret_cast<intptr_t>(&function))
    {
    }
    R operator()(Args... arguments) const
    {
        return call_(object_, std::forward<Args>(arguments)...);
    }
    explicit operator bool() const
    {
        return call_ != nullptr;
    }

  private:
    R (*call_)(intptr_t, Args...) = nullptr;
    intptr_t object_ = 0;
};

} // namespace c10

namespace at
{
// Runs the function in this thread, before launch() returns.
inline void launch(std::function<void()> function)
{
    function();
}
} // namespace at

namespace torch
{
namespace jit
{

struct Code;
namespace mobile
{
struct Code;
}
using TaskLauncher = std::function<void(std::function<void()>)>;

// Thrown if an operator of the app calls the module that called the operator.
struct RecursiveMethodCallError : public std::exception {
};

// The members of PyTorch's class Function that apps use: the name and the schema of a method.
class Function
{
  public:
    // run: replaces the arguments on the stack by the result.
    explicit Function(c10::FunctionSchema schema, c10::QualifiedName name = c10::QualifiedName(),
                      std::function<void(Stack &)> run = nullptr)
        : schema_(std::move(schema)), name_(std::move(name)), run_(std::move(run))
    {
    }
    void run(Stack &stack)
    {
        if (!run_) {
            throw c10::NotImplementedError("Function::run: " + name() + " has no code, only a schema");
        }
        run_(stack);
    }
    void run(Stack &&stack)
    {
        run(stack);
    }
    c10::IValue operator()(Stack stack, const std::unordered_map<std::string, c10::IValue> &kwargs = {})
    {
        schema_.checkAndNormalizeInputs(stack, kwargs);
        run(stack);
        return stack.front();
    }
    // Runs the function in the thread that the launcher chooses; without a launcher, in this thread before runAsync
    // returns.
    c10::intrusive_ptr<c10::ivalue::Future> runAsync(Stack &stack, const TaskLauncher &launcher = nullptr)
    {
        const c10::intrusive_ptr<c10::ivalue::Future> future =
            c10::make_intrusive<c10::ivalue::Future>(schema_.returns().at(0).type());
        Function self = *this;
        auto task = [self, stack, future]() mutable {
            try {
                self.run(stack);
                future->markCompleted(stack.front());
            } catch (...) {
                future->setError(std::current_exception());
            }
        };
        launcher ? launcher(task) : task();
        return future;
    }
    // Returns the name, with the name of the class before it: "__torch__.Net.forward".
    const c10::QualifiedName &qualname() const
    {
        return name_;
    }
    Function &setSchema(c10::FunctionSchema schema)
    {
        schema_ = std::move(schema);
        return *this;
    }
    // These functions return false, because no interpreter of libtorch runs the method.
    bool call(Stack &, c10::optional<size_t>, c10::function_ref<void(const Code &)>)
    {
        return false;
    }
    bool call(Stack &, c10::function_ref<void(const mobile::Code &)>)
    {
        return false;
    }
    const c10::FunctionSchema &getSchema() const
    {
        return schema_;
    }
    const std::string &name() const
    {
        return schema_.name();
    }
    void ensure_defined() const
    {
    }
    size_t num_inputs() const
    {
        return schema_.arguments().size();
    }
    const std::string &doc_string() const
    {
        static const std::string none;
        return none;
    }
    bool isGraphFunction() const
    {
        return true;
    }

  private:
    c10::FunctionSchema schema_;
    c10::QualifiedName name_;
    std::function<void(Stack &)> run_;
};
namespace mobile
{
using Function = torch::jit::Function;
}

} // namespace jit
} // namespace torch

#endif
