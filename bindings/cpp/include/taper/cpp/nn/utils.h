/* SPDX-License-Identifier: BSD-2-Clause */
// torch::nn::utils: parameters as one vector, clipping of gradients, packed sequences.
#ifndef TAPER_CPP_NN_UTILS_H
#define TAPER_CPP_NN_UTILS_H

#include <cmath>
#include <tuple>
#include <vector>

#include <taper/cpp/functions.h>
#include <taper/cpp/indexing.h>

namespace torch
{
using namespace at;

namespace nn
{
namespace utils
{

inline Tensor parameters_to_vector(const std::vector<Tensor> &parameters)
{
    std::vector<Tensor> all;
    for (const Tensor &each : parameters) {
        all.push_back(each.view(-1));
    }
    return at::cat(all);
}
inline void vector_to_parameters(const Tensor &vector, std::vector<Tensor> parameters)
{
    int64_t begin = 0;
    for (const Tensor &each : parameters) {
        each.set_data(vector.slice(0, begin, begin + each.numel()).view_as(each));
        begin += each.numel();
    }
}

// Scales the gradients of the parameters so that the norm of all of them is at most max_norm. Returns the norm before
// the scaling.
inline double clip_grad_norm_(std::vector<Tensor> parameters, double max_norm, double norm_type = 2.0,
                              bool error_if_nonfinite = false)
{
    std::vector<Tensor> grads, norms;
    for (const Tensor &each : parameters) {
        const Tensor grad = each.grad();
        if (grad.defined()) {
            grads.push_back(grad.detach());
            norms.push_back(std::isinf(norm_type) ? grads.back().abs().max() : grads.back().norm(norm_type));
        }
    }
    if (grads.empty()) {
        return 0;
    }
    const Tensor all = at::stack(norms);
    const double total = (std::isinf(norm_type) ? all.max() : all.norm(norm_type)).item<double>();
    TORCH_CHECK(!error_if_nonfinite || std::isfinite(total), "The total norm of order ", norm_type,
                " for gradients from `parameters` is non-finite, so it cannot be clipped. To disable this error and "
                "scale the gradients with the non-finite norm anyway, set `error_if_nonfinite=false`");
    const double factor = max_norm / (total + 1e-6);
    for (const Tensor &each : grads) {
        each.mul_(factor < 1 ? factor : 1);
    }
    return total;
}
inline double clip_grad_norm_(Tensor parameter, double max_norm, double norm_type = 2.0,
                              bool error_if_nonfinite = false)
{
    return clip_grad_norm_(std::vector<Tensor>(1, parameter), max_norm, norm_type, error_if_nonfinite);
}
inline void clip_grad_value_(std::vector<Tensor> parameters, double clip_value)
{
    for (const Tensor &each : parameters) {
        const Tensor grad = each.grad();
        if (grad.defined()) {
            grad.detach().clamp_(-clip_value, clip_value);
        }
    }
}
inline void clip_grad_value_(Tensor parameter, double clip_value)
{
    clip_grad_value_(std::vector<Tensor>(1, parameter), clip_value);
}

namespace rnn
{

inline Tensor invert_permutation(const Tensor &permutation)
{
    return permutation.defined()
               ? at::empty_like(permutation).scatter_(0, permutation, at::arange(permutation.numel(), at::kLong))
               : Tensor();
}

// Sequences of different lengths without padding: for each step, the items of all sequences that are long enough.
class PackedSequence
{
  public:
    explicit PackedSequence(Tensor data, Tensor batch_sizes, Tensor sorted_indices = {}, Tensor unsorted_indices = {})
        : data_(data), batch_sizes_(batch_sizes), sorted_indices_(sorted_indices),
          unsorted_indices_(unsorted_indices.defined() ? unsorted_indices : invert_permutation(sorted_indices))
    {
    }
    const Tensor &data() const
    {
        return data_;
    }
    const Tensor &batch_sizes() const
    {
        return batch_sizes_;
    }
    const Tensor &sorted_indices() const
    {
        return sorted_indices_;
    }
    const Tensor &unsorted_indices() const
    {
        return unsorted_indices_;
    }
    // Memory is not pinned, because no device copies it.
    PackedSequence pin_memory() const
    {
        return *this;
    }
    PackedSequence to(TensorOptions options) const
    {
        return PackedSequence(data_.to(options), batch_sizes_, sorted_indices_, unsorted_indices_);
    }
    PackedSequence cuda() const
    {
        return to(at::kCUDA);
    }
    PackedSequence cpu() const
    {
        return to(at::kCPU);
    }
    bool is_cuda() const
    {
        return data_.is_cuda();
    }
    bool is_pinned() const
    {
        return false;
    }

  private:
    Tensor data_, batch_sizes_, sorted_indices_, unsorted_indices_;
};

inline PackedSequence pack_padded_sequence(Tensor input, Tensor lengths, bool batch_first = false,
                                           bool enforce_sorted = true)
{
    lengths = lengths.to(at::kLong);
    Tensor order, data, batch_sizes;
    if (!enforce_sorted) {
        std::tie(lengths, order) = at::sort(lengths, -1, true);
        input = input.index_select(batch_first ? 0 : 1, order);
    }
    std::tie(data, batch_sizes) = at::_pack_padded_sequence(input, lengths, batch_first);
    return PackedSequence(data, batch_sizes, order);
}
// Returns the padded sequences and their lengths.
inline std::tuple<Tensor, Tensor> pad_packed_sequence(PackedSequence sequence, bool batch_first = false,
                                                      double padding_value = 0.0,
                                                      c10::optional<int64_t> total_length = c10::nullopt)
{
    const int64_t longest = sequence.batch_sizes().size(0), total = total_length.value_or(longest);
    TORCH_CHECK(total >= longest,
                "Expected total_length to be at least the length of the longest sequence in input, but got "
                "total_length=",
                total, " and max sequence length being ", longest);
    Tensor padded, lengths;
    std::tie(padded, lengths) =
        at::_pad_packed_sequence(sequence.data(), sequence.batch_sizes(), batch_first, padding_value, total);
    const Tensor &order = sequence.unsorted_indices();
    if (order.defined()) {
        padded = padded.index_select(batch_first ? 0 : 1, order);
        lengths = lengths.index_select(0, order);
    }
    return std::make_tuple(padded, lengths);
}
inline Tensor pad_sequence(ArrayRef<Tensor> sequences, bool batch_first = false, double padding_value = 0)
{
    return at::pad_sequence(sequences, batch_first, padding_value);
}
inline PackedSequence pack_sequence(ArrayRef<Tensor> sequences, bool enforce_sorted = true)
{
    std::vector<int64_t> lengths;
    for (const Tensor &each : sequences) {
        lengths.push_back(each.size(0));
    }
    return pack_padded_sequence(at::pad_sequence(sequences), at::tensor(lengths), false, enforce_sorted);
}

} // namespace rnn
} // namespace utils
} // namespace nn
} // namespace torch

#endif
