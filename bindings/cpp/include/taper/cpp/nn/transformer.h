/* SPDX-License-Identifier: BSD-2-Clause */
// Transformer, its encoder, its decoder and their layers.
#ifndef TAPER_CPP_NN_TRANSFORMER_H
#define TAPER_CPP_NN_TRANSFORMER_H

#include <taper/cpp/nn/activation.h>
#include <taper/cpp/nn/any_module.h>
#include <taper/cpp/nn/attention.h>
#include <taper/cpp/nn/lists.h>
#include <taper/cpp/nn/normalization.h>

namespace torch
{
namespace nn
{

using activation_t = c10::variant<enumtype::kReLU, enumtype::kGELU, std::function<Tensor(const Tensor &)>>;

#define TAPER_CPP_NN_TRANSFORMER_ARGS                                                                                  \
    TORCH_ARG(int64_t, dim_feedforward) = 2048;                                                                        \
    TORCH_ARG(double, dropout) = 0.1;                                                                                  \
    TORCH_ARG(activation_t, activation) = torch::kReLU;
#define TAPER_CPP_NN_LAYER_OPTIONS(name)                                                                               \
    struct name {                                                                                                      \
        name(int64_t width, int64_t heads) : d_model_(width), nhead_(heads)                                            \
        {                                                                                                              \
        }                                                                                                              \
        TORCH_ARG(int64_t, d_model);                                                                                   \
        TORCH_ARG(int64_t, nhead);                                                                                     \
        TAPER_CPP_NN_TRANSFORMER_ARGS                                                                                  \
    };
TAPER_CPP_NN_LAYER_OPTIONS(TransformerEncoderLayerOptions)
TAPER_CPP_NN_LAYER_OPTIONS(TransformerDecoderLayerOptions)
#undef TAPER_CPP_NN_LAYER_OPTIONS
struct TransformerOptions {
    TransformerOptions() = default;
    TransformerOptions(int64_t width, int64_t heads) : d_model_(width), nhead_(heads)
    {
    }
    TransformerOptions(int64_t width, int64_t heads, int64_t encoders, int64_t decoders)
        : d_model_(width), nhead_(heads), num_encoder_layers_(encoders), num_decoder_layers_(decoders)
    {
    }
    TORCH_ARG(int64_t, d_model) = 512;
    TORCH_ARG(int64_t, nhead) = 8;
    TORCH_ARG(int64_t, num_encoder_layers) = 6;
    TORCH_ARG(int64_t, num_decoder_layers) = 6;
    TAPER_CPP_NN_TRANSFORMER_ARGS
    TORCH_ARG(AnyModule, custom_encoder);
    TORCH_ARG(AnyModule, custom_decoder);
};
#undef TAPER_CPP_NN_TRANSFORMER_ARGS

namespace detail
{

inline Tensor activate(const activation_t &with, const Tensor &input)
{
    if (c10::holds_alternative<enumtype::kReLU>(with)) {
        return at::relu(input);
    }
    return c10::holds_alternative<enumtype::kGELU>(with) ? at::gelu(input)
                                                         : c10::get<std::function<Tensor(const Tensor &)>>(with)(input);
}

// The parts that encoder layers and decoder layers have, and the helpers that make these parts.
template <class Derived, class Options> class TransformerLayer : public Cloneable<Derived>
{
  public:
    explicit TransformerLayer(const Options &from) : options(from)
    {
    }
    Options options;
    MultiheadAttention self_attn = nullptr;
    Linear linear1 = nullptr, linear2 = nullptr;
    Dropout dropout = nullptr, dropout1 = nullptr, dropout2 = nullptr;
    LayerNorm norm1 = nullptr, norm2 = nullptr;

  protected:
    MultiheadAttention attention(const char *name)
    {
        return this->register_module(
            name, MultiheadAttention(
                      MultiheadAttentionOptions(options.d_model(), options.nhead()).dropout(options.dropout())));
    }
    Dropout drop(const char *name)
    {
        return this->register_module(name, Dropout(options.dropout()));
    }
    LayerNorm norm(const char *name)
    {
        return this->register_module(name, LayerNorm(LayerNormOptions({options.d_model()})));
    }
    Linear widen(const char *name)
    {
        return this->register_module(name, Linear(options.d_model(), options.dim_feedforward()));
    }
    Linear narrow(const char *name)
    {
        return this->register_module(name, Linear(options.dim_feedforward(), options.d_model()));
    }
    Tensor feed(const Tensor &x)
    {
        return linear2(dropout(activate(options.activation(), linear1(x))));
    }
    void reset_shared()
    {
        self_attn->_reset_parameters();
        linear1->reset_parameters();
        linear2->reset_parameters();
        norm1->reset_parameters();
        norm2->reset_parameters();
    }
};

} // namespace detail

class TransformerEncoderLayerImpl
    : public detail::TransformerLayer<TransformerEncoderLayerImpl, TransformerEncoderLayerOptions>
{
  public:
    TAPER_CPP_NN_LATE TransformerEncoderLayerImpl(int64_t width, int64_t heads)
        : TransformerEncoderLayerImpl(TransformerEncoderLayerOptions(width, heads))
    {
    }
    TAPER_CPP_NN_LATE explicit TransformerEncoderLayerImpl(const TransformerEncoderLayerOptions &from)
        : TransformerLayer(from)
    {
        TransformerEncoderLayerImpl::reset();
    }
    void reset() override
    {
        self_attn = attention("self_attn");
        linear1 = widen("linear1");
        dropout = drop("dropout");
        linear2 = narrow("linear2");
        norm1 = norm("norm1");
        norm2 = norm("norm2");
        dropout1 = drop("dropout1");
        dropout2 = drop("dropout2");
    }
    void reset_parameters()
    {
        reset_shared();
    }
    Tensor forward(const Tensor &src, const Tensor &src_mask = {}, const Tensor &src_key_padding_mask = {})
    {
        const Tensor attended = std::get<0>(self_attn(src, src, src, src_key_padding_mask, true, src_mask));
        const Tensor x = norm1(src + dropout1(attended));
        return norm2(x + dropout2(feed(x)));
    }

  protected:
    FORWARD_HAS_DEFAULT_ARGS({1, AnyValue(Tensor())}, {2, AnyValue(Tensor())})
};
TORCH_MODULE(TransformerEncoderLayer);

class TransformerDecoderLayerImpl
    : public detail::TransformerLayer<TransformerDecoderLayerImpl, TransformerDecoderLayerOptions>
{
  public:
    TAPER_CPP_NN_LATE TransformerDecoderLayerImpl(int64_t width, int64_t heads)
        : TransformerDecoderLayerImpl(TransformerDecoderLayerOptions(width, heads))
    {
    }
    TAPER_CPP_NN_LATE explicit TransformerDecoderLayerImpl(const TransformerDecoderLayerOptions &from)
        : TransformerLayer(from)
    {
        TransformerDecoderLayerImpl::reset();
    }
    void reset() override
    {
        self_attn = attention("self_attn");
        multihead_attn = attention("multihead_attn");
        linear1 = widen("linear1");
        dropout = drop("dropout");
        linear2 = narrow("linear2");
        norm1 = norm("norm1");
        norm2 = norm("norm2");
        norm3 = norm("norm3");
        dropout1 = drop("dropout1");
        dropout2 = drop("dropout2");
        dropout3 = drop("dropout3");
    }
    void reset_parameters()
    {
        reset_shared();
        multihead_attn->_reset_parameters();
        norm3->reset_parameters();
    }
    Tensor forward(Tensor tgt, const Tensor &memory, const Tensor &tgt_mask = {}, const Tensor &memory_mask = {},
                   const Tensor &tgt_key_padding_mask = {}, const Tensor &memory_key_padding_mask = {})
    {
        const Tensor own = std::get<0>(self_attn(tgt, tgt, tgt, tgt_key_padding_mask, false, tgt_mask));
        tgt = norm1(tgt + dropout1(own));
        const Tensor other =
            std::get<0>(multihead_attn(tgt, memory, memory, memory_key_padding_mask, false, memory_mask));
        tgt = norm2(tgt + dropout2(other));
        return norm3(tgt + dropout3(feed(tgt)));
    }
    MultiheadAttention multihead_attn = nullptr;
    Dropout dropout3 = nullptr;
    LayerNorm norm3 = nullptr;

  protected:
    FORWARD_HAS_DEFAULT_ARGS({2, AnyValue(Tensor())}, {3, AnyValue(Tensor())}, {4, AnyValue(Tensor())},
                             {5, AnyValue(Tensor())})
};
TORCH_MODULE(TransformerDecoderLayer);

// The options of a stack of layers: copies of one layer, and the normalization after them.
#define TAPER_CPP_NN_STACK_OPTIONS(kind, layer)                                                                        \
    struct Transformer##kind##Options {                                                                                \
        Transformer##kind##Options(Transformer##kind##Layer of, int64_t count) : layer##_(of), num_layers_(count)      \
        {                                                                                                              \
        }                                                                                                              \
        Transformer##kind##Options(const Transformer##kind##LayerOptions &of, int64_t count)                           \
            : layer##_(Transformer##kind##Layer(of)), num_layers_(count)                                               \
        {                                                                                                              \
        }                                                                                                              \
        TORCH_ARG(Transformer##kind##Layer, layer);                                                                    \
        TORCH_ARG(int64_t, num_layers);                                                                                \
        TORCH_ARG(AnyModule, norm);                                                                                    \
    };
TAPER_CPP_NN_STACK_OPTIONS(Encoder, encoder_layer)
TAPER_CPP_NN_STACK_OPTIONS(Decoder, decoder_layer)
#undef TAPER_CPP_NN_STACK_OPTIONS

namespace detail
{
template <class Derived, class Options, class Layer> class TransformerStack : public Cloneable<Derived>
{
  public:
    explicit TransformerStack(Options from) : options(std::move(from))
    {
    }
    // Draws the parameters of all layers anew.
    void reset_parameters()
    {
        for (size_t i = 0; i < layers->size(); i++) {
            layers->template at<Layer>(i).reset_parameters();
        }
    }
    Options options;
    ModuleList layers = nullptr;
    AnyModule norm;

  protected:
    template <class Holder> void stack(const Holder &layer)
    {
        layers = this->register_module("layers", ModuleList());
        for (int64_t i = 0; i < options.num_layers(); i++) {
            layers->push_back(layer->clone());
        }
        if (!options.norm().is_empty()) {
            norm = options.norm();
            this->register_module("norm", norm.ptr());
        }
    }
    // Runs the layers on x, and then the normalization. rest: the arguments of each layer after x.
    template <class... Rest> Tensor run(Tensor x, const Rest &...rest)
    {
        for (size_t i = 0; i < layers->size(); i++) {
            x = layers->template at<Layer>(i).forward(x, rest...);
        }
        return norm.is_empty() ? x : norm.forward<Tensor>(x);
    }
};
} // namespace detail

class TransformerEncoderImpl
    : public detail::TransformerStack<TransformerEncoderImpl, TransformerEncoderOptions, TransformerEncoderLayerImpl>
{
  public:
    TAPER_CPP_NN_LATE TransformerEncoderImpl(TransformerEncoderLayer layer, int64_t count)
        : TransformerEncoderImpl(TransformerEncoderOptions(layer, count))
    {
    }
    TAPER_CPP_NN_LATE explicit TransformerEncoderImpl(TransformerEncoderOptions from)
        : TransformerStack(std::move(from))
    {
        TransformerEncoderImpl::reset();
    }
    void reset() override
    {
        stack(options.encoder_layer());
    }
    Tensor forward(const Tensor &src, const Tensor &src_mask = {}, const Tensor &src_key_padding_mask = {})
    {
        return run(src, src_mask, src_key_padding_mask);
    }

  protected:
    FORWARD_HAS_DEFAULT_ARGS({1, AnyValue(Tensor())}, {2, AnyValue(Tensor())})
};
TORCH_MODULE(TransformerEncoder);

class TransformerDecoderImpl
    : public detail::TransformerStack<TransformerDecoderImpl, TransformerDecoderOptions, TransformerDecoderLayerImpl>
{
  public:
    TAPER_CPP_NN_LATE TransformerDecoderImpl(TransformerDecoderLayer layer, int64_t count)
        : TransformerDecoderImpl(TransformerDecoderOptions(layer, count))
    {
    }
    TAPER_CPP_NN_LATE explicit TransformerDecoderImpl(TransformerDecoderOptions from)
        : TransformerStack(std::move(from))
    {
        TransformerDecoderImpl::reset();
    }
    void reset() override
    {
        stack(options.decoder_layer());
    }
    Tensor forward(const Tensor &tgt, const Tensor &memory, const Tensor &tgt_mask = {}, const Tensor &memory_mask = {},
                   const Tensor &tgt_key_padding_mask = {}, const Tensor &memory_key_padding_mask = {})
    {
        return run(tgt, memory, tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask);
    }

  protected:
    FORWARD_HAS_DEFAULT_ARGS({2, AnyValue(Tensor())}, {3, AnyValue(Tensor())}, {4, AnyValue(Tensor())},
                             {5, AnyValue(Tensor())})
};
TORCH_MODULE(TransformerDecoder);

class TransformerImpl : public Cloneable<TransformerImpl>
{
  public:
    TAPER_CPP_NN_LATE explicit TransformerImpl(TransformerOptions from) : options(std::move(from))
    {
        TransformerImpl::reset();
    }
    void reset() override
    {
        encoder = !options.custom_encoder().is_empty()
                      ? options.custom_encoder()
                      : stack<TransformerEncoder, TransformerEncoderOptions, TransformerEncoderLayerOptions>(
                            options.num_encoder_layers());
        register_module("encoder", encoder.ptr());
        decoder = !options.custom_decoder().is_empty()
                      ? options.custom_decoder()
                      : stack<TransformerDecoder, TransformerDecoderOptions, TransformerDecoderLayerOptions>(
                            options.num_decoder_layers());
        register_module("decoder", decoder.ptr());
        reset_parameters();
    }
    void reset_parameters()
    {
        for (const Tensor &each : parameters()) {
            if (each.dim() > 1) {
                init::xavier_uniform_(each);
            }
        }
    }
    Tensor forward(const Tensor &src, const Tensor &tgt, const Tensor &src_mask = {}, const Tensor &tgt_mask = {},
                   const Tensor &memory_mask = {}, const Tensor &src_key_padding_mask = {},
                   const Tensor &tgt_key_padding_mask = {}, const Tensor &memory_key_padding_mask = {})
    {
        const int64_t width = options.d_model();
        TORCH_CHECK(src.dim() == 3 && tgt.dim() == 3, "src and tgt should have 3 dimensions, but got ", src.dim(),
                    " and ", tgt.dim());
        TORCH_CHECK(src.size(1) == tgt.size(1), "src and tgt should have equal batch size (at dim 1), but got ",
                    src.size(1), " and ", tgt.size(1));
        TORCH_CHECK(src.size(2) == width && tgt.size(2) == width,
                    "src and tgt should have same feature size as d_model (at dim 2), but got ", src.size(2), " and ",
                    tgt.size(2), " while d_model is ", width);
        const Tensor memory = encoder.forward<Tensor>(src, src_mask, src_key_padding_mask);
        return decoder.forward<Tensor>(tgt, memory, tgt_mask, memory_mask, tgt_key_padding_mask,
                                       memory_key_padding_mask);
    }
    // Returns a mask that hides from each position the positions after it.
    static Tensor generate_square_subsequent_mask(int64_t size)
    {
        TORCH_CHECK(size >= 0, "Input size must be non-negative to genearte a valid square subsequent mask, but got ",
                    size);
        return at::triu(at::full({size, size}, -std::numeric_limits<float>::infinity()), 1);
    }
    TransformerOptions options;
    AnyModule encoder, decoder;

  protected:
    FORWARD_HAS_DEFAULT_ARGS({2, AnyValue(Tensor())}, {3, AnyValue(Tensor())}, {4, AnyValue(Tensor())},
                             {5, AnyValue(Tensor())}, {6, AnyValue(Tensor())}, {7, AnyValue(Tensor())})

  private:
    template <class Stack, class StackOptions, class LayerOptions> AnyModule stack(int64_t count) const
    {
        const LayerNorm norm(LayerNormOptions({options.d_model()}));
        return AnyModule(Stack(StackOptions(LayerOptions(options.d_model(), options.nhead())
                                                .dim_feedforward(options.dim_feedforward())
                                                .dropout(options.dropout())
                                                .activation(options.activation()),
                                            count)
                                   .norm(AnyModule(norm))));
    }
};
TORCH_MODULE(Transformer);

} // namespace nn
} // namespace torch

#endif
