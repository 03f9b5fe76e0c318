/* SPDX-License-Identifier: BSD-2-Clause */
// Modules: a model and a session, shared by all copies of a module, with a lock around its runs.
#ifndef TAPER_CPP_MODULE_H
#define TAPER_CPP_MODULE_H

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>

#include <taper/cpp/ivalue.h>
#include <taper/cpp/method_schema.h>
#include <taper/cpp/print.h>
#include <taper/taper_app.h>

namespace taper
{
namespace cpp
{

using Kwargs = std::unordered_map<std::string, c10::IValue>;

class LoadedModel : public std::enable_shared_from_this<LoadedModel>
{
  public:
    // Loads the file again, in evaluation mode or in the mode it was saved in.
    using Loader = std::function<taper_model *(bool evaluation)>;

    explicit LoadedModel(Loader loader) : loader_(std::move(loader))
    {
        open(false);
        if (!taper_model_is_training(model_.get())) {
            loader_ = nullptr; // the model is in evaluation mode already, so eval() needs no reload
        }
    }

    c10::IValue run(const char *method, const std::vector<c10::IValue> &inputs)
    {
        std::vector<Handle> made;
        const std::vector<taper_value *> all = c10::impl::pointers(inputs, made);
        taper_value *result = nullptr;
        ErrorScope error;
        const GuardedAllocator *guarded = guarded_allocator();
        if (guarded != nullptr && guarded->ran != nullptr) {
            guarded->ran(guarded->user, shared_from_this());
        }
        const Locked guard(*this);
        const taper_status status = taper_session_run(session_.get(), method, all.data(), all.size(), &result, error);
        if (status == TAPER_ERROR_ARGUMENT) {
            // The advice is optional: if this call fails, the error is still complete.
            (void)!taper_session_advise(session_.get(), method, all.data(), all.size(), error);
        }
        error.check(status);
        return c10::IValue(Handle(result));
    }

    c10::IValue run(const char *method, std::vector<c10::IValue> inputs, const Kwargs &kwargs)
    {
        if (!kwargs.empty()) {
            place(method, inputs, kwargs);
        }
        return run(method, inputs);
    }

    c10::IValue attribute(const std::string &name)
    {
        taper_value *value = nullptr;
        ErrorScope error;
        const Locked guard(*this);
        error.check(taper_session_attribute(session_.get(), name.c_str(), &value, error));
        return c10::IValue(Handle(value));
    }
    c10::FunctionSchema schema(const char *method)
    {
        const Locked guard(*this);
        const int count = taper_model_method_arguments(model_.get(), method);
        if (count < 0) {
            throw c10::Error(std::string("the file has no schema of method ") + method);
        }
        std::vector<c10::Argument> arguments, returns;
        const char *const module = taper_model_name(model_.get());
        arguments.emplace_back("self", c10::Type::of(module != nullptr ? module : "Any"));
        for (size_t i = 0; i < static_cast<size_t>(count); i++) {
            const char *const name = taper_model_argument_name(model_.get(), method, i);
            const char *const type = taper_model_argument_text(model_.get(), method, i);
            arguments.emplace_back(name != nullptr ? name : "", c10::Type::of(type != nullptr ? type : "Any"));
        }
        const char *const type = taper_model_return_text(model_.get(), method);
        returns.emplace_back("", c10::Type::of(type != nullptr ? type : "Any"));
        return c10::FunctionSchema(method, std::move(arguments), std::move(returns));
    }
    bool has_attribute(const std::string &name)
    {
        taper_value *value = nullptr;
        const Locked guard(*this);
        const bool found = taper_session_attribute(session_.get(), name.c_str(), &value, nullptr) == TAPER_OK;
        taper_value_release(value);
        return found;
    }
    std::vector<std::string> methods()
    {
        std::vector<std::string> names;
        const Locked guard(*this);
        const size_t count = taper_model_method_count(model_.get());
        for (size_t i = 0; i < count; i++) {
            names.emplace_back(taper_model_method_name(model_.get(), i));
        }
        return names;
    }
    std::string name()
    {
        const Locked guard(*this);
        const char *text = taper_model_name(model_.get());
        return text != nullptr ? text : "";
    }
    int64_t bytecode_version()
    {
        const Locked guard(*this);
        return taper_model_bytecode_version(model_.get());
    }
    bool is_training()
    {
        const Locked guard(*this);
        return taper_model_is_training(model_.get()) != 0;
    }
    // A model saved in training mode is loaded again. The training mode of another model is unknown and cannot be
    // restored.
    void train(bool on)
    {
        if (on && !loader_ && has_attribute("training") && !is_training()) {
            throw c10::NotImplementedError("a module that was saved in evaluation mode has no training mode here");
        }
        const Locked guard(*this);
        if (loader_ && (taper_model_is_training(model_.get()) != 0) != on) {
            open(!on);
        }
    }
    // Frees the memory kept for the next run, unless a run is active.
    void trim()
    {
        if (!is_mine() && lock_.try_lock()) {
            taper_session_trim(session_.get());
            lock_.unlock();
        }
    }
    // Fills in the extra files of the model whose names are requested.
    void extra_files(std::unordered_map<std::string, std::string> &files)
    {
        for (auto &file : files) {
            const size_t count = taper_model_extra_count(model_.get());
            for (size_t i = 0; i < count; i++) {
                if (file.first == taper_model_extra_name(model_.get(), i)) {
                    const void *data = nullptr;
                    size_t size = 0;
                    ErrorScope error;
                    error.check(taper_model_extra(model_.get(), file.first.c_str(), &data, &size, error));
                    file.second.assign(static_cast<const char *>(data), size);
                }
            }
        }
    }

  private:
    struct ReleaseModel {
        void operator()(taper_model *model) const
        {
            taper_model_release(model);
        }
    };
    struct DestroySession {
        void operator()(taper_session *session) const
        {
            taper_session_destroy(session);
        }
    };

    bool is_mine() const
    {
        return owner_.load(std::memory_order_relaxed) == std::this_thread::get_id();
    }
    // Locks the session. An operator of the app cannot call the module that called it: this throws instead of a
    // deadlock.
    class Locked
    {
      public:
        explicit Locked(LoadedModel &model) : model_(model)
        {
            if (model.is_mine()) {
                throw c10::Error("the module is running: what it calls cannot use it");
            }
            model.lock_.lock();
            model.owner_.store(std::this_thread::get_id(), std::memory_order_relaxed);
        }
        ~Locked()
        {
            model_.owner_.store(std::thread::id(), std::memory_order_relaxed);
            model_.lock_.unlock();
        }
        Locked(const Locked &) = delete;
        Locked &operator=(const Locked &) = delete;

      private:
        LoadedModel &model_;
    };

    void open(bool evaluation)
    {
        std::unique_ptr<taper_model, ReleaseModel> model(loader_(evaluation));
        taper_session *session = nullptr;
        ErrorScope error;
        error.check(taper_session_create(model.get(), nullptr, &session, error));
        session_.reset(session);
        DefaultGenerator::get().serve(session);
        model_ = std::move(model);
    }

    // Puts keyword arguments at their places in the method's schema.
    void place(const char *method, std::vector<c10::IValue> &inputs, const Kwargs &kwargs)
    {
        const Locked guard(*this);
        for (size_t placed = 0; placed < kwargs.size(); placed++) {
            const char *name = taper_model_argument_name(model_.get(), method, inputs.size());
            const auto found = name != nullptr ? kwargs.find(name) : kwargs.end();
            if (found == kwargs.end()) {
                throw c10::Error(c10::str(method, "() has no argument for one of those given by name: '",
                                          kwargs.begin()->first, "'"));
            }
            inputs.push_back(found->second);
        }
    }

    std::mutex lock_;
    std::atomic<std::thread::id> owner_{std::thread::id()};
    Loader loader_;
    std::unique_ptr<taper_model, ReleaseModel> model_;
    std::unique_ptr<taper_session, DestroySession> session_; // destroyed before the model
};

} // namespace cpp
} // namespace taper

namespace torch
{
namespace jit
{

using Kwargs = taper::cpp::Kwargs;
using ExtraFilesMap = std::unordered_map<std::string, std::string>;

// A method of a module. The module stays loaded as long as the method exists.
class Method
{
  public:
    Method(std::shared_ptr<taper::cpp::LoadedModel> model, std::string name)
        : model_(std::move(model)), name_(std::move(name))
    {
    }
    c10::IValue operator()(std::vector<c10::IValue> inputs, const Kwargs &kwargs = {}) const
    {
        return model_->run(name_.c_str(), std::move(inputs), kwargs);
    }
    void run(Stack &stack) const
    {
        c10::IValue result = model_->run(name_.c_str(), stack);
        stack.clear();
        stack.push_back(std::move(result));
    }
    const std::string &name() const
    {
        return name_;
    }
    // Returns the schema, valid as long as the method. Throws for files of bytecode 3 and 4, which have no schemas.
    const Function &function() const
    {
        if (!function_) {
            function_ = std::make_shared<const Function>(model_->schema(name_.c_str()));
        }
        return *function_;
    }

  private:
    std::shared_ptr<taper::cpp::LoadedModel> model_;
    std::string name_;
    mutable std::shared_ptr<const Function> function_;
};

namespace detail
{

// The common base of both kinds of modules.
class ModuleBase
{
  public:
    ModuleBase() = default;
    explicit ModuleBase(std::shared_ptr<taper::cpp::LoadedModel> model) : model_(std::move(model))
    {
    }

    c10::IValue forward(std::vector<c10::IValue> inputs, const Kwargs &kwargs = {}) const
    {
        return loaded().run("forward", std::move(inputs), kwargs);
    }
    c10::IValue operator()(std::vector<c10::IValue> inputs, const Kwargs &kwargs = {}) const
    {
        return forward(std::move(inputs), kwargs);
    }
    template <class... T> c10::IValue run_method(const std::string &name, T &&...inputs) const
    {
        return get_method(name)(std::vector<c10::IValue>{c10::IValue(std::forward<T>(inputs))...});
    }
    Method get_method(const std::string &name) const
    {
        const c10::optional<Method> found = find_method(name);
        if (!found.has_value()) {
            throw c10::Error("Method '" + name + "' is not defined.");
        }
        return *found;
    }
    c10::optional<Method> find_method(const std::string &name) const
    {
        for (const std::string &each : loaded().methods()) {
            if (each == name) {
                return Method(model_, name);
            }
        }
        return c10::nullopt;
    }
    std::vector<Method> get_methods() const
    {
        std::vector<Method> all;
        for (const std::string &each : loaded().methods()) {
            all.emplace_back(model_, each);
        }
        return all;
    }

    void eval()
    {
        train(false);
    }
    void train(bool on = true)
    {
        loaded().train(on);
    }
    bool is_training() const
    {
        return loaded().is_training();
    }
    // Returns an attribute by its path; names of submodules are separated by points: "layer1.weight".
    c10::IValue attr(const std::string &name) const
    {
        return loaded().attribute(name);
    }
    c10::IValue attr(const std::string &name, c10::IValue otherwise) const
    {
        return hasattr(name) ? attr(name) : otherwise;
    }
    bool hasattr(const std::string &name) const
    {
        return loaded().has_attribute(name);
    }
    int64_t bytecode_version() const
    {
        return loaded().bytecode_version();
    }
    // Has no effect: models stay on the CPU, and gradients are not supported.
    void to(c10::Device device, bool = false)
    {
        if (!device.is_cpu()) {
            throw c10::NotImplementedError("a module is on " + device.str() + " when it is loaded for it");
        }
    }

  protected:
    taper::cpp::LoadedModel &loaded() const
    {
        if (!model_) {
            throw c10::Error("the module is empty: it was default-constructed or moved from");
        }
        return *model_;
    }
    std::shared_ptr<taper::cpp::LoadedModel> model_;
};

} // namespace detail

class Module : public detail::ModuleBase
{
  public:
    using ModuleBase::ModuleBase;
};

namespace script
{
using Module = ::torch::jit::Module;
using ExtraFilesMap = ::torch::jit::ExtraFilesMap;
} // namespace script

namespace mobile
{
class Module : public detail::ModuleBase
{
  public:
    using ModuleBase::ModuleBase;
    std::string name() const
    {
        return loaded().name();
    }
};
using Method = ::torch::jit::Method;
} // namespace mobile

} // namespace jit
} // namespace torch

#endif
