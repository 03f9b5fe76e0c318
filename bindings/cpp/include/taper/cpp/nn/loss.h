/* SPDX-License-Identifier: BSD-2-Clause */
// Losses: their options, functions and modules.
#ifndef TAPER_CPP_NN_LOSS_H
#define TAPER_CPP_NN_LOSS_H

#include <functional>

#include <taper/cpp/nn/distance.h>

namespace torch
{
namespace nn
{

namespace detail
{
using reduction_t = c10::variant<enumtype::kNone, enumtype::kMean, enumtype::kSum>;
} // namespace detail

// Defines the options of a loss: its own options, then the reduction.
#define TAPER_CPP_NN_LOSS(name, func, ...)                                                                             \
    struct name##Options {                                                                                             \
        using reduction_t = detail::reduction_t;                                                                       \
        TORCH_OPTIONS_CTOR_VARIANT_ARG3(name##Options, reduction, kNone, kMean, kSum)                                  \
        __VA_ARGS__                                                                                                    \
        TORCH_ARG(reduction_t, reduction) = torch::kMean;                                                              \
    };                                                                                                                 \
    TAPER_CPP_NN_FUNC_OPTIONS(func, name##Options)
TAPER_CPP_NN_LOSS(L1Loss, L1Loss, )
TAPER_CPP_NN_LOSS(MSELoss, MSELoss, )
TAPER_CPP_NN_LOSS(BCELoss, BinaryCrossEntropy, TORCH_ARG(Tensor, weight) = {};)
TAPER_CPP_NN_LOSS(HingeEmbeddingLoss, HingeEmbeddingLoss, TORCH_ARG(double, margin) = 1.0;)
TAPER_CPP_NN_LOSS(MultiMarginLoss, MultiMarginLoss, TORCH_ARG(int64_t, p) = 1; TORCH_ARG(double, margin) = 1.0;
                  TORCH_ARG(Tensor, weight) = Tensor();)
TAPER_CPP_NN_LOSS(CosineEmbeddingLoss, CosineEmbeddingLoss, TORCH_ARG(double, margin) = 0.0;)
TAPER_CPP_NN_LOSS(MultiLabelMarginLoss, MultilabelMarginLoss, )
TAPER_CPP_NN_LOSS(SoftMarginLoss, SoftMarginLoss, )
TAPER_CPP_NN_LOSS(MultiLabelSoftMarginLoss, MultilabelSoftMarginLoss, TORCH_ARG(Tensor, weight) = Tensor();)
TAPER_CPP_NN_LOSS(TripletMarginLoss, TripletMarginLoss, TORCH_ARG(double, margin) = 1.0; TORCH_ARG(double, p) = 2.0;
                  TORCH_ARG(double, eps) = 1e-6; TORCH_ARG(bool, swap) = false;)
TAPER_CPP_NN_LOSS(TripletMarginWithDistanceLoss, TripletMarginWithDistanceLoss,
                  using distance_function_t = std::function<Tensor(const Tensor &, const Tensor &)>;
                  TORCH_ARG(c10::optional<distance_function_t>, distance_function) = c10::nullopt;
                  TORCH_ARG(double, margin) = 1.0; TORCH_ARG(bool, swap) = false;)
TAPER_CPP_NN_LOSS(CTCLoss, CTCLoss, TORCH_ARG(int64_t, blank) = 0; TORCH_ARG(bool, zero_infinity) = false;)
TAPER_CPP_NN_LOSS(SmoothL1Loss, SmoothL1Loss, TORCH_ARG(double, beta) = 1.0;)
TAPER_CPP_NN_LOSS(HuberLoss, HuberLoss, TORCH_ARG(double, delta) = 1.0;)
TAPER_CPP_NN_LOSS(PoissonNLLLoss, PoissonNLLLoss, TORCH_ARG(bool, log_input) = true; TORCH_ARG(bool, full) = false;
                  TORCH_ARG(double, eps) = 1e-8;)
TAPER_CPP_NN_LOSS(MarginRankingLoss, MarginRankingLoss, TORCH_ARG(double, margin) = 0;)
TAPER_CPP_NN_LOSS(NLLLoss, NLLLoss, TORCH_ARG(Tensor, weight) = {}; TORCH_ARG(int64_t, ignore_index) = -100;)
TAPER_CPP_NN_LOSS(CrossEntropyLoss, CrossEntropy, TORCH_ARG(Tensor, weight) = {};
                  TORCH_ARG(int64_t, ignore_index) = -100; TORCH_ARG(double, label_smoothing) = 0.0;)
TAPER_CPP_NN_LOSS(BCEWithLogitsLoss, BinaryCrossEntropyWithLogits, TORCH_ARG(Tensor, weight) = {};
                  TORCH_ARG(Tensor, pos_weight) = {};)
#undef TAPER_CPP_NN_LOSS
struct KLDivLossOptions {
    using reduction_t = c10::variant<enumtype::kNone, enumtype::kBatchMean, enumtype::kSum, enumtype::kMean>;
    TORCH_OPTIONS_CTOR_VARIANT_ARG4(KLDivLossOptions, reduction, kNone, kBatchMean, kSum, kMean)
    TORCH_ARG(reduction_t, reduction) = torch::kMean;
    TORCH_ARG(bool, log_target) = false;
};
TAPER_CPP_NN_FUNC_OPTIONS(KLDiv, KLDivLossOptions)

namespace functional
{

namespace detail
{
inline int64_t code(const nn::detail::reduction_t &reduction)
{
    return static_cast<int64_t>(reduction.index()); // in the order of at::Reduction
}
inline Tensor reduced(const Tensor &loss, const nn::detail::reduction_t &reduction)
{
    return reduction.index() == 0 ? loss : reduction.index() == 1 ? loss.mean() : loss.sum();
}
} // namespace detail

// Defines the function of a loss of an input and a target. The last parameters: the operator's arguments before the
// reduction and after it.
#define TAPER_CPP_NN_LOSS(name, op, Options, before, after)                                                            \
    inline Tensor name(const Tensor &input, const Tensor &target, const Options##FuncOptions &options = {})            \
    {                                                                                                                  \
        return at::op(input, target before, detail::code(options.reduction()) after);                                  \
    }
#define TAPER_CPP_NN_WITH(...) , __VA_ARGS__
TAPER_CPP_NN_LOSS(l1_loss, l1_loss, L1Loss, , )
TAPER_CPP_NN_LOSS(hinge_embedding_loss, hinge_embedding_loss, HingeEmbeddingLoss, TAPER_CPP_NN_WITH(options.margin()), )
TAPER_CPP_NN_LOSS(multilabel_margin_loss, multilabel_margin_loss, MultilabelMarginLoss, , )
TAPER_CPP_NN_LOSS(soft_margin_loss, soft_margin_loss, SoftMarginLoss, , )
TAPER_CPP_NN_LOSS(poisson_nll_loss, poisson_nll_loss, PoissonNLLLoss,
                  TAPER_CPP_NN_WITH(options.log_input(), options.full(), options.eps()), )
TAPER_CPP_NN_LOSS(cross_entropy, cross_entropy_loss, CrossEntropy, TAPER_CPP_NN_WITH(options.weight()),
                  TAPER_CPP_NN_WITH(options.ignore_index(), options.label_smoothing()))
#undef TAPER_CPP_NN_LOSS
#undef TAPER_CPP_NN_WITH

inline Tensor mse_loss(const Tensor &input, const Tensor &target, const MSELossFuncOptions &options = {})
{
    const std::vector<Tensor> both = at::broadcast_tensors({input, target});
    return at::mse_loss(both[0], both[1], detail::code(options.reduction()));
}
// beta: the difference below which the loss is a square; the beta of the options is only for the module.
inline Tensor smooth_l1_loss(const Tensor &input, const Tensor &target, const SmoothL1LossFuncOptions &options = {},
                             double beta = 1.)
{
    const std::vector<Tensor> both = at::broadcast_tensors({input, target});
    return at::smooth_l1_loss(both[0], both[1], detail::code(options.reduction()), beta);
}
inline Tensor huber_loss(const Tensor &input, const Tensor &target, const HuberLossFuncOptions &options = {})
{
    const std::vector<Tensor> both = at::broadcast_tensors({input, target});
    return at::huber_loss(both[0], both[1], detail::code(options.reduction()), options.delta());
}
inline Tensor kl_div(const Tensor &input, const Tensor &target, const KLDivFuncOptions &options = {})
{
    const bool by_batch = c10::holds_alternative<enumtype::kBatchMean>(options.reduction());
    const int64_t code = by_batch ? at::Reduction::Sum : enumtype::reduction_get_enum(options.reduction());
    const Tensor loss = at::kl_div(input, target, code, options.log_target());
    return by_batch && input.dim() != 0 ? loss / input.size(0) : loss;
}
inline Tensor binary_cross_entropy(const Tensor &input, const Tensor &target,
                                   const BinaryCrossEntropyFuncOptions &options = {})
{
    TORCH_CHECK(target.sizes() == input.sizes(), "Using a target size (", target.sizes(),
                ") that is different to the input size (", input.sizes(),
                ") is deprecated. Please ensure they have the same size.");
    const Tensor &weight = options.weight();
    return at::binary_cross_entropy(input, target,
                                    weight.defined() ? at::broadcast_tensors({weight, target})[0] : weight,
                                    detail::code(options.reduction()));
}
inline Tensor binary_cross_entropy_with_logits(const Tensor &input, const Tensor &target,
                                               const BinaryCrossEntropyWithLogitsFuncOptions &options = {})
{
    TORCH_CHECK(target.sizes() == input.sizes(), "Target size (", target.sizes(), ") must be the same as input size (",
                input.sizes(), ")");
    return at::binary_cross_entropy_with_logits(input, target, options.weight(), options.pos_weight(),
                                                detail::code(options.reduction()));
}
inline Tensor multi_margin_loss(const Tensor &input, const Tensor &target,
                                const MultiMarginLossFuncOptions &options = {})
{
    TORCH_CHECK(options.p() == 1 || options.p() == 2, "only p == 1 and p == 2 supported");
    TORCH_CHECK(!options.weight().defined() || options.weight().dim() == 1, "weight must be one-dimensional");
    return at::multi_margin_loss(input, target, options.p(), options.margin(), options.weight(),
                                 detail::code(options.reduction()));
}
inline Tensor nll_loss(const Tensor &input, const Tensor &target, const NLLLossFuncOptions &options = {})
{
    TORCH_CHECK(input.dim() >= 2, "Expected 2 or more dimensions (got ", input.dim(), ")");
    TORCH_CHECK(input.size(0) == target.size(0), "Expected input batch_size (", input.size(0),
                ") to match target batch_size (", target.size(0), ").");
    return at::nll_loss_nd(input, target, options.weight(), detail::code(options.reduction()), options.ignore_index());
}
inline Tensor multilabel_soft_margin_loss(const Tensor &input, const Tensor &target,
                                          const MultilabelSoftMarginLossFuncOptions &options = {})
{
    Tensor loss = -(target * at::log_sigmoid(input) + (1 - target) * at::log_sigmoid(-input));
    if (options.weight().defined()) {
        loss = loss * options.weight();
    }
    return detail::reduced(loss.sum(input.dim() - 1) / input.size(-1), options.reduction());
}
inline Tensor cosine_embedding_loss(const Tensor &input1, const Tensor &input2, const Tensor &target,
                                    const CosineEmbeddingLossFuncOptions &options = {})
{
    return at::cosine_embedding_loss(input1, input2, target, options.margin(), detail::code(options.reduction()));
}
inline Tensor margin_ranking_loss(const Tensor &input1, const Tensor &input2, const Tensor &target,
                                  const MarginRankingLossFuncOptions &options = {})
{
    TORCH_CHECK(input1.dim() == input2.dim() && input1.dim() == target.dim(),
                "margin_ranking_loss : All input tensors should have same dimension but got sizes: input1: ",
                input1.sizes(), ", input2: ", input2.sizes(), ", target: ", target.sizes());
    return at::margin_ranking_loss(input1, input2, target, options.margin(), detail::code(options.reduction()));
}
inline Tensor triplet_margin_loss(const Tensor &anchor, const Tensor &positive, const Tensor &negative,
                                  const TripletMarginLossFuncOptions &options = {})
{
    return at::triplet_margin_loss(anchor, positive, negative, options.margin(), options.p(), options.eps(),
                                   options.swap(), detail::code(options.reduction()));
}
inline Tensor triplet_margin_with_distance_loss(const Tensor &anchor, const Tensor &positive, const Tensor &negative,
                                                const TripletMarginWithDistanceLossFuncOptions &options = {})
{
    const auto distance = [&](const Tensor &a, const Tensor &b) {
        return options.distance_function().has_value() ? (*options.distance_function())(a, b)
                                                       : functional::pairwise_distance(a, b);
    };
    const Tensor near = distance(anchor, positive);
    Tensor far = distance(anchor, negative);
    if (options.swap()) {
        far = at::min(far, distance(positive, negative));
    }
    return detail::reduced(at::clamp_min(near - far + options.margin(), 0), options.reduction());
}
inline Tensor ctc_loss(const Tensor &log_probs, const Tensor &targets, const Tensor &input_lengths,
                       const Tensor &target_lengths, const CTCLossFuncOptions &options = {})
{
    return at::ctc_loss(log_probs, targets, input_lengths, target_lengths, options.blank(),
                        detail::code(options.reduction()), options.zero_infinity());
}

} // namespace functional

namespace detail
{
// A loss with weights of the classes, which are a buffer.
template <class Derived, class Options> class WeightedLoss : public PlainModule<Derived, Options>
{
  public:
    explicit WeightedLoss(const Options &from) : PlainModule<Derived, Options>(from)
    {
        WeightedLoss::reset();
    }
    void reset() override
    {
        weight = this->register_buffer("weight", this->options.weight());
    }
    Tensor weight;
};
// A loss that also has weights of the positive examples.
template <class Derived, class Options> class PositiveWeightedLoss : public WeightedLoss<Derived, Options>
{
  public:
    explicit PositiveWeightedLoss(const Options &from) : WeightedLoss<Derived, Options>(from)
    {
        pos_weight = this->register_buffer("pos_weight", this->options.pos_weight());
    }
    void reset() override
    {
        WeightedLoss<Derived, Options>::reset();
        pos_weight = this->register_buffer("pos_weight", this->options.pos_weight());
    }
    Tensor pos_weight;
};
} // namespace detail

// Defines the module of a loss. The last parameters: the arguments of forward, their names, and what the module prints
// after its name.
#define TAPER_CPP_NN_LOSS(base, name, function, inputs, names, ...)                                                    \
    struct name##Impl : detail::base<name##Impl, name##Options> {                                                      \
        TAPER_CPP_NN_LATE explicit name##Impl(const name##Options &from = {}) : base(from)                             \
        {                                                                                                              \
        }                                                                                                              \
        void pretty_print(std::ostream &out) const override                                                            \
        {                                                                                                              \
            out << "torch::nn::" #name << __VA_ARGS__;                                                                 \
        }                                                                                                              \
        Tensor forward inputs                                                                                          \
        {                                                                                                              \
            return functional::function names;                                                                         \
        }                                                                                                              \
    };                                                                                                                 \
    TORCH_MODULE(name);
#define TAPER_CPP_NN_LOSS2(base, name, function, ...)                                                                  \
    TAPER_CPP_NN_LOSS(base, name, function, (const Tensor &input, const Tensor &target), (input, target, options),     \
                      __VA_ARGS__)
#define TAPER_CPP_NN_LOSS3(name, function, ...)                                                                        \
    TAPER_CPP_NN_LOSS(PlainModule, name, function, (const Tensor &a, const Tensor &b, const Tensor &c),                \
                      (a, b, c, options), __VA_ARGS__)
TAPER_CPP_NN_LOSS2(PlainModule, L1Loss, l1_loss, "()")
TAPER_CPP_NN_LOSS2(PlainModule, KLDivLoss, kl_div, "()")
TAPER_CPP_NN_LOSS2(PlainModule, MSELoss, mse_loss, "()")
TAPER_CPP_NN_LOSS2(WeightedLoss, BCELoss, binary_cross_entropy, "()")
TAPER_CPP_NN_LOSS2(PositiveWeightedLoss, BCEWithLogitsLoss, binary_cross_entropy_with_logits, "()")
TAPER_CPP_NN_LOSS2(PlainModule, HingeEmbeddingLoss, hinge_embedding_loss, "(margin=" << options.margin() << ")")
TAPER_CPP_NN_LOSS2(WeightedLoss, MultiMarginLoss, multi_margin_loss,
                   "(p=" << options.p() << ", margin=" << options.margin() << ", weight=" << options.weight()
                         << ", reduction=" << enumtype::get_enum_name(options.reduction()) << ")")
TAPER_CPP_NN_LOSS2(PlainModule, MultiLabelMarginLoss, multilabel_margin_loss, "()")
TAPER_CPP_NN_LOSS2(WeightedLoss, MultiLabelSoftMarginLoss, multilabel_soft_margin_loss, "()")
TAPER_CPP_NN_LOSS2(PlainModule, SoftMarginLoss, soft_margin_loss, "()")
TAPER_CPP_NN_LOSS2(PlainModule, PoissonNLLLoss, poisson_nll_loss, "()")
TAPER_CPP_NN_LOSS2(WeightedLoss, NLLLoss, nll_loss, "()")
TAPER_CPP_NN_LOSS2(WeightedLoss, CrossEntropyLoss, cross_entropy, "()")
TAPER_CPP_NN_LOSS2(PlainModule, HuberLoss, huber_loss, "")
TAPER_CPP_NN_LOSS(PlainModule, SmoothL1Loss, smooth_l1_loss, (const Tensor &input, const Tensor &target),
                  (input, target, options, options.beta()), "")
TAPER_CPP_NN_LOSS3(CosineEmbeddingLoss, cosine_embedding_loss, "(margin=" << options.margin() << ")")
TAPER_CPP_NN_LOSS3(MarginRankingLoss, margin_ranking_loss, "()")
TAPER_CPP_NN_LOSS3(TripletMarginLoss, triplet_margin_loss,
                   "(margin=" << options.margin() << ", p=" << options.p() << ", eps=" << options.eps()
                              << std::boolalpha << ", swap=" << options.swap() << ")")
TAPER_CPP_NN_LOSS3(TripletMarginWithDistanceLoss, triplet_margin_with_distance_loss,
                   "(margin=" << options.margin() << std::boolalpha << ", swap=" << options.swap() << ")")
TAPER_CPP_NN_LOSS(PlainModule, CTCLoss, ctc_loss,
                  (const Tensor &log_probs, const Tensor &targets, const Tensor &input_lengths,
                   const Tensor &target_lengths),
                  (log_probs, targets, input_lengths, target_lengths, options), "()")
#undef TAPER_CPP_NN_LOSS3
#undef TAPER_CPP_NN_LOSS2
#undef TAPER_CPP_NN_LOSS

} // namespace nn
} // namespace torch

#endif
