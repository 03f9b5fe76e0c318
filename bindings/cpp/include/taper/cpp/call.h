/* SPDX-License-Identifier: BSD-2-Clause */
// A call of an operator: its arguments, one after the other in the order of the schema, then its results. The generated
// functions (bindings/cpp/make_operators.c) are made of this.
#ifndef TAPER_CPP_CALL_H
#define TAPER_CPP_CALL_H

#include <array>
#include <tuple>
#include <type_traits>
#include <vector>

#include <taper/cpp/ivalue.h>
#include <taper/cpp/operators.h>

namespace taper
{
namespace cpp
{

// A result as what C++ has for it. A tensor that the operator does not give, None, is an undefined one.
template <class T, class = void> struct Result {
    static T from(Handle &value)
    {
        return c10::IValue(std::move(value)).to<T>();
    }
};
template <> struct Result<at::Tensor> {
    static at::Tensor from(Handle &value)
    {
        return value.kind() == TAPER_KIND_NONE ? at::Tensor() : at::Tensor(std::move(value));
    }
};
template <class T> struct Result<T, std::enable_if_t<std::is_enum<T>::value>> {
    static T from(Handle &value)
    {
        return static_cast<T>(c10::IValue(std::move(value)).toInt());
    }
};

template <size_t N> class Results
{
  public:
    template <class T> T as()
    {
        return As<T>::from(all);
    }
    Handle all[N == 0 ? 1 : N];

  private:
    template <class T> struct As {
        static T from(Handle *all)
        {
            return Result<T>::from(all[0]);
        }
    };
    template <class... T> struct As<std::tuple<T...>> {
        static std::tuple<T...> from(Handle *all)
        {
            return each(all, std::index_sequence_for<T...>());
        }
        template <size_t... I> static std::tuple<T...> each(Handle *all, std::index_sequence<I...>)
        {
            return std::tuple<T...>(Result<T>::from(all[I])...);
        }
    };
};

// What does not depend on how many arguments there are. Values that are made for the call are released with it; tensors
// stay the caller's.
class Arguments
{
  public:
    Arguments(const Arguments &) = delete;
    Arguments &operator=(const Arguments &) = delete;

    Arguments &nothing()
    {
        return *this;
    }
    Arguments &none()
    {
        return borrow(nullptr);
    }
    // An undefined tensor is None.
    Arguments &tensor(const at::Tensor &tensor)
    {
        return borrow(tensor.handle().get());
    }
    Arguments &tensor(const c10::optional<at::Tensor> &tensor)
    {
        return borrow(tensor.has_value() ? tensor->handle().get() : nullptr);
    }
    // One that the operator writes to. What lies on the model's own bytes is given bytes of its own first.
    Arguments &written(const at::Tensor &tensor)
    {
        own_bytes(tensor);
        return borrow(tensor.handle().get());
    }
    Arguments &tensors(at::TensorList tensors)
    {
        Items items(tensors.size());
        for (const at::Tensor &each : tensors) {
            items.borrow(each.handle().get());
        }
        return list("Tensor", items);
    }
    Arguments &written(at::TensorList tensors)
    {
        for (const at::Tensor &each : tensors) {
            own_bytes(each);
        }
        return this->tensors(tensors);
    }
    template <class T> Arguments &value(const c10::List<T> &list)
    {
        return borrow(list.handle().get());
    }

    Arguments &integer(int64_t number)
    {
        return take(make(taper_value_int, number));
    }
    Arguments &integer(const c10::optional<int64_t> &number)
    {
        return number.has_value() ? integer(*number) : none();
    }
    Arguments &integers(c10::IntArrayRef numbers)
    {
        return take(make(taper_value_list_int, numbers.data(), numbers.size()));
    }
    Arguments &integers(const c10::OptionalIntArrayRef &numbers)
    {
        return numbers.has_value() ? integers(*numbers) : none();
    }
    Arguments &number(double number)
    {
        return take(make(taper_value_double, number));
    }
    Arguments &number(const c10::optional<double> &number)
    {
        return number.has_value() ? this->number(*number) : none();
    }
    Arguments &numbers(c10::ArrayRef<double> numbers)
    {
        Items items(numbers.size());
        for (double each : numbers) {
            items.take(make(taper_value_double, each));
        }
        return list("float", items);
    }
    Arguments &numbers(const c10::optional<c10::ArrayRef<double>> &numbers)
    {
        return numbers.has_value() ? this->numbers(*numbers) : none();
    }
    Arguments &flag(bool flag)
    {
        return take(make(taper_value_bool, flag ? 1 : 0));
    }
    Arguments &flag(const c10::optional<bool> &flag)
    {
        return flag.has_value() ? this->flag(*flag) : none();
    }
    Arguments &flags(c10::ArrayRef<bool> flags)
    {
        Items items(flags.size());
        for (bool each : flags) {
            items.take(make(taper_value_bool, each ? 1 : 0));
        }
        return list("bool", items);
    }
    Arguments &scalar(const c10::Scalar &number)
    {
        return take(make(number));
    }
    Arguments &scalar(const c10::optional<c10::Scalar> &number)
    {
        return number.has_value() ? scalar(*number) : none();
    }
    Arguments &scalars(c10::ArrayRef<c10::Scalar> numbers)
    {
        Items items(numbers.size());
        for (const c10::Scalar &each : numbers) {
            items.take(make(each));
        }
        return list("number", items);
    }
    Arguments &text(c10::string_view text)
    {
        return take(make(taper_value_string, text.data(), text.size()));
    }
    Arguments &text(const c10::optional<c10::string_view> &text)
    {
        return text.has_value() ? this->text(*text) : none();
    }
    // Dtypes, layouts, memory formats: numbers to operators.
    template <class T> std::enable_if_t<std::is_enum<T>::value, Arguments &> named(T what)
    {
        return integer(static_cast<int64_t>(what));
    }
    template <class T> std::enable_if_t<std::is_enum<T>::value, Arguments &> named(const c10::optional<T> &what)
    {
        return what.has_value() ? named(*what) : none();
    }
    // Where a result is to be: operators run on the CPU.
    Arguments &device(const c10::optional<c10::Device> &where)
    {
        if (where.has_value() && !where->is_cpu()) {
            throw c10::NotImplementedError("there is no device " + where->str() + " for a single operator");
        }
        return none();
    }
    // dtype, layout, device, pin_memory
    Arguments &options(const c10::TensorOptions &options)
    {
        return named(options.dtype_opt()).none().device(options.device_opt()).none();
    }
    Arguments &format(const c10::TensorOptions &options, const c10::optional<c10::MemoryFormat> &format)
    {
        if (format.has_value() && options.memory_format_opt().has_value()) {
            throw c10::Error("Cannot set memory_format both in TensorOptions and explicit argument; please delete the "
                             "redundant setter.");
        }
        return named(format.has_value() ? format : options.memory_format_opt());
    }
    Arguments &generator(const c10::optional<at::Generator> &from)
    {
        generator_ = from.has_value() ? from->get() : nullptr;
        return none();
    }

  protected:
    Arguments(Operator &op, taper_value **values, bool *owned) : op_(op), values_(values), owned_(owned)
    {
    }
    ~Arguments()
    {
        for (size_t i = 0; i < count_; i++) {
            if (owned_[i]) {
                taper_value_release(values_[i]);
            }
        }
    }
    void call(Handle *results, taper_value **places, size_t count)
    {
        const OperatorLease lease(op_);
        const Drawing drawing(lease.get(), generator_);
        ErrorScope error;
        error.check(taper_operator_call(lease.get(), values_, count_, places, count, error));
        for (size_t i = 0; i < count; i++) {
            results[i] = Handle(places[i]);
        }
    }

  private:
    // While a call draws from another generator than the default one.
    class Drawing
    {
      public:
        Drawing(taper_operator *op, taper_generator *from) : op_(from != nullptr ? op : nullptr)
        {
            if (op_ != nullptr) {
                taper_operator_draw_from(op_, from);
            }
        }
        ~Drawing()
        {
            if (op_ != nullptr) {
                DefaultGenerator::get().serve(op_);
            }
        }
        Drawing(const Drawing &) = delete;
        Drawing &operator=(const Drawing &) = delete;

      private:
        taper_operator *op_;
    };

    // The items of a list that is being made.
    class Items
    {
      public:
        explicit Items(size_t count) : all_(few_), owns_(false), count_(0)
        {
            if (count > sizeof few_ / sizeof few_[0]) {
                many_.resize(count);
                all_ = many_.data();
            }
        }
        ~Items()
        {
            for (size_t i = 0; owns_ && i < count_; i++) {
                taper_value_release(all_[i]);
            }
        }
        Items(const Items &) = delete;
        Items &operator=(const Items &) = delete;
        void borrow(taper_value *value)
        {
            all_[count_++] = value;
        }
        void take(taper_value *value)
        {
            owns_ = true;
            borrow(value);
        }
        taper_value **data() const
        {
            return all_;
        }
        size_t size() const
        {
            return count_;
        }

      private:
        taper_value *few_[8];
        std::vector<taper_value *> many_;
        taper_value **all_;
        bool owns_;
        size_t count_;
    };

    template <class Make, class... Args> static taper_value *make(Make how, Args... args)
    {
        taper_value *value = nullptr;
        if (how(context(), args..., &value, nullptr) != TAPER_OK) {
            const ErrorScope error; // once more, for what to say
            error.check(how(context(), args..., &value, error));
        }
        return value;
    }
    static taper_value *make(const c10::Scalar &number)
    {
        return number.isComplex()
                   ? make(taper_value_complex, number.toComplexDouble().real(), number.toComplexDouble().imag())
               : number.isFloatingPoint() ? make(taper_value_double, number.toDouble())
               : number.isBoolean()       ? make(taper_value_bool, number.toBool() ? 1 : 0)
                                          : make(taper_value_int, number.toLong());
    }
    static void own_bytes(const at::Tensor &tensor)
    {
        if (tensor.info().read_only) {
            ErrorScope error;
            error.check(taper_value_make_writable(tensor.handle().get(), error));
        }
    }
    Arguments &list(const char *type, const Items &items)
    {
        return take(make(taper_value_list, type, items.data(), items.size()));
    }
    Arguments &borrow(taper_value *value)
    {
        values_[count_] = value;
        owned_[count_++] = false;
        return *this;
    }
    Arguments &take(taper_value *value)
    {
        values_[count_] = value;
        owned_[count_++] = true;
        return *this;
    }

    Operator &op_;
    taper_value **values_;
    bool *owned_;
    size_t count_ = 0;
    taper_generator *generator_ = nullptr;
};

template <size_t N> class Call : public Arguments
{
  public:
    explicit Call(Operator &op) : Arguments(op, values_, owned_)
    {
    }
    template <size_t R> Results<R> run()
    {
        Results<R> results;
        taper_value *places[R == 0 ? 1 : R];
        call(results.all, places, R);
        return results;
    }

  private:
    taper_value *values_[N == 0 ? 1 : N];
    bool owned_[N == 0 ? 1 : N];
};

} // namespace cpp
} // namespace taper

#endif
