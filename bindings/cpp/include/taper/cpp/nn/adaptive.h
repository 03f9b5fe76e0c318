/* SPDX-License-Identifier: BSD-2-Clause */
// AdaptiveLogSoftmaxWithLoss: a softmax over many classes, in which rare classes are grouped in clusters.
#ifndef TAPER_CPP_NN_ADAPTIVE_H
#define TAPER_CPP_NN_ADAPTIVE_H

#include <cmath>

#include <taper/cpp/indexing.h>
#include <taper/cpp/nn/linear.h>
#include <taper/cpp/nn/lists.h>
#include <taper/cpp/nn/sequential.h>

namespace torch
{
namespace nn
{

struct AdaptiveLogSoftmaxWithLossOptions {
    AdaptiveLogSoftmaxWithLossOptions(int64_t in, int64_t classes, std::vector<int64_t> cutoffs)
        : in_features_(in), n_classes_(classes), cutoffs_(std::move(cutoffs))
    {
    }
    TORCH_ARG(int64_t, in_features);
    TORCH_ARG(int64_t, n_classes);
    TORCH_ARG(std::vector<int64_t>, cutoffs); // index of the first class of each cluster
    TORCH_ARG(double, div_value) = 4.;
    TORCH_ARG(bool, head_bias) = false;
};
struct ASMoutput {
    ASMoutput(Tensor output_, double loss_) : output(output_), loss(loss_)
    {
    }
    Tensor output;
    double loss;
};

class AdaptiveLogSoftmaxWithLossImpl : public Cloneable<AdaptiveLogSoftmaxWithLossImpl>
{
  public:
    TAPER_CPP_NN_LATE AdaptiveLogSoftmaxWithLossImpl(int64_t in, int64_t classes, std::vector<int64_t> first)
        : AdaptiveLogSoftmaxWithLossImpl(AdaptiveLogSoftmaxWithLossOptions(in, classes, std::move(first)))
    {
    }
    TAPER_CPP_NN_LATE explicit AdaptiveLogSoftmaxWithLossImpl(AdaptiveLogSoftmaxWithLossOptions from)
        : options(std::move(from))
    {
        AdaptiveLogSoftmaxWithLossImpl::reset();
    }
    void reset() override
    {
        cutoffs = options.cutoffs();
        bool fits = !cutoffs.empty() && cutoffs.front() > 0 && cutoffs.back() <= options.n_classes() - 1;
        for (size_t i = 1; i < cutoffs.size(); i++) {
            fits = fits && cutoffs[i - 1] < cutoffs[i];
        }
        TORCH_CHECK(fits, "cutoffs should be a sequence of unique, positive integers sorted in an increasing order, "
                          "where each value is between 1 and n_classes-1");
        cutoffs.push_back(options.n_classes());
        shortlist_size = cutoffs[0];
        n_clusters = static_cast<int64_t>(cutoffs.size()) - 1;
        head_size = shortlist_size + n_clusters;
        const int64_t in = options.in_features();
        head = register_module("head", Linear(LinearOptions(in, head_size).bias(options.head_bias())));
        tail = register_module("tail", ModuleList());
        for (int64_t i = 0; i < n_clusters; i++) {
            const int64_t between = in / static_cast<int64_t>(std::pow(options.div_value(), i + 1));
            const int64_t out = cutoffs[static_cast<size_t>(i) + 1] - cutoffs[static_cast<size_t>(i)];
            tail->push_back(Sequential(Linear(LinearOptions(in, between).bias(false)),
                                       Linear(LinearOptions(between, out).bias(false))));
        }
    }
    void reset_parameters()
    {
        head->reset_parameters();
        for (const auto &cluster : *tail) {
            for (const auto &each : cluster->children()) {
                each->as<Linear>()->reset_parameters();
            }
        }
    }
    void pretty_print(std::ostream &out) const override
    {
        out << "torch::nn::AdaptiveLogSoftmaxWithLoss";
    }
    // Returns the logarithm of each target's probability, and the negated mean of these logarithms.
    ASMoutput forward(const Tensor &input, const Tensor &target)
    {
        const int64_t batch = target.size(0);
        Tensor output = at::zeros({batch}, input.options()), places = at::empty({batch}, target.options());
        int64_t used = 0;
        for (int64_t i = 0; i <= n_clusters; i++) {
            const int64_t low = i == 0 ? 0 : cutoffs[static_cast<size_t>(i) - 1];
            const Tensor mask = at::bitwise_and(target >= low, target < cutoffs[static_cast<size_t>(i)]);
            const Tensor rows = mask.nonzero().view(-1);
            if (rows.numel() == 0) {
                continue;
            }
            const Tensor targets = target.index_select(0, rows) - low;
            if (i == 0) {
                places.index_copy_(0, rows, targets);
            } else {
                const Tensor log_probs = cluster(i - 1, input.index_select(0, rows));
                places.index_fill_(0, rows, shortlist_size + i - 1);
                output.index_copy_(0, rows, log_probs.gather(1, targets.unsqueeze(1)).squeeze(1));
            }
            used += rows.numel();
        }
        TORCH_CHECK(used == batch, "Target values should be in [0, ", options.n_classes() - 1,
                    "], but values in range [", target.min().item().toDouble(), ", ", target.max().item().toDouble(),
                    "] were found. ");
        output += head(input).log_softmax(1).gather(1, places.unsqueeze(1)).squeeze();
        return ASMoutput(output, (-output).mean().item().toDouble());
    }
    Tensor _get_full_log_prob(const Tensor &input, const Tensor &head_output)
    {
        const Tensor first = head_output.log_softmax(1);
        std::vector<Tensor> parts = {first.slice(1, 0, shortlist_size)};
        for (int64_t i = 0; i < n_clusters; i++) {
            parts.push_back(cluster(i, input) + first.select(1, shortlist_size + i).unsqueeze(1));
        }
        return at::cat(parts, 1);
    }
    Tensor log_prob(const Tensor &input)
    {
        return _get_full_log_prob(input, head(input));
    }
    // Returns the most probable class of each input.
    Tensor predict(const Tensor &input)
    {
        const Tensor head_output = head(input);
        Tensor best = at::argmax(head_output, 1);
        const Tensor rows = (best >= shortlist_size).nonzero().view(-1);
        if (rows.numel() > 0) {
            const Tensor all = _get_full_log_prob(input.index_select(0, rows), head_output.index_select(0, rows));
            best.index_copy_(0, rows, at::argmax(all, 1));
        }
        return best;
    }
    AdaptiveLogSoftmaxWithLossOptions options;
    std::vector<int64_t> cutoffs;
    int64_t shortlist_size, n_clusters, head_size;
    Linear head = nullptr;
    ModuleList tail = nullptr;

  private:
    Tensor cluster(int64_t index, const Tensor &input)
    {
        return tail[static_cast<size_t>(index)]->as<Sequential>()->forward(input).log_softmax(1);
    }
};
TORCH_MODULE(AdaptiveLogSoftmaxWithLoss);

} // namespace nn
} // namespace torch

#endif
