// SPDX-License-Identifier: BSD-2-Clause
// same_operators MODELS: calls an app's own operators in the models of tests/models/make_custom_ops.py. The output must
// be the same with Taper's headers and with PyTorch's headers.
#include <torch/script.h>

#include <torch/csrc/jit/mobile/import.h>
#include <torch/csrc/jit/mobile/module.h>
#include <torch/library.h>

#include <iostream>

namespace
{

at::Tensor warp(const at::Tensor &image, const at::Tensor &flow, double scale)
{
    return image * scale + flow;
}

at::Tensor &add_to(at::Tensor &self, int64_t by)
{
    return self.add_(by);
}

std::tuple<at::Tensor, std::vector<at::Tensor>> parts(const at::Tensor &x, at::IntArrayRef sizes, std::string mode)
{
    std::vector<at::Tensor> pieces;
    int64_t begin = 0;
    for (int64_t size : sizes) {
        pieces.push_back(x.narrow(0, begin, size));
        begin += size;
    }
    return std::make_tuple(mode == "sum" ? pieces.at(0).sum() : pieces.at(0), pieces);
}

void note(const at::Tensor &x)
{
    std::cout << "noted " << x.numel() << "\n";
}

at::Tensor pick_at(const at::Tensor &x, int64_t i)
{
    return x[i];
}

using Named = c10::Dict<std::string, at::Tensor>;
using Maybe = c10::List<c10::optional<at::Tensor>>;

std::tuple<Named, c10::optional<int64_t>, std::vector<double>, std::tuple<int64_t, std::string>> kinds(
    Named named, c10::optional<bool> flag, at::ArrayRef<double> weights, const c10::List<bool> &marks,
    std::vector<std::string> words, const Maybe &maybe, const at::Scalar &by, c10::Device place,
    c10::optional<int64_t> count, c10::optional<at::ScalarType> dtype, at::IntArrayRef pair)
{
    const c10::optional<at::Tensor> first = maybe.get(0), second = maybe.get(1);
    std::cout << "kinds " << named.size() << " " << flag.has_value() << flag.value_or(false) << " " << weights << " "
              << marks.size() << " " << words.size() << " " << first.has_value() << second.has_value() << " " << by
              << " " << place << " " << count.value_or(-1) << " " << dtype.has_value() << " " << pair << "\n";
    Named all;
    all.insert("a", named.at("b") * by);
    c10::optional<int64_t> sum;
    if (flag.has_value()) {
        sum = pair[0] + pair[1];
    }
    std::vector<double> scaled;
    for (double weight : weights) {
        scaled.push_back(weight * by.toDouble());
    }
    return std::make_tuple(all, sum, scaled,
                           std::make_tuple(static_cast<int64_t>(words.size()), std::string(dtype ? "typed" : "plain")));
}

// The order of the registrations must not matter.
TORCH_LIBRARY_IMPL(my_ops, CPU, m)
{
    m.impl("add_to_", &add_to);
    m.impl("my_ops::pick.at", TORCH_FN(pick_at));
}

TORCH_LIBRARY(my_ops, m)
{
    m.def("warp(Tensor image, Tensor flow, float scale=1.5) -> Tensor", &warp);
    m.def("add_to_(Tensor(a!) self, int by) -> Tensor(a!)");
    m.def("my_ops::parts(Tensor x, int[] sizes, str mode='plain') -> (Tensor, Tensor[])");
    m.impl("parts", torch::dispatch(c10::DispatchKey::CompositeExplicitAutograd, &parts));
    m.def("pick.at(Tensor x, int i) -> Tensor");
}

TORCH_LIBRARY_FRAGMENT(my_ops, m)
{
    m.def("note(Tensor(a!) x) -> ()", torch::dispatch(at::kCPU, &note));
}

auto registry = torch::RegisterOperators().op(
    "my_ops::pick.name(Tensor x, str name) -> Tensor",
    [](const at::Tensor &x, const std::string &name) { return name == "first" ? x[0] : x[-1]; });

auto more = c10::RegisterOperators()
                .op("my_types::swap((Tensor, int) both) -> (int, Tensor)",
                    torch::RegisterOperators::options().catchAllKernel([](std::tuple<at::Tensor, int64_t> both) {
                        return std::make_tuple(std::get<1>(both) + 1, std::get<0>(both) * -1);
                    }))
                .op(torch::RegisterOperators::options()
                        .schema("my_types::kinds(Dict(str, Tensor) named, bool? flag, float[] weights, bool[] marks, "
                                "str[] words, Tensor?[] maybe, Scalar by, Device place, int? count=None, *, "
                                "ScalarType? dtype=None, int[2] pair=1) -> (Dict(str, Tensor) all, int? sum, float[] "
                                "scaled, (int, str) last)")
                        .catchAllKernel<decltype(kinds), &kinds>());

// The schema is derived from the function's type.
static auto inferred = torch::RegisterOperators("my_ops::warp_perspective", &warp);

template <class Module> void run(const std::string &name, Module module, std::vector<at::IValue> inputs)
{
    std::cout << name << "\n" << module.forward(std::move(inputs)) << "\n";
}

} // namespace

int main(int argc, char **argv)
{
    const std::string folder = argc > 1 ? std::string(argv[1]) + "/" : "";
    std::vector<float> data = {1, -2, 3};
    const at::Tensor x = torch::from_blob(data.data(), {3}, at::kFloat).clone();
    run("custom_ops.pt", torch::jit::load(folder + "custom_ops.pt"), {x});
    run("custom_ops.ptl", torch::jit::_load_for_mobile(folder + "custom_ops.ptl"), {x});
    run("custom_types.pt", torch::jit::load(folder + "custom_types.pt"), {x, true});
    run("custom_types.ptl", torch::jit::_load_for_mobile(folder + "custom_types.ptl"), {x, false});
    std::cout << "models\n";
    return 0;
}
