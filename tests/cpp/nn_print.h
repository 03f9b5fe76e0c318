// SPDX-License-Identifier: BSD-2-Clause
// Functions that the programs same_nn_*.cpp share: numbered inputs, and printing of results, modules and errors. The
// programs include only torch/torch.h, which is PyTorch's or Taper's.
#ifndef TAPER_TESTS_CPP_NN_PRINT_H
#define TAPER_TESTS_CPP_NN_PRINT_H

#include <torch/torch.h>

#include <iostream>
#include <string>
#include <tuple>
#include <vector>

namespace nn_print
{

// Returns numbers between -1 and 1 without a regular pattern, so that a wrong order of elements changes results.
inline torch::Tensor counted(const std::vector<int64_t> &sizes)
{
    int64_t count = 1;
    for (int64_t size : sizes) {
        count *= size;
    }
    std::vector<float> data(static_cast<size_t>(count) + 1);
    for (size_t i = 0; i < data.size(); i++) {
        data[i] = static_cast<float>((i * 37 + 11) % 64) / 32 - 1;
    }
    return torch::from_blob(data.data(), sizes, torch::kFloat).clone();
}

inline void show(const torch::Tensor &tensor)
{
    if (tensor.defined()) {
        std::cout << tensor.sizes() << tensor.contiguous().view({-1}) << "\n";
    } else {
        std::cout << "undefined\n";
    }
}
inline void show(const std::tuple<torch::Tensor, torch::Tensor> &both)
{
    show(std::get<0>(both));
    show(std::get<1>(both));
}
inline void show(const std::tuple<torch::Tensor, std::tuple<torch::Tensor, torch::Tensor>> &all)
{
    show(std::get<0>(all));
    show(std::get<1>(all));
}

// Prints what work returns, or the kind and the text of its error.
template <class Work> void attempt(const char *what, Work work)
{
    std::cout << what << ": ";
    try {
        show(work());
    } catch (const c10::IndexError &error) {
        std::cout << "IndexError " << error.msg() << "\n";
    } catch (const c10::ValueError &error) {
        std::cout << "ValueError " << error.msg() << "\n";
    } catch (const c10::TypeError &error) {
        std::cout << "TypeError " << error.msg() << "\n";
    } catch (const c10::Error &error) {
        std::cout << "Error " << error.msg() << "\n";
    }
}
#define ATTEMPT(...) nn_print::attempt(#__VA_ARGS__, [&] { return __VA_ARGS__; })
// Prints that a call failed, without the error's text, because Taper's operators use other words than PyTorch's.
#define FAILS(...)                                                                                                     \
    try {                                                                                                              \
        (void)(__VA_ARGS__);                                                                                           \
        std::cout << #__VA_ARGS__ << " passed\n";                                                                      \
    } catch (const c10::Error &) {                                                                                     \
        std::cout << #__VA_ARGS__ << " failed\n";                                                                      \
    }

// Prints a module, its parameters and buffers, its result in evaluation and, if requested, in training mode.
template <class Module, class... Inputs> void layer(Module module, bool trains, const Inputs &...inputs)
{
    std::cout << module << "\n";
    for (const auto &item : module->named_parameters()) {
        std::cout << item.key() << " ";
        show(item.value());
    }
    if (trains) {
        attempt("train", [&] { return module->forward(inputs...); });
    }
    for (const auto &item : module->named_buffers()) {
        std::cout << item.key() << " ";
        show(item.value());
    }
    module->eval();
    attempt("eval", [&] { return module->forward(inputs...); });
}

} // namespace nn_print

#endif
