// SPDX-License-Identifier: BSD-2-Clause
// same_nn_functional: tests torch::nn::functional, torch::nn::init, the losses and torch::nn::utils. The output must be
// the same with Taper's headers and with PyTorch's headers.
#include "nn_print.h"

namespace
{

using namespace nn_print;
using torch::Tensor;
namespace nn = torch::nn;
namespace F = torch::nn::functional;
namespace init = torch::nn::init;

Tensor longs(std::vector<int64_t> numbers, std::vector<int64_t> sizes)
{
    return torch::from_blob(numbers.data(), sizes, torch::kLong).clone();
}

void first_values()
{
    torch::manual_seed(1);
    const auto fresh = [](std::vector<int64_t> sizes) { return torch::empty(sizes); };
    ATTEMPT(init::constant_(fresh({2, 3}), 0.5));
    ATTEMPT(init::ones_(fresh({2})));
    ATTEMPT(init::zeros_(fresh({2})));
    ATTEMPT(init::eye_(fresh({2, 3})));
    ATTEMPT(init::dirac_(fresh({3, 2, 3})));
    ATTEMPT(init::dirac_(fresh({2, 2, 2, 3})));
    ATTEMPT(init::dirac_(fresh({1, 1, 3, 2, 3})));
    ATTEMPT(init::normal_(fresh({5}), 1, 2));
    ATTEMPT(init::uniform_(fresh({5}), -1, 2));
    ATTEMPT(init::kaiming_normal_(fresh({2, 3, 2})));
    ATTEMPT(init::kaiming_normal_(fresh({2, 3}), 0.1, torch::kFanOut, torch::kReLU));
    ATTEMPT(init::kaiming_uniform_(fresh({2, 3}), 0, torch::kFanOut, torch::kTanh));
    ATTEMPT(init::xavier_normal_(fresh({2, 3}), 2));
    ATTEMPT(init::xavier_uniform_(fresh({2, 3})));
    ATTEMPT(init::orthogonal_(fresh({3, 2})).abs());
    ATTEMPT(init::orthogonal_(fresh({2, 2, 2}), 0.5).abs());
    ATTEMPT(init::sparse_(fresh({5, 2}), 0.5));
    std::cout << init::calculate_gain(torch::kLinear) << init::calculate_gain(torch::kTanh)
              << init::calculate_gain(torch::kReLU) << init::calculate_gain(torch::kLeakyReLU, 0.5)
              << init::calculate_gain(torch::kConv2D) << init::calculate_gain(torch::kSigmoid)
              << std::get<1>(init::_calculate_fan_in_and_fan_out(fresh({2, 3, 4}))) << "\n";
    ATTEMPT(init::xavier_normal_(fresh({2})));
    ATTEMPT(init::eye_(fresh({2})));
    ATTEMPT(init::dirac_(fresh({2, 2})));
    ATTEMPT(init::orthogonal_(fresh({2})));
    ATTEMPT(init::sparse_(fresh({2}), 0.1));
    show(torch::rand({2}));
}

void activations()
{
    torch::manual_seed(2);
    const Tensor x = counted({2, 4}) * 3;
    ATTEMPT(F::elu(x, F::ELUFuncOptions().alpha(0.5)));
    ATTEMPT(F::elu(x.clone(), F::ELUFuncOptions().inplace(true)));
    ATTEMPT(F::selu(x));
    ATTEMPT(F::celu(x, F::CELUFuncOptions().alpha(0.5)));
    ATTEMPT(F::gelu(x));
    ATTEMPT(F::glu(x, F::GLUFuncOptions(1)));
    ATTEMPT(F::hardshrink(x, F::HardshrinkFuncOptions(0.4)));
    ATTEMPT(F::hardtanh(x, F::HardtanhFuncOptions().min_val(-2)));
    ATTEMPT(F::leaky_relu(x));
    ATTEMPT(F::logsigmoid(x));
    ATTEMPT(F::gumbel_softmax(x, F::GumbelSoftmaxFuncOptions().tau(0.5)));
    ATTEMPT(F::gumbel_softmax(x, F::GumbelSoftmaxFuncOptions().hard(true).dim(0)));
    ATTEMPT(F::softmax(x, 1));
    ATTEMPT(F::softmax(x, F::SoftmaxFuncOptions(0).dtype(torch::kDouble)));
    ATTEMPT(F::softmin(x, 1));
    ATTEMPT(F::log_softmax(x, F::LogSoftmaxFuncOptions(1)));
    ATTEMPT(F::silu(x));
    ATTEMPT(F::mish(x));
    ATTEMPT(F::prelu(x, torch::full({4}, 0.3)));
    ATTEMPT(F::relu(x));
    ATTEMPT(F::relu(x.clone(), F::ReLUFuncOptions(true)));
    ATTEMPT(F::relu6(x));
    ATTEMPT(F::rrelu(x, F::RReLUFuncOptions().training(true)));
    ATTEMPT(F::softplus(x));
    ATTEMPT(F::softshrink(x));
    ATTEMPT(F::softsign(x));
    ATTEMPT(F::tanhshrink(x));
    ATTEMPT(F::threshold(x, F::ThresholdFuncOptions(0.1, 20)));
    ATTEMPT(F::dropout(x));
    ATTEMPT(F::dropout(x, F::DropoutFuncOptions().p(0.2).training(false)));
    ATTEMPT(F::dropout2d(counted({1, 3, 2, 2}), F::Dropout2dFuncOptions().p(0.4)));
    ATTEMPT(F::dropout3d(counted({1, 3, 2, 1, 2})));
    ATTEMPT(F::alpha_dropout(x, F::AlphaDropoutFuncOptions().training(true)));
    ATTEMPT(F::feature_alpha_dropout(counted({1, 3, 2}), F::FeatureAlphaDropoutFuncOptions().training(true)));
    ATTEMPT(F::dropout(x, F::DropoutFuncOptions().p(2)));
}

void layers()
{
    const Tensor x = counted({2, 4}), x1 = counted({1, 2, 6}), x2 = counted({1, 2, 4, 6}),
                 x3 = counted({1, 2, 2, 4, 4});
    const Tensor w1 = counted({1, 2, 3}), w2 = counted({2, 2, 2, 2}), w3 = counted({1, 2, 1, 2, 2});
    ATTEMPT(F::linear(x, counted({3, 4}), counted({3})));
    ATTEMPT(F::linear(x, counted({3, 4})));
    ATTEMPT(F::linear(x1, counted({3, 6}), counted({3})));
    ATTEMPT(F::bilinear(x, x, counted({2, 4, 4}), counted({2})));
    ATTEMPT(F::conv1d(x1, w1, F::Conv1dFuncOptions().stride(2).bias(counted({1}))));
    ATTEMPT(F::conv2d(x2, w2, F::Conv2dFuncOptions().padding({1, 0}).dilation(2)));
    ATTEMPT(F::conv2d(x2, w2, F::Conv2dFuncOptions().padding(torch::kSame)));
    ATTEMPT(F::conv3d(x3, w3));
    ATTEMPT(F::conv_transpose1d(x1, counted({2, 1, 3})));
    ATTEMPT(F::conv_transpose2d(x2, w2, F::ConvTranspose2dFuncOptions().stride(2).output_padding({1, 0})));
    ATTEMPT(F::conv_transpose3d(x3, counted({2, 1, 1, 2, 2})));
    ATTEMPT(F::batch_norm(x2, counted({2}), counted({2}).abs(), F::BatchNormFuncOptions().weight(counted({2}))));
    ATTEMPT(F::batch_norm(x2, torch::zeros({2}), torch::ones({2}), F::BatchNormFuncOptions().training(true)));
    ATTEMPT(F::batch_norm(counted({1, 2}), Tensor(), Tensor(), F::BatchNormFuncOptions().training(true)));
    ATTEMPT(F::instance_norm(x2, F::InstanceNormFuncOptions().eps(0.1)));
    ATTEMPT(F::layer_norm(x, F::LayerNormFuncOptions({4}).weight(counted({4}))));
    ATTEMPT(F::group_norm(x2, F::GroupNormFuncOptions(2).eps(0.1)));
    ATTEMPT(F::local_response_norm(x2, F::LocalResponseNormFuncOptions(2)));
    ATTEMPT(F::normalize(x));
    ATTEMPT(F::normalize(x, F::NormalizeFuncOptions().p(1).dim(0)));
    ATTEMPT(F::avg_pool1d(x1, F::AvgPool1dFuncOptions(2)));
    ATTEMPT(F::avg_pool2d(x2, F::AvgPool2dFuncOptions(2).stride(1)));
    ATTEMPT(F::avg_pool3d(x3, F::AvgPool3dFuncOptions(2)));
    ATTEMPT(F::max_pool1d(x1, F::MaxPool1dFuncOptions(2)));
    ATTEMPT(F::max_pool2d(x2, F::MaxPool2dFuncOptions({2, 3})));
    ATTEMPT(F::max_pool3d(x3, F::MaxPool3dFuncOptions(2)));
    ATTEMPT(F::max_pool2d_with_indices(x2, F::MaxPool2dFuncOptions(2)));
    ATTEMPT(F::adaptive_avg_pool1d(x1, F::AdaptiveAvgPool1dFuncOptions(2)));
    ATTEMPT(F::adaptive_avg_pool2d(x2, F::AdaptiveAvgPool2dFuncOptions(1)));
    ATTEMPT(F::adaptive_avg_pool3d(x3, F::AdaptiveAvgPool3dFuncOptions({1, 2, 2})));
    ATTEMPT(F::adaptive_max_pool1d(x1, F::AdaptiveMaxPool1dFuncOptions(2)));
    ATTEMPT(F::adaptive_max_pool2d_with_indices(x2, F::AdaptiveMaxPool2dFuncOptions({2, 1})));
    ATTEMPT(F::adaptive_max_pool3d(x3, F::AdaptiveMaxPool3dFuncOptions(1)));
    const auto pooled = F::max_pool2d_with_indices(x2, F::MaxPool2dFuncOptions(2));
    ATTEMPT(F::max_unpool2d(std::get<0>(pooled), std::get<1>(pooled), F::MaxUnpool2dFuncOptions(2)));
    ATTEMPT(F::lp_pool1d(x1.abs(), F::LPPool1dFuncOptions(2, 2)));
    ATTEMPT(F::lp_pool2d(x2.abs(), F::LPPool2dFuncOptions(1.5, 2)));
    torch::manual_seed(3);
    ATTEMPT(F::fractional_max_pool2d(x2, F::FractionalMaxPool2dFuncOptions(2).output_size(2)));
    ATTEMPT(F::fractional_max_pool3d_with_indices(x3, F::FractionalMaxPool3dFuncOptions(1).output_ratio(0.5)));
    ATTEMPT(F::fractional_max_pool2d(x2, F::FractionalMaxPool2dFuncOptions(2)));
    ATTEMPT(F::embedding(longs({0, 2}, {2}), x.t(), F::EmbeddingFuncOptions().max_norm(0.5)));
    ATTEMPT(F::embedding_bag(longs({0, 2, 1, 1}, {2, 2}), counted({3, 2})));
    ATTEMPT(F::one_hot(longs({0, 2}, {2}), 4));
    ATTEMPT(F::cosine_similarity(x, x + 1));
    ATTEMPT(F::pairwise_distance(x, x + 1, F::PairwiseDistanceFuncOptions().p(1)));
    ATTEMPT(F::pdist(counted({3, 4})));
    ATTEMPT(F::pad(x2, F::PadFuncOptions({1, 2}).value(3)));
    ATTEMPT(F::pad(x2, F::PadFuncOptions({1, 2, 0, 1}).mode(torch::kReflect)));
    ATTEMPT(F::pad(x2, F::PadFuncOptions({1, 2, 0, 1}).mode(torch::kReplicate)));
    ATTEMPT(F::pad(x2, F::PadFuncOptions({1, 2, 0, 1}).mode(torch::kCircular)));
}

void pictures()
{
    const Tensor x1 = counted({1, 1, 4}), x2 = counted({1, 1, 3, 4}), x3 = counted({1, 1, 2, 2, 3});
    const auto by = [](std::vector<double> scale) { return F::InterpolateFuncOptions().scale_factor(scale); };
    const auto to = [](std::vector<int64_t> size) { return F::InterpolateFuncOptions().size(size); };
    ATTEMPT(F::interpolate(x1, by({1.5}).recompute_scale_factor(true)));
    ATTEMPT(F::interpolate(x1, by({2}).mode(torch::kLinear).align_corners(false)));
    ATTEMPT(F::interpolate(x1, to({2}).mode(torch::kArea)));
    ATTEMPT(F::interpolate(x1, to({7}).mode(torch::kNearestExact)));
    ATTEMPT(F::interpolate(x2, to({5, 3})));
    ATTEMPT(F::interpolate(x2, to({5, 3}).mode(torch::kBilinear).align_corners(true)));
    ATTEMPT(F::interpolate(x2, by({0.5, 0.75}).mode(torch::kBilinear).align_corners(false).antialias(true)));
    ATTEMPT(F::interpolate(x2, to({5, 3}).mode(torch::kBicubic).align_corners(false)));
    ATTEMPT(F::interpolate(x2, to({2, 2}).mode(torch::kArea)));
    ATTEMPT(F::interpolate(x2, to({2, 5}).mode(torch::kNearestExact)));
    ATTEMPT(F::interpolate(x3, to({3, 3, 2}).mode(torch::kTrilinear).align_corners(true)));
    ATTEMPT(F::interpolate(x3, to({1, 3, 2}).mode(torch::kArea)));
    ATTEMPT(F::interpolate(x3, to({3, 3, 2})));
    ATTEMPT(F::interpolate(x2, F::InterpolateFuncOptions()));
    ATTEMPT(F::interpolate(x2, by({2, 2}).size(std::vector<int64_t>{4, 4})));
    ATTEMPT(F::interpolate(x2, by({2, 2, 2})));
    ATTEMPT(F::interpolate(x2, to({4, 4}).align_corners(true)));
    ATTEMPT(F::interpolate(x1, to({4}).antialias(true)));
    ATTEMPT(F::interpolate(x2, to({4, 4}).mode(torch::kLinear).align_corners(true)));
    ATTEMPT(F::interpolate(x1, to({4}).mode(torch::kBilinear).align_corners(true)));
    ATTEMPT(F::interpolate(x2, to({4, 4}).mode(torch::kTrilinear).align_corners(true)));
    ATTEMPT(F::interpolate(x3, to({4, 4, 4}).mode(torch::kBicubic).align_corners(true)));
    ATTEMPT(F::interpolate(counted({2, 2}), to({})));
    const Tensor theta = torch::tensor({0.5F, 0.1F, 0.F, 0.2F, 1.F, -0.1F}).view({1, 2, 3});
    const Tensor grid = F::affine_grid(theta, {1, 1, 2, 3}, false);
    ATTEMPT(grid);
    ATTEMPT(F::affine_grid(torch::ones({1, 3, 4}), {1, 1, 2, 1, 2}, true));
    ATTEMPT(F::affine_grid(theta, {1, 1, 2}));
    ATTEMPT(F::affine_grid(theta, {1, 1, 2, 3, 4}));
    ATTEMPT(F::affine_grid(theta, {1, 1, 0, 3}));
    ATTEMPT(F::affine_grid(theta.to(torch::kLong), {1, 1, 2, 3}));
    ATTEMPT(F::grid_sample(x2, grid, F::GridSampleFuncOptions().align_corners(false)));
    ATTEMPT(F::grid_sample(
        x2, grid * 2,
        F::GridSampleFuncOptions().mode(torch::kNearest).padding_mode(torch::kReflection).align_corners(true)));
    ATTEMPT(F::pixel_shuffle(counted({1, 4, 2, 2}), F::PixelShuffleFuncOptions(2)));
    ATTEMPT(F::pixel_unshuffle(counted({1, 1, 4, 2}), F::PixelUnshuffleFuncOptions(2)));
    ATTEMPT(F::fold(counted({1, 4, 6}), F::FoldFuncOptions({3, 4}, 2)));
    ATTEMPT(F::unfold(x2, F::UnfoldFuncOptions(2)));
}

void losses()
{
    const Tensor a = counted({3, 4}), b = counted({3, 4}) * 0.5 + 0.1, p = torch::sigmoid(a), q = torch::sigmoid(b);
    const Tensor classes = longs({1, 3, 0}, {3}), sign = torch::tensor({1.F, -1.F, 1.F}),
                 halves = (b > 0).to(torch::kFloat);
    layer(nn::L1Loss(), true, a, b);
    layer(nn::L1Loss(torch::kSum), true, a, b);
    layer(nn::KLDivLoss(nn::KLDivLossOptions().reduction(torch::kBatchMean)), true, a, q);
    layer(nn::KLDivLoss(nn::KLDivLossOptions(torch::kNone).log_target(true)), true, a, b);
    layer(nn::MSELoss(torch::kNone), true, a, b);
    layer(nn::BCELoss(), true, p, halves);
    layer(nn::BCELoss(nn::BCELossOptions().weight(counted({4}).abs()).reduction(torch::kSum)), true, p, halves);
    layer(nn::BCEWithLogitsLoss(nn::BCEWithLogitsLossOptions().pos_weight(torch::full({4}, 2.0))), true, a, halves);
    layer(nn::HingeEmbeddingLoss(nn::HingeEmbeddingLossOptions().margin(0.5)), true, counted({3}), sign);
    layer(nn::MultiMarginLoss(nn::MultiMarginLossOptions().p(2).margin(0.5).weight(torch::ones({4}))), true, a,
          classes);
    layer(nn::MultiLabelMarginLoss(), true, a, longs({1, -1, 0, 0, 2, 0, -1, 0, 3, 1, 2, 0}, {3, 4}));
    layer(nn::MultiLabelSoftMarginLoss(nn::MultiLabelSoftMarginLossOptions().reduction(torch::kNone)), true, a, halves);
    layer(nn::SoftMarginLoss(), true, counted({3}), sign);
    layer(nn::CosineEmbeddingLoss(nn::CosineEmbeddingLossOptions().margin(0.1)), true, a, b, sign);
    layer(nn::MarginRankingLoss(nn::MarginRankingLossOptions().margin(0.2)), true, counted({3}), counted({3}) + 1,
          sign);
    layer(nn::TripletMarginLoss(nn::TripletMarginLossOptions().swap(true)), true, a, b, -a);
    layer(nn::TripletMarginWithDistanceLoss(), true, a, b, -a);
    layer(nn::TripletMarginWithDistanceLoss(
              nn::TripletMarginWithDistanceLossOptions()
                  .distance_function([](const Tensor &x, const Tensor &y) { return (x - y).abs().sum(1); })
                  .swap(true)
                  .reduction(torch::kSum)),
          true, a, b, -a);
    layer(nn::CTCLoss(), true, counted({5, 2, 4}).log_softmax(2), longs({1, 2, 3, 1}, {2, 2}), longs({5, 4}, {2}),
          longs({2, 2}, {2}));
    layer(nn::PoissonNLLLoss(nn::PoissonNLLLossOptions().full(true)), true, a, halves + 2);
    layer(nn::NLLLoss(), true, a.log_softmax(1), classes);
    layer(nn::CrossEntropyLoss(nn::CrossEntropyLossOptions().label_smoothing(0.1).ignore_index(3)), true, a, classes);
    layer(nn::SmoothL1Loss(nn::SmoothL1LossOptions().beta(0.5)), true, a, b);
    layer(nn::HuberLoss(nn::HuberLossOptions(torch::kSum).delta(0.3)), true, a, b);
    ATTEMPT(F::l1_loss(a, b));
    ATTEMPT(F::mse_loss(a, b, F::MSELossFuncOptions(torch::kSum)));
    ATTEMPT(F::smooth_l1_loss(a, b, F::SmoothL1LossFuncOptions(torch::kSum), 0.5));
    ATTEMPT(F::huber_loss(a, b));
    ATTEMPT(F::cross_entropy(a, classes));
    ATTEMPT(F::nll_loss(a, classes, F::NLLLossFuncOptions().reduction(torch::kNone)));
    ATTEMPT(F::kl_div(a, q, F::KLDivFuncOptions().reduction(torch::kSum)));
    ATTEMPT(F::binary_cross_entropy(p, halves));
    ATTEMPT(F::binary_cross_entropy_with_logits(a, halves));
    ATTEMPT(F::nll_loss(a[0], classes));
    ATTEMPT(F::nll_loss(a, longs({1}, {1})));
    ATTEMPT(F::binary_cross_entropy(p, halves[0]));
    ATTEMPT(F::binary_cross_entropy_with_logits(a, halves[0]));
    ATTEMPT(F::multi_margin_loss(a, classes, F::MultiMarginLossFuncOptions().p(3)));
    ATTEMPT(F::margin_ranking_loss(a, b, sign));

    torch::manual_seed(4);
    nn::AdaptiveLogSoftmaxWithLoss rare(nn::AdaptiveLogSoftmaxWithLossOptions(4, 8, {2, 5}).div_value(2));
    std::cout << rare << "\n";
    const auto both = rare(a, longs({0, 3, 7}, {3}));
    show(both.output);
    std::cout << both.loss << "\n";
    show(rare->log_prob(a));
    show(rare->predict(a));
    ATTEMPT(rare(a, longs({0, 3}, {2})).output);
    ATTEMPT(rare(a, longs({0, 3, 9}, {3})).output);
    ATTEMPT(nn::AdaptiveLogSoftmaxWithLoss(4, 8, std::vector<int64_t>{5, 2})->head->weight);
}

// Tests the families of operators that have namespaces of their own, such as torch::linalg.
void spaces()
{
    const Tensor x = torch::tensor({1.F, 2.F, 3.F, 5.F}).view({2, 2});
    ATTEMPT(torch::fft::rfft(x).abs());
    ATTEMPT(torch::fft::fft2(x, torch::nullopt, {0, 1}).abs());
    ATTEMPT(torch::fft::fftfreq(4));
    ATTEMPT(torch::linalg::det(x));
    ATTEMPT(torch::linalg::inv(x));
    ATTEMPT(torch::linalg::norm(x, c10::nullopt, c10::nullopt, false, c10::nullopt));
    ATTEMPT(torch::special::expit(x));
    ATTEMPT(torch::special::logsumexp(x, {1}, false));
}

void parameters()
{
    nn::Linear linear(2, 2);
    const Tensor all = nn::utils::parameters_to_vector(linear->parameters());
    std::cout << all.sizes() << "\n";
    nn::utils::vector_to_parameters(counted({6}), linear->parameters());
    show(linear->weight);
    show(linear(counted({1, 2})));
}

} // namespace

int main()
{
    const torch::NoGradGuard guard;
    first_values();
    activations();
    layers();
    pictures();
    losses();
    parameters();
    spaces();
    std::cout << "models\n";
    return 0;
}
