/* SPDX-License-Identifier: BSD-2-Clause */
// Embedding and EmbeddingBag.
#ifndef TAPER_CPP_NN_EMBEDDING_H
#define TAPER_CPP_NN_EMBEDDING_H

#include <taper/cpp/nn/init.h>
#include <taper/cpp/nn/options.h>

namespace torch
{
namespace nn
{

using EmbeddingBagMode = c10::variant<enumtype::kSum, enumtype::kMean, enumtype::kMax>;

#define TAPER_CPP_NN_EMBEDDING_ARGS                                                                                    \
    TORCH_ARG(c10::optional<int64_t>, padding_idx) = c10::nullopt;                                                     \
    TORCH_ARG(c10::optional<double>, max_norm) = c10::nullopt;                                                         \
    TORCH_ARG(double, norm_type) = 2.;                                                                                 \
    TORCH_ARG(bool, scale_grad_by_freq) = false;                                                                       \
    TORCH_ARG(bool, sparse) = false;
#define TAPER_CPP_NN_BAG_ARGS                                                                                          \
    TAPER_CPP_NN_EMBEDDING_ARGS                                                                                        \
    TORCH_ARG(EmbeddingBagMode, mode) = torch::kMean;                                                                  \
    TORCH_ARG(bool, include_last_offset) = false;
// The options for the sizes of an embedding's table, and for the table itself if the program gives one.
#define TAPER_CPP_NN_TABLE_ARGS(name)                                                                                  \
    name(int64_t rows, int64_t columns) : num_embeddings_(rows), embedding_dim_(columns)                               \
    {                                                                                                                  \
    }                                                                                                                  \
    TORCH_ARG(int64_t, num_embeddings);                                                                                \
    TORCH_ARG(int64_t, embedding_dim);                                                                                 \
    TORCH_ARG(torch::Tensor, _weight) = Tensor();
struct EmbeddingOptions {
    TAPER_CPP_NN_TABLE_ARGS(EmbeddingOptions)
    TAPER_CPP_NN_EMBEDDING_ARGS
};
struct EmbeddingFromPretrainedOptions {
    TORCH_ARG(bool, freeze) = true;
    TAPER_CPP_NN_EMBEDDING_ARGS
};
struct EmbeddingBagOptions {
    TAPER_CPP_NN_TABLE_ARGS(EmbeddingBagOptions)
    TAPER_CPP_NN_BAG_ARGS
};
struct EmbeddingBagFromPretrainedOptions {
    TORCH_ARG(bool, freeze) = true;
    TAPER_CPP_NN_BAG_ARGS
};

namespace functional
{
struct EmbeddingFuncOptions {
    TAPER_CPP_NN_EMBEDDING_ARGS
};
struct EmbeddingBagFuncOptions {
    TORCH_ARG(torch::Tensor, offsets) = Tensor();
    TORCH_ARG(torch::Tensor, per_sample_weights) = Tensor();
    TAPER_CPP_NN_BAG_ARGS
};

inline Tensor one_hot(const Tensor &tensor, int64_t num_classes = -1)
{
    return at::one_hot(tensor, num_classes);
}

namespace detail
{
// Returns the index of the padding row, counted from the first row; -1 for none.
inline int64_t padding_row(const c10::optional<int64_t> &padding, int64_t rows)
{
    if (!padding.has_value()) {
        return -1;
    }
    TORCH_CHECK(*padding < rows, "Padding_idx must be within num_embeddings");
    TORCH_CHECK(*padding >= -rows, "Padding_idx must be within num_embedding");
    return *padding < 0 ? rows + *padding : *padding;
}
// Scales, in the table itself, the looked-up rows whose norm is larger than max_norm.
inline void _no_grad_embedding_renorm_(Tensor weight, const Tensor &input, float max_norm, float norm_type)
{
    at::embedding_renorm_(weight, input, max_norm, norm_type);
}
inline Tensor embedding(const Tensor &input, const Tensor &weight, const c10::optional<int64_t> &padding,
                        const c10::optional<double> &max_norm, double norm_type, bool scale_grad_by_freq, bool sparse)
{
    const int64_t row = padding_row(padding, weight.size(0));
    Tensor from = input;
    if (max_norm.has_value()) {
        from = from.contiguous();
        _no_grad_embedding_renorm_(weight, from, static_cast<float>(*max_norm), static_cast<float>(norm_type));
    }
    return at::embedding(weight, from, row, scale_grad_by_freq, sparse);
}
// Checks the offsets of bags whose indices are one vector.
inline void check_offsets(const Tensor &input, const Tensor &offsets)
{
    TORCH_CHECK(offsets.defined(), "offsets has to be a 1D Tensor but got null");
    TORCH_CHECK(offsets.dim() == 1, "offsets has to be a 1D Tensor");
    const int64_t first = offsets[0].item<int64_t>(), last = offsets[-1].item<int64_t>();
    TORCH_CHECK(first == 0,
                "offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from position 0. "
                "However, got ",
                first);
    TORCH_CHECK(last <= input.size(0), "offsets[-1] can not be greater than input's length({", input.size(0),
                "}), but got offsets[-1] of {", last, "}");
}
} // namespace detail

inline Tensor embedding(const Tensor &input, const Tensor &weight, const EmbeddingFuncOptions &options = {})
{
    return detail::embedding(input, weight, options.padding_idx(), options.max_norm(), options.norm_type(),
                             options.scale_grad_by_freq(), options.sparse());
}
inline Tensor embedding_bag(const Tensor &input, const Tensor &weight, const EmbeddingBagFuncOptions &options = {})
{
    Tensor indices = input, offsets = options.offsets(), weights = options.per_sample_weights();
    // 0 for kSum, 1 for kMean, 2 for kMax, as the operator expects
    const int64_t mode = static_cast<int64_t>(options.mode().index());
    TORCH_CHECK(!weights.defined() || input.sizes() == weights.sizes(), "embedding_bag: If per_sample_weights (",
                weights.defined() ? weights.sizes() : IntArrayRef(),
                ") is not null, then it must have the same shape as the input (", input.sizes(), ")");
    if (input.dim() == 2) {
        TORCH_CHECK(!offsets.defined(), "If input is 2D, then offsets has to be null, as input is treated is a "
                                        "mini-batch of fixed length sequences. However, found offsets of type Tensor");
        offsets = at::arange(0, input.numel(), input.size(1), at::kLong);
        indices = indices.reshape(-1);
        weights = weights.defined() ? weights.reshape(-1) : weights;
    } else if (input.dim() == 1) {
        detail::check_offsets(input, offsets);
    } else {
        throw c10::Error(c10::str("input has to be 1D or 2D Tensor, but got Tensor of dimension ", input.dim()));
    }
    TORCH_CHECK(mode != 2 || !options.scale_grad_by_freq(),
                "max mode does not support scaling the gradient by the frequency");
    TORCH_CHECK(mode != 2 || !options.sparse(), "max mode does not support sparse weights");
    if (options.max_norm().has_value()) {
        detail::_no_grad_embedding_renorm_(weight, indices, static_cast<float>(*options.max_norm()),
                                           static_cast<float>(options.norm_type()));
    }
    TORCH_CHECK(!weights.defined() || mode == 0,
                "embedding_bag: per_sample_weights was not null. per_sample_weights is only supported for mode='kSum' "
                "(got mode='",
                enumtype::get_enum_name(options.mode()), "').Please open a feature request on GitHub.");
    return std::get<0>(at::embedding_bag(weight, indices, offsets, options.scale_grad_by_freq(), mode, options.sparse(),
                                         weights, options.include_last_offset(), options.padding_idx()));
}
} // namespace functional

namespace detail
{
// A module with a table of rows.
template <class Derived, class Options> class TableModule : public Cloneable<Derived>
{
  public:
    explicit TableModule(const Options &from) : options(from)
    {
        TableModule::reset();
    }
    void reset() override
    {
        const int64_t rows = options.num_embeddings(), columns = options.embedding_dim();
        const int64_t padding = functional::detail::padding_row(options.padding_idx(), rows);
        if (padding >= 0) {
            options.padding_idx(padding);
        }
        if (options._weight().defined()) {
            TORCH_CHECK(options._weight().sizes() == IntArrayRef({rows, columns}),
                        "Shape of _weight does not match num_embeddings and embedding_dim");
            weight = this->register_parameter("weight", options._weight());
        } else {
            weight = this->register_parameter("weight", at::empty({rows, columns}));
            reset_parameters();
        }
    }
    void reset_parameters()
    {
        init::normal_(weight);
        // The padding row of a bag keeps its numbers, because the operator leaves out this row. libtorch does the same.
        if (std::is_same<Options, EmbeddingOptions>::value && options.padding_idx().has_value()) {
            weight[*options.padding_idx()].fill_(0);
        }
    }
    Options options;
    Tensor weight;

  protected:
    void print_begin(std::ostream &out, const char *name) const
    {
        out << "torch::nn::" << name << "(num_embeddings=" << options.num_embeddings()
            << ", embedding_dim=" << options.embedding_dim();
    }
    void print_padding(std::ostream &out) const
    {
        if (options.padding_idx().has_value()) {
            out << ", padding_idx=" << *options.padding_idx();
        }
    }
    void print_norm(std::ostream &out) const
    {
        if (options.max_norm().has_value()) {
            out << ", max_norm=" << *options.max_norm();
        }
        if (options.norm_type() < 2 || options.norm_type() > 2) {
            out << ", norm_type=" << options.norm_type();
        }
        if (options.scale_grad_by_freq()) {
            out << ", scale_grad_by_freq=" << std::boolalpha << true;
        }
        if (options.sparse()) {
            out << ", sparse=" << std::boolalpha << true;
        }
    }
};

// Makes the holder (shared pointer) of a module whose table is the given rows. from: the options from which the
// module's options are copied.
template <class Holder, class Options, class From> Holder over_rows(const Tensor &rows, const From &from, Options made)
{
    return Holder(made._weight(rows)
                      .padding_idx(from.padding_idx())
                      .max_norm(from.max_norm())
                      .norm_type(from.norm_type())
                      .scale_grad_by_freq(from.scale_grad_by_freq())
                      .sparse(from.sparse()));
}
inline void check_rows(const Tensor &rows)
{
    TORCH_CHECK(rows.dim() == 2, "Embeddings parameter is expected to be 2-dimensional");
}
} // namespace detail

class EmbeddingImpl : public detail::TableModule<EmbeddingImpl, EmbeddingOptions>
{
  public:
    using detail::TableModule<EmbeddingImpl, EmbeddingOptions>::TableModule;
    TAPER_CPP_NN_LATE EmbeddingImpl(int64_t rows, int64_t columns) : TableModule(EmbeddingOptions(rows, columns))
    {
    }
    void pretty_print(std::ostream &out) const override
    {
        print_begin(out, "Embedding");
        print_padding(out);
        print_norm(out);
        out << ")";
    }
    Tensor forward(const Tensor &indices)
    {
        return functional::detail::embedding(indices, weight, options.padding_idx(), options.max_norm(),
                                             options.norm_type(), options.scale_grad_by_freq(), options.sparse());
    }
};
class Embedding : public ModuleHolder<EmbeddingImpl>
{
  public:
    using ModuleHolder<EmbeddingImpl>::ModuleHolder;
    using Impl = EmbeddingImpl;
    static Embedding from_pretrained(const Tensor &rows, const EmbeddingFromPretrainedOptions &options = {})
    {
        detail::check_rows(rows);
        return detail::over_rows<Embedding>(rows, options, EmbeddingOptions(rows.size(0), rows.size(1)));
    }
};

class EmbeddingBagImpl : public detail::TableModule<EmbeddingBagImpl, EmbeddingBagOptions>
{
  public:
    using detail::TableModule<EmbeddingBagImpl, EmbeddingBagOptions>::TableModule;
    TAPER_CPP_NN_LATE EmbeddingBagImpl(int64_t rows, int64_t columns) : TableModule(EmbeddingBagOptions(rows, columns))
    {
    }
    void pretty_print(std::ostream &out) const override
    {
        print_begin(out, "EmbeddingBag");
        print_norm(out);
        if (!c10::holds_alternative<enumtype::kMean>(options.mode())) {
            out << ", mode=" << enumtype::get_enum_name(options.mode());
        }
        if (options.include_last_offset()) {
            out << ", include_last_offset=" << std::boolalpha << true;
        }
        print_padding(out);
        out << ")";
    }
    Tensor forward(const Tensor &input, const Tensor &offsets = {}, const Tensor &per_sample_weights = {})
    {
        return functional::embedding_bag(input, weight,
                                         functional::EmbeddingBagFuncOptions()
                                             .offsets(offsets)
                                             .max_norm(options.max_norm())
                                             .norm_type(options.norm_type())
                                             .scale_grad_by_freq(options.scale_grad_by_freq())
                                             .mode(options.mode())
                                             .sparse(options.sparse())
                                             .per_sample_weights(per_sample_weights)
                                             .include_last_offset(options.include_last_offset())
                                             .padding_idx(options.padding_idx()));
    }

  protected:
    FORWARD_HAS_DEFAULT_ARGS({1, AnyValue(Tensor())}, {2, AnyValue(Tensor())})
};
class EmbeddingBag : public ModuleHolder<EmbeddingBagImpl>
{
  public:
    using ModuleHolder<EmbeddingBagImpl>::ModuleHolder;
    using Impl = EmbeddingBagImpl;
    static EmbeddingBag from_pretrained(const Tensor &rows, const EmbeddingBagFromPretrainedOptions &options = {})
    {
        detail::check_rows(rows);
        return detail::over_rows<EmbeddingBag>(rows, options,
                                               EmbeddingBagOptions(rows.size(0), rows.size(1)).mode(options.mode()));
    }
};

#undef TAPER_CPP_NN_EMBEDDING_ARGS
#undef TAPER_CPP_NN_BAG_ARGS
#undef TAPER_CPP_NN_TABLE_ARGS

} // namespace nn
} // namespace torch

#endif
