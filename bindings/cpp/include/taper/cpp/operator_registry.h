/* SPDX-License-Identifier: BSD-2-Clause */
// The operators that an app adds. Schemas and functions may be registered in any order.
#ifndef TAPER_CPP_OPERATOR_REGISTRY_H
#define TAPER_CPP_OPERATOR_REGISTRY_H

#include <cstring>
#include <map>
#include <mutex>
#include <new>

#include <taper/cpp/dispatch_key.h>
#include <taper/cpp/operator_function.h>
#include <taper/taper_operator.h>

namespace taper
{
namespace cpp
{

// The library keeps an operator forever, so this object is also kept forever. An operator whose registration has ended
// has no function.
struct AddedOperator {
    struct Kernel {
        c10::DispatchKey key;
        std::shared_ptr<OperatorFunction> function;
    };
    std::string name;
    std::string schema; // schema registered with the library; empty if none is yet
    std::string where;  // source line that defines the operator; empty if no line does
    bool own = false;   // true if the library itself has an operator of this name; models then call that operator
    std::vector<Kernel> kernels;
};

class OperatorRegistry
{
  public:
    // Never destroyed, because models may call operators until the process ends.
    static OperatorRegistry &all()
    {
        static OperatorRegistry *const registry = new OperatorRegistry;
        return *registry;
    }

    AddedOperator &define(const std::string &schema, const std::string &where)
    {
        const std::string name = SchemaText(schema).name();
        const std::lock_guard<std::mutex> guard(lock_);
        AddedOperator &op = named(name);
        if (!op.where.empty()) {
            throw c10::Error("operator " + name + " is registered already: " + op.where + "; now again: " + where);
        }
        for (const AddedOperator::Kernel &kernel : op.kernels) {
            check(schema, *kernel.function);
        }
        if (op.schema.empty()) {
            add(op, schema);
        } else if (op.schema != schema) {
            throw c10::Error("operator " + name + " keeps the schema that it had first in this process, " + op.schema +
                             "; now it was " + schema);
        }
        op.where = where;
        return op;
    }
    AddedOperator &implement(const std::string &name, c10::DispatchKey key,
                             const std::shared_ptr<OperatorFunction> &function)
    {
        const std::lock_guard<std::mutex> guard(lock_);
        AddedOperator &op = named(name);
        if (!op.schema.empty()) {
            check(op.schema, *function);
        }
        // Until this function is removed, it overrides earlier functions with its key.
        op.kernels.push_back({key, function});
        return op;
    }
    void undefine(AddedOperator &op)
    {
        const std::lock_guard<std::mutex> guard(lock_);
        op.where.clear();
    }
    void remove(AddedOperator &op, const OperatorFunction *function)
    {
        const std::lock_guard<std::mutex> guard(lock_);
        for (size_t i = op.kernels.size(); i-- > 0;) {
            if (op.kernels[i].function.get() == function) {
                op.kernels.erase(op.kernels.begin() + static_cast<std::ptrdiff_t>(i));
                break;
            }
        }
    }
    // Claims a namespace, which can be claimed only once, as in PyTorch.
    void claim(const std::string &space, const std::string &where)
    {
        const std::lock_guard<std::mutex> guard(lock_);
        const auto made = spaces_.emplace(space, where);
        if (!made.second) {
            throw c10::Error("there is a TORCH_LIBRARY of namespace " + space + " already: " + made.first->second +
                             "; now again: " + where + ". TORCH_LIBRARY_FRAGMENT may be there several times");
        }
    }
    void give_up(const std::string &space)
    {
        const std::lock_guard<std::mutex> guard(lock_);
        spaces_.erase(space);
    }
    static void check(const std::string &schema, const OperatorFunction &function)
    {
        if (function.typed) {
            check_signature(schema, function.signature);
        }
    }

  private:
    AddedOperator &named(const std::string &name)
    {
        std::unique_ptr<AddedOperator> &op = operators_[name];
        if (!op) {
            op.reset(new AddedOperator);
            op->name = name;
        }
        return *op;
    }
    static void add(AddedOperator &op, const std::string &schema)
    {
        ErrorScope error;
        const taper_status status = taper_operator_register(schema.c_str(), call, &op, error);
        op.own = status == TAPER_ERROR_ARGUMENT && std::strstr(taper_error_message(error), "is Taper's own") != nullptr;
        // If an app registers an operator that the library has, the app's operator is ignored. An operator in aten:: or
        // prim:: is refused.
        if (!op.own || op.name.compare(0, 6, "aten::") == 0 || op.name.compare(0, 6, "prim::") == 0) {
            error.check(status);
        }
        op.schema = schema;
    }

    static bool is_quantized(const c10::IValue &value)
    {
        if (value.isTensorList()) {
            for (const at::Tensor &tensor : value.toTensorVector()) {
                if (tensor.is_quantized()) {
                    return true;
                }
            }
        }
        return value.isTensor() && value.toTensor().is_quantized();
    }
    std::shared_ptr<OperatorFunction> choose(const AddedOperator &op, const std::vector<c10::IValue> &arguments)
    {
        using Key = c10::DispatchKey;
        bool quantized = false;
        for (const c10::IValue &argument : arguments) {
            quantized = quantized || is_quantized(argument);
        }
        const std::lock_guard<std::mutex> guard(lock_);
        for (Key key : {Key::QuantizedCPU, Key::CPU, Key::CompositeExplicitAutograd, Key::CompositeImplicitAutograd,
                        Key::Autograd, Key::AutogradCPU, Key::AutogradOther}) {
            for (size_t i = op.kernels.size(); i-- > 0;) {
                if (op.kernels[i].key == key && (quantized || key != Key::QuantizedCPU)) {
                    return op.kernels[i].function;
                }
            }
        }
        throw c10::NotImplementedError("there is no function of it for tensors of the CPU");
    }

    static void run(const AddedOperator &op, taper_value *const *args, size_t count, taper_value **results,
                    size_t result_count)
    {
        std::vector<c10::IValue> arguments, made;
        arguments.reserve(count);
        for (size_t i = 0; i < count; i++) {
            arguments.emplace_back(Handle(taper_value_retain(args[i])));
        }
        const std::shared_ptr<OperatorFunction> function = all().choose(op, arguments);
        function->call(arguments, made);
        if (made.size() != result_count) {
            throw c10::Error(c10::str("its function gave ", made.size(), " results, its schema has ", result_count));
        }
        for (size_t i = 0; i < result_count; i++) {
            const Handle value = made[i].isNone() ? make_value(taper_value_none) : made[i].handle();
            results[i] = taper_value_retain(value.get());
        }
    }
    // The library calls this from C, so that an exception of the function becomes the error of the run.
    static taper_status call(void *user, taper_context *values, taper_value *const *args, size_t count,
                             taper_value **results, size_t result_count, taper_error *error) noexcept
    {
        try {
            if (values != context()) {
                return taper_error_set(error, TAPER_ERROR_UNSUPPORTED,
                                       "its function is C++, for models that C++ loaded before the process's end");
            }
            run(*static_cast<const AddedOperator *>(user), args, count, results, result_count);
            return TAPER_OK;
        } catch (const std::bad_alloc &) {
            return taper_error_set(error, TAPER_ERROR_RESOURCE, "out of memory in its function");
        } catch (const c10::NotImplementedError &thrown) {
            return taper_error_set(error, TAPER_ERROR_UNSUPPORTED, thrown.what_without_backtrace());
        } catch (const c10::Error &thrown) {
            return taper_error_set(error, TAPER_ERROR_RAISED, thrown.what_without_backtrace());
        } catch (const std::exception &thrown) {
            return taper_error_set(error, TAPER_ERROR_RAISED, thrown.what());
        } catch (...) {
            return taper_error_set(error, TAPER_ERROR_RAISED, "its function threw something that is no std::exception");
        }
    }

    std::mutex lock_;
    // Operators by their full name, "ns::name.overload".
    std::map<std::string, std::unique_ptr<AddedOperator>> operators_;
    std::map<std::string, std::string> spaces_; // source line that claimed each namespace
};

// The registrations that one C++ object has made. They are removed when this object is destroyed.
class Registrations
{
  public:
    Registrations() = default;
    Registrations(Registrations &&other) noexcept : done_(std::move(other.done_)), spaces_(std::move(other.spaces_))
    {
        other.done_.clear();
        other.spaces_.clear();
    }
    Registrations &operator=(Registrations &&other) noexcept
    {
        std::swap(done_, other.done_);
        std::swap(spaces_, other.spaces_);
        return *this;
    }
    ~Registrations()
    {
        OperatorRegistry &all = OperatorRegistry::all();
        for (const Done &done : done_) {
            if (done.function == nullptr) {
                all.undefine(*done.op);
            } else {
                all.remove(*done.op, done.function);
            }
        }
        for (const std::string &space : spaces_) {
            all.give_up(space);
        }
    }

    // Keeps the registrations forever.
    void keep()
    {
        done_.clear();
        spaces_.clear();
    }
    void claim(const std::string &space, const std::string &where)
    {
        spaces_.reserve(spaces_.size() + 1);
        std::string kept = space;
        OperatorRegistry::all().claim(space, where);
        spaces_.push_back(std::move(kept));
    }
    void define(const std::string &schema, const std::string &where)
    {
        done_.reserve(done_.size() + 1);
        done_.push_back({&OperatorRegistry::all().define(schema, where), nullptr});
    }
    // Registers a function. name: "ns::name.overload".
    void implement(const std::string &name, c10::DispatchKey key, const std::shared_ptr<OperatorFunction> &function)
    {
        const std::string space = name.substr(0, name.find("::"));
        if (space == "aten" || space == "prim" || space == "quantized" || space == "prepacked") {
            throw c10::NotImplementedError("operator " + name +
                                           " is the library's own: it cannot be given another function");
        }
        done_.reserve(done_.size() + 1);
        done_.push_back({&OperatorRegistry::all().implement(name, key, function), function.get()});
    }
    // Defines an operator. Parts missing in name_or_schema are derived from the type of the function.
    void define(const std::string &name_or_schema, c10::DispatchKey key,
                const std::shared_ptr<OperatorFunction> &function, const std::string &where)
    {
        SchemaText text(name_or_schema);
        if (!text.has_signature() && !function->typed) {
            throw c10::Error("operator " + name_or_schema + " needs a schema: its function's type does not tell");
        }
        const std::string schema =
            text.has_signature() ? name_or_schema : schema_text(name_or_schema, function->signature);
        OperatorRegistry::check(schema, *function);
        define(schema, where);
        implement(text.name(), key, function);
    }

  private:
    struct Done {
        AddedOperator *op;
        const OperatorFunction *function; // registered function; nullptr for the registration of a schema
    };
    std::vector<Done> done_;
    std::vector<std::string> spaces_;
};

} // namespace cpp
} // namespace taper

#endif
