// SPDX-License-Identifier: BSD-2-Clause
// same_nn_modules: tests what modules of torch::nn have in common. The output must be the same with Taper's headers and
// with PyTorch's headers.
#include "nn_print.h"

namespace
{

using namespace nn_print;
using torch::Tensor;
namespace nn = torch::nn;

struct NetImpl : nn::Cloneable<NetImpl> {
    explicit NetImpl(int64_t width) : nn::Cloneable<NetImpl>("Net"), width_(width)
    {
        reset();
    }
    void reset() override
    {
        conv = register_module("conv", nn::Conv2d(nn::Conv2dOptions(3, width_, 3).stride(2).padding(1).bias(false)));
        norm = register_module("norm", nn::BatchNorm2d(width_));
        head =
            register_module("head", nn::Sequential(nn::Linear(width_, 5), nn::ReLU(nn::ReLUOptions(true)),
                                                   nn::Dropout(0.3), nn::Linear(nn::LinearOptions(5, 2).bias(false))));
        scale = register_parameter("scale", torch::full({1}, 2.0));
        register_parameter("none", Tensor(), false);
        count = register_buffer("count", torch::zeros({1}, torch::kLong));
    }
    Tensor forward(Tensor x)
    {
        count += 1;
        x = torch::relu(norm(conv(x))).mean({2, 3});
        return head->forward(x) * scale;
    }
    int64_t width_;
    nn::Conv2d conv{nullptr};
    nn::BatchNorm2d norm{nullptr};
    nn::Sequential head{nullptr};
    Tensor scale, count;
};
TORCH_MODULE(Net);

struct Unnamed : nn::Module {
    Tensor forward(const Tensor &x, int64_t by)
    {
        return x * by;
    }
};
struct Defaults : nn::Module {
    Tensor forward(const Tensor &x, int64_t by = 3, double plus = 0.5)
    {
        return x * by + plus;
    }

  protected:
    FORWARD_HAS_DEFAULT_ARGS({1, nn::AnyValue(int64_t{3})}, {2, nn::AnyValue(0.5)})
};

template <class Dict> void print_keys(const Dict &dict)
{
    for (const auto &item : dict) {
        std::cout << item.key() << ";";
    }
    std::cout << dict.size() << "\n";
}

void trees()
{
    torch::manual_seed(7);
    Net net(4);
    const Tensor x = counted({2, 3, 8, 8});
    std::cout << net << "\n" << net->name() << Unnamed().name() << "\n";
    print_keys(net->named_parameters());
    print_keys(net->named_parameters(false));
    print_keys(net->named_buffers());
    print_keys(net->named_children());
    print_keys(net->named_modules("root"));
    print_keys(net->named_modules("", false));
    std::cout << net->parameters().size() << net->buffers(false).size() << net->children().size()
              << net->modules().size() << net->modules(false).size() << "\n";
    net->apply([](nn::Module &module) { std::cout << module.is_training() << ","; });
    net->eval();
    net->apply([](const std::string &name, nn::Module &module) { std::cout << name << module.is_training() << ","; });
    net->apply([](const std::string &name, const std::shared_ptr<nn::Module> &) { std::cout << name << "!"; }, "p");
    std::cout << "\n";
    show(net->forward(x));
    net->train();
    show(net->forward(x));
    net->train(false);
    std::cout << net->count << (net->named_children()["head"]->as<nn::Sequential>() != nullptr)
              << (net->as<nn::LinearImpl>() == nullptr) << (net->as<NetImpl>() != nullptr) << "\n";

    const auto copy = std::dynamic_pointer_cast<NetImpl>(net->clone());
    copy->scale.fill_(0);
    show(copy->forward(x));
    copy->to(torch::kDouble);
    std::cout << copy->scale.dtype() << copy->conv->weight.dtype() << copy->count.dtype() << net->scale.dtype() << "\n";
    net->to(torch::kCPU);
    net->zero_grad();
    show(net->forward(x));
    show(torch::randn({2})); // shows how many random numbers clone() has drawn to reset the copy's weights
    net->unregister_module("head");
    print_keys(net->named_children());
    net->register_module("again", net->conv);
    net->replace_module("again", nn::Linear(1, 1));
    std::cout << *net << "\n";
}

void refused()
{
    nn::Module module;
    ATTEMPT(module.register_parameter("", torch::ones(1)));
    ATTEMPT(module.register_parameter("a.b", torch::ones(1)));
    ATTEMPT(module.register_parameter("a", torch::ones(1)));
    ATTEMPT(module.register_parameter("a", torch::ones(1)));
    ATTEMPT(module.register_buffer("", torch::ones(1)));
    ATTEMPT(module.register_buffer("a.b", torch::ones(1)));
    ATTEMPT(module.register_buffer("b", torch::ones({1}, torch::kLong)));
    ATTEMPT(module.register_buffer("b", torch::ones(1)));
    ATTEMPT((module.register_module("", nn::Linear(1, 1)), Tensor()));
    ATTEMPT((module.register_module("a.b", nn::Linear(1, 1)), Tensor()));
    ATTEMPT((module.register_module("c", nn::Linear(1, 1)), Tensor()));
    ATTEMPT((module.register_module("c", nn::Linear(1, 1)), Tensor()));
    ATTEMPT((module.unregister_module("d"), Tensor()));
    ATTEMPT(module.named_parameters()["z"]);
    ATTEMPT(module.named_parameters()[7].value());
    ATTEMPT((module.clone(), Tensor()));
    ATTEMPT((module.modules(), Tensor()));
    ATTEMPT(nn::Linear(nullptr)->weight);
    ATTEMPT(nn::Linear(nullptr).ptr()->weight);
    std::cout << nn::Linear(nullptr).is_empty() << static_cast<bool>(nn::Linear(1, 1)) << "\n";
    ATTEMPT(nn::Conv2d(nn::Conv2dOptions(3, 4, 3).groups(2))->weight);
    ATTEMPT(nn::Conv2d(nn::Conv2dOptions(4, 3, 3).groups(2))->weight);
    ATTEMPT(nn::Conv2d(nn::Conv2dOptions(4, 3, 3).stride(2).padding(torch::kSame))->weight);
    ATTEMPT(nn::Dropout(1.5)->forward(torch::ones(1)));
    ATTEMPT(nn::BatchNorm2d(3)->forward(torch::ones({3, 3})));
    ATTEMPT(nn::BatchNorm1d(3)->forward(torch::ones({1, 3})));
    ATTEMPT(nn::Hardtanh(nn::HardtanhOptions().min_val(2).max_val(1))->forward(torch::ones(1)));
    ATTEMPT((torch::ExpandingArray<2>({1, 2, 3}), Tensor()));
}

void containers()
{
    torch::manual_seed(3);
    const Tensor x = counted({2, 3});
    nn::Sequential named({{"first", nn::Linear(3, 4)}, {"act", nn::Tanh()}});
    named->push_back("last", nn::Linear(4, 1));
    named->push_back(nn::Sigmoid());
    std::cout << named << named->size() << named->is_empty() << "\n";
    show(named->forward(x));
    show(named->at<nn::LinearImpl>(0).weight);
    std::cout << named->ptr(1)->name() << named[2]->name() << "\n";
    nn::Sequential more;
    more->extend(*named);
    show(more->forward(x));
    const auto copy = std::dynamic_pointer_cast<nn::SequentialImpl>(more->clone());
    std::cout << *copy << "\n";
    show(copy->forward(x));
    ATTEMPT(nn::Sequential()->forward(x));
    ATTEMPT(named->at<nn::LinearImpl>(9).weight);
    ATTEMPT(named->at<nn::LinearImpl>(1).weight);
    ATTEMPT((named->forward<int>(x), Tensor()));

    nn::AnyModule any(std::make_shared<Unnamed>());
    show(any.forward(x, int64_t{2}));
    ATTEMPT(any.forward(x));
    ATTEMPT(any.forward(x, 2));
    ATTEMPT(any.forward(x, int64_t{2}, 1));
    ATTEMPT((any.forward<int>(x, int64_t{2}), Tensor()));
    ATTEMPT(any.get<nn::LinearImpl>().weight);
    ATTEMPT(nn::AnyModule().forward(x));
    nn::AnyModule defaults(std::make_shared<Defaults>());
    show(defaults.forward(x));
    show(defaults.forward(x, int64_t{1}));
    show(defaults.forward(x, int64_t{1}, 2.0));
    ATTEMPT(defaults.forward());
    ATTEMPT(defaults.forward(x, int64_t{1}, 2.0, 3));
    nn::AnyValue value(5);
    std::cout << value.get<int>() << (value.try_get<float>() == nullptr) << "\n";
    ATTEMPT((value.get<std::string>(), Tensor()));
    nn::AnyModule linear{nn::Linear(3, 1)};
    show(linear.get<nn::Linear>()->forward(x));
    std::cout << linear.ptr()->name() << linear.is_empty() << (linear.clone().ptr() == linear.ptr()) << "\n";
}

void dicts()
{
    torch::OrderedDict<std::string, int> dict("Item");
    dict.insert("b", 2);
    dict.insert("a", 1);
    dict["b"] += 5;
    std::cout << dict["b"] << dict[1].key() << dict.front().value() << *dict.back() << dict.contains("c") << dict.size()
              << dict.key_description() << dict.keys().at(1) << dict.values().at(0) << "\n";
    torch::OrderedDict<std::string, int> other = {{"x", 1}, {"y", 2}};
    dict.update(other);
    dict.erase("a");
    print_keys(dict);
    std::cout << (dict == other) << (dict.find("q") == nullptr) << "\n";
    try {
        dict.insert("x", 1);
    } catch (const c10::Error &error) {
        std::cout << error.msg() << "\n";
    }
    try {
        dict.erase("nothing");
    } catch (const c10::Error &error) {
        std::cout << error.msg() << "\n";
    }
    std::cout << torch::ExpandingArray<2>(3) << torch::ExpandingArray<1>(3) << torch::ExpandingArray<3>({1, 2, 3})
              << torch::ExpandingArrayWithOptionalElem<2>({3, c10::nullopt})
              << torch::ExpandingArrayWithOptionalElem<2>(3) << "\n";
}

} // namespace

int main()
{
    const torch::NoGradGuard guard;
    trees();
    refused();
    containers();
    dicts();
    std::cout << "models\n";
    return 0;
}
