/* SPDX-License-Identifier: BSD-2-Clause */
// RNNCell, LSTMCell and GRUCell, which compute one step.
#ifndef TAPER_CPP_NN_RECURRENT_CELLS_H
#define TAPER_CPP_NN_RECURRENT_CELLS_H

#include <taper/cpp/nn/recurrent.h>

namespace torch
{
namespace nn
{

namespace detail
{

template <class Derived> class RNNCellImplBase : public Cloneable<Derived>
{
  public:
    explicit RNNCellImplBase(const RNNCellOptionsBase &from) : options_base(from)
    {
        RNNCellImplBase::reset();
    }
    void reset() override
    {
        const int64_t gates = options_base.num_chunks() * options_base.hidden_size();
        const bool has = options_base.bias();
        weight_ih = this->register_parameter("weight_ih", at::empty({gates, options_base.input_size()}));
        weight_hh = this->register_parameter("weight_hh", at::empty({gates, options_base.hidden_size()}));
        bias_ih = this->register_parameter("bias_ih", has ? at::empty({gates}) : Tensor(), has);
        bias_hh = this->register_parameter("bias_hh", has ? at::empty({gates}) : Tensor(), has);
        reset_parameters();
    }
    void reset_parameters()
    {
        reset_recurrent(*this, options_base.hidden_size());
    }
    void pretty_print(std::ostream &out) const override
    {
        const std::string nonlinearity = get_nonlinearity_str();
        out << recurrent_name(*this) << "(" << options_base.input_size() << ", " << options_base.hidden_size();
        if (!options_base.bias()) {
            out << ", bias=" << std::boolalpha << false;
        }
        if (!nonlinearity.empty() && nonlinearity != "kTanh") {
            out << ", nonlinearity=" << nonlinearity;
        }
        out << ")";
    }
    RNNCellOptionsBase options_base;
    Tensor weight_ih, weight_hh, bias_ih, bias_hh;

  protected:
    virtual std::string get_nonlinearity_str() const
    {
        return "";
    }
    // Returns the state, or zeros if it is not given. label: name of the state in errors.
    Tensor state_for(const Tensor &input, const Tensor &given, const char *label) const
    {
        const Tensor hx =
            given.defined() ? given : at::zeros({input.size(0), options_base.hidden_size()}, input.options());
        TORCH_CHECK(input.size(0) == hx.size(0), "Input batch size ", input.size(0), " doesn't match hidden", label,
                    " batch size ", hx.size(0));
        TORCH_CHECK(hx.size(1) == options_base.hidden_size(), "hidden", label, " has inconsistent hidden_size: got ",
                    hx.size(1), ", expected ", options_base.hidden_size());
        return hx;
    }
    void check_forward_input(const Tensor &input) const
    {
        TORCH_CHECK(input.size(1) == options_base.input_size(), "input has inconsistent input_size: got ",
                    input.size(1), " expected ", options_base.input_size());
    }
};

} // namespace detail

class RNNCellImpl : public detail::RNNCellImplBase<RNNCellImpl>
{
  public:
    TAPER_CPP_NN_LATE RNNCellImpl(int64_t input, int64_t hidden) : RNNCellImpl(RNNCellOptions(input, hidden))
    {
    }
    TAPER_CPP_NN_LATE explicit RNNCellImpl(const RNNCellOptions &from)
        : RNNCellImplBase({from.input_size(), from.hidden_size(), from.bias(), 1}), options(from)
    {
    }
    Tensor forward(const Tensor &input, Tensor hx = {})
    {
        check_forward_input(input);
        hx = state_for(input, hx, "");
        return c10::holds_alternative<enumtype::kTanh>(options.nonlinearity())
                   ? at::rnn_tanh_cell(input, hx, weight_ih, weight_hh, bias_ih, bias_hh)
                   : at::rnn_relu_cell(input, hx, weight_ih, weight_hh, bias_ih, bias_hh);
    }
    RNNCellOptions options;

  protected:
    FORWARD_HAS_DEFAULT_ARGS({1, AnyValue(Tensor())})
    std::string get_nonlinearity_str() const override
    {
        return enumtype::get_enum_name(options.nonlinearity());
    }
};
TORCH_MODULE(RNNCell);

class GRUCellImpl : public detail::RNNCellImplBase<GRUCellImpl>
{
  public:
    TAPER_CPP_NN_LATE GRUCellImpl(int64_t input, int64_t hidden) : GRUCellImpl(GRUCellOptions(input, hidden))
    {
    }
    TAPER_CPP_NN_LATE explicit GRUCellImpl(const GRUCellOptions &from)
        : RNNCellImplBase({from.input_size(), from.hidden_size(), from.bias(), 3}), options(from)
    {
    }
    Tensor forward(const Tensor &input, Tensor hx = {})
    {
        check_forward_input(input);
        return at::gru_cell(input, state_for(input, hx, ""), weight_ih, weight_hh, bias_ih, bias_hh);
    }
    GRUCellOptions options;

  protected:
    FORWARD_HAS_DEFAULT_ARGS({1, AnyValue(Tensor())})
};
TORCH_MODULE(GRUCell);

class LSTMCellImpl : public detail::RNNCellImplBase<LSTMCellImpl>
{
  public:
    TAPER_CPP_NN_LATE LSTMCellImpl(int64_t input, int64_t hidden) : LSTMCellImpl(LSTMCellOptions(input, hidden))
    {
    }
    TAPER_CPP_NN_LATE explicit LSTMCellImpl(const LSTMCellOptions &from)
        : RNNCellImplBase({from.input_size(), from.hidden_size(), from.bias(), 4}), options(from)
    {
    }
    std::tuple<Tensor, Tensor> forward(const Tensor &input, detail::OptionalPair hx = {})
    {
        check_forward_input(input);
        const detail::Pair given = hx.value_or(detail::Pair());
        const std::vector<Tensor> both = {state_for(input, std::get<0>(given), "[0]"),
                                          state_for(input, std::get<1>(given), "[1]")};
        return at::lstm_cell(input, both, weight_ih, weight_hh, bias_ih, bias_hh);
    }
    LSTMCellOptions options;

  protected:
    FORWARD_HAS_DEFAULT_ARGS({1, AnyValue(detail::OptionalPair())})
};
TORCH_MODULE(LSTMCell);

} // namespace nn
} // namespace torch

#endif
