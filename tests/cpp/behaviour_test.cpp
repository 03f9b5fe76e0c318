// SPDX-License-Identifier: BSD-2-Clause
// behaviour_test SAMPLES MODELS DEMO: tests behaviour that apps rely on: ownership, sharing by copies, exceptions.
#include <torch/data.h>
#include <torch/optim.h>
#include <torch/script.h>

#include <LibTorch-Lite/LibTorch-Lite.h>
#include <torch/csrc/autograd/grad_mode.h>

#include <thread>

#include "check.h"

std::string samples, models, demo;

namespace
{

using torch::jit::_load_for_mobile;

std::string bytes_of(const std::string &path)
{
    std::ifstream in(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
}

class Adapter : public caffe2::serialize::ReadAdapterInterface
{
  public:
    explicit Adapter(std::string bytes, bool fails = false) : bytes_(std::move(bytes)), fails_(fails)
    {
        alive++;
    }
    ~Adapter() override
    {
        alive--;
    }
    size_t size() const override
    {
        return bytes_.size();
    }
    size_t read(uint64_t pos, void *buffer, size_t n, const char *) const override
    {
        if (fails_) {
            throw std::runtime_error("the disk is gone");
        }
        const size_t rest = pos < bytes_.size() ? bytes_.size() - static_cast<size_t>(pos) : 0;
        const size_t count = std::min(n, rest);
        std::memcpy(buffer, bytes_.data() + (rest == 0 ? 0 : pos), count);
        return count;
    }
    static int alive;

  private:
    std::string bytes_;
    bool fails_;
};
int Adapter::alive = 0;

void test_advice()
{
    std::vector<float> image(3 * 12 * 12, 0.5F);
    const torch::Tensor input = torch::from_blob(image.data(), {1, 12, 12, 3}, at::kFloat);
    CHECK_THROWS(_load_for_mobile(samples + "/s01_convnet.ptl").forward({input}),
                 "input 0 is float32 [1, 12, 12, 3]; the model takes it with the channels before height and width: "
                 "float32 [1, 3, 12, 12]");
}

void test_loading()
{
    std::vector<float> image(3 * 12 * 12, 0.5F);
    const torch::Tensor input = torch::from_blob(image.data(), {1, 3, 12, 12}, at::kFloat);
    const std::string path = samples + "/s01_convnet.ptl", bytes = bytes_of(path);
    const torch::Tensor expected = _load_for_mobile(path).forward({input}).toTensor();
    CHECK(expected.sizes() == std::vector<int64_t>({1, 4}));

    std::istringstream stream(bytes);
    CHECK(same(expected, _load_for_mobile(stream).forward({input}).toTensor()));
    CHECK(same(expected, _load_for_mobile(std::unique_ptr<Adapter>(new Adapter(bytes))).forward({input}).toTensor()));
    CHECK(same(expected, torch::jit::load(std::make_shared<Adapter>(bytes)).forward({input}).toTensor()));
    CHECK(same(expected, torch::jit::load(path, c10::Device("cpu")).forward({input}).toTensor()));
    CHECK(same(expected, torch::jit::load(path, torch::kCPU).forward({input}).toTensor()));
    std::unordered_map<std::string, std::string> extra = {{"absent.txt", "kept"}};
    CHECK(same(expected, _load_for_mobile(path, c10::nullopt, extra).forward({input}).toTensor()));
    CHECK(extra["absent.txt"] == "kept");
    CHECK(same(expected, torch::jit::load(samples + "/s01_convnet.fb.ptl").forward({input}).toTensor()));
    CHECK(Adapter::alive == 0);

    CHECK_THROWS(_load_for_mobile(samples + "/absent.ptl"), "absent.ptl");
    CHECK_THROWS(_load_for_mobile(std::string("a\0b", 3)), "character 0");
    CHECK_THROWS(_load_for_mobile(std::unique_ptr<Adapter>(new Adapter(bytes, true))), "the disk is gone");
    CHECK_THROWS(_load_for_mobile(std::unique_ptr<Adapter>()), "null");
    CHECK_THROWS(torch::jit::load(path, c10::Device("tpu")), "tpu");
    std::istringstream empty;
    CHECK_THROWS(torch::jit::load(empty), "");
    for (size_t size : {size_t{10}, bytes.size() / 2, bytes.size() - 1}) {
        std::istringstream cut(bytes.substr(0, size));
        CHECK_THROWS(_load_for_mobile(cut), "");
        CHECK_THROWS(_load_for_mobile(std::unique_ptr<Adapter>(new Adapter(bytes.substr(0, size)))), "");
    }
    CHECK(Adapter::alive == 0);
}

void test_sharing()
{
    std::vector<float> two(6, 1.0F);
    const torch::Tensor input = torch::from_blob(two.data(), {3, 2});
    torch::jit::mobile::Module first = _load_for_mobile(samples + "/s05_methods.ptl");
    torch::jit::mobile::Module second = first; // the copy shares the attributes
    const torch::Tensor before = first.forward({input}).toTensor().clone();
    first.run_method("set_count", 4);
    const torch::Tensor after = second.forward({input}).toTensor().clone();
    CHECK(!same(before, after));
    torch::jit::mobile::Module fresh = _load_for_mobile(samples + "/s05_methods.ptl");
    CHECK(same(before, fresh.forward({input}).toTensor()));
    second = fresh;
    CHECK(same(before, second.forward({input}).toTensor()));
    CHECK(same(after, first.forward({input}).toTensor()));
    CHECK(first.find_method("twice").has_value());
    CHECK(!first.find_method("thrice"));
    CHECK(first.get_method("twice")({input}).isTensor());
    CHECK_THROWS(first.get_method("thrice"), "thrice");
    CHECK_THROWS(first.run_method("thrice", input), "thrice");
    const torch::jit::Method kept = _load_for_mobile(samples + "/s05_methods.ptl").get_method("forward");
    CHECK(same(before, kept({input}).toTensor())); // the module variable no longer exists

    torch::jit::mobile::Module moved = std::move(first);
    CHECK(moved.forward({input}).isTensor());
    CHECK_THROWS(first.forward({input}), "empty"); // NOLINT: tests the state after moving
    torch::jit::Module nothing;
    CHECK_THROWS(nothing.forward({}), "empty");
    CHECK_THROWS(nothing.eval(), "empty");
    CHECK_THROWS(nothing.get_method("forward"), "empty");
    CHECK_THROWS(nothing.attr("x"), "empty");
    nothing = torch::jit::load(samples + "/s01_convnet.pt");
    nothing.eval();
    CHECK(!nothing.is_training());
    nothing.train(false);
    nothing.train(); // the sources have the branches for training, which the first load left out
    CHECK(nothing.is_training());
    nothing.eval();
    torch::jit::mobile::Module flat = _load_for_mobile(samples + "/s01_convnet.fb.ptl");
    CHECK_THROWS(flat.train(), "evaluation mode"); // a flatbuffer has no sources
    CHECK_THROWS(flat.setattr("training", true), "sources");
    CHECK(!nothing.hasattr("nothing_of_that_name"));
    CHECK_THROWS(nothing.attr("nothing_of_that_name"), "nothing_of_that_name");
    CHECK(nothing.attr("nothing_of_that_name", 3).toInt() == 3);
}

void test_inputs()
{
    torch::jit::mobile::Module module = _load_for_mobile(samples + "/s06_raise.ptl");
    std::vector<float> four(4, 1.0F);
    const torch::Tensor input = torch::from_blob(four.data(), {2, 2});
    CHECK(module.forward({input, 0}).isTensor());
    CHECK(module.forward({input}, {{"mode", 0}}).isTensor());
    CHECK_THROWS(module.forward({input}, {{"node", 0}}), "node");
    CHECK_THROWS(module.forward({input, 1}), "bad mode 1");
    CHECK_THROWS(module.forward({input}), "");
    CHECK_THROWS(module.forward({}), "");
    CHECK_THROWS(module.forward({input, 0, 0}), "");
    CHECK_THROWS(module.forward({input, "zero"}), "mode");
    CHECK_THROWS(module.forward({0, 0}), "");
    CHECK_THROWS(module.forward({at::Tensor(), 0}), "");
    CHECK(module.forward({input, 0}).isTensor()); // the module must still work
}

void test_blobs()
{
    int freed = 0;
    std::vector<float> data = {1, 2, 3, 4, 5, 6};
    {
        torch::Tensor view;
        {
            const torch::Tensor all = torch::from_blob(
                data.data(), {2, 3}, [&](void *where) { freed += where == data.data() ? 1 : 100; }, at::kFloat);
            view = all.select(0, 1);
            data[3] = 40;
        }
        CHECK(freed == 0);
        CHECK(view[0].item<float>() == 40.0F);
        view.mul_(2);
        CHECK(data[3] == 80.0F);
    }
    CHECK(freed == 1);
    torch::from_blob(
        data.data(), {1}, [](void *) { throw std::runtime_error("in a deleter"); }, at::kFloat);
    CHECK_THROWS(torch::from_blob(data.data(), {2, -1}, [&](void *) { freed++; }), "negative");
    CHECK_THROWS(torch::from_blob(data.data(), {INT64_MAX, INT64_MAX}), "");
    CHECK_THROWS(torch::from_blob(data.data(), {2, 2}, {INT64_MAX, 1}), "");
    CHECK_THROWS(torch::from_blob(data.data(), {2, 2}, {1}), "");
    CHECK_THROWS(torch::from_blob(nullptr, {2}), "null");
    CHECK_THROWS(torch::from_blob(data.data(), std::vector<int64_t>(100, 1)), "");
    CHECK(torch::from_blob(nullptr, {0}).numel() == 0);
    CHECK(freed == 1); // after a failure the memory still belongs to the caller, which frees it
    const long rows = 2;
    const int columns = 3;
    CHECK(torch::from_blob(data.data(), {rows, columns}, at::kFloat).numel() == 6);
    CHECK(torch::from_blob(data.data(), {2, 2}, {1, 2}).is_contiguous() == false);

    const torch::Tensor tensor = torch::from_blob(data.data(), {2, 3});
    CHECK(tensor.data_ptr<float>() == data.data());
    CHECK_THROWS(tensor.data_ptr<int64_t>(), "expected scalar type Long but found Float");
    CHECK_THROWS(tensor.size(2), "out of range");
    CHECK_THROWS(tensor.item(), "6 elements");
    CHECK_THROWS((tensor.accessor<float, 3>()), "3 dims");
    CHECK_THROWS(tensor.view({5}), "");
    CHECK_THROWS(at::Tensor().strides(), "undefined");
    float two[2] = {1, 2};
    CHECK(at::from_blob(two, {1}, {1}, 1, nullptr, at::kFloat).item<float>() == 2);
    for (const int64_t offset : {int64_t{-1}, std::numeric_limits<int64_t>::max()}) {
        CHECK_THROWS(at::from_blob(two, {1}, {1}, offset, nullptr, at::kFloat), "storage offset");
    }
    CHECK_THROWS(at::Tensor().cpu(), "undefined");
    // Without a GPU, the tensor must stay on the CPU.
    CHECK(tensor.vulkan().data_ptr<float>() == data.data() && !tensor.vulkan().is_vulkan());
    CHECK(tensor.metal().cpu().data_ptr<float>() == data.data());
    CHECK_THROWS(tensor.to(at::kCUDA), "cuda");
    CHECK_THROWS(at::Tensor().metal(), "undefined");
    CHECK(tensor.cpu().data_ptr<float>() == data.data());
    const auto packed = tensor.packed_accessor32<float, 2>();
    CHECK(packed[1][2] == 12.0F && packed.size(0) == 2);
}

void test_schemas()
{
    auto module = _load_for_mobile(demo + "/classifier.ptl");
    const auto arguments = module.get_method("forward").function().getSchema().arguments();
    CHECK(arguments.size() == 2 && arguments[0].name() == "self");
    c10::DynamicType &type = arguments[1].type()->expectRef<c10::DynamicType>();
    CHECK(type.dynamicKind() == c10::TypeKind::TensorType && type.containedTypeSize() == 0);
    const c10::TypePtr deep = c10::Type::of("Dict[str, Tuple[List[int], Optional[Tensor]]]");
    CHECK(deep->containedTypeSize() == 2 && deep->containedType(0)->kind() == c10::TypeKind::StringType);
    CHECK(deep->containedType(1)->containedType(1)->containedType(0)->kind() == c10::TypeKind::TensorType);
    CHECK(deep->containedType(1)->containedType(0)->str() == "int[]");
    CHECK(c10::Type::of("Tuple[]")->containedTypeSize() == 0);
}

void test_values()
{
    const at::IValue number(3), text("words"), tuple(c10::ivalue::Tuple::create(1, "two", 3.0));
    CHECK_THROWS(number.toTensor(), "Expected Tensor but got Int");
    CHECK_THROWS(number.toTuple(), "Expected Tuple but got Int");
    CHECK_THROWS(number.toDouble(), "Double");
    CHECK_THROWS(text.toList(), "GenericList");
    CHECK_THROWS(text.toGenericDict(), "GenericDict");
    CHECK_THROWS(text.toIntList(), "IntList");
    CHECK_THROWS(at::IValue().toInt(), "None");
    CHECK_THROWS(at::IValue().toStringRef(), "None");
    CHECK_THROWS(at::IValue(std::vector<double>{1}).toIntList(), "IntList");
    const std::string &words = text.toStringRef(), &again = text.toString()->string();
    CHECK(&words == &again && words == "words");
    // The elements belong to the IValue, not to the pointer.
    const std::vector<at::IValue> &elements = tuple.toTuple()->elements();
    CHECK(elements.size() == 3 && elements[1].toStringRef() == "two");
    const auto copied = tuple.toTuple()->elements();
    CHECK(copied[2].toDouble() == 3.0);
    at::IValue back = tuple.toTuple();
    CHECK(back.toTuple()->elements()[0].toInt() == 1);
    back = back.toTuple()->elements()[1]; // assigns a part of the value to itself
    CHECK(back.toStringRef() == "two");
    at::IValue other(std::move(back));
    CHECK(back.isNone() && other.isString()); // NOLINT: tests the state after moving
    std::swap(other, back);
    CHECK(back.toStringRef() == "two" && other.isNone());
    at::IValue &self = back;
    back = self;
    CHECK(back.toStringRef() == "two");
    CHECK(at::IValue(std::string("a\0b", 3)).toStringRef().size() == 3);
    CHECK_THROWS(at::IValue(c10::intrusive_ptr<c10::ivalue::Tuple>()), "null");

    c10::impl::GenericList list(c10::AnyType::get());
    list.push_back(1);
    list.push_back(at::IValue("s"));
    list.push_back(at::IValue());
    CHECK(list.size() == 3 && list.get(2).isNone() && list.get(1).isString());
    CHECK_THROWS(list.get(3), "range_check");
    CHECK_THROWS(list[3], "range_check");
    list.pop_back();
    list.clear();
    CHECK(list.empty());
    CHECK_THROWS(list.pop_back(), "range_check");
    c10::List<int64_t> ints;
    ints.push_back(4);
    c10::List<int64_t> copy = ints.copy();
    copy.push_back(5);
    CHECK(ints.size() == 1 && copy.size() == 2 && copy.elementType()->str() == "int");

    c10::impl::GenericDict dict{c10::StringType::get(), at::IValue{}.type()};
    dict.insert(std::string("x"), at::IValue(1));
    dict.insert("y", text);
    CHECK(dict.at("x").toInt() == 1 && dict.at("y").isString());
    CHECK_THROWS(dict.at("z"), "not in the map");
    CHECK_THROWS(dict.at(7), "not in the map");
    c10::Dict<int64_t, double> numbers;
    for (int64_t i = 0; i < 300; i++) {
        numbers.insert(i, static_cast<double>(i) / 2);
    }
    CHECK(numbers.size() == 300 && numbers.at(299) == 149.5 && numbers.find(7)->value() == 3.5);
    CHECK((at::IValue(numbers).to<c10::Dict<int64_t, double>>().at(3) == 1.5));
    CHECK((at::IValue(std::make_tuple(1, std::string("b"))).to<std::tuple<int64_t, std::string>>() ==
           std::make_tuple(int64_t{1}, std::string("b"))));
    CHECK_THROWS((tuple.to<std::tuple<int64_t, std::string>>()), "2");
}

void test_threads()
{
    torch::jit::mobile::Module module = _load_for_mobile(samples + "/s05_methods.ptl");
    const at::IValue shared(c10::ivalue::Tuple::create(1, "two"));
    std::vector<std::thread> threads;
    std::atomic<int> wrong{0};
    for (int t = 0; t < 4; t++) {
        threads.emplace_back([&, module]() mutable {
            for (int i = 0; i < 50; i++) {
                std::vector<float> data(6, 1.0F);
                const torch::Tensor input = torch::from_blob(data.data(), {3, 2});
                wrong += module.forward({input}).toTensor().numel() == 6 ? 0 : 1;
                wrong += shared.toTuple()->elements()[1].toStringRef() == "two" ? 0 : 1;
                wrong += input.add(1).sum().item<float>() == 12.0F ? 0 : 1;
            }
        });
    }
    for (std::thread &thread : threads) {
        thread.join();
    }
    CHECK(wrong == 0);
    const int before = at::get_num_threads();
    at::set_num_threads(1);
    CHECK(at::get_num_threads() == 1);
    CHECK_THROWS(at::set_cache_dir("no such directory"), "there is no directory");
    at::set_cache_dir("");
    CHECK_THROWS(at::set_num_threads(0), "positive");
    at::set_num_threads(before);
}

void test_the_rest()
{
    const torch::autograd::AutoGradMode grad(false);
    const at::AutoNonVariableTypeMode non_variable(true);
    const torch::jit::GraphOptimizerEnabledGuard optimizer(false);
    const torch::NoGradGuard no_grad;
    const c10::InferenceMode inference;
    auto engines = at::globalContext().supportedQEngines();
    CHECK(std::find(engines.begin(), engines.end(), at::QEngine::QNNPACK) != engines.end());
    at::globalContext().setQEngine(at::QEngine::QNNPACK);
    CHECK_THROWS(at::globalContext().setQEngine(at::QEngine::FBGEMM), "engine");
    (void)at::is_vulkan_available(); // only compiled and called, because the result depends on the machine
    CHECK(!torch::cuda::is_available());
    const caffe2::Timer timer;
    CHECK(timer.MilliSeconds() >= 0);
    CHECK_THROWS([] { TORCH_CHECK(1 > 2, "one is ", 1); }(), "one is 1");
    CHECK_THROWS([] { TORCH_CHECK(1 > 2); }(), "");
    c10::optional<std::string> maybe;
    CHECK(!maybe && maybe.value_or("x") == "x");
    CHECK_THROWS(maybe.value(), "optional");
    maybe = std::string("y");
    c10::optional<std::string> copy(maybe), moved(std::move(maybe));
    copy = c10::nullopt;
    CHECK(*moved == "y" && copy == c10::nullopt);
    CHECK_THROWS(c10::IntArrayRef({1, 2}).at(2), "index");
    CHECK_THROWS(c10::Device("cpu:x"), "cpu:x");
    CHECK_THROWS(c10::Device("cuda:999"), "cuda:999");
    const c10::Half half(0x3c00, c10::Half::from_bits()), tiny(1, c10::Half::from_bits()),
        infinite(0xfc00, c10::Half::from_bits());
    CHECK(static_cast<float>(half) == 1.0F && static_cast<float>(tiny) == 1.0F / 16777216.0F &&
          static_cast<float>(infinite) < -1e38F);
    CHECK(torch::tensor({1.5F}).to(at::kHalf).item<float>() == 1.5F);
}

} // namespace

static void test_quantizers()
{
    float data[6] = {0, 1, 2, 3, 4, 5}, scale[2] = {0.5F, 0.25F};
    int64_t zero[2] = {1, 2};
    const at::Tensor x = torch::from_blob(data, {2, 3}, at::kFloat);
    const at::Tensor scales = torch::from_blob(scale, {2}, at::kFloat), zeros = torch::from_blob(zero, {2}, at::kLong);
    const at::Tensor q = at::quantize_per_channel(x, scales, zeros, 0, at::kQInt8);
    CHECK(same(q.q_per_channel_scales().to(at::kFloat), scales));
    CHECK(same(q.q_per_channel_zero_points(), zeros));
    CHECK(q.q_per_channel_axis() == 0);
    CHECK_THROWS(x.q_per_channel_axis(), "q_per_channel_axis");
}

static void test_training()
{
    const std::vector<at::Tensor> parameters = {torch::ones({2})};
    CHECK_THROWS(torch::optim::SGD(parameters, 0.1), "torch::optim::SGD: there is no training");
    CHECK_THROWS(torch::optim::Adam(parameters), "torch::optim::Adam: there is no training");
    CHECK_THROWS(torch::data::datasets::MNIST("data"), "torch::data::datasets::MNIST");
    CHECK_THROWS(torch::data::samplers::RandomSampler(3), "torch::data::samplers::RandomSampler");
    const torch::data::datasets::TensorDataset set(torch::ones({2, 2}));
    CHECK_THROWS(torch::data::make_data_loader(set, 2), "torch::data::make_data_loader");
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        return 2;
    }
    samples = argv[1];
    models = argv[2];
    demo = argv[3];
    test_advice();
    test_loading();
    test_sharing();
    test_inputs();
    test_blobs();
    test_schemas();
    test_values();
    test_threads();
    test_the_rest();
    test_quantizers();
    test_training();
    return check_report();
}
