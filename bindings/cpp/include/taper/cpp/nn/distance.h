/* SPDX-License-Identifier: BSD-2-Clause */
// Distances between vectors.
#ifndef TAPER_CPP_NN_DISTANCE_H
#define TAPER_CPP_NN_DISTANCE_H

#include <taper/cpp/nn/options.h>

namespace torch
{
namespace nn
{

struct CosineSimilarityOptions {
    TORCH_ARG(int64_t, dim) = 1;
    TORCH_ARG(double, eps) = 1e-8;
};
struct PairwiseDistanceOptions {
    TORCH_ARG(double, p) = 2.0;
    TORCH_ARG(double, eps) = 1e-6;
    TORCH_ARG(bool, keepdim) = false;
};

namespace functional
{
using CosineSimilarityFuncOptions = CosineSimilarityOptions;
using PairwiseDistanceFuncOptions = PairwiseDistanceOptions;
inline Tensor cosine_similarity(const Tensor &x1, const Tensor &x2, const CosineSimilarityFuncOptions &options = {})
{
    return at::cosine_similarity(x1, x2, options.dim(), options.eps());
}
inline Tensor pairwise_distance(const Tensor &x1, const Tensor &x2, const PairwiseDistanceFuncOptions &options = {})
{
    return at::pairwise_distance(x1, x2, options.p(), options.eps(), options.keepdim());
}
inline Tensor pdist(const Tensor &input, double p = 2.0)
{
    return at::pdist(input, p);
}
} // namespace functional

#define TAPER_CPP_NN_DISTANCE(name, function, ...)                                                                     \
    class name##Impl : public detail::PlainModule<name##Impl, name##Options>                                           \
    {                                                                                                                  \
      public:                                                                                                          \
        TAPER_CPP_NN_LATE explicit name##Impl(const name##Options &from = {}) : PlainModule(from)                      \
        {                                                                                                              \
        }                                                                                                              \
        void pretty_print(std::ostream &out) const override                                                            \
        {                                                                                                              \
            out << std::boolalpha << "torch::nn::" #name "(" << __VA_ARGS__ << ")";                                    \
        }                                                                                                              \
        Tensor forward(const Tensor &x1, const Tensor &x2)                                                             \
        {                                                                                                              \
            return functional::function(x1, x2, options);                                                              \
        }                                                                                                              \
    };                                                                                                                 \
    TORCH_MODULE(name);
TAPER_CPP_NN_DISTANCE(CosineSimilarity, cosine_similarity, "dim=" << options.dim() << ", eps=" << options.eps())
TAPER_CPP_NN_DISTANCE(PairwiseDistance, pairwise_distance,
                      "p=" << options.p() << ", eps=" << options.eps() << ", keepdim=" << options.keepdim())
#undef TAPER_CPP_NN_DISTANCE

} // namespace nn
} // namespace torch

#endif
