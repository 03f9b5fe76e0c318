/* SPDX-License-Identifier: BSD-2-Clause */
// Multi-head attention: inputs are of sizes (length, batch, features).
#ifndef TAPER_CPP_NN_ATTENTION_H
#define TAPER_CPP_NN_ATTENTION_H

#include <cmath>
#include <limits>

#include <taper/cpp/nn/dropout.h>
#include <taper/cpp/nn/linear.h>

namespace torch
{
namespace nn
{

struct MultiheadAttentionOptions {
    MultiheadAttentionOptions(int64_t width, int64_t heads)
        : embed_dim_(width), num_heads_(heads), kdim_(width), vdim_(width)
    {
    }
    TORCH_ARG(int64_t, embed_dim);
    TORCH_ARG(int64_t, num_heads);
    TORCH_ARG(double, dropout) = 0.0;
    TORCH_ARG(bool, bias) = true;
    TORCH_ARG(bool, add_bias_kv) = false;
    TORCH_ARG(bool, add_zero_attn) = false;
    TORCH_ARG(int64_t, kdim);
    TORCH_ARG(int64_t, vdim);
};

namespace functional
{

struct MultiheadAttentionForwardFuncOptions {
    MultiheadAttentionForwardFuncOptions(int64_t width, int64_t heads, Tensor in_weight, Tensor in_bias, Tensor bias_k,
                                         Tensor bias_v, bool add_zero, double dropout, Tensor out_weight,
                                         Tensor out_bias)
        : embed_dim_to_check_(width), num_heads_(heads), in_proj_weight_(in_weight), in_proj_bias_(in_bias),
          bias_k_(bias_k), bias_v_(bias_v), add_zero_attn_(add_zero), dropout_p_(dropout), out_proj_weight_(out_weight),
          out_proj_bias_(out_bias)
    {
    }
    TORCH_ARG(int64_t, embed_dim_to_check);
    TORCH_ARG(int64_t, num_heads);
    TORCH_ARG(Tensor, in_proj_weight);
    TORCH_ARG(Tensor, in_proj_bias);
    TORCH_ARG(Tensor, bias_k);
    TORCH_ARG(Tensor, bias_v);
    TORCH_ARG(bool, add_zero_attn);
    TORCH_ARG(double, dropout_p);
    TORCH_ARG(Tensor, out_proj_weight);
    TORCH_ARG(Tensor, out_proj_bias);
    TORCH_ARG(bool, training) = true;
    TORCH_ARG(Tensor, key_padding_mask) = {};
    TORCH_ARG(bool, need_weights) = true;
    TORCH_ARG(Tensor, attn_mask) = {};
    TORCH_ARG(bool, use_separate_proj_weight) = false;
    TORCH_ARG(Tensor, q_proj_weight) = {};
    TORCH_ARG(Tensor, k_proj_weight) = {};
    TORCH_ARG(Tensor, v_proj_weight) = {};
    TORCH_ARG(Tensor, static_k) = {};
    TORCH_ARG(Tensor, static_v) = {};
    TORCH_ARG(bool, average_attn_weights) = true;
};

namespace detail
{

// The steps of one call of attention. q, k and v are the projected inputs. When a step appends a key to k and v, it
// extends the masks too.
class Attention
{
    using Options = MultiheadAttentionForwardFuncOptions;

  public:
    Attention(const Tensor &query, const Options &options)
        : options_(options), heads_(options.num_heads()), length_(query.size(0)), batch_(query.size(1)),
          width_(query.size(2)), depth_(width_ / heads_), attn_mask_(options.attn_mask()),
          padding_mask_(options.key_padding_mask())
    {
        TORCH_INTERNAL_ASSERT(width_ == options.embed_dim_to_check());
        TORCH_CHECK(depth_ * heads_ == width_, "embed_dim must be divisible by num_heads");
    }

    std::tuple<Tensor, Tensor> run(const Tensor &query, const Tensor &key, const Tensor &value)
    {
        project(query, key, value);
        q_ = q_ * (1 / std::sqrt(static_cast<double>(depth_)));
        add_biases();
        q_ = split(q_, length_);
        k_ = options_.static_k().defined() ? checked(options_.static_k()) : split(k_, -1);
        v_ = options_.static_v().defined() ? checked(options_.static_v()) : split(v_, -1);
        TORCH_CHECK(!padding_mask_.defined() ||
                    (padding_mask_.size(0) == batch_ && padding_mask_.size(1) == k_.size(1)));
        if (options_.add_zero_attn()) {
            k_ = at::cat({k_, zeros(k_)}, 1);
            v_ = at::cat({v_, zeros(v_)}, 1);
            widen_masks();
        }
        const Tensor weights = attend();
        const Tensor mixed = at::bmm(weights, v_).transpose(0, 1).contiguous().view({length_, batch_, width_});
        const Tensor result = linear(mixed, options_.out_proj_weight(), options_.out_proj_bias());
        if (!options_.need_weights()) {
            return std::make_tuple(result, Tensor());
        }
        const Tensor by_head = weights.view({batch_, heads_, length_, k_.size(1)});
        return std::make_tuple(result, options_.average_attn_weights() ? by_head.sum(1) / heads_ : by_head);
    }

  private:
    // Returns the input projected by rows [from * width, to * width) of the weight that query, key and value share.
    Tensor part(const Tensor &input, int64_t from, int64_t to) const
    {
        const Tensor &bias = options_.in_proj_bias();
        return linear(input, options_.in_proj_weight().slice(0, from * width_, to * width_),
                      bias.defined() ? bias.slice(0, from * width_, to * width_) : bias);
    }
    Tensor separate(const Tensor &input, const Tensor &weight, int64_t place) const
    {
        const Tensor &bias = options_.in_proj_bias();
        TORCH_CHECK(weight.size(0) == width_ && weight.size(1) == input.size(-1));
        return linear(input, weight, bias.defined() ? bias.slice(0, place * width_, (place + 1) * width_) : bias);
    }
    // Inputs with equal elements are projected by one product, as in libtorch, so that sums have the same order.
    void project(const Tensor &query, const Tensor &key, const Tensor &value)
    {
        if (options_.use_separate_proj_weight()) {
            q_ = separate(query, options_.q_proj_weight(), 0);
            k_ = separate(key, options_.k_proj_weight(), 1);
            v_ = separate(value, options_.v_proj_weight(), 2);
        } else if (at::equal(key, value)) {
            const bool all = at::equal(query, key);
            const std::vector<Tensor> parts = all ? part(query, 0, 3).chunk(3, -1) : part(key, 1, 3).chunk(2, -1);
            q_ = all ? parts[0] : part(query, 0, 1);
            k_ = parts[parts.size() - 2];
            v_ = parts[parts.size() - 1];
        } else {
            q_ = part(query, 0, 1);
            k_ = part(key, 1, 2);
            v_ = part(value, 2, 3);
        }
    }
    void add_biases()
    {
        const Tensor &k = options_.bias_k(), &v = options_.bias_v();
        TORCH_CHECK(k.defined() == v.defined());
        if (k.defined()) {
            TORCH_CHECK(!options_.static_k().defined(), "bias cannot be added to static key.");
            TORCH_CHECK(!options_.static_v().defined(), "bias cannot be added to static value.");
            k_ = at::cat({k_, k.repeat({1, batch_, 1})});
            v_ = at::cat({v_, v.repeat({1, batch_, 1})});
            widen_masks();
        }
    }
    // Extends the masks by one key, which they do not hide.
    void widen_masks()
    {
        for (Tensor *const mask : {&attn_mask_, &padding_mask_}) {
            if (mask->defined()) {
                *mask = at::cat({*mask, at::zeros({mask->size(0), 1}, mask->options())}, 1);
            }
        }
    }
    static Tensor zeros(const Tensor &like)
    {
        return at::zeros({like.size(0), 1, like.size(2)}, like.options());
    }
    Tensor split(const Tensor &x, int64_t length) const
    {
        return x.contiguous().view({length, batch_ * heads_, depth_}).transpose(0, 1);
    }
    const Tensor &checked(const Tensor &given) const
    {
        TORCH_CHECK(given.size(0) == batch_ * heads_);
        TORCH_CHECK(given.size(2) == depth_);
        return given;
    }
    // Returns the weight of each key for each query.
    Tensor attend() const
    {
        const int64_t keys = k_.size(1);
        Tensor scores = at::bmm(q_, k_.transpose(1, 2));
        if (attn_mask_.defined()) {
            scores += attn_mask_.unsqueeze(0);
        }
        if (padding_mask_.defined()) {
            scores = scores.view({batch_, heads_, length_, keys})
                         .masked_fill(padding_mask_.unsqueeze(1).unsqueeze(2), -std::numeric_limits<double>::infinity())
                         .view({batch_ * heads_, length_, keys});
        }
        return dropout(scores.softmax(-1), options_.dropout_p(), options_.training(), false);
    }

    const Options &options_;
    int64_t heads_, length_, batch_, width_, depth_;
    Tensor attn_mask_, padding_mask_, q_, k_, v_;
};

} // namespace detail

inline std::tuple<Tensor, Tensor> multi_head_attention_forward(const Tensor &query, const Tensor &key,
                                                               const Tensor &value,
                                                               const MultiheadAttentionForwardFuncOptions &options)
{
    return detail::Attention(query, options).run(query, key, value);
}

} // namespace functional

class MultiheadAttentionImpl : public Cloneable<MultiheadAttentionImpl>
{
  public:
    TAPER_CPP_NN_LATE MultiheadAttentionImpl(int64_t width, int64_t heads)
        : MultiheadAttentionImpl(MultiheadAttentionOptions(width, heads))
    {
    }
    TAPER_CPP_NN_LATE explicit MultiheadAttentionImpl(const MultiheadAttentionOptions &from) : options(from)
    {
        set_name("torch::nn::MultiheadAttention");
        MultiheadAttentionImpl::reset();
    }
    void reset() override
    {
        const int64_t width = options.embed_dim();
        const bool same = options.kdim() == width && options.vdim() == width;
        _qkv_same_embed_dim = same;
        head_dim = width / options.num_heads();
        TORCH_CHECK(head_dim * options.num_heads() == width, "embed_dim must be divisible by num_heads");
        in_proj_weight = add("in_proj_weight", same, {3 * width, width});
        q_proj_weight = add("q_proj_weight", !same, {width, width});
        k_proj_weight = add("k_proj_weight", !same, {width, options.kdim()});
        v_proj_weight = add("v_proj_weight", !same, {width, options.vdim()});
        in_proj_bias = add("in_proj_bias", options.bias(), {3 * width});
        out_proj = register_module("out_proj", Linear(LinearOptions(width, width).bias(options.bias())));
        bias_k = bias_v = Tensor();
        if (options.add_bias_kv()) {
            bias_k = add("bias_k", true, {1, 1, width});
            bias_v = add("bias_v", true, {1, 1, width});
        }
        _reset_parameters();
    }
    void _reset_parameters()
    {
        for (const Tensor &each : {in_proj_weight, q_proj_weight, k_proj_weight, v_proj_weight}) {
            if (each.defined()) {
                init::xavier_uniform_(each);
            }
        }
        if (in_proj_bias.defined()) {
            init::zeros_(in_proj_bias);
            init::zeros_(out_proj->bias);
        }
        if (bias_k.defined()) {
            init::xavier_normal_(bias_k);
            init::xavier_normal_(bias_v);
        }
    }
    // Returns the result and, if requested, the weights of the keys.
    std::tuple<Tensor, Tensor> forward(const Tensor &query, const Tensor &key, const Tensor &value,
                                       const Tensor &key_padding_mask = {}, bool need_weights = true,
                                       const Tensor &attn_mask = {}, bool average_attn_weights = true)
    {
        functional::MultiheadAttentionForwardFuncOptions all(options.embed_dim(), options.num_heads(), in_proj_weight,
                                                             in_proj_bias, bias_k, bias_v, options.add_zero_attn(),
                                                             options.dropout(), out_proj->weight, out_proj->bias);
        all.training(is_training()).key_padding_mask(key_padding_mask).need_weights(need_weights);
        all.attn_mask(attn_mask).average_attn_weights(average_attn_weights);
        all.use_separate_proj_weight(!_qkv_same_embed_dim).q_proj_weight(q_proj_weight);
        all.k_proj_weight(k_proj_weight).v_proj_weight(v_proj_weight);
        return functional::multi_head_attention_forward(query, key, value, all);
    }
    MultiheadAttentionOptions options;
    bool _qkv_same_embed_dim;
    Tensor in_proj_weight, in_proj_bias, bias_k, bias_v;
    Linear out_proj = nullptr;
    Tensor q_proj_weight, k_proj_weight, v_proj_weight;
    int64_t head_dim;

  protected:
    FORWARD_HAS_DEFAULT_ARGS({3, AnyValue(Tensor())}, {4, AnyValue(true)}, {5, AnyValue(Tensor())}, {6, AnyValue(true)})

  private:
    Tensor add(const char *name, bool has, std::vector<int64_t> sizes)
    {
        return register_parameter(name, has ? at::empty(sizes) : Tensor(), has);
    }
};
TORCH_MODULE(MultiheadAttention);

} // namespace nn
} // namespace torch

#endif
