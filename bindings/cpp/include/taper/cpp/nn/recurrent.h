/* SPDX-License-Identifier: BSD-2-Clause */
// RNN, LSTM and GRU, and the options of their cells.
#ifndef TAPER_CPP_NN_RECURRENT_H
#define TAPER_CPP_NN_RECURRENT_H

#include <cmath>
#include <string>

#include <taper/cpp/nn/init.h>
#include <taper/cpp/nn/options.h>
#include <taper/cpp/nn/utils.h>

namespace torch
{
namespace nn
{

// The options that all recurrent layers have.
#define TAPER_CPP_NN_RNN_ARGS(name)                                                                                    \
    name(int64_t input, int64_t hidden) : input_size_(input), hidden_size_(hidden)                                     \
    {                                                                                                                  \
    }                                                                                                                  \
    TAPER_CPP_NN_RNN_MORE_ARGS
#define TAPER_CPP_NN_RNN_MORE_ARGS                                                                                     \
    TORCH_ARG(int64_t, input_size);                                                                                    \
    TORCH_ARG(int64_t, hidden_size);                                                                                   \
    TORCH_ARG(int64_t, num_layers) = 1;                                                                                \
    TORCH_ARG(bool, bias) = true;                                                                                      \
    TORCH_ARG(bool, batch_first) = false;                                                                              \
    TORCH_ARG(double, dropout) = 0.0;                                                                                  \
    TORCH_ARG(bool, bidirectional) = false;
#define TAPER_CPP_NN_CELL_ARGS(name)                                                                                   \
    name(int64_t input, int64_t hidden) : input_size_(input), hidden_size_(hidden)                                     \
    {                                                                                                                  \
    }                                                                                                                  \
    TORCH_ARG(int64_t, input_size);                                                                                    \
    TORCH_ARG(int64_t, hidden_size);                                                                                   \
    TORCH_ARG(bool, bias) = true;
namespace detail
{
struct RNNOptionsBase {
    using rnn_options_base_mode_t =
        c10::variant<enumtype::kLSTM, enumtype::kGRU, enumtype::kRNN_TANH, enumtype::kRNN_RELU>;
    RNNOptionsBase(rnn_options_base_mode_t mode, int64_t input, int64_t hidden)
        : input_size_(input), hidden_size_(hidden), mode_(mode)
    {
    }
    TAPER_CPP_NN_RNN_MORE_ARGS
    TORCH_ARG(rnn_options_base_mode_t, mode);
    TORCH_ARG(int64_t, proj_size) = 0;
};
struct RNNCellOptionsBase {
    RNNCellOptionsBase(int64_t input, int64_t hidden, bool bias, int64_t chunks)
        : input_size_(input), hidden_size_(hidden), bias_(bias), num_chunks_(chunks)
    {
    }
    virtual ~RNNCellOptionsBase() = default;
    TORCH_ARG(int64_t, input_size);
    TORCH_ARG(int64_t, hidden_size);
    TORCH_ARG(bool, bias);
    TORCH_ARG(int64_t, num_chunks);
};
} // namespace detail
struct RNNOptions {
    using nonlinearity_t = c10::variant<enumtype::kTanh, enumtype::kReLU>;
    TAPER_CPP_NN_RNN_ARGS(RNNOptions)
    TORCH_ARG(nonlinearity_t, nonlinearity) = torch::kTanh;
};
struct LSTMOptions {
    TAPER_CPP_NN_RNN_ARGS(LSTMOptions)
    TORCH_ARG(int64_t, proj_size) = 0;
};
struct GRUOptions {
    TAPER_CPP_NN_RNN_ARGS(GRUOptions)
};
struct RNNCellOptions {
    using nonlinearity_t = c10::variant<enumtype::kTanh, enumtype::kReLU>;
    TAPER_CPP_NN_CELL_ARGS(RNNCellOptions)
    TORCH_ARG(nonlinearity_t, nonlinearity) = torch::kTanh;
};
struct LSTMCellOptions {
    TAPER_CPP_NN_CELL_ARGS(LSTMCellOptions)
};
struct GRUCellOptions {
    TAPER_CPP_NN_CELL_ARGS(GRUCellOptions)
};
#undef TAPER_CPP_NN_RNN_ARGS
#undef TAPER_CPP_NN_RNN_MORE_ARGS
#undef TAPER_CPP_NN_CELL_ARGS

namespace detail
{

using Pair = std::tuple<Tensor, Tensor>;
using OptionalPair = c10::optional<Pair>;
using PackedSequence = utils::rnn::PackedSequence;

// Draws all parameters of a recurrent module.
inline void reset_recurrent(const Module &module, int64_t hidden)
{
    const double bound = hidden > 0 ? 1 / std::sqrt(static_cast<double>(hidden)) : 0;
    for (const Tensor &each : module.parameters()) {
        init::uniform_(each, -bound, bound);
    }
}
// The name of the class without "Impl".
inline std::string recurrent_name(const Module &module)
{
    return module.name().substr(0, module.name().size() - 4);
}
inline Tensor permuted(const Tensor &hidden, const Tensor &order)
{
    return order.defined() ? hidden.index_select(1, order) : hidden;
}
inline Pair permuted(const Pair &hidden, const Tensor &order)
{
    return Pair(permuted(std::get<0>(hidden), order), permuted(std::get<1>(hidden), order));
}

template <class Derived> class RNNImplBase : public Cloneable<Derived>
{
  public:
    explicit RNNImplBase(const RNNOptionsBase &from) : options_base(from)
    {
        RNNImplBase::reset();
    }
    void reset() override
    {
        const RNNOptionsBase &o = options_base;
        TORCH_CHECK(0 <= o.dropout() && o.dropout() <= 1,
                    "dropout should be a number in range [0, 1] representing the probability of an element being "
                    "zeroed");
        TORCH_CHECK(0 <= o.proj_size() && o.proj_size() < o.hidden_size(),
                    "proj_size has to be a positive integer, smaller than hidden_size or zero to disable projections");
        TORCH_CHECK(o.proj_size() == 0 || is_lstm(), "proj_size argument is only supported for LSTM, not RNN or GRU");
        for (int64_t layer = 0; layer < o.num_layers(); layer++) {
            for (int64_t direction = 0; direction < directions(); direction++) {
                add_layer(layer, "_l" + std::to_string(layer) + (direction == 1 ? "_reverse" : ""));
            }
        }
        reset_parameters();
    }
    void reset_parameters()
    {
        reset_recurrent(*this, options_base.hidden_size());
    }
    void pretty_print(std::ostream &out) const override
    {
        const RNNOptionsBase &o = options_base;
        out << std::boolalpha << recurrent_name(*this) << "(input_size=" << o.input_size()
            << ", hidden_size=" << o.hidden_size() << ", num_layers=" << o.num_layers() << ", bias=" << o.bias()
            << ", batch_first=" << o.batch_first() << ", dropout=" << o.dropout()
            << ", bidirectional=" << o.bidirectional();
        if (o.proj_size() > 0) {
            out << ", proj_size=" << o.proj_size();
        }
        out << ")";
    }
    // Does nothing, because the operators take the parameters as they are.
    void flatten_parameters()
    {
    }
    std::vector<Tensor> all_weights() const
    {
        return this->parameters(false);
    }
    RNNOptionsBase options_base;

  protected:
    bool is_lstm() const
    {
        return c10::holds_alternative<enumtype::kLSTM>(options_base.mode());
    }
    int64_t directions() const
    {
        return options_base.bidirectional() ? 2 : 1;
    }
    int64_t output_size() const
    {
        return options_base.proj_size() > 0 ? options_base.proj_size() : options_base.hidden_size();
    }
    int64_t batch_of(const Tensor &input) const
    {
        return options_base.batch_first() ? input.size(0) : input.size(1);
    }
    Tensor zero_hidden(const Tensor &input, int64_t batch, int64_t size) const
    {
        return at::zeros({options_base.num_layers() * directions(), batch, size}, input.options());
    }
    void check_input(const Tensor &input, const Tensor &batch_sizes) const
    {
        const int64_t rank = batch_sizes.defined() ? 2 : 3;
        TORCH_CHECK(input.dim() == rank, "input must have ", rank, " dimensions, got ", input.dim());
        TORCH_CHECK(options_base.input_size() == input.size(-1),
                    "input.size(-1) must be equal to input_size. Expected ", options_base.input_size(), ", got ",
                    input.size(-1));
    }
    // size: size of the state of one item of a batch. what: name of the state in the error.
    void check_hidden(const Tensor &input, const Tensor &hidden, const Tensor &batch_sizes, int64_t size,
                      const char *what) const
    {
        const int64_t batch = batch_sizes.defined() ? batch_sizes[0].item<int64_t>() : batch_of(input);
        const std::vector<int64_t> wanted = {options_base.num_layers() * directions(), batch, size};
        TORCH_CHECK(hidden.sizes() == IntArrayRef(wanted), "Expected hidden", what, " size ", wanted, ", got ",
                    hidden.sizes());
    }

  private:
    void add_layer(int64_t layer, const std::string &suffix)
    {
        const RNNOptionsBase &o = options_base;
        const int64_t gates = (is_lstm()                                          ? 4
                               : c10::holds_alternative<enumtype::kGRU>(o.mode()) ? 3
                                                                                  : 1) *
                              o.hidden_size();
        const int64_t input = layer == 0 ? o.input_size() : output_size() * directions();
        this->register_parameter("weight_ih" + suffix, at::empty({gates, input}));
        this->register_parameter("weight_hh" + suffix, at::empty({gates, output_size()}));
        if (o.bias()) {
            this->register_parameter("bias_ih" + suffix, at::empty({gates}));
            this->register_parameter("bias_hh" + suffix, at::empty({gates}));
        }
        if (o.proj_size() > 0) {
            this->register_parameter("weight_hr" + suffix, at::empty({o.proj_size(), o.hidden_size()}));
        }
    }
};

template <class Options> RNNOptionsBase base_of(const Options &from, RNNOptionsBase::rnn_options_base_mode_t mode)
{
    return RNNOptionsBase(mode, from.input_size(), from.hidden_size())
        .num_layers(from.num_layers())
        .bias(from.bias())
        .batch_first(from.batch_first())
        .dropout(from.dropout())
        .bidirectional(from.bidirectional());
}

// A layer with a single state (RNN, GRU). Derived::run calls the operator of the layer; batch_sizes is undefined for a
// padded input.
template <class Derived> class OneStateRNN : public RNNImplBase<Derived>
{
  public:
    using RNNImplBase<Derived>::RNNImplBase;
    Pair forward(const Tensor &input, Tensor hx = {})
    {
        return step(input, Tensor(), Tensor(), Tensor(), this->batch_of(input), std::move(hx));
    }
    std::tuple<PackedSequence, Tensor> forward_with_packed_input(const PackedSequence &packed, Tensor hx = {})
    {
        const Pair both = step(packed.data(), packed.batch_sizes(), packed.sorted_indices(), packed.unsorted_indices(),
                               packed.batch_sizes()[0].template item<int64_t>(), std::move(hx));
        return std::make_tuple(
            PackedSequence(std::get<0>(both), packed.batch_sizes(), packed.sorted_indices(), packed.unsorted_indices()),
            std::get<1>(both));
    }

  protected:
    FORWARD_HAS_DEFAULT_ARGS({1, AnyValue(Tensor())})

  private:
    Pair step(const Tensor &input, const Tensor &batch_sizes, const Tensor &sorted, const Tensor &unsorted,
              int64_t batch, Tensor hx)
    {
        const int64_t hidden = this->options_base.hidden_size();
        hx = hx.defined() ? permuted(hx, sorted) : this->zero_hidden(input, batch, hidden);
        this->check_input(input, batch_sizes);
        this->check_hidden(input, hx, batch_sizes, hidden, "");
        const Pair both = static_cast<Derived *>(this)->run(input, batch_sizes, hx);
        return Pair(std::get<0>(both), permuted(std::get<1>(both), unsorted));
    }
};

} // namespace detail

// Calls the operator `op` of a recurrent layer for a padded or a packed input.
#define TAPER_CPP_NN_RUN(op, hx)                                                                                       \
    batch_sizes.defined() ? op(input, batch_sizes, hx, all_weights(), options.bias(), options.num_layers(),            \
                               options.dropout(), is_training(), options.bidirectional())                              \
                          : op(input, hx, all_weights(), options.bias(), options.num_layers(), options.dropout(),      \
                               is_training(), options.bidirectional(), options.batch_first())

class RNNImpl : public detail::OneStateRNN<RNNImpl>
{
  public:
    TAPER_CPP_NN_LATE RNNImpl(int64_t input, int64_t hidden) : RNNImpl(RNNOptions(input, hidden))
    {
    }
    TAPER_CPP_NN_LATE explicit RNNImpl(const RNNOptions &from)
        : OneStateRNN(detail::base_of(from, mode_of(from))), options(from)
    {
    }
    RNNOptions options;

  private:
    friend class detail::OneStateRNN<RNNImpl>;
    static detail::RNNOptionsBase::rnn_options_base_mode_t mode_of(const RNNOptions &from)
    {
        if (c10::holds_alternative<enumtype::kTanh>(from.nonlinearity())) {
            return torch::kRNN_TANH;
        }
        return torch::kRNN_RELU;
    }
    detail::Pair run(const Tensor &input, const Tensor &batch_sizes, const Tensor &hx) const
    {
        if (c10::holds_alternative<enumtype::kTanh>(options.nonlinearity())) {
            return TAPER_CPP_NN_RUN(at::rnn_tanh, hx);
        }
        return TAPER_CPP_NN_RUN(at::rnn_relu, hx);
    }
};
TORCH_MODULE(RNN);

class GRUImpl : public detail::OneStateRNN<GRUImpl>
{
  public:
    TAPER_CPP_NN_LATE GRUImpl(int64_t input, int64_t hidden) : GRUImpl(GRUOptions(input, hidden))
    {
    }
    TAPER_CPP_NN_LATE explicit GRUImpl(const GRUOptions &from)
        : OneStateRNN(detail::base_of(from, torch::kGRU)), options(from)
    {
    }
    GRUOptions options;

  private:
    friend class detail::OneStateRNN<GRUImpl>;
    detail::Pair run(const Tensor &input, const Tensor &batch_sizes, const Tensor &hx) const
    {
        return TAPER_CPP_NN_RUN(at::gru, hx);
    }
};
TORCH_MODULE(GRU);

class LSTMImpl : public detail::RNNImplBase<LSTMImpl>
{
  public:
    TAPER_CPP_NN_LATE LSTMImpl(int64_t input, int64_t hidden) : LSTMImpl(LSTMOptions(input, hidden))
    {
    }
    TAPER_CPP_NN_LATE explicit LSTMImpl(const LSTMOptions &from)
        : RNNImplBase(detail::base_of(from, torch::kLSTM).proj_size(from.proj_size())), options(from)
    {
    }
    std::tuple<Tensor, detail::Pair> forward(const Tensor &input, detail::OptionalPair hx = {})
    {
        return step(input, Tensor(), Tensor(), Tensor(), batch_of(input), hx);
    }
    std::tuple<detail::PackedSequence, detail::Pair> forward_with_packed_input(const detail::PackedSequence &packed,
                                                                               detail::OptionalPair hx = {})
    {
        const std::tuple<Tensor, detail::Pair> both =
            step(packed.data(), packed.batch_sizes(), packed.sorted_indices(), packed.unsorted_indices(),
                 packed.batch_sizes()[0].item<int64_t>(), hx);
        return std::make_tuple(detail::PackedSequence(std::get<0>(both), packed.batch_sizes(), packed.sorted_indices(),
                                                      packed.unsorted_indices()),
                               std::get<1>(both));
    }
    LSTMOptions options;

  protected:
    FORWARD_HAS_DEFAULT_ARGS({1, AnyValue(detail::OptionalPair())})

  private:
    std::tuple<Tensor, detail::Pair> step(const Tensor &input, const Tensor &batch_sizes, const Tensor &sorted,
                                          const Tensor &unsorted, int64_t batch, const detail::OptionalPair &given)
    {
        const detail::Pair hidden = given.has_value() ? detail::permuted(*given, sorted)
                                                      : detail::Pair(zero_hidden(input, batch, output_size()),
                                                                     zero_hidden(input, batch, options.hidden_size()));
        const std::vector<Tensor> hx = {std::get<0>(hidden), std::get<1>(hidden)};
        check_input(input, batch_sizes);
        check_hidden(input, hx[0], batch_sizes, output_size(), "[0]");
        check_hidden(input, hx[1], batch_sizes, options.hidden_size(), "[1]");
        const std::tuple<Tensor, Tensor, Tensor> all = TAPER_CPP_NN_RUN(at::lstm, hx);
        return std::make_tuple(std::get<0>(all),
                               detail::permuted(detail::Pair(std::get<1>(all), std::get<2>(all)), unsorted));
    }
};
TORCH_MODULE(LSTM);
#undef TAPER_CPP_NN_RUN

} // namespace nn
} // namespace torch

#endif
