// SPDX-License-Identifier: BSD-2-Clause
// same_text SAMPLES MODELS DEMO [NETWORK…]: prints everything that an app can see of values, modules and errors. The
// output must be the same with Taper's headers and with PyTorch's, except the last digits of models' results, which are
// printed after the line "models".
#include <torch/csrc/jit/runtime/jit_exception.h>
#include <torch/script.h>

#include <torch/csrc/jit/mobile/import.h>
#include <torch/csrc/jit/mobile/module.h>

#include <limits>

namespace
{

// Generates the same numbers on all machines.
struct Numbers {
    uint32_t state = 1;
    float next()
    {
        state = state * 1664525U + 1013904223U;
        return static_cast<float>(state >> 8) / 8388608.0F - 1.0F;
    }
};

torch::Tensor floats(const std::vector<int64_t> &sizes, float factor = 1)
{
    int64_t count = 1;
    for (int64_t size : sizes) {
        count *= size;
    }
    std::vector<float> data(static_cast<size_t>(count) + 1);
    Numbers numbers;
    for (float &number : data) {
        number = numbers.next() * factor;
    }
    return torch::from_blob(data.data(), sizes, at::kFloat).clone();
}

void print_tensors()
{
    for (float factor : {1.0F, 1e-3F, 1e3F, 1e7F, 1e-9F, 1e20F}) {
        std::cout << floats({5}, factor) << "\n" << floats({3, 4}, factor) << "\n" << floats({2, 2, 2}, factor) << "\n";
    }
    std::cout << floats({2, 30}) << "\n" << floats({2, 2, 2, 13}, 1e7F) << "\n" << floats({}) << "\n";
    std::cout << floats({0}) << "\n" << floats({0, 3}) << "\n" << floats({2, 0, 3}) << "\n" << at::Tensor() << "\n";
    std::vector<float> special = {1, std::numeric_limits<float>::infinity(), -2,
                                  std::numeric_limits<float>::quiet_NaN()};
    std::cout << torch::from_blob(special.data(), {4}, at::kFloat) << "\n";
    special[0] = 1.5F;
    std::cout << torch::from_blob(special.data(), {2, 2}, at::kFloat) << "\n";
    std::cout << torch::from_blob(special.data() + 3, {1}, at::kFloat) << "\n";
    std::vector<int64_t> whole = {1, -20, 300, 4000, 0, 123456789012};
    std::cout << torch::from_blob(whole.data(), {5}, at::kLong) << "\n"
              << torch::from_blob(whole.data(), {2, 3}, at::kLong) << "\n";
    std::vector<uint8_t> bytes = {0, 1, 255, 7};
    std::cout << torch::from_blob(bytes.data(), {2, 2}, torch::kUInt8) << "\n"
              << torch::from_blob(bytes.data(), {2}, at::kBool) << "\n";
    std::vector<double> doubles = {0.1, 1e-5, 12345.678};
    std::cout << torch::from_blob(doubles.data(), {3}, torch::kFloat64) << "\n";
    std::cout << torch::from_blob(doubles.data(), {1, 3}, {1, 1}, torch::TensorOptions().dtype(torch::kFloat64))
              << "\n";
    const torch::Tensor all = floats({2, 3, 4});
    std::cout << all.permute({2, 0, 1}).contiguous() << all.select(1, 2) << all.sizes() << all.strides() << "\n";
    std::cout << std::hex << 255 << floats({2}) << 255 << std::dec << "\n";
}

void print_values()
{
    std::vector<at::IValue> values = {1,
                                      2.0,
                                      2.5,
                                      1e12,
                                      1e15,
                                      1e17,
                                      -1e18,
                                      1e19,
                                      1e22,
                                      1e300,
                                      1e-300,
                                      std::numeric_limits<double>::infinity(),
                                      -0.1,
                                      -0.0,
                                      123456789.25,
                                      1e16 / 3,
                                      true,
                                      false,
                                      "text",
                                      std::string("a\nb"),
                                      at::IValue(),
                                      c10::nullopt,
                                      floats({2})};
    for (const at::IValue &value : values) {
        std::cout << value << " " << value.tagKind() << " " << value.isNone() << value.isTensor() << value.isInt()
                  << value.isDouble() << value.isBool() << value.isString() << value.isTuple() << value.isList()
                  << value.isGenericDict() << " " << value.type()->str() << "\n";
    }
    c10::List<int64_t> ints({3, 4, 5});
    ints.push_back(6);
    ints.set(0, 2);
    c10::List<int64_t> shared = ints;
    shared.push_back(7);
    ints[1] = 40;
    int64_t sum = 0;
    for (int64_t each : ints) {
        sum += each;
    }
    std::cout << ints.size() << " " << ints.get(5 - 1) << " " << ints[1] << " " << sum << " " << at::IValue(ints)
              << "\n";
    c10::List<at::Tensor> tensors;
    tensors.push_back(floats({2}));
    tensors.emplace_back(floats({1}));
    std::cout << at::IValue(tensors) << at::IValue(tensors).isTensorList() << at::IValue(tensors).isIntList()
              << tensors.vec().size() << "\n";
    c10::impl::GenericList list(c10::StringType::get());
    list.push_back("one");
    list.push_back(std::string("two"));
    std::cout << at::IValue(list) << list.size() << list.empty() << list.get(1).toStringRef() << "\n";
    c10::Dict<std::string, at::Tensor> dict;
    dict.insert("b", floats({1}));
    dict.insert("a", floats({2}));
    dict.insert("b", floats({3}));
    dict.insert_or_assign("a", floats({4}));
    std::cout << at::IValue(dict) << dict.size() << dict.contains("b") << dict.contains("c") << dict.at("a").numel()
              << "\n";
    for (const auto &item : at::IValue(dict).toGenericDict()) {
        std::cout << item.key() << item.value().toTensor().sizes() << item.key().toStringRef() << "\n";
    }
    std::cout << dict.erase("b") << dict.erase("b") << dict.size() << (dict.find("b") == dict.end()) << "\n";
    c10::impl::GenericDict generic(c10::StringType::get(), at::IValue(1).type());
    generic.insert(std::string("k"), 7);
    std::cout << at::IValue(generic) << (*generic.keyType() == *c10::StringType::get())
              << (*generic.keyType() == *c10::IntType::get()) << generic.at("k").toInt() << "\n";
    const at::IValue tuple(c10::ivalue::Tuple::create(at::IValue(1), at::IValue("x"), at::IValue(floats({1}))));
    std::cout << tuple << tuple.toTuple()->elements().size() << tuple.toTuple()->elements()[1].toStringRef() << "\n";
    for (const at::IValue &each : tuple.toTuple()->elements()) {
        std::cout << each.tagKind() << ";";
    }
    std::cout << at::IValue(c10::ivalue::Tuple::create({at::IValue(5)})) << at::IValue(std::make_tuple(int64_t(1), 2.5))
              << "\n";
    std::cout << at::IValue(std::vector<int64_t>{1, 2}) << at::IValue(std::vector<double>{1, 2.5})
              << at::IValue(std::vector<std::string>{"p"}) << at::IValue(c10::optional<int64_t>(3))
              << at::IValue(c10::optional<int64_t>()) << "\n";
    const at::TensorList both({floats({1}), floats({2})});
    std::cout << at::IValue(std::vector<at::Tensor>{floats({1}), floats({2})}).toTensorVector().size() << both.size()
              << "\n";
    std::cout << c10::typeKindToString(c10::TypeKind::IntType) << tuple.type()->str() << at::IValue(dict).type()->str()
              << "\n";
}

void print_methods()
{
    torch::Tensor t = floats({2, 3});
    std::cout << t.dim() << t.numel() << t.size(-1) << t.dtype() << t.scalar_type() << t.nbytes() << t.is_contiguous()
              << t.device() << (t.dtype() == torch::kFloat32) << (t.dtype() == at::kLong) << t.suggest_memory_format()
              << t.toString() << "\n";
    std::cout << t.view({3, 2}) << t.reshape({6}) << t.unsqueeze(0).sizes() << t.unsqueeze(0).squeeze().sizes()
              << t.squeeze(0).sizes() << t.permute({1, 0}).strides() << t.clamp(-0.5, 0.5) << t.sum().item<float>()
              << t.sum(1) << t.narrow(1, 0, 2).sizes() << "\n";
    std::cout << t.add(1) << t.sub(t) << t.mul(2) << t.div(4) << t.abs() << t.argmax().item<int64_t>() << t.argmax(1)
              << t.expand({2, 2, 3}).strides() << t.flip({0}) << t.softmax(1) << std::get<1>(t.topk(2))
              << t.to(at::kLong) << t.to(torch::kFloat64) << "\n";
    t.div_(2);
    std::cout << t << t[0] << t[1][2].item<double>() << t.accessor<float, 2>()[1][1] << "\n";
    std::cout << torch::zeros({2}) << torch::ones({1, 2}, torch::kInt64) << torch::full({2}, 1.5) << torch::eye(2)
              << torch::arange(3) << torch::arange(0, 1, 0.25) << torch::linspace(0, 1, 3)
              << torch::cat({t, t}, 1).sizes() << torch::stack({t, t}).sizes() << torch::matmul(t, t.permute({1, 0}))
              << torch::empty({2, 0}).sizes() << torch::rand({2}).sizes() << torch::randn({3, 1}).sizes()
              << torch::randint(5, {2}).dtype() << torch::randperm(4).sizes() << torch::tensor({1.5F, 2.5F})
              << torch::tensor({1, 2}) << "\n";
    std::cout << c10::Device("cpu") << at::Device(at::kCPU) << at::kFloat << c10::MemoryFormat::ChannelsLast
              << c10::optional<int>().has_value() << c10::IntArrayRef({1, 2}) << "\n";
}

template <class Module>
void run_models(Module (*load)(const std::string &), const std::string &path, const char *method,
                const std::vector<at::IValue> &inputs)
{
    std::cout << path.substr(path.rfind('/') + 1) << " " << method << "\n";
    try {
        c10::InferenceMode guard;
        Module module = load(path);
        std::cout << module.get_method(method)(inputs) << "\n";
    } catch (const torch::jit::JITException &error) {
        std::cout << "the model raised " << error.getPythonClassName().value_or("an exception") << ": "
                  << error.getOriginalMsg().value_or("as what() says") << "\n";
    } catch (const std::exception &error) {
        std::cout << "raised: " << (std::string(error.what()).empty() ? "nothing" : "a message") << "\n";
    }
}

torch::jit::mobile::Module load_lite(const std::string &path)
{
    return torch::jit::_load_for_mobile(path);
}
torch::jit::Module load_full(const std::string &path)
{
    torch::jit::Module module = torch::jit::load(path);
    module.eval();
    return module;
}

struct Call {
    const char *file, *method;
    std::vector<at::IValue> inputs;
};

} // namespace

int main(int argc, char **argv)
{
    if (argc < 4) {
        return 2;
    }
    at::globalContext().setQEngine(at::QEngine::QNNPACK);
    print_tensors();
    print_values();
    print_methods();
    std::cout << "models\n";
    const std::vector<at::IValue> image = {floats({1, 3, 12, 12})}, none;
    std::vector<int64_t> three = {7, 8, 9};
    const torch::Tensor ints = torch::from_blob(three.data(), {3}, at::kLong).clone();
    const std::string samples = std::string(argv[1]) + "/", models = std::string(argv[2]) + "/",
                      demo = std::string(argv[3]) + "/";
    const Call lite[] = {
        {"s01_convnet.ptl", "forward", image},
        {"s02_traced.ptl", "forward", image},
        {"s03_control_flow.ptl", "forward", {floats({2, 3}), 4}},
        {"s04_containers.ptl", "forward", {floats({3, 4})}},
        {"s05_methods.ptl", "forward", {floats({3, 2})}},
        {"s05_methods.ptl", "twice", {floats({3, 2})}},
        {"s06_raise.ptl", "forward", {floats({2, 2}), 0}},
        {"s06_raise.ptl", "forward", {floats({2, 2}), 1}},
        {"s06_raise.ptl", "forward", {floats({2, 2}), 2}},
        {"s06_raise.ptl", "forward", {floats({2}), 0}},
        {"s06_raise.ptl", "forward", none},
        {"s06_raise.ptl", "nothing", none},
        {"absent.ptl", "forward", none},
        {"s11_xnnpack.ptl", "forward", image},
        {"s17_bundled.ptl", "get_num_bundled_inputs", none},
        {"s17_bundled.ptl", "get_all_bundled_inputs", none},
        {"s18_storages.ptl", "forward", {floats({2})}},
        {"s19_versions.ptl", "forward", {ints, ints}},
        {"s20_div_v3.ptl", "forward", {ints, ints}},
    };
    const Call full[] = {
        {"s01_convnet.pt", "forward", image},
        {"s03_control_flow.pt", "forward", {floats({2, 3}), 4}},
        {"s04_containers.pt", "forward", {floats({3, 4})}},
        {"s05_methods.pt", "forward", {floats({3, 2})}},
        {"s06_raise.pt", "forward", {floats({2, 2}), 1}},
        {"s06_raise.pt", "forward", {floats({2, 2}), 3}},
        {"s18_storages.pt", "forward", {floats({2})}},
        {"s20_div_v3.pt", "forward", {ints, ints}},
    };
    for (const Call &call : lite) {
        run_models(load_lite, samples + call.file, call.method, call.inputs);
    }
    for (const Call &call : full) {
        run_models(load_full, samples + call.file, call.method, call.inputs);
    }
    run_models(load_lite, models + "int8_convnet.ptl", "forward", image);
    run_models(load_lite, models + "int8_dynamic.ptl", "forward", {floats({3, 8})});
    run_models(load_lite, demo + "classifier.ptl", "forward", {floats({1, 3, 96, 96})});
    run_models(load_full, demo + "classifier.pt", "forward", {floats({1, 3, 96, 96})});
    for (int i = 4; i < argc; i++) { // the remaining arguments are paths of networks
        const std::string path = argv[i];
        const std::vector<at::IValue> picture = {floats({1, 3, 64, 64})};
        if (path.back() == 'l') {
            run_models(load_lite, path, "forward", picture);
        } else {
            run_models(load_full, path, "forward", picture);
        }
    }
    return 0;
}
