// SPDX-License-Identifier: BSD-2-Clause
// same_archives FOLDER WRITE MODELS: writes files of tensors, values and modules to FOLDER if WRITE is 1, then reads
// the files there and in MODELS, and prints them. The output must be the same with Taper's headers and with PyTorch's
// headers, and each program must read the files of the other.
#include <torch/torch.h>

#include <torch/script.h>

#include <fstream>
#include <iostream>
#include <sstream>

namespace
{

template <class F> void failing(const char *what, F function)
{
    try {
        function();
        std::cout << what << ": nothing\n";
    } catch (const torch::jit::ObjectAttributeError &error) {
        std::string text = error.what();
        const size_t address = text.find("(of Python");
        std::cout << what << ": " << text.erase(address, text.find(')') - address + 1) << "\n";
    } catch (const c10::Error &error) {
        const std::string text = error.what_without_backtrace();
        std::cout << what << ": " << text.substr(0, text.find('\n')) << "\n";
    }
}

c10::IValue value()
{
    c10::Dict<std::string, at::Tensor> dict;
    dict.insert("x", torch::arange(3, torch::kFloat) / 2);
    dict.insert("y", torch::ones({2, 2}, torch::kInt).t());
    c10::List<c10::optional<int64_t>> maybe;
    maybe.push_back(1);
    maybe.push_back(c10::nullopt);
    return c10::ivalue::Tuple::create({c10::IValue(dict), c10::IValue(maybe), c10::IValue("text"), c10::IValue(2.5),
                                       c10::IValue(), c10::IValue(true), c10::IValue(std::vector<int64_t>{1, 2, 3}),
                                       c10::IValue(c10::complex<double>(1, 2)), c10::IValue(at::Device("cpu"))});
}

// A network with parameters, buffers, and a child that is not saved.
struct NetImpl : torch::nn::Module {
    NetImpl()
    {
        convolution = register_module("convolution", torch::nn::Conv2d(1, 2, 3));
        norm = register_module("norm", torch::nn::BatchNorm2d(2));
        last =
            register_module("last", torch::nn::Sequential(torch::nn::Linear(2, 3), torch::nn::Functional(torch::relu),
                                                          torch::nn::Linear(3, 1)));
        weight = register_parameter("weight", torch::full({2}, 0.5));
        eval();
    }
    at::Tensor forward(const at::Tensor &x)
    {
        return last->forward(norm(convolution(x)).mean({2, 3}) * weight);
    }
    torch::nn::Conv2d convolution{nullptr};
    torch::nn::BatchNorm2d norm{nullptr};
    torch::nn::Sequential last;
    at::Tensor weight;
};
TORCH_MODULE(Net);

void read_network(const std::string &path)
{
    torch::manual_seed(2);
    Net net;
    torch::load(net, path);
    std::cout << net->forward(torch::ones({1, 1, 5, 5})) << "\n";
    const auto same = std::make_shared<NetImpl>();
    torch::load(same, path);
    std::cout << same->forward(torch::ones({1, 1, 5, 5})) << "\n";
    failing("another module", [&] {
        torch::nn::LSTM other(2, 2);
        torch::load(other, path);
    });
}

void write(const std::string &folder)
{
    torch::manual_seed(1);
    torch::save(Net(), folder + "/net.pt");
    torch::save(torch::arange(6, torch::kFloat).view({2, 3}), folder + "/tensor.pt");
    torch::save(
        std::vector<at::Tensor>{torch::ones({2}), torch::zeros({1, 2}, torch::kLong), torch::ones({2}, torch::kHalf)},
        folder + "/tensors.pt");
    torch::serialize::OutputArchive archive, inner(archive.compilation_unit()), innermost(archive.compilation_unit());
    archive.write("weight", torch::ones({2, 2}));
    archive.write("0", torch::zeros({1}), /*is_buffer=*/true);
    archive.write("name", c10::IValue("net"));
    archive.write("list", c10::IValue(std::vector<double>{0.5, 1}));
    innermost.write("bias", torch::ones({3}));
    inner.write("layer", innermost);
    inner.write("count", c10::IValue(4));
    archive.write("part", inner);
    archive.write("name", c10::IValue("again"));
    archive.save_to(folder + "/archive.pt");
    const std::vector<char> bytes = torch::pickle_save(value());
    std::ofstream(folder + "/pickle.pt", std::ios::binary)
        .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

std::vector<char> bytes_of(const std::string &path)
{
    std::ifstream in(path, std::ios::binary);
    std::stringstream text;
    text << in.rdbuf();
    const std::string all = text.str();
    return std::vector<char>(all.begin(), all.end());
}

void read(const std::string &folder, const std::string &models)
{
    at::Tensor tensor, given = torch::zeros({1});
    const at::Tensor same = given;
    torch::load(tensor, folder + "/tensor.pt");
    torch::load(given, folder + "/tensor.pt", at::Device("cpu"));
    std::cout << tensor << "\n" << same << "\n";
    std::vector<at::Tensor> tensors;
    torch::load(tensors, folder + "/tensors.pt");
    for (const at::Tensor &each : tensors) {
        std::cout << each << "\n";
    }
    torch::serialize::InputArchive archive, inner, innermost;
    archive.load_from(folder + "/archive.pt");
    for (const std::string &key : archive.keys()) {
        std::cout << key << " ";
    }
    c10::IValue name, list, count;
    at::Tensor weight, buffer, bias, none;
    archive.read("weight", weight);
    archive.read("0", buffer, true);
    archive.read("name", name);
    archive("list", list);
    archive.read("part", inner);
    inner.read("count", count);
    inner.read("layer", innermost);
    innermost.read("bias", bias);
    std::cout << "\n" << weight << buffer << name << list << count << bias << "\n";
    std::cout << archive.try_read("nothing", none) << archive.try_read("nothing", inner)
              << archive.try_read("none", name) << "\n";
    failing("tensor", [&] { archive.read("nothing", none); });
    failing("value", [&] { archive.read("nothing", name); });
    failing("archive", [&] { archive.read("nothing", inner); });
    failing("inner", [&] { innermost.read("nothing", none); });
    failing("pickle", [&] { torch::load(none, folder + "/pickle.pt"); });
    std::cout << torch::pickle_load(bytes_of(folder + "/pickle.pt")) << "\n";
    const std::vector<char> python = bytes_of(models + "/saved_values.pt");
    std::cout << torch::jit::pickle_load(python) << "\n";
}

// A module and a tensor are saved in place of the file that they were loaded from.
void replace(const std::string &folder, const std::string &models)
{
    const std::vector<char> bytes = bytes_of(models + "/modules.pt");
    const std::string path = folder + "/copy.pt";
    std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    torch::jit::Module module = torch::jit::load(path);
    module.eval();
    const at::Tensor x = torch::ones({1, 3}), before = module.forward({x}).toTensor();
    module.setattr("scale", 4.0);
    module.save(path);
    torch::jit::Module again = torch::jit::load(path);
    std::cout << before << module.forward({x}) << again.forward({x}) << "\n";
    at::Tensor tensor;
    torch::save(torch::ones({2}), folder + "/replaced.pt");
    torch::load(tensor, folder + "/replaced.pt");
    torch::save(tensor + 1, folder + "/replaced.pt");
    std::cout << tensor << "\n";
}

void in_memory()
{
    std::stringstream stream;
    torch::save(torch::ones({2}), stream);
    at::Tensor read;
    torch::load(read, stream);
    std::string bytes;
    const std::function<size_t(const void *, size_t)> append = [&](const void *data, size_t size) {
        bytes.append(static_cast<const char *>(data), size);
        return size;
    };
    torch::serialize::OutputArchive archive;
    archive("key", c10::IValue(5));
    archive.save_to(append);
    torch::serialize::InputArchive input, again;
    input.load_from(bytes.data(), bytes.size());
    again.load_from(
        [&](uint64_t position, void *to, size_t size) { return bytes.copy(static_cast<char *>(to), size, position); },
        [&] { return bytes.size(); });
    c10::IValue one, two;
    input.read("key", one);
    again.read("key", two);
    std::cout << read << one << two << "\n";
    const c10::IValue numbers(std::make_tuple(int64_t(1), std::string("b"), 0.5));
    const std::vector<char> pickled = torch::jit::pickle(numbers);
    std::cout << torch::jit::unpickle(pickled.data(), pickled.size()) << "\n";
    torch::jit::Module module("Holder");
    module.register_parameter("weight", torch::ones({2}), false);
    module.register_buffer("mean", torch::zeros({1}));
    module.register_attribute("name", c10::StringType::get(), "held");
    std::stringstream file;
    module.save(file);
    const torch::jit::Module loaded = torch::jit::load(file);
    std::cout << loaded.attr("name") << loaded.parameters().size() << loaded.buffers().size()
              << loaded.attr("weight").toTensor() << "\n";
}

} // namespace

int main(int argc, char **argv)
{
    if (argc < 4) {
        return 1;
    }
    if (argv[2][0] == '1') {
        write(argv[1]);
    }
    read(argv[1], argv[3]);
    replace(argv[1], argv[3]);
    in_memory();
    read_network(std::string(argv[1]) + "/net.pt");
    std::cout << "models\n";
    return 0;
}
