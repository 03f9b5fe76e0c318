// SPDX-License-Identifier: BSD-2-Clause
// same_nn_layers: tests the layers of torch::nn without state between calls: their weights after manual_seed, results,
// printed text and errors. The output must be the same with Taper's headers and with PyTorch's headers.
#include "nn_print.h"

namespace
{

using namespace nn_print;
using torch::Tensor;
namespace nn = torch::nn;

void linear()
{
    torch::manual_seed(1);
    const Tensor x = counted({2, 4}), y = counted({2, 3});
    layer(nn::Linear(4, 3), true, x);
    layer(nn::Linear(nn::LinearOptions(4, 3).bias(false)), true, counted({2, 2, 4}));
    layer(nn::Bilinear(4, 3, 2), true, x, y);
    layer(nn::Bilinear(nn::BilinearOptions(4, 3, 2).bias(false)), true, x, y);
    layer(nn::Identity(), true, x);
    layer(nn::Flatten(), true, counted({2, 2, 3}));
    layer(nn::Flatten(nn::FlattenOptions().start_dim(0).end_dim(1)), true, counted({2, 2, 3}));
    layer(nn::Unflatten(1, std::vector<int64_t>{2, 2}), true, x);
    layer(nn::Unflatten(nn::UnflattenOptions(-1, {4, 1})), true, x);
    std::cout << nn::Unflatten(nn::UnflattenOptions("B", {{"B1", 2}, {"B2", 2}})) << "\n";
    layer(nn::CosineSimilarity(), true, x, x + 1);
    layer(nn::CosineSimilarity(nn::CosineSimilarityOptions().dim(0).eps(1e-3)), true, x, x + 1);
    layer(nn::PairwiseDistance(), true, x, x + 1);
    layer(nn::PairwiseDistance(nn::PairwiseDistanceOptions().p(1).eps(1e-2).keepdim(true)), true, x, x + 1);
}

void convolutions()
{
    torch::manual_seed(2);
    const Tensor x1 = counted({1, 2, 7}), x2 = counted({1, 2, 5, 6}), x3 = counted({1, 2, 4, 3, 4});
    layer(nn::Conv1d(2, 3, 3), true, x1);
    layer(nn::Conv1d(nn::Conv1dOptions(2, 2, 3).stride(2).padding(1).dilation(2).groups(2).bias(false)), true, x1);
    layer(nn::Conv1d(nn::Conv1dOptions(2, 1, 2).padding(torch::kSame)), true, x1);
    layer(nn::Conv2d(nn::Conv2dOptions(2, 2, {2, 3}).stride({1, 2}).padding({1, 0})), true, x2);
    layer(nn::Conv2d(nn::Conv2dOptions(2, 1, 3).padding(torch::kValid)), true, x2);
    layer(nn::Conv2d(nn::Conv2dOptions(2, 1, 3).padding({1, 2}).padding_mode(torch::kReflect)), true, x2);
    layer(nn::Conv2d(nn::Conv2dOptions(2, 1, 3).padding(1).padding_mode(torch::kReplicate)), true, x2);
    layer(nn::Conv2d(nn::Conv2dOptions(2, 1, 3).padding(1).padding_mode(torch::kCircular)), true, x2);
    layer(nn::Conv3d(2, 2, 2), true, x3);
    layer(nn::Conv3d(nn::Conv3dOptions(2, 1, {1, 2, 3}).padding({0, 1, 1}).padding_mode(torch::kReplicate)), true, x3);
    layer(nn::ConvTranspose1d(2, 3, 3), true, x1);
    layer(nn::ConvTranspose1d(nn::ConvTranspose1dOptions(2, 2, 3).stride(2).padding(1).output_padding(1).groups(2)),
          true, x1);
    layer(nn::ConvTranspose2d(nn::ConvTranspose2dOptions(2, 1, 3).stride(2).bias(false)), true, x2);
    layer(nn::ConvTranspose2d(nn::ConvTranspose2dOptions(2, 1, {3, 2}).dilation({1, 2})), true, x2);
    layer(nn::ConvTranspose3d(2, 1, 2), true, x3);
    nn::ConvTranspose2d up(nn::ConvTranspose2dOptions(2, 1, 3).stride(2));
    const std::vector<int64_t> size = {12, 14}, longer = {1, 1, 11, 13}, wrong = {1, 2}, few = {1};
    ATTEMPT(up(x2, at::IntArrayRef(size)));
    ATTEMPT(up(x2, at::IntArrayRef(longer)));
    ATTEMPT(up(x2, at::IntArrayRef(wrong)));
    ATTEMPT(up(x2, at::IntArrayRef(few)));
    ATTEMPT(nn::ConvTranspose1d(nn::ConvTranspose1dOptions(2, 1, 3).padding_mode(torch::kReflect))(x1));
    nn::Sequential all(nn::ConvTranspose2d(2, 1, 3), nn::Conv2d(1, 1, 3));
    show(all->forward(x2));
    FAILS(nn::Conv2d(2, 3, 3)(x1));
}

void normalizations()
{
    torch::manual_seed(3);
    const Tensor x = counted({2, 4}), x1 = counted({2, 4, 3}), x2 = counted({2, 4, 3, 2}),
                 x3 = counted({2, 4, 2, 2, 2});
    layer(nn::BatchNorm1d(4), true, x);
    layer(nn::BatchNorm1d(nn::BatchNorm1dOptions(4).eps(0.1).momentum(0.3)), true, x1);
    layer(nn::BatchNorm2d(nn::BatchNorm2dOptions(4).affine(false)), true, x2);
    layer(nn::BatchNorm2d(nn::BatchNorm2dOptions(4).track_running_stats(false)), true, x2);
    layer(nn::BatchNorm3d(4), true, x3);
    nn::BatchNorm2d mean(nn::BatchNorm2dOptions(4).momentum(c10::nullopt));
    ATTEMPT(mean(x2));
    ATTEMPT(mean(x2 * 2));
    std::cout << mean->running_mean << mean->num_batches_tracked << "\n";
    layer(nn::InstanceNorm1d(4), true, x1);
    layer(nn::InstanceNorm1d(4), true, x);
    layer(nn::InstanceNorm2d(nn::InstanceNorm2dOptions(4).affine(true).track_running_stats(true)), true, x2);
    layer(nn::InstanceNorm3d(nn::InstanceNorm3dOptions(4).eps(0.01).momentum(0.2)), true, x3);
    layer(nn::LayerNorm(nn::LayerNormOptions({4})), true, x);
    layer(nn::LayerNorm(nn::LayerNormOptions({3, 2}).eps(0.1).elementwise_affine(false)), true, x2);
    layer(nn::GroupNorm(2, 4), true, x2);
    layer(nn::GroupNorm(nn::GroupNormOptions(1, 4).eps(0.1).affine(false)), true, x2);
    layer(nn::LocalResponseNorm(2), true, x1);
    layer(nn::LocalResponseNorm(nn::LocalResponseNormOptions(3).alpha(0.1).beta(0.5).k(2)), true, x2);
    layer(nn::CrossMapLRN2d(3), true, x2);
    layer(nn::CrossMapLRN2d(nn::CrossMapLRN2dOptions(2).alpha(0.5).beta(0.5).k(2)), true, x2);
    FAILS(nn::CrossMapLRN2d(3)(x));
    ATTEMPT(nn::LocalResponseNorm(2)(x));
    ATTEMPT(nn::BatchNorm1d(4)(x2));
    ATTEMPT(nn::BatchNorm3d(4)(x2));
    ATTEMPT(nn::InstanceNorm1d(4)(x2));
    ATTEMPT(nn::InstanceNorm2d(4)(x));
}

void activations()
{
    torch::manual_seed(4);
    const Tensor x = counted({2, 5}) * 3, four = counted({1, 2, 2, 2});
    layer(nn::ELU(), true, x);
    layer(nn::ELU(nn::ELUOptions().alpha(0.5).inplace(true)), true, x.clone());
    layer(nn::SELU(), true, x);
    layer(nn::SELU(nn::SELUOptions(true)), true, x.clone());
    layer(nn::CELU(nn::CELUOptions().alpha(0.7)), true, x);
    layer(nn::GELU(), true, x);
    layer(nn::GELU(nn::GELUOptions().approximate("tanh")), true, x);
    layer(nn::GLU(), true, counted({2, 4}));
    layer(nn::GLU(0), true, x);
    layer(nn::Hardshrink(), true, x);
    layer(nn::Hardshrink(0.25), true, x);
    layer(nn::Hardtanh(), true, x);
    layer(nn::Hardtanh(nn::HardtanhOptions().min_val(-0.5).max_val(2).inplace(true)), true, x.clone());
    layer(nn::LeakyReLU(), true, x);
    layer(nn::LeakyReLU(nn::LeakyReLUOptions().negative_slope(0.2).inplace(true)), true, x.clone());
    layer(nn::LogSigmoid(), true, x);
    layer(nn::Softmax(1), true, x);
    layer(nn::Softmin(0), true, x);
    layer(nn::LogSoftmax(-1), true, x);
    layer(nn::Softmax2d(), true, four);
    layer(nn::PReLU(), true, x);
    layer(nn::PReLU(nn::PReLUOptions().num_parameters(5).init(0.5)), true, x);
    layer(nn::ReLU(), true, x);
    layer(nn::ReLU(true), true, x.clone());
    layer(nn::ReLU6(), true, x * 3);
    layer(nn::ReLU6(nn::ReLU6Options(true)), true, x.clone());
    layer(nn::RReLU(), true, x);
    layer(nn::RReLU(nn::RReLUOptions().lower(0.1).upper(0.9).inplace(true)), true, x.clone());
    layer(nn::Sigmoid(), true, x);
    layer(nn::Softplus(), true, x);
    layer(nn::Softplus(nn::SoftplusOptions().beta(0.5).threshold(1)), true, x);
    layer(nn::Softshrink(), true, x);
    layer(nn::Softsign(), true, x);
    layer(nn::Tanh(), true, x);
    layer(nn::Tanhshrink(), true, x);
    layer(nn::Threshold(0.5, -7), true, x);
    layer(nn::Threshold(nn::ThresholdOptions(0.5, 1).inplace(true)), true, x.clone());
    layer(nn::SiLU(), true, x);
    layer(nn::Mish(), true, x);
    ATTEMPT(nn::Softmax2d()(x));
    ATTEMPT(nn::GLU()(counted({})));
    FAILS(nn::GLU()(x));
}

void dropouts()
{
    torch::manual_seed(5);
    const Tensor x = torch::ones({3, 6}), x2 = torch::ones({2, 4, 2, 2}), x3 = torch::ones({2, 3, 2, 1, 2});
    layer(nn::Dropout(), true, x);
    layer(nn::Dropout(nn::DropoutOptions(0.2).inplace(true)), true, x.clone());
    layer(nn::Dropout2d(0.5), true, x2);
    layer(nn::Dropout3d(0.5), true, x3);
    layer(nn::AlphaDropout(0.3), true, x);
    layer(nn::FeatureAlphaDropout(0.5), true, x2);
    layer(nn::Dropout(0.0), true, x);
    layer(nn::Dropout(1.0), true, x);
    ATTEMPT(nn::Dropout2d(-0.5)(x));
    show(torch::rand({3})); // shows whether the layers have drawn as many random numbers as PyTorch's
}

void poolings()
{
    torch::manual_seed(6);
    const Tensor x1 = counted({1, 2, 8}), x2 = counted({1, 2, 6, 8}), x3 = counted({1, 2, 4, 6, 4});
    layer(nn::AvgPool1d(2), true, x1);
    layer(nn::AvgPool1d(nn::AvgPool1dOptions(3).stride(2).padding(1).ceil_mode(true).count_include_pad(false)), true,
          x1);
    layer(nn::AvgPool2d(nn::AvgPool2dOptions({3, 2}).stride({2, 1}).divisor_override(2)), true, x2);
    layer(nn::AvgPool3d(2), true, x3);
    layer(nn::MaxPool1d(3), true, x1);
    layer(nn::MaxPool2d(nn::MaxPool2dOptions({3, 2}).stride(1).padding({1, 0}).dilation({1, 2}).ceil_mode(true)), true,
          x2);
    layer(nn::MaxPool3d(2), true, x3);
    show(nn::MaxPool1d(2)->forward_with_indices(x1));
    show(nn::MaxPool2d(2)->forward_with_indices(x2));
    show(nn::MaxPool3d(2)->forward_with_indices(x3));
    layer(nn::AdaptiveAvgPool1d(3), true, x1);
    layer(nn::AdaptiveAvgPool2d(nn::AdaptiveAvgPool2dOptions({2, c10::nullopt})), true, x2);
    layer(nn::AdaptiveAvgPool2d(1), true, x2);
    layer(nn::AdaptiveAvgPool3d(nn::AdaptiveAvgPool3dOptions({2, 1, 3})), true, x3);
    layer(nn::AdaptiveMaxPool1d(3), true, x1);
    layer(nn::AdaptiveMaxPool2d(nn::AdaptiveMaxPool2dOptions({c10::nullopt, 2})), true, x2);
    layer(nn::AdaptiveMaxPool3d(2), true, x3);
    show(nn::AdaptiveMaxPool1d(3)->forward_with_indices(x1));
    show(nn::AdaptiveMaxPool2d(3)->forward_with_indices(x2));
    layer(nn::LPPool1d(2, 3), true, x1.abs());
    layer(nn::LPPool2d(nn::LPPool2dOptions(1.5, {2, 3}).stride(2).ceil_mode(true)), true, x2.abs());
    layer(nn::FractionalMaxPool2d(nn::FractionalMaxPool2dOptions(2).output_size(3)), true, x2);
    layer(nn::FractionalMaxPool3d(nn::FractionalMaxPool3dOptions(2).output_ratio(0.5)), true, x3);
    show(nn::FractionalMaxPool2d(
             nn::FractionalMaxPool2dOptions({2, 2}).output_ratio(torch::ExpandingArray<2, double>({0.5, 0.6})))
             ->forward_with_indices(x2));
    ATTEMPT(nn::FractionalMaxPool2d(2)(x2));
    ATTEMPT(nn::FractionalMaxPool2d(nn::FractionalMaxPool2dOptions(2).output_size(3).output_ratio(0.5))(x2));
    ATTEMPT(nn::FractionalMaxPool3d(nn::FractionalMaxPool3dOptions(2).output_ratio(1.5))(x3));
    const auto two = nn::MaxPool2d(2)->forward_with_indices(x2);
    const auto one = nn::MaxPool1d(2)->forward_with_indices(x1), three = nn::MaxPool3d(2)->forward_with_indices(x3);
    layer(nn::MaxUnpool2d(2), true, std::get<0>(two), std::get<1>(two));
    layer(nn::MaxUnpool1d(2), true, std::get<0>(one), std::get<1>(one));
    layer(nn::MaxUnpool3d(nn::MaxUnpool3dOptions(2).stride(2).padding(0)), true, std::get<0>(three),
          std::get<1>(three));
    ATTEMPT(nn::MaxUnpool2d(2)(std::get<0>(two), std::get<1>(two), std::vector<int64_t>{1, 2, 6, 8}));
    ATTEMPT(nn::MaxUnpool2d(2)(std::get<0>(two), std::get<1>(two), std::vector<int64_t>{6}));
    ATTEMPT(nn::MaxUnpool2d(2)(std::get<0>(two), std::get<1>(two), std::vector<int64_t>{1, 2, 60, 7}));
    FAILS(nn::MaxPool2d(9)(x2));
}

void paddings()
{
    const Tensor x1 = counted({1, 2, 4}), x2 = counted({1, 1, 3, 4}), x3 = counted({1, 1, 3, 2, 3});
    layer(nn::ReflectionPad1d(2), true, x1);
    layer(nn::ReflectionPad2d(nn::ReflectionPad2dOptions({1, 2, 0, 1})), true, x2);
    layer(nn::ReflectionPad3d(1), true, x3);
    layer(nn::ReplicationPad1d(nn::ReplicationPad1dOptions({3, 1})), true, x1);
    layer(nn::ReplicationPad2d(1), true, x2);
    layer(nn::ReplicationPad3d(nn::ReplicationPad3dOptions({1, 0, 0, 1, 2, 0})), true, x3);
    layer(nn::ZeroPad2d(1), true, x2);
    layer(nn::ZeroPad2d(nn::ZeroPad2dOptions({1, 0, 2, 1})), true, x2);
    layer(nn::ConstantPad1d(1, 3.5), true, x1);
    layer(nn::ConstantPad2d(nn::ConstantPad2dOptions({1, 0, 0, 1}, -1)), true, x2);
    layer(nn::ConstantPad3d(1, 0.5), true, x3);
    FAILS(nn::ReflectionPad1d(9)(x1));
}

void pictures()
{
    const Tensor x1 = counted({1, 2, 4}), x2 = counted({1, 4, 3, 4}), x3 = counted({1, 1, 2, 3, 2});
    layer(nn::Upsample(nn::UpsampleOptions().scale_factor(std::vector<double>{2.0}).mode(torch::kNearest)), true, x1);
    layer(nn::Upsample(nn::UpsampleOptions().size(std::vector<int64_t>{7}).mode(torch::kLinear).align_corners(true)),
          true, x1);
    layer(nn::Upsample(nn::UpsampleOptions()
                           .scale_factor(std::vector<double>{2.0, 1.5})
                           .mode(torch::kBilinear)
                           .align_corners(false)),
          true, x2);
    layer(
        nn::Upsample(nn::UpsampleOptions().size(std::vector<int64_t>{5, 6}).mode(torch::kBicubic).align_corners(true)),
        true, x2);
    layer(nn::Upsample(
              nn::UpsampleOptions().size(std::vector<int64_t>{3, 4, 3}).mode(torch::kTrilinear).align_corners(false)),
          true, x3);
    layer(nn::Upsample(nn::UpsampleOptions().size(std::vector<int64_t>{4, 6, 4})), true, x3);
    layer(nn::PixelShuffle(2), true, x2);
    layer(nn::PixelUnshuffle(2), true, counted({1, 1, 4, 2}));
    layer(nn::Fold(nn::FoldOptions({4, 5}, {2, 2})), true, counted({1, 4, 12}));
    layer(nn::Fold(nn::FoldOptions(3, 2).padding(1).stride({1, 2}).dilation(1)), true, counted({1, 4, 8}));
    layer(nn::Unfold(2), true, x2);
    layer(nn::Unfold(nn::UnfoldOptions({2, 3}).padding(1).stride(2).dilation({1, 2})), true, x2);
    ATTEMPT(nn::Fold(nn::FoldOptions({4, 5}, {2, 2}))(counted({2})));
    ATTEMPT(nn::Unfold(2)(x3));
}

} // namespace

int main()
{
    const torch::NoGradGuard guard;
    linear();
    convolutions();
    normalizations();
    activations();
    dropouts();
    poolings();
    paddings();
    pictures();
    std::cout << "models\n";
    return 0;
}
