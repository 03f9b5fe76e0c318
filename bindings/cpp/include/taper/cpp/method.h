/* SPDX-License-Identifier: BSD-2-Clause */
// torch::jit::Method: a method of a module, its schema and its graph.
#ifndef TAPER_CPP_METHOD_H
#define TAPER_CPP_METHOD_H

#include <functional>
#include <iostream>
#include <memory>

#include <taper/cpp/future.h>
#include <taper/cpp/model_interface.h>

namespace torch
{
namespace jit
{

using Kwargs = taper::cpp::Kwargs;
class Module;
struct GraphExecutor;
namespace mobile
{
class Module;
}

// The text of the graph that Taper executes. Its spelling differs from that of PyTorch's graphs.
class Graph
{
  public:
    explicit Graph(std::string text) : text_(std::move(text))
    {
    }
    std::string toString(bool = true) const
    {
        return text_;
    }
    void dump() const
    {
        std::cout << text_;
    }
    friend std::ostream &operator<<(std::ostream &out, const Graph &graph)
    {
        return out << graph.text_;
    }

  private:
    std::string text_;
};

// A method of a module. The module stays loaded as long as the Method exists.
class Method
{
  public:
    Method(std::shared_ptr<taper::cpp::LoadedModel> model, std::string path, std::string name)
        : model_(std::move(model)), path_(std::move(path)), name_(std::move(name))
    {
    }
    Method(const c10::intrusive_ptr<c10::ivalue::Object> &object, Function *function)
        : Method(object->model(), object->path(), function->name())
    {
    }
    Method(const mobile::Module *module, Function *function); // defined in mobile_class.h
    [[noreturn]] GraphExecutor &get_executor() const
    {
        throw c10::NotImplementedError("Method::get_executor: modules are compiled when they are loaded");
    }
    // Returns -1, PyTorch's value for no debug handle. Errors of runs name modules and source lines, so handles are not
    // needed.
    int64_t get_debug_handle(size_t) const
    {
        return -1;
    }
    c10::IValue operator()(std::vector<c10::IValue> inputs, const Kwargs &kwargs = {}) const
    {
        return model_->run(path_, name_.c_str(), std::move(inputs), kwargs);
    }
    void run(Stack &stack) const
    {
        c10::IValue result = model_->run(path_, name_.c_str(), stack);
        stack.clear();
        stack.push_back(std::move(result));
    }
    void run(Stack &&stack) const
    {
        run(stack);
    }
    // Runs the method in the thread that the launcher chooses; without a launcher, in this thread before run_async
    // returns.
    c10::intrusive_ptr<c10::ivalue::Future> run_async(std::vector<c10::IValue> inputs, const Kwargs &kwargs = {},
                                                      const TaskLauncher &launcher = nullptr) const
    {
        const c10::intrusive_ptr<c10::ivalue::Future> future =
            c10::make_intrusive<c10::ivalue::Future>(function().getSchema().returns().at(0).type());
        const Method method = *this;
        const auto task = [method, inputs, kwargs, future] {
            try {
                future->markCompleted(method(inputs, kwargs));
            } catch (...) {
                future->setError(std::current_exception());
            }
        };
        if (launcher) {
            launcher(task);
        } else {
            task();
        }
        return future;
    }
    Module owner() const; // defined in module.h
    const std::string &name() const
    {
        return name_;
    }
    size_t num_inputs() const
    {
        return function().num_inputs();
    }
    // Returns the schema, valid as long as the method. Throws for files of bytecode 3 and 4, which have no schemas.
    Function &function() const
    {
        if (!function_) {
            const Method method = *this;
            function_ = std::make_shared<Function>(model_->schema(path_, name_.c_str()),
                                                   c10::QualifiedName(model_->class_name(path_) + "." + name_),
                                                   [method](Stack &stack) { // self is the first argument
                                                       stack.erase(stack.begin());
                                                       method.run(stack);
                                                   });
        }
        return *function_;
    }
    std::shared_ptr<Graph> graph() const
    {
        return std::make_shared<Graph>(model_->graph(path_, name_.c_str()));
    }

  private:
    std::shared_ptr<taper::cpp::LoadedModel> model_;
    std::string path_, name_;
    mutable std::shared_ptr<Function> function_;
};
namespace script
{
using Method = ::torch::jit::Method;
} // namespace script

} // namespace jit
} // namespace torch

#endif
