/* SPDX-License-Identifier: BSD-2-Clause */
// std::cout << tensor and << ivalue print the same text as PyTorch.
#ifndef TAPER_CPP_PRINT_H
#define TAPER_CPP_PRINT_H

#include <cmath>
#include <iomanip>
#include <iostream>
#include <ostream>

#include <taper/cpp/std_print.h>
#include <taper/cpp/tensor_ops.h>

namespace taper
{
namespace cpp
{

// Saves the format of a stream and restores it when destroyed.
class StreamFormat
{
  public:
    explicit StreamFormat(std::ostream &out) : out_(out), kept_(nullptr)
    {
        kept_.copyfmt(out);
    }
    ~StreamFormat()
    {
        out_.copyfmt(kept_);
    }
    StreamFormat(const StreamFormat &) = delete;
    StreamFormat &operator=(const StreamFormat &) = delete;

  private:
    std::ostream &out_;
    std::ios kept_;
};

// The format of the numbers of one matrix: divided by scale, in columns of `width` characters.
struct NumberFormat {
    double scale = 1;
    int64_t width = 0;
};

// Prints a matrix or a row of a contiguous tensor of doubles.
class MatrixPrinter
{
  public:
    MatrixPrinter(std::ostream &out, const double *data, int64_t rows, int64_t columns)
        : out_(out), data_(data), rows_(rows), columns_(columns)
    {
    }

    // Chooses the format from the number of integer digits of the largest and the smallest magnitude, and sets the
    // precision and notation of the stream.
    NumberFormat choose() const
    {
        NumberFormat format;
        const int64_t count = rows_ * columns_;
        bool whole = true;
        int64_t finite = 0;
        double least = 0, most = 0;
        for (int64_t i = 0; i < count; i++) {
            if (!std::isfinite(data_[i])) {
                continue;
            }
            const double magnitude = std::fabs(data_[i]);
            whole = whole && !(magnitude < std::ceil(magnitude));
            least = finite == 0 || magnitude < least ? magnitude : least;
            // PyTorch compares the magnitude of the first number with the values of the other numbers, and so does this
            // code.
            most = finite == 0 ? magnitude : data_[i] > most ? data_[i] : most;
            finite++;
        }
        const double low = finite == 0 ? 1 : digits(least), high = finite == 0 ? 1 : digits(most);
        if (whole && high > 9) {
            format.width = 11;
            out_ << std::scientific << std::setprecision(4);
        } else if (whole) {
            format.width = static_cast<int64_t>(high) + 1;
            out_ << std::defaultfloat;
        } else if (high - low > 4) {
            format.width = std::fabs(high) > 99 || std::fabs(low) > 99 ? 12 : 11;
            out_ << std::scientific << std::setprecision(4);
        } else {
            if (high > 5 || high < 0) {
                format.width = 7;
                format.scale = std::pow(10, high - 1);
            } else {
                format.width = high > 0 ? static_cast<int64_t>(high) + 6 : 7;
            }
            out_ << std::fixed << std::setprecision(4);
        }
        return format;
    }

    void column() const
    {
        const NumberFormat format = choose();
        scale_line(format, 0);
        for (int64_t i = 0; i < columns_; i++) {
            out_ << std::setw(static_cast<int>(format.width)) << data_[i] / format.scale << '\n';
        }
    }

    // Prints as many columns as a line has room for, then the next columns below.
    void matrix(int64_t line, int64_t indent) const
    {
        const NumberFormat format = choose();
        const int64_t fit = (line - indent) / (format.width + 1);
        blanks(indent);
        for (int64_t first = 0; first < columns_; first += fit) {
            const int64_t end = first + fit < columns_ ? first + fit : columns_;
            if (fit < columns_) {
                out_ << (first != 0 ? "\n" : "") << "Columns " << first + 1 << " to " << end;
                blanks(indent);
            }
            scale_line(format, indent);
            for (int64_t row = 0; row < rows_; row++) {
                for (int64_t i = first; i < end; i++) {
                    out_ << std::setw(static_cast<int>(format.width)) << data_[row * columns_ + i] / format.scale
                         << (i + 1 == end ? '\n' : ' ');
                }
                if (row + 1 < rows_) {
                    blanks(is_scaled(format) ? indent + 1 : indent);
                }
            }
        }
    }

  private:
    static double digits(double magnitude)
    {
        return magnitude > 0 || magnitude < 0 ? std::floor(std::log10(magnitude)) + 1 : 1;
    }
    static bool is_scaled(const NumberFormat &format)
    {
        return format.scale < 1 || format.scale > 1;
    }
    void blanks(int64_t count) const
    {
        for (int64_t i = 0; i < count; i++) {
            out_ << ' ';
        }
    }
    void scale_line(const NumberFormat &format, int64_t indent) const
    {
        if (is_scaled(format)) {
            {
                const StreamFormat guard(out_);
                out_ << std::defaultfloat << format.scale << " *" << '\n';
            }
            blanks(indent);
        }
    }

    std::ostream &out_;
    const double *data_;
    int64_t rows_, columns_;
};

inline void print_elements(std::ostream &out, const at::Tensor &doubles, int64_t line)
{
    const c10::IntArrayRef sizes = doubles.sizes();
    const double *data = doubles.const_data_ptr<double>();
    const size_t rank = sizes.size();
    if (rank == 0) {
        out << std::defaultfloat << data[0] << '\n';
    } else if (doubles.numel() == 0) {
        return;
    } else if (rank == 1) {
        MatrixPrinter(out, data, 1, sizes[0]).column();
    } else if (rank == 2) {
        MatrixPrinter(out, data, sizes[0], sizes[1]).matrix(line, 0);
    } else {
        // Prints a matrix for each index of the dimensions before the last two; the first dimension varies fastest.
        const int64_t rows = sizes[rank - 2], columns = sizes[rank - 1];
        const c10::IntArrayRef strides = doubles.strides();
        std::vector<int64_t> index(rank - 2, 0);
        for (bool first = true;; first = false) {
            int64_t offset = 0;
            out << (first ? "(" : "\n(");
            for (size_t i = 0; i < index.size(); i++) {
                out << index[i] + 1 << ',';
                offset += index[i] * strides[i];
            }
            out << ".,.) = " << '\n';
            MatrixPrinter(out, data + offset, rows, columns).matrix(line, 1);
            size_t next = 0;
            while (next < index.size() && ++index[next] == sizes[next]) {
                index[next++] = 0;
            }
            if (next == index.size()) {
                return;
            }
        }
    }
}

// Prints a float of an IValue. A whole number in the range of int64_t is printed as "2.".
inline void print_double(std::ostream &out, double number)
{
    if (std::fabs(number) < 9223372036854775808.0 && !(number > std::floor(number))) {
        out << static_cast<int64_t>(number) << '.';
    } else {
        const std::streamsize before = out.precision();
        out << std::setprecision(std::numeric_limits<double>::max_digits10) << number
            << std::setprecision(static_cast<int>(before));
    }
}

// Prints a complex number of an IValue, for example "1.-2.j".
inline void print_complex(std::ostream &out, c10::complex<double> number)
{
    print_double(out, number.real());
    out << (number.imag() >= 0 ? "+" : "");
    print_double(out, number.imag());
    out << 'j';
}

} // namespace cpp
} // namespace taper

namespace at
{

inline std::ostream &print(std::ostream &out, const Tensor &tensor, int64_t line_size)
{
    const taper::cpp::StreamFormat guard(out);
    if (!tensor.defined()) {
        return out << "[ Tensor (undefined) ]";
    }
    const Tensor plain = tensor.is_quantized() ? tensor.dequantize() : tensor;
    const Tensor doubles = plain.to(c10::kDouble).contiguous();
    taper::cpp::print_elements(out, doubles, line_size);
    out << "[ " << tensor.toString() << '{';
    const IntArrayRef sizes = tensor.sizes();
    for (size_t i = 0; i < sizes.size(); i++) {
        out << (i == 0 ? "" : ",") << sizes[i];
    }
    out << '}';
    const taper_tensor_info info = tensor.info();
    if (info.quantized == 1) {
        out << ", qscheme: per_tensor_affine, scale: " << info.scale << ", zero_point: " << info.zero_point;
    } else if (info.quantized == 2) {
        out << ", qscheme: per_channel_affine, scales: ";
        print(out, tensor.q_per_channel_scales(), line_size) << ", zero_points: ";
        print(out, tensor.q_per_channel_zero_points(), line_size) << ", axis: " << tensor.q_per_channel_axis();
    }
    return out << " ]";
}
// Prints a tensor to std::cout.
inline void print(const Tensor &tensor, int64_t line_size = 80)
{
    print(std::cout, tensor, line_size);
}
inline std::ostream &operator<<(std::ostream &out, const Tensor &tensor)
{
    return print(out, tensor, 80);
}

} // namespace at

namespace c10
{

inline std::ostream &operator<<(std::ostream &out, const IValue &value)
{
    switch (value.taper_kind_of()) {
    case TAPER_KIND_NONE:
        return out << "None";
    case TAPER_KIND_BOOL:
        return out << (value.toBool() ? "True" : "False");
    case TAPER_KIND_INT:
        return out << value.toInt();
    case TAPER_KIND_DOUBLE:
        taper::cpp::print_double(out, value.toDouble());
        return out;
    case TAPER_KIND_COMPLEX:
        taper::cpp::print_complex(out, value.toComplexDouble());
        return out;
    case TAPER_KIND_STRING:
        return out << value.toStringRef();
    case TAPER_KIND_DEVICE:
        return out << value.toDevice();
    case TAPER_KIND_TENSOR:
        return out << value.toTensor();
    case TAPER_KIND_LIST: {
        out << '[';
        const char *between = "";
        for (const IValue item : value.toList()) {
            out << between << item;
            between = ", ";
        }
        return out << ']';
    }
    case TAPER_KIND_TUPLE: {
        const ivalue::TupleElements &items = value.toTupleRef().elements();
        out << '(';
        for (size_t i = 0; i < items.size(); i++) {
            out << (i == 0 ? "" : ", ") << items[i];
        }
        return out << (items.size() == 1 ? ",)" : ")");
    }
    case TAPER_KIND_DICT: {
        const Dict<IValue, IValue> dict = value.toGenericDict();
        out << '{';
        const char *between = "";
        for (const auto &item : dict) {
            out << between << item.key() << ": " << item.value();
            between = ", ";
        }
        return out << '}';
    }
    case TAPER_KIND_OBJECT:
        if (value.isEnum()) {
            const intrusive_ptr<ivalue::EnumHolder> holder = value.toEnumHolder();
            return out << "Enum<" << holder->unqualifiedClassName() << '.' << holder->name() << '>';
        }
        if (!value.isObject()) {
            return out << value.tagKind();
        }
        return out << '<' << value.type()->str() << " object at " << taper_value_identity(value.handle().get()) << '>';
    default:
        return out << '<' << value.type()->str() << '>';
    }
}

template <class Customized> std::ostream &IValue::repr(std::ostream &out, Customized customized) const
{
    if (customized(out, *this)) {
        return out;
    }
    const char *between = "";
    const auto next = [&](const IValue &item) {
        out << between;
        between = ", ";
        item.repr(out, customized);
    };
    if (isString()) {
        out << '"' << toStringRef() << '"';
    } else if (isList()) {
        out << '[';
        for (const IValue &each : toListRef()) {
            next(each);
        }
        out << ']';
    } else if (isTuple()) {
        out << '(';
        for (const IValue &each : toTupleRef().elements()) {
            next(each);
        }
        out << (toTupleRef().size() == 1 ? ",)" : ")");
    } else if (isGenericDict()) {
        out << '{';
        for (const auto &each : toGenericDict()) {
            next(each.key());
            out << ": ";
            between = "";
            next(each.value());
        }
        out << '}';
    } else {
        out << *this;
    }
    return out;
}
inline void IValue::dump() const
{
    std::cout << *this << std::endl;
}

} // namespace c10

#endif
