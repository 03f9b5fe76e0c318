/* SPDX-License-Identifier: BSD-2-Clause */
// Calls of operators, as the functions that bindings/cpp/make_operators.c generates make them. Such a function passes
// the operator's name, a letter for the type of each argument, and pointers to the arguments. Its body therefore
// compiles fast: there are thousands of such functions in each unit that includes torch/script.h.
#ifndef TAPER_CPP_CALL_H
#define TAPER_CPP_CALL_H

#include <array>
#include <cstdarg>
#include <tuple>
#include <type_traits>
#include <vector>

#include <taper/cpp/ivalue.h>
#include <taper/cpp/operators.h>

namespace taper
{
namespace cpp
{

// Converts a result to its C++ type. A None for a tensor becomes an undefined tensor.
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

// The arguments of a call. Values made for the call are released with it; tensors belong to the caller.
class Arguments
{
  public:
    enum { most = 48 }; // largest number of arguments of an operator; make_operators.c checks this limit

    Arguments() = default;
    ~Arguments()
    {
        for (size_t i = 0; i < owned_count_; i++) {
            taper_value_release(owned_[i]);
        }
    }
    Arguments(const Arguments &) = delete;
    Arguments &operator=(const Arguments &) = delete;

    // Adds all arguments. letters: their types in the order of the schema; make_operators.c lists which C++ type a
    // letter stands for. from: a pointer to each argument.
    void add(const char *letters, const void *const *from)
    {
        for (; *letters != ' '; letters++) {
            if (*letters == 'T') { // most arguments are tensors
                tensor(whole<at::Tensor>(*from++));
            } else {
                add(*letters, *from++);
            }
        }
    }
    // Calls the operator. count: the number of results that the caller takes; 0 to drop all of them.
    void call(Operator &op, Handle *results, size_t count)
    {
        const OperatorLease lease(op);
        const Drawing drawing(lease.get(), generator_);
        const size_t made = op.result_count();
        taper_value *places[most_results];
        if (made > most_results) {
            throw c10::Error("an operator has more results than a call has places for");
        }
        ErrorScope error;
        error.check(taper_operator_call(lease.get(), values_, count_, places, made, error));
        for (size_t i = 0; i < made; i++) {
            Handle result(places[i]);
            if (i < count) {
                results[i] = std::move(result);
                if (options_ != nullptr && options_->requires_grad()) {
                    require_gradient(results[i], true);
                }
            }
        }
    }

  private:
    enum { most_results = 16 };

    // Makes operators draw random numbers from the given generator instead of the default generator, for the duration
    // of a call.
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

    // Collects the items of a list before the list is made.
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

    // Returns an argument, or the value of an optional argument; null if there is no value.
    template <class T> static const T *whole(const void *argument)
    {
        return static_cast<const T *>(argument);
    }
    template <class T> static const T *inside(const void *argument)
    {
        const auto &optional = *static_cast<const c10::optional<T> *>(argument);
        return optional.has_value() ? &*optional : nullptr;
    }

    void add(char letter, const void *at)
    {
        switch (letter) {
        case 'W':
            own_bytes(*whole<at::Tensor>(at));
            return tensor(whole<at::Tensor>(at));
        case 'O':
            return tensor(inside<at::Tensor>(at));
        case 'L':
            return tensors(*whole<at::TensorList>(at));
        case 'X':
            for (const at::Tensor &each : *whole<at::TensorList>(at)) {
                own_bytes(each);
            }
            return tensors(*whole<at::TensorList>(at));
        case 'V':
            return borrow(whole<c10::List<c10::optional<at::Tensor>>>(at)->handle().get());
        case 'i':
            return integer(whole<int64_t>(at));
        case 'I':
            return integer(inside<int64_t>(at));
        case 'n':
            return integers(whole<c10::IntArrayRef>(at));
        case 'N': {
            const auto &numbers = *whole<c10::OptionalIntArrayRef>(at);
            return integers(numbers.has_value() ? &*numbers : nullptr);
        }
        case 'd':
            return number(whole<double>(at));
        case 'D':
            return number(inside<double>(at));
        case 'e':
            return numbers(whole<c10::ArrayRef<double>>(at));
        case 'E':
            return numbers(inside<c10::ArrayRef<double>>(at));
        case 'b':
            return flag(whole<bool>(at));
        case 'B':
            return flag(inside<bool>(at));
        case '2': // an array of two flags
        case '3':
        case '4':
            return flags(c10::ArrayRef<bool>(whole<bool>(at), static_cast<size_t>(letter - '0')));
        case 'h':
            return flags(*whole<c10::ArrayRef<bool>>(at));
        case 's':
            return scalar(whole<c10::Scalar>(at));
        case 'S':
            return scalar(inside<c10::Scalar>(at));
        case 'r':
            return scalars(*whole<c10::ArrayRef<c10::Scalar>>(at));
        case 't':
            return text(whole<c10::string_view>(at));
        case 'U':
            return text(inside<c10::string_view>(at));
        case 'g':
            return generator(inside<at::Generator>(at));
        default:
            return add_option(letter, at);
        }
    }
    // Adds an option that describes a result: its dtype, layout, device or memory format.
    void add_option(char letter, const void *at)
    {
        switch (letter) {
        case 'k':
            return named(whole<c10::ScalarType>(at));
        case 'K':
            return named(inside<c10::ScalarType>(at));
        case 'y':
            return named(whole<c10::Layout>(at));
        case 'Y':
            return named(inside<c10::Layout>(at));
        case 'm':
            return named(whole<c10::MemoryFormat>(at));
        case 'M':
            return named(inside<c10::MemoryFormat>(at));
        case 'q':
            return named(whole<c10::QScheme>(at));
        case 'v':
            return device(whole<c10::Device>(at));
        case 'w':
            return device(inside<c10::Device>(at));
        case 'o': // dtype, layout, device and pin_memory
            return options(*whole<c10::TensorOptions>(at));
        case 'f': // the memory format; the TensorOptions before it may contain a memory format too
            return format(inside<c10::MemoryFormat>(at));
        default:
            throw c10::Error("no argument has the letter of this call"); // make_operators.c writes no other letter
        }
    }

    // Adds a tensor; an undefined tensor becomes None.
    void tensor(const at::Tensor *tensor)
    {
        borrow(tensor != nullptr ? tensor->handle().get() : nullptr);
    }
    void tensors(at::TensorList tensors)
    {
        Items items(tensors.size());
        for (const at::Tensor &each : tensors) {
            items.borrow(each.handle().get());
        }
        list("Tensor", items);
    }
    void integer(const int64_t *number)
    {
        take(number != nullptr ? make(taper_value_int, *number) : nullptr);
    }
    void integers(const c10::IntArrayRef *numbers)
    {
        take(numbers != nullptr ? make(taper_value_list_int, numbers->data(), numbers->size()) : nullptr);
    }
    void number(const double *number)
    {
        take(number != nullptr ? make(taper_value_double, *number) : nullptr);
    }
    void numbers(const c10::ArrayRef<double> *numbers)
    {
        if (numbers == nullptr) {
            return borrow(nullptr);
        }
        Items items(numbers->size());
        for (double each : *numbers) {
            items.take(make(taper_value_double, each));
        }
        list("float", items);
    }
    void flag(const bool *flag)
    {
        take(flag != nullptr ? make(taper_value_bool, *flag ? 1 : 0) : nullptr);
    }
    void flags(c10::ArrayRef<bool> flags)
    {
        Items items(flags.size());
        for (bool each : flags) {
            items.take(make(taper_value_bool, each ? 1 : 0));
        }
        list("bool", items);
    }
    void scalar(const c10::Scalar *number)
    {
        take(number != nullptr ? make(*number) : nullptr);
    }
    void scalars(c10::ArrayRef<c10::Scalar> numbers)
    {
        Items items(numbers.size());
        for (const c10::Scalar &each : numbers) {
            items.take(make(each));
        }
        list("number", items);
    }
    void text(const c10::string_view *text)
    {
        take(text != nullptr ? make(taper_value_string, text->data(), text->size()) : nullptr);
    }
    // Adds a dtype, layout or memory format, which operators take as an int.
    template <class T> void named(const T *what)
    {
        const int64_t number = what != nullptr ? static_cast<int64_t>(*what) : 0;
        integer(what != nullptr ? &number : nullptr);
    }
    // Adds the device of a result. Operators run on the CPU.
    void device(const c10::Device *where)
    {
        if (where != nullptr && !where->is_cpu()) {
            throw c10::NotImplementedError("there is no device " + where->str() + " for a single operator");
        }
        borrow(nullptr);
    }
    void options(const c10::TensorOptions &options)
    {
        options_ = &options;
        const c10::optional<c10::ScalarType> dtype = options.dtype_opt();
        const c10::optional<c10::Layout> layout = options.layout_opt();
        const c10::optional<c10::Device> where = options.device_opt();
        named(inside<c10::ScalarType>(&dtype));
        named(inside<c10::Layout>(&layout));
        device(inside<c10::Device>(&where));
        borrow(nullptr);
    }
    void format(const c10::MemoryFormat *format)
    {
        const c10::optional<c10::MemoryFormat> other = options_->memory_format_opt();
        if (format != nullptr && other.has_value()) {
            throw c10::Error("Cannot set memory_format both in TensorOptions and explicit argument; please delete the "
                             "redundant setter.");
        }
        named(format != nullptr ? format : inside<c10::MemoryFormat>(&other));
    }
    void generator(const at::Generator *from)
    {
        generator_ = from != nullptr ? from->get() : nullptr;
        borrow(nullptr);
    }

    template <class Make, class... Args> static taper_value *make(Make how, Args... args)
    {
        taper_value *value = nullptr;
        if (how(context(), args..., &value, nullptr) != TAPER_OK) {
            const ErrorScope error; // the call is repeated to get its error text
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
    // A tensor over the model's own bytes gets a copy of the bytes before an operator writes to the tensor.
    static void own_bytes(const at::Tensor &tensor)
    {
        if (tensor.info().read_only) {
            ErrorScope error;
            error.check(taper_value_make_writable(tensor.handle().get(), error));
        }
    }
    void list(const char *type, const Items &items)
    {
        take(make(taper_value_list, type, items.data(), items.size()));
    }
    void borrow(taper_value *value)
    {
        values_[count_++] = value;
    }
    void take(taper_value *value)
    {
        owned_[owned_count_++] = value;
        borrow(value);
    }

    taper_value *values_[most], *owned_[most];
    size_t count_ = 0, owned_count_ = 0;
    taper_generator *generator_ = nullptr;
    const c10::TensorOptions *options_ = nullptr;
};

// The arguments of the three functions below: "TTs aten::add.Tensor", which are the letters of the arguments and the
// operator's name, then a pointer to each argument.
struct Collected {
    // Collects the pointers.
    Collected(const char *call, va_list pointers) noexcept : letters(call)
    {
        size_t count = 0;
        for (; *call != ' '; call++) {
            from[count++] = va_arg(pointers, const void *);
        }
        name = call + 1;
    }
    // Calls the operator. count: the number of results that the caller takes.
    void call(Handle *results, size_t count) const
    {
        Arguments arguments;
        arguments.add(letters, from);
        arguments.call(operator_of(name), results, count);
    }

    const char *letters, *name;
    const void *from[Arguments::most];
};

// Converts the results of an operator to one C++ value. Several results become a tuple.
template <class T> struct Results {
    static T of(const Collected &all)
    {
        Handle result;
        all.call(&result, 1);
        return Result<T>::from(result);
    }
};
template <class... T> struct Results<std::tuple<T...>> {
    static std::tuple<T...> of(const Collected &all)
    {
        Handle results[sizeof...(T)];
        all.call(results, sizeof...(T));
        return each(results, std::index_sequence_for<T...>());
    }
    template <size_t... I> static std::tuple<T...> each(Handle *results, std::index_sequence<I...>)
    {
        return std::tuple<T...>(Result<T>::from(results[I])...);
    }
};

// The three functions that the generated functions call. run() drops the results, because the operator writes to its
// arguments.
inline void run(const char *call, ...)
{
    va_list pointers;
    va_start(pointers, call);
    const Collected all(call, pointers);
    va_end(pointers);
    all.call(nullptr, 0);
}
inline at::Tensor tensor_of(const char *call, ...)
{
    va_list pointers;
    va_start(pointers, call);
    const Collected all(call, pointers);
    va_end(pointers);
    return Results<at::Tensor>::of(all);
}
template <class T> T result_of(const char *call, ...)
{
    va_list pointers;
    va_start(pointers, call);
    const Collected all(call, pointers);
    va_end(pointers);
    return Results<T>::of(all);
}

} // namespace cpp
} // namespace taper

#endif
