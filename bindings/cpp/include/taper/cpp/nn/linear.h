/* SPDX-License-Identifier: BSD-2-Clause */
// Linear, Bilinear, Identity, Flatten and Unflatten.
#ifndef TAPER_CPP_NN_LINEAR_H
#define TAPER_CPP_NN_LINEAR_H

#include <cmath>

#include <taper/cpp/nn/init.h>
#include <taper/cpp/nn/options.h>

namespace torch
{
namespace nn
{

struct LinearOptions {
    LinearOptions(int64_t in, int64_t out) : in_features_(in), out_features_(out)
    {
    }
    TORCH_ARG(int64_t, in_features);
    TORCH_ARG(int64_t, out_features);
    TORCH_ARG(bool, bias) = true;
};
struct BilinearOptions {
    BilinearOptions(int64_t in1, int64_t in2, int64_t out) : in1_features_(in1), in2_features_(in2), out_features_(out)
    {
    }
    TORCH_ARG(int64_t, in1_features);
    TORCH_ARG(int64_t, in2_features);
    TORCH_ARG(int64_t, out_features);
    TORCH_ARG(bool, bias) = true;
};
struct FlattenOptions {
    TORCH_ARG(int64_t, start_dim) = 1;
    TORCH_ARG(int64_t, end_dim) = -1;
};
struct UnflattenOptions {
    using namedshape_t = std::vector<std::pair<std::string, int64_t>>;
    UnflattenOptions(int64_t dim, std::vector<int64_t> sizes) : dim_(dim), sizes_(std::move(sizes))
    {
    }
    UnflattenOptions(const char *name, namedshape_t shape) : UnflattenOptions(std::string(name), std::move(shape))
    {
    }
    UnflattenOptions(std::string name, namedshape_t shape)
        : dim_(0), dimname_(std::move(name)), namedshape_(std::move(shape))
    {
    }
    TORCH_ARG(int64_t, dim);
    TORCH_ARG(std::string, dimname);
    TORCH_ARG(std::vector<int64_t>, sizes);
    TORCH_ARG(namedshape_t, namedshape);
};

namespace functional
{
inline Tensor linear(const Tensor &input, const Tensor &weight, const Tensor &bias = {})
{
    if (input.dim() == 2 && bias.defined()) {
        return at::addmm(bias, input, weight.t());
    }
    Tensor result = input.matmul(weight.t());
    return bias.defined() ? result += bias : result;
}
inline Tensor bilinear(const Tensor &input1, const Tensor &input2, const Tensor &weight, const Tensor &bias = {})
{
    return at::bilinear(input1, input2, weight, bias);
}
} // namespace functional

class IdentityImpl : public Cloneable<IdentityImpl>
{
  public:
    void reset() override
    {
    }
    void pretty_print(std::ostream &out) const override
    {
        out << "torch::nn::Identity()";
    }
    Tensor forward(const Tensor &input)
    {
        return input;
    }
};
TORCH_MODULE(Identity);

class LinearImpl : public Cloneable<LinearImpl>
{
  public:
    TAPER_CPP_NN_LATE LinearImpl(int64_t in, int64_t out) : LinearImpl(LinearOptions(in, out))
    {
    }
    TAPER_CPP_NN_LATE explicit LinearImpl(const LinearOptions &from) : options(from)
    {
        LinearImpl::reset();
    }
    void reset() override
    {
        weight = register_parameter("weight", at::empty({options.out_features(), options.in_features()}));
        bias = options.bias() ? register_parameter("bias", at::empty(options.out_features()))
                              : register_parameter("bias", Tensor(), false);
        reset_parameters();
    }
    void reset_parameters()
    {
        init::kaiming_uniform_(weight, std::sqrt(5));
        if (bias.defined()) {
            const double bound = 1 / std::sqrt(static_cast<double>(options.in_features()));
            init::uniform_(bias, -bound, bound);
        }
    }
    void pretty_print(std::ostream &out) const override
    {
        out << std::boolalpha << "torch::nn::Linear(in_features=" << options.in_features()
            << ", out_features=" << options.out_features() << ", bias=" << options.bias() << ")";
    }
    Tensor forward(const Tensor &input)
    {
        return functional::linear(input, weight, bias);
    }
    LinearOptions options;
    Tensor weight, bias;
};
TORCH_MODULE(Linear);

class BilinearImpl : public Cloneable<BilinearImpl>
{
  public:
    TAPER_CPP_NN_LATE BilinearImpl(int64_t in1, int64_t in2, int64_t out) : BilinearImpl(BilinearOptions(in1, in2, out))
    {
    }
    TAPER_CPP_NN_LATE explicit BilinearImpl(const BilinearOptions &from) : options(from)
    {
        BilinearImpl::reset();
    }
    void reset() override
    {
        weight = register_parameter(
            "weight", at::empty({options.out_features(), options.in1_features(), options.in2_features()}));
        bias = options.bias() ? register_parameter("bias", at::empty(options.out_features()))
                              : register_parameter("bias", Tensor(), false);
        reset_parameters();
    }
    void reset_parameters()
    {
        const double bound = 1 / std::sqrt(static_cast<double>(weight.size(1)));
        init::uniform_(weight, -bound, bound);
        if (bias.defined()) {
            init::uniform_(bias, -bound, bound);
        }
    }
    void pretty_print(std::ostream &out) const override
    {
        out << std::boolalpha << "torch::nn::Bilinear(in1_features=" << options.in1_features()
            << ", in2_features=" << options.in2_features() << ", out_features=" << options.out_features()
            << ", bias=" << options.bias() << ")";
    }
    Tensor forward(const Tensor &input1, const Tensor &input2)
    {
        return functional::bilinear(input1, input2, weight, bias);
    }
    BilinearOptions options;
    Tensor weight, bias;
};
TORCH_MODULE(Bilinear);

class FlattenImpl : public detail::PlainModule<FlattenImpl, FlattenOptions>
{
  public:
    TAPER_CPP_NN_LATE explicit FlattenImpl(const FlattenOptions &from = {}) : PlainModule(from)
    {
    }
    void pretty_print(std::ostream &out) const override
    {
        out << "torch::nn::Flatten(start_dim=" << options.start_dim() << ", end_dim=" << options.end_dim() << ")";
    }
    Tensor forward(const Tensor &input)
    {
        return input.flatten(options.start_dim(), options.end_dim());
    }
};
TORCH_MODULE(Flatten);

class UnflattenImpl : public detail::PlainModule<UnflattenImpl, UnflattenOptions>
{
  public:
    TAPER_CPP_NN_LATE UnflattenImpl(int64_t dim, std::vector<int64_t> sizes)
        : UnflattenImpl(UnflattenOptions(dim, std::move(sizes)))
    {
    }
    TAPER_CPP_NN_LATE UnflattenImpl(std::string name, UnflattenOptions::namedshape_t shape)
        : UnflattenImpl(UnflattenOptions(std::move(name), std::move(shape)))
    {
    }
    TAPER_CPP_NN_LATE explicit UnflattenImpl(UnflattenOptions from) : PlainModule(std::move(from))
    {
    }
    void pretty_print(std::ostream &out) const override
    {
        const auto &shape = options.namedshape();
        if (shape.empty()) {
            out << "torch::nn::Unflatten(dim=" << options.dim() << ", unflattened_size={";
            for (size_t i = 0; i < options.sizes().size(); i++) {
                out << (i == 0 ? "" : ", ") << options.sizes()[i];
            }
            out << "})";
            return;
        }
        out << "torch::nn::Unflatten(dim=\"" << options.dimname() << "\", unflattened_size={";
        for (size_t i = 0; i < shape.size(); i++) {
            out << (i == 0 ? "" : ", ") << "{\"" << shape[i].first << "\", " << shape[i].second << "}";
        }
        out << "})";
    }
    Tensor forward(const Tensor &input)
    {
        TORCH_CHECK_TYPE(options.namedshape().empty(), "Taper has no tensors with named dimensions");
        return at::unflatten(input, options.dim(), options.sizes());
    }
};
TORCH_MODULE(Unflatten);

} // namespace nn
} // namespace torch

#endif
