/* SPDX-License-Identifier: BSD-2-Clause */
// torch::RegisterOperators: registers operators by their full names.
#ifndef TAPER_CPP_REGISTER_OPERATORS_H
#define TAPER_CPP_REGISTER_OPERATORS_H

#include <taper/cpp/method_schema.h>
#include <taper/cpp/operator_registry.h>

namespace c10
{

// Example: static auto registry = torch::RegisterOperators("my_ops::warp", &warp).op("my_ops::other", &other);
class RegisterOperators final
{
  public:
    // The schema and functions of one operator.
    class Options final
    {
      public:
        Options(const Options &) = delete;
        Options &operator=(const Options &) = delete;

        Options &&schema(const std::string &name_or_schema)
        {
            if (!schema_.empty()) {
                throw Error("operator " + schema_ + ": options have one schema, " + name_or_schema + " is another");
            }
            schema_ = name_or_schema;
            return std::move(*this);
        }
        Options &&schema(FunctionSchema &&schema)
        {
            return this->schema(toString(schema));
        }
        template <class Function, Function *address> Options &&kernel(DispatchKey key) &&
        {
            return add(key, taper::cpp::operator_function(address));
        }
        template <
            class Functor, class... Args,
            std::enable_if_t<std::is_class<Functor>::value && std::is_base_of<OperatorKernel, Functor>::value, int> = 0>
        Options &&kernel(DispatchKey key, Args &&...args) &&
        {
            return add(key, taper::cpp::operator_function(Functor(std::forward<Args>(args)...)));
        }
        template <class Function,
                  std::enable_if_t<!std::is_base_of<OperatorKernel, std::decay_t<Function>>::value, int> = 0>
        Options &&kernel(DispatchKey key, Function &&function) &&
        {
            return add(key, taper::cpp::operator_function(std::decay_t<Function>(std::forward<Function>(function))));
        }
        template <class Function, Function *address> Options &&catchAllKernel() &&
        {
            return std::move(*this).template kernel<Function, address>(DispatchKey::CatchAll);
        }
        template <
            class Functor, class... Args,
            std::enable_if_t<std::is_class<Functor>::value && std::is_base_of<OperatorKernel, Functor>::value, int> = 0>
        Options &&catchAllKernel(Args &&...args) &&
        {
            return std::move(*this).template kernel<Functor>(DispatchKey::CatchAll, std::forward<Args>(args)...);
        }
        template <class Function,
                  std::enable_if_t<!std::is_base_of<OperatorKernel, std::decay_t<Function>>::value, int> = 0>
        Options &&catchAllKernel(Function &&function) &&
        {
            return std::move(*this).kernel(DispatchKey::CatchAll, std::forward<Function>(function));
        }
        Options &&aliasAnalysis(AliasAnalysisKind) &&
        {
            return std::move(*this);
        }

      private:
        friend class RegisterOperators;
        Options() = default;
        Options(Options &&) = default;
        Options &&add(DispatchKey key, std::shared_ptr<taper::cpp::OperatorFunction> function)
        {
            functions_.push_back({key, std::move(function)});
            return std::move(*this);
        }
        std::string schema_;
        std::vector<taper::cpp::AddedOperator::Kernel> functions_;
    };
    static Options options()
    {
        return Options();
    }

    RegisterOperators() = default;
    RegisterOperators(RegisterOperators &&) noexcept = default;
    RegisterOperators &operator=(RegisterOperators &&) noexcept = default;
    explicit RegisterOperators(const std::string &name_or_schema, Options &&options)
    {
        add(std::move(options).schema(name_or_schema));
    }
    template <class Function, std::enable_if_t<!std::is_same<std::decay_t<Function>, Options>::value, int> = 0>
    explicit RegisterOperators(const std::string &name_or_schema, Function &&function, Options &&options = Options())
    {
        add(std::move(options).schema(name_or_schema).kernel(DispatchKey::CatchAll, std::forward<Function>(function)));
    }

    RegisterOperators &&op(Options &&options) &&
    {
        add(std::move(options));
        return std::move(*this);
    }
    RegisterOperators &op(Options &&options) &
    {
        add(std::move(options));
        return *this;
    }
    RegisterOperators &&op(FunctionSchema schema, Options &&options) &&
    {
        add(std::move(options).schema(std::move(schema)));
        return std::move(*this);
    }
    RegisterOperators &&op(const std::string &name_or_schema, Options &&options = Options()) &&
    {
        add(std::move(options).schema(name_or_schema));
        return std::move(*this);
    }
    RegisterOperators &op(const std::string &name_or_schema, Options &&options = Options()) &
    {
        add(std::move(options).schema(name_or_schema));
        return *this;
    }
    template <class Function, std::enable_if_t<!std::is_same<std::decay_t<Function>, Options>::value, int> = 0>
    RegisterOperators &&op(const std::string &name_or_schema, Function &&function, Options &&options = Options()) &&
    {
        add(std::move(options).schema(name_or_schema).kernel(DispatchKey::CatchAll, std::forward<Function>(function)));
        return std::move(*this);
    }

  private:
    void add(Options &&options)
    {
        const std::string &schema = options.schema_;
        if (schema.empty()) {
            throw Error("an operator has no schema: options().schema(…) or op(\"ns::name\", …) gives it");
        }
        taper::cpp::Registrations done; // removes all registrations if one of them throws
        if (options.functions_.empty()) {
            done.define(schema, "by RegisterOperators");
        }
        for (size_t i = 0; i < options.functions_.size(); i++) {
            const taper::cpp::AddedOperator::Kernel &kernel = options.functions_[i];
            if (i == 0) {
                done.define(schema, kernel.key, kernel.function, "by RegisterOperators");
            } else {
                done.implement(taper::cpp::SchemaText(schema).name(), kernel.key, kernel.function);
            }
        }
        done_.push_back(std::move(done));
    }
    std::vector<taper::cpp::Registrations> done_;
};

} // namespace c10

namespace torch
{
using c10::RegisterOperators;
}

#endif
