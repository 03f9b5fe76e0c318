/* SPDX-License-Identifier: BSD-2-Clause */
// Tensor::index and index_put_, and the types of their indices: torch::indexing.
#ifndef TAPER_CPP_INDEXING_H
#define TAPER_CPP_INDEXING_H

#include <cstring>
#include <initializer_list>
#include <limits>

#include <taper/cpp/print.h>
#include <taper/cpp/tensor_ops.h>

namespace at
{
namespace indexing
{

constexpr int64_t INDEX_MAX = std::numeric_limits<int64_t>::max();
constexpr int64_t INDEX_MIN = std::numeric_limits<int64_t>::min();

enum class TensorIndexType { None, Ellipsis, Integer, Boolean, Slice, Tensor };

constexpr c10::nullopt_t None = c10::nullopt;

struct EllipsisIndexType final {
    constexpr EllipsisIndexType()
    {
    }
};
constexpr EllipsisIndexType Ellipsis;

// Slice(1, None, 2) is Python's 1::2.
struct Slice final {
    Slice(c10::optional<int64_t> start = c10::nullopt, c10::optional<int64_t> stop = c10::nullopt,
          c10::optional<int64_t> step = c10::nullopt)
        : step_(std::max(step.value_or(1), -INDEX_MAX))
    {
        if (step_ == 0) {
            throw c10::ValueError("slice step cannot be zero");
        }
        start_ = start.value_or(step_ < 0 ? INDEX_MAX : 0);
        stop_ = stop.value_or(step_ < 0 ? INDEX_MIN : INDEX_MAX);
    }
    int64_t start() const
    {
        return start_;
    }
    int64_t stop() const
    {
        return stop_;
    }
    int64_t step() const
    {
        return step_;
    }

  private:
    int64_t start_, stop_, step_;
};
inline std::ostream &operator<<(std::ostream &out, const Slice &slice)
{
    return out << slice.start() << ":" << slice.stop() << ":" << slice.step();
}

struct TensorIndex final {
    TensorIndex(c10::nullopt_t) : type_(TensorIndexType::None)
    {
    }
    TensorIndex(EllipsisIndexType) : type_(TensorIndexType::Ellipsis)
    {
    }
    TensorIndex(const char *text) : type_(TensorIndexType::Ellipsis)
    {
        if (std::strcmp(text, "...") != 0) {
            throw c10::ValueError(c10::str("an index that is text is \"...\", not \"", text, "\""));
        }
    }
    TensorIndex(int64_t integer) : type_(TensorIndexType::Integer), integer_(integer)
    {
    }
    TensorIndex(int integer) : TensorIndex(static_cast<int64_t>(integer))
    {
    }
    template <class T, class = std::enable_if_t<std::is_same<bool, T>::value>>
    TensorIndex(T boolean) : type_(TensorIndexType::Boolean), boolean_(boolean)
    {
    }
    TensorIndex(Slice slice) : type_(TensorIndexType::Slice), slice_(slice)
    {
    }
    TensorIndex(Tensor tensor) : type_(TensorIndexType::Tensor), tensor_(std::move(tensor))
    {
    }

    bool is_none() const
    {
        return type_ == TensorIndexType::None;
    }
    bool is_ellipsis() const
    {
        return type_ == TensorIndexType::Ellipsis;
    }
    bool is_integer() const
    {
        return type_ == TensorIndexType::Integer;
    }
    bool is_boolean() const
    {
        return type_ == TensorIndexType::Boolean;
    }
    bool is_slice() const
    {
        return type_ == TensorIndexType::Slice;
    }
    bool is_tensor() const
    {
        return type_ == TensorIndexType::Tensor;
    }
    int64_t integer() const
    {
        return integer_;
    }
    bool boolean() const
    {
        return boolean_;
    }
    const Slice &slice() const
    {
        return slice_;
    }
    const Tensor &tensor() const
    {
        return tensor_;
    }

  private:
    TensorIndexType type_;
    int64_t integer_ = 0;
    bool boolean_ = false;
    Slice slice_;
    Tensor tensor_;
};
inline std::ostream &operator<<(std::ostream &out, const TensorIndex &index)
{
    return index.is_none()       ? out << "None"
           : index.is_ellipsis() ? out << "..."
           : index.is_integer()  ? out << index.integer()
           : index.is_boolean()  ? out << (index.boolean() ? "true" : "false")
           : index.is_slice()    ? out << index.slice()
                                 : out << index.tensor();
}
inline std::ostream &operator<<(std::ostream &out, const std::vector<TensorIndex> &indices)
{
    out << "(";
    for (size_t i = 0; i < indices.size(); i++) {
        out << (i == 0 ? "" : ", ") << indices[i];
    }
    return out << ")";
}

namespace impl
{

// The view that integers, slices, None and "..." select from a tensor, and the indices that are tensors.
struct Sliced {
    Tensor tensor;
    std::vector<c10::optional<Tensor>> indices;

    Sliced(const Tensor &self, c10::ArrayRef<TensorIndex> all) : tensor(self)
    {
        if (all.empty()) {
            throw c10::Error("there is no index between the brackets: \"...\" is all of a tensor");
        }
        const int64_t named = count_named(all), rank = self.dim();
        if (named > rank) {
            throw c10::IndexError(c10::str("too many indices for a tensor of ", rank, " dimensions: ", named));
        }
        int64_t dim = 0;
        for (const TensorIndex &index : all) {
            if (index.is_integer()) {
                select(dim, index.integer());
            } else if (index.is_slice()) {
                slice(dim++, index.slice());
            } else if (index.is_ellipsis()) {
                dim += rank - named;
            } else if (index.is_none()) {
                tensor = tensor.unsqueeze(dim++);
            } else if (index.is_boolean()) {
                keep_or_drop(dim++, index.boolean());
            } else {
                take(dim, index.tensor());
            }
        }
    }

  private:
    static bool is_mask(const Tensor &index)
    {
        return index.scalar_type() == c10::kBool || index.scalar_type() == c10::kByte;
    }
    static int64_t count_named(c10::ArrayRef<TensorIndex> all)
    {
        int64_t count = 0;
        for (const TensorIndex &index : all) {
            if (index.is_tensor()) {
                if (!index.tensor().defined()) {
                    throw c10::IndexError("an index is an undefined tensor");
                }
                count += is_mask(index.tensor()) ? index.tensor().dim() : 1;
            }
            count += index.is_integer() || index.is_slice();
        }
        return count;
    }
    void select(int64_t dim, int64_t at)
    {
        if (dim == 0 && tensor.dim() == 0) {
            throw c10::IndexError("a tensor of 0 dimensions has no index: item<T>() is its number");
        }
        const int64_t size = tensor.size(dim);
        if (at < -size || at >= size) {
            throw c10::IndexError(c10::str("index ", at, " is out of bounds for dimension ", dim, " with size ", size));
        }
        tensor = tensor.select(dim, at);
    }
    void slice(int64_t dim, const Slice &by)
    {
        if (tensor.dim() == 0) {
            throw c10::IndexError("a tensor of 0 dimensions has no slices");
        }
        if (by.step() < 0) {
            throw c10::ValueError("step must be greater than zero");
        }
        if (by.start() != 0 || by.stop() != INDEX_MAX || by.step() != 1) {
            tensor = tensor.slice(dim, by.start(), by.stop(), by.step());
        }
    }
    void record(int64_t dim, const Tensor &index)
    {
        indices.resize(static_cast<size_t>(dim) + 1);
        indices.back() = index;
    }
    // Applies a bool index: inserts a dimension, and an index that selects its element if `keep` is true, or no
    // element.
    void keep_or_drop(int64_t dim, bool keep)
    {
        tensor = tensor.unsqueeze(dim);
        record(dim, at::zeros({keep ? 1 : 0}, c10::TensorOptions(c10::kLong)));
    }
    void take(int64_t &dim, const Tensor &index)
    {
        if (index.dim() == 0 && c10::isIntegralType(index.scalar_type(), true)) {
            if (is_mask(index)) {
                keep_or_drop(dim++, index.item().toBool());
            } else {
                select(dim, index.item().toLong());
            }
        } else {
            record(dim++, index);
        }
    }
};

inline std::vector<int64_t> without_leading_ones(IntArrayRef sizes)
{
    size_t first = 0;
    while (first < sizes.size() && sizes[first] == 1) {
        first++;
    }
    return std::vector<int64_t>(sizes.begin() + first, sizes.end());
}

inline void put(const Tensor &self, c10::ArrayRef<TensorIndex> indices, const Tensor &value)
{
    Sliced to(self, indices);
    if (to.indices.empty() && (to.tensor.sizes() == value.sizes() || value.dim() == 0)) {
        to.tensor.copy_(value);
        return;
    }
    const Tensor from = value.view(without_leading_ones(value.sizes()));
    if (to.indices.empty()) {
        to.tensor.copy_(from);
    } else {
        to.tensor.index_put_(c10::List<c10::optional<Tensor>>(to.indices), from);
    }
}

} // namespace impl

// The last argument of these functions has no effect. In PyTorch it tells whether a trace is recorded.
inline Tensor get_item(const Tensor &self, c10::ArrayRef<TensorIndex> indices, bool = false)
{
    return self.index(indices);
}
inline void set_item(const Tensor &self, c10::ArrayRef<TensorIndex> indices, const Tensor &value, bool = false)
{
    impl::put(self, indices, value);
}
inline void set_item(const Tensor &self, c10::ArrayRef<TensorIndex> indices, const c10::Scalar &value)
{
    impl::put(self, indices, at::scalar_tensor(value, self.options()));
}

} // namespace indexing

// Assignment to a part of a tensor, as in x[0] = y, writes to the tensor.
inline Tensor &Tensor::operator=(const Tensor &from) &&
{
    return copy_(from);
}
inline Tensor &Tensor::operator=(Tensor &&from) &&
{
    return copy_(from);
}
inline Tensor &Tensor::operator=(const c10::Scalar &value) &&
{
    return fill_(value);
}

inline Tensor Tensor::index(c10::ArrayRef<indexing::TensorIndex> indices) const
{
    const indexing::impl::Sliced sliced(*this, indices);
    if (!sliced.indices.empty()) {
        try {
            return sliced.tensor.index(c10::List<c10::optional<Tensor>>(sliced.indices));
        } catch (const c10::NotImplementedError &) {
            throw;
        } catch (const c10::Error &thrown) { // all errors about an index are IndexErrors
            throw c10::IndexError(thrown.what_without_backtrace(), thrown.backtrace());
        }
    }
    return sliced.tensor.is_same(*this) ? at::alias(*this) : sliced.tensor;
}
inline Tensor Tensor::index(std::initializer_list<indexing::TensorIndex> indices) const
{
    return index(c10::ArrayRef<indexing::TensorIndex>(indices));
}
inline Tensor &Tensor::index_put_(c10::ArrayRef<indexing::TensorIndex> indices, const Tensor &value)
{
    indexing::impl::put(*this, indices, value);
    return *this;
}
inline Tensor &Tensor::index_put_(c10::ArrayRef<indexing::TensorIndex> indices, const c10::Scalar &value)
{
    indexing::impl::put(*this, indices, at::scalar_tensor(value, options()));
    return *this;
}
inline Tensor &Tensor::index_put_(std::initializer_list<indexing::TensorIndex> indices, const Tensor &value)
{
    return index_put_(c10::ArrayRef<indexing::TensorIndex>(indices), value);
}
inline Tensor &Tensor::index_put_(std::initializer_list<indexing::TensorIndex> indices, const c10::Scalar &value)
{
    return index_put_(c10::ArrayRef<indexing::TensorIndex>(indices), value);
}

} // namespace at

#endif
