/* SPDX-License-Identifier: BSD-2-Clause */
// cpp_bench MODEL N,C,H,W: measures small calls of the C++ binding in nanoseconds, and compares Module::forward with
// the same run in C. Compiled with PyTorch's headers (g++ -O2 bench/cpp_bench.cpp -I… -ltorch -ltorch_cpu -lc10), it
// measures PyTorch.
#include <ATen/Parallel.h>
#include <torch/script.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <vector>

static const int ROUNDS = 21;

// Returns the median time of one call over several rounds, in nanoseconds.
static double nanoseconds(const std::function<void()> &call, int calls)
{
    std::vector<double> times;
    for (int round = 0; round < ROUNDS; round++) {
        const auto start = std::chrono::steady_clock::now();
        for (int i = 0; i < calls; i++) {
            call();
        }
        times.push_back(std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count() /
                        calls);
    }
    std::sort(times.begin(), times.end());
    return times[ROUNDS / 2];
}

static void report(const char *name, const std::function<void()> &call)
{
    std::printf("%-28s %8.0f ns\n", name, nanoseconds(call, 2000));
}

int main(int argc, char **argv)
{
    const c10::InferenceMode guard;
    const at::Tensor four = at::ones({4}), image = at::ones({1, 3, 8, 8}), many = at::ones({256, 256});
    at::Tensor target = at::ones({4});
    report("at::add, 4 floats", [&] { at::add(four, four); });
    report("Tensor::add_, 4 floats", [&] { target.add_(four); });
    report("a * 2 + b, 4 floats", [&] { four * 2 + four; });
    report("Tensor::relu, 4 floats", [&] { four.relu(); });
    report("Tensor::view", [&] { image.view({3, 64}); });
    report("Tensor::permute", [&] { image.permute({0, 2, 3, 1}); });
    report("Tensor::select", [&] { image.select(1, 1); });
    report("at::cat of two", [&] { at::cat({four, four}); });
    report("Tensor::sum", [&] { image.sum(); });
    report("at::zeros, 4 floats", [] { at::zeros({4}); });
    report("Tensor::item", [&] { four[0].item<float>(); });
    std::printf("%-28s %8.0f ns\n", "at::add, 65,536 floats", nanoseconds([&] { at::add(many, many); }, 200));
    if (argc < 3) {
        return 0;
    }
    std::vector<int64_t> sizes;
    for (char *text = argv[2]; *text != '\0'; text += *text == ',') {
        sizes.push_back(std::strtol(text, &text, 10));
    }
    at::set_num_threads(1);
    auto module = torch::jit::load(argv[1]);
    const at::Tensor input = at::ones(sizes);
    report("Module::forward", [&] { module.forward({input}).toTensor(); });
#ifdef TAPER_TAPER_H
    taper_context_options options = {};
    options.struct_size = sizeof options;
    options.threads = 1;
    taper_load_options load = {};
    load.struct_size = sizeof load;
    load.compiler = taper_compiler();
    load.flags = TAPER_LOAD_EVALUATION;
    taper_context *context = nullptr;
    taper_model *model = nullptr;
    taper_session *session = nullptr;
    taper_value *in = nullptr, *out = nullptr;
    std::vector<float> data(static_cast<size_t>(input.numel()), 1.0F);
    if (taper_context_create(&options, &context, nullptr) != TAPER_OK ||
        taper_model_load(context, argv[1], &load, &model, nullptr) != TAPER_OK ||
        taper_session_create(model, nullptr, &session, nullptr) != TAPER_OK ||
        taper_value_tensor_from(context, TAPER_F32, sizes.size(), sizes.data(), nullptr, data.data(),
                                data.size() * sizeof(float), 0, nullptr, nullptr, &in, nullptr) != TAPER_OK) {
        std::cerr << "cpp_bench: " << argv[1] << " cannot be run\n";
        return 1;
    }
    report("taper_session_run", [&] {
        if (taper_session_run(session, nullptr, &in, 1, &out, nullptr) == TAPER_OK) {
            taper_value_release(out);
        }
    });
    taper_value_release(in);
    taper_session_destroy(session);
    taper_model_release(model);
    taper_context_release(context);
#endif
    return 0;
}
