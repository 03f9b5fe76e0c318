// SPDX-License-Identifier: BSD-2-Clause
// same_gradients [MODELS]: tests torch::autograd, backward and grad() as plug-ins of simulators use them: gradients of
// functions, of methods of a module, and of both together. The output must be the same with Taper's headers and with
// PyTorch's.
#include <torch/csrc/autograd/autograd.h>
#include <torch/script.h>
#include <torch/torch.h>

#include <iomanip>
#include <iostream>

namespace
{

using at::Tensor;

void show(const char *name, const Tensor &tensor)
{
    std::cout << name << ":";
    if (!tensor.defined()) {
        std::cout << " undefined\n";
        return;
    }
    const Tensor all = tensor.detach().to(at::kDouble).contiguous().reshape({-1});
    std::cout << " " << tensor.sizes() << (tensor.requires_grad() ? " requires" : "");
    for (int64_t i = 0; i < all.numel(); i++) {
        const double number = all[i].item<double>();
        std::cout << " " << (std::abs(number) < 5e-6 ? 0.0 : number);
    }
    std::cout << "\n";
}

// Prints the first sentence of what a function throws.
template <class F> void thrown(const char *name, F function)
{
    try {
        function();
        std::cout << name << ": nothing\n";
    } catch (const c10::Error &error) {
        const std::string text = error.what_without_backtrace();
        std::cout << name << ": " << text.substr(0, text.find_first_of(".:\n")) << "\n";
    }
}

Tensor numbers(double first, bool requires_grad = true)
{
    return torch::tensor({first, first + 0.5, -first}, torch::dtype(at::kDouble).requires_grad(requires_grad));
}

void test_functions()
{
    const Tensor x = numbers(1), y = numbers(2);
    const Tensor z = (x * y.sin() + x.exp() / 3).sum();
    std::cout << x.requires_grad() << x.is_leaf() << z.requires_grad() << z.is_leaf() << "\n";
    const auto both = torch::autograd::grad({z}, {x, y}, {}, true);
    show("x", both[0]);
    show("y", both[1]);
    const auto weighted = torch::autograd::grad({x * y}, {x}, {torch::full({3}, 0.25, at::kDouble)});
    show("weighted", weighted[0]);
    show("unused", torch::autograd::grad({z}, {numbers(3), x}, {}, true, false, true)[0]);
    const Tensor first = torch::autograd::grad({(x * x * x).sum()}, {x}, {}, c10::nullopt, true)[0];
    show("first", first);
    show("second", torch::autograd::grad({first.sum()}, {x})[0]);
    show("intermediate", [&] {
        const Tensor inner = x * 2, outer = (inner * inner).sum();
        return torch::autograd::grad({outer}, {inner})[0];
    }());
    thrown("no gradient", [] { torch::autograd::grad({numbers(1, false).sum()}, {numbers(1)}); });
    thrown("unused input", [&] { torch::autograd::grad({z}, {numbers(3)}, {}, true); });
    thrown("several elements", [&] { torch::autograd::grad({x * 2}, {x}); });
    thrown("integers", [] { torch::tensor({1, 2}).set_requires_grad(true); });
    torch::autograd::grad({z}, {x});
    thrown("freed", [&] { torch::autograd::grad({z}, {x}); });
}

void test_backward()
{
    const Tensor x = numbers(1), constant = numbers(2, false);
    show("before", x.grad());
    (x * constant).sum().backward();
    show("once", x.grad());
    (x * x).sum().backward();
    show("twice", x.grad());
    show("constant", constant.grad());
    x.grad().zero_();
    show("zeroed", x.grad());
    torch::autograd::backward({x.sum(), (x * 2).sum()}, {});
    show("of two", x.grad());
    (x * 3).backward(torch::ones({3}, at::kDouble));
    show("with a gradient", x.grad());
    const Tensor kept = x.cos().sum();
    kept.backward({}, true);
    kept.backward();
    show("kept", x.grad());
    thrown("freed", [&] { kept.backward(); });
    Tensor from = torch::zeros({2, 2}, torch::requires_grad());
    (from + 1).prod().backward();
    show("from options", from.grad());
    double memory[3] = {1, 2, 4};
    const Tensor blob = torch::from_blob(memory, {3}, torch::dtype(at::kDouble).requires_grad(true));
    (blob / blob.sum()).square().sum().backward();
    show("of memory", blob.grad());
}

void test_modes()
{
    const Tensor x = numbers(1);
    {
        const torch::NoGradGuard guard;
        std::cout << (x * 2).requires_grad() << torch::GradMode::is_enabled() << "\n";
        const at::AutoGradMode again(true);
        std::cout << (x * 2).requires_grad() << "\n";
    }
    std::cout << (x * 2).requires_grad() << x.detach().requires_grad() << (x * 2).detach().requires_grad()
              << x.clone().requires_grad() << (x > 1).requires_grad() << "\n";
    Tensor y = x * 1;
    y.slice(0, 0, 2).mul_(3);
    y[2] = x[0] * 5;
    show("written", torch::autograd::grad({y.square().sum()}, {x})[0]);
    thrown("leaf", [&] { Tensor(x).add_(1); });
    thrown("changed", [&] {
        Tensor a = x.exp();
        const Tensor b = a.sum();
        a.mul_(2);
        b.backward();
    });
    const Tensor joined = torch::cat({x, x * 2}).view({2, 3}).t().matmul(torch::ones({2, 1}, at::kDouble));
    show("views", torch::autograd::grad({joined.pow(2).sum()}, {x})[0]);
    show("choice", torch::autograd::grad({torch::where(x > 1, x * 2, x * x).index({x > 0}).sum()}, {x})[0]);
}

// Steps of gradient descent by hand.
void test_layers()
{
    torch::manual_seed(3);
    torch::nn::Sequential net(torch::nn::Linear(4, 5), torch::nn::Tanh(), torch::nn::Linear(5, 2));
    net->to(at::kDouble);
    const Tensor x = torch::linspace(-1, 1, 12, at::kDouble).view({3, 4});
    const Tensor wanted = torch::tensor({0, 1, 1});
    for (const Tensor &each : net->parameters()) {
        each.set_requires_grad(true);
    }
    for (int step = 0; step < 3; step++) {
        net->zero_grad();
        const Tensor loss = torch::nn::functional::cross_entropy(net->forward(x), wanted);
        loss.backward();
        show("loss", loss);
        std::cout << "norm " << torch::nn::utils::clip_grad_norm_(net->parameters(), 0.5) << "\n";
        torch::nn::utils::clip_grad_value_(net->parameters(), 0.2);
        const torch::NoGradGuard guard;
        for (const Tensor &each : net->parameters()) {
            each.sub_(each.grad() * 0.5);
        }
    }
    show("bias", net->parameters()[1]);
    show("its gradient", net->parameters()[1].grad());
}

Tensor positions()
{
    return torch::tensor({0.0f, 0.5f, 1.0f, 1.5f, -0.25f, 0.75f, -1.0f, 0.125f, 2.0f}).view({3, 3});
}

Tensor energy_of(torch::jit::Module &module, const Tensor &at)
{
    return module.get_method("energy")({at}).toTensor();
}

// Forces on particles, as a plug-in of a simulator computes them in each step.
void test_module(const std::string &models)
{
    torch::jit::Module module = torch::jit::load(models + "/forces.pt");
    module.eval();
    for (auto each : module.parameters()) {
        each.set_requires_grad(false);
    }
    const Tensor plain = energy_of(module, positions());
    show("energy", plain);
    for (int step = 0; step < 3; step++) {
        const Tensor at = (positions() * (1 + 0.1 * step)).set_requires_grad(true);
        const Tensor energy = energy_of(module, at);
        energy.backward();
        show("energy", energy);
        show("forces", -at.grad());
    }
    const Tensor at = positions().set_requires_grad(true);
    const Tensor two = energy_of(module, at) + energy_of(module, at * 2) * 0.5;
    const Tensor gradient = torch::autograd::grad({two}, {at}, {}, true, true)[0];
    show("two calls", gradient);
    show("second", torch::autograd::grad({gradient.square().sum()}, {at})[0]);
    // A strain that scales all positions: its gradient is the virial.
    const Tensor strain = torch::zeros({3, 3}).set_requires_grad(true);
    const Tensor scaled = positions().matmul(torch::eye(3) + (strain + strain.t()) / 2);
    show("virial", torch::autograd::grad({energy_of(module, scaled)}, {strain})[0]);
    {
        const torch::NoGradGuard guard;
        std::cout << energy_of(module, at).requires_grad() << "\n";
    }
    std::cout << energy_of(module, at).requires_grad() << energy_of(module, positions()).requires_grad() << "\n";
    const auto all = module.forward({positions()}).toTuple()->elements(); // this method computes its gradients itself
    show("own forces", all[1].toTensor());
}

} // namespace

int main(int argc, char **argv)
{
    std::cout << std::setprecision(5);
    test_functions();
    test_backward();
    test_modes();
    test_layers();
    if (argc > 1) {
        test_module(argv[1]);
    }
    std::cout << "models\n"; // compare_text.py compares numbers after this line with a tolerance
    return 0;
}
