// SPDX-License-Identifier: BSD-2-Clause
// same_module MODELS: lists, changes, copies, saves and runs the modules of tests/models/make_modules.py. The output
// must be the same with Taper's headers and with PyTorch's headers.
#include <torch/script.h>

#include <torch/csrc/jit/mobile/import.h>
#include <torch/csrc/jit/mobile/module.h>

#include <iostream>
#include <sstream>

namespace
{

using torch::jit::Module;

// Runs the function and prints the exception that it throws: its type and the first line of its text.
template <class F> void failing(const char *what, F function)
{
    std::string type, text;
    try {
        function();
        type = "nothing";
    } catch (const torch::jit::ObjectAttributeError &error) {
        type = "ObjectAttributeError";
        text = error.what();
        const size_t address = text.find("(of Python"), end = text.find(')');
        text.erase(address, end - address + 1);
    } catch (const c10::NotImplementedError &error) {
        type = "NotImplementedError";
        text = error.what_without_backtrace();
    } catch (const c10::Error &error) {
        type = "c10::Error";
        text = error.what_without_backtrace();
    } catch (const std::exception &error) {
        type = "std::exception";
        text = error.what();
    }
    const size_t assertion = text.find("report a bug to PyTorch. ");
    text = assertion == std::string::npos ? text : text.substr(assertion + 25);
    std::cout << what << ": " << type << " " << text.substr(0, text.find('\n')) << "\n";
}

torch::Tensor input()
{
    return torch::arange(6, torch::kFloat).view({2, 3});
}

// Prints text without the addresses of objects.
void print(std::string text)
{
    for (size_t at = text.find(" at 0x"); at != std::string::npos; at = text.find(" at 0x")) {
        text.erase(at, text.find('>', at) - at);
    }
    std::cout << text;
}

void list(const Module &module)
{
    for (const auto &each : module.named_parameters()) {
        std::cout << "parameter " << each.name << " " << each.value.sizes() << "\n";
    }
    for (const auto &each : module.named_parameters(false)) {
        std::cout << "own parameter " << each.name << " " << each.value.sizes() << "\n";
    }
    for (const auto &each : module.named_buffers(/*recurse=*/true)) {
        std::cout << "buffer " << each.name << " " << each.value.dtype() << "\n";
    }
    for (const auto &each : module.named_attributes()) {
        std::cout << "attribute " << each.name << " " << each.value.tagKind() << "\n";
    }
    for (const auto &each : module.named_attributes(false)) {
        std::cout << "own attribute " << each.name << "\n";
    }
    for (const auto &each : module.named_modules()) {
        std::cout << "module '" << each.name << "' " << each.value.type()->name()->qualifiedName() << "\n";
    }
    for (const auto &each : module.named_children()) {
        std::cout << "child " << each.name << " " << each.value.type()->name()->name() << " "
                  << each.value.type()->name()->prefix() << "\n";
    }
    size_t elements = 0;
    for (const at::Tensor &each : module.parameters()) {
        elements += static_cast<size_t>(each.numel());
    }
    std::cout << "elements " << elements << " sizes " << module.parameters().size() << " " << module.buffers().size()
              << " " << module.attributes().size() << " " << module.children().size() << " " << module.modules().size()
              << " " << module.named_modules().size() << " " << module.num_slots() << "\n";
    for (const auto &method : module.get_methods()) {
        std::cout << "method " << method.name() << " " << method.function().getSchema() << "\n";
    }
}

void types(const Module &module)
{
    const auto type = module.type();
    std::cout << type->name()->qualifiedName() << " " << type->numAttributes() << " " << type->is_module() << "\n";
    for (size_t i = 0; i < type->numAttributes(); i++) {
        std::cout << type->getAttributeName(i) << " " << type->is_parameter(i) << type->is_buffer(i) << "\n";
    }
    for (const char *name : {"words", "scale", "settings", "maybe", "pair", "offset", "training"}) {
        std::cout << name << " " << type->getAttribute(name)->str() << " " << module.attr(name).type()->str() << "\n";
    }
    std::cout << type->hasAttribute("limit") << type->hasAttribute("part") << " " << module.attr("limit") << " "
              << module.hasattr("limit") << module.hasattr("part") << module.hasattr("nothing") << "\n";
}

void values(const Module &module)
{
    const c10::IValue part = module.attr("part");
    std::cout << part.isObject() << part.isModule() << module.attr("scale").isModule() << " " << part.tagKind() << "\n";
    const Module child = part.toModule();
    std::cout << child.attr("factor") << " " << child.attr("linear").toModule().attr("weight").toTensor().sizes()
              << "\n";
    std::cout << child.attr("count").toTensor() << "\n" << module.attr("absent", 5) << "\n";
    std::cout << part.toObject()->getAttr("factor") << " " << part.toObject()->name() << " "
              << part.toObject()->slots().size() << "\n";
    std::cout << (module.attr("part").toModule() == child) << " " << child.is_training() << "\n";
}

void errors(Module &module)
{
    failing("attr", [&] { module.attr("nothing"); });
    failing("setattr", [&] { module.setattr("nothing", 1); });
    failing("setattr type", [&] { module.setattr("scale", torch::ones({2})); });
    failing("setattr int", [&] { module.setattr("scale", 3); });
    failing("setattr list", [&] { module.setattr("words", std::vector<int64_t>{1}); });
    failing("get_method", [&] { module.get_method("nothing"); });
    failing("freeze", [&] { torch::jit::freeze(module); });
    failing("toModule", [&] { module.attr("scale").toModule(); });
    failing("toObject", [&] { module.attr("words").toObject(); });
    std::cout << module.find_method("nothing").has_value() << module.find_method("forward").has_value() << "\n";
}

void changes(Module module)
{
    std::cout << module.is_training() << "\n" << module.forward({input()}) << "\n";
    std::cout << module.run_method("add_to_scale", 2) << module.attr("scale") << "\n";
    module.setattr("scale", 0.5);
    module.setattr("maybe", torch::tensor({1.0F, 2.0F}));
    module.setattr("words", std::vector<std::string>{"x"});
    std::cout << module.forward({input()}) << "\n" << module.attr("words") << module.attr("scale") << "\n";
    module.setattr("maybe", c10::IValue());
    module.eval();
    std::cout << module.is_training() << module.attr("part").toModule().is_training() << "\n"
              << module.forward({input()}) << "\n";
    module.train();
    std::cout << module.forward({input()}) << "\n";
    module.attr("part").toModule().setattr("factor", 1);
    std::cout << module.forward({input()}) << "\n";
    module.eval();
    {
        const torch::NoGradGuard guard;
        for (auto parameter : module.parameters()) {
            parameter.fill_(1);
        }
    }
    std::cout << module.forward({input()}) << "\n";
    const auto run = module.get_method("add_to_scale").run_async({1}, {{"ratio", 2.0}});
    run->wait();
    std::cout << run->value() << module.get_method("add_to_scale")({1}, {{"name", "x"}}) << "\n";
    std::cout << module.get_method("forward").owner().attr("scale") << "\n";
}

void children(Module module)
{
    std::cout << module.attr("part").toModule().forward({input()}) << "\n";
    for (const auto &each : module.named_modules()) {
        if (each.name == "layers.0") {
            std::cout << each.value.attr("weight").toTensor() << "\n";
            Module layer = each.value;
            std::cout << layer.forward({torch::ones({1, 2})}) << "\n";
        }
    }
    size_t count = 0;
    module.apply([&](Module &each) { count += each.hasattr("training") ? 1 : 0; });
    std::cout << "applied to " << count << "\n";
}

void copies(Module module)
{
    Module copy = module.clone(), deep = module.deepcopy();
    copy.setattr("scale", 8.0);
    deep.eval();
    std::cout << module.attr("scale") << copy.attr("scale") << deep.attr("scale") << " " << module.is_training()
              << deep.is_training() << "\n";
    std::cout << copy.forward({input()}) << "\n"
              << deep.forward({input()}) << "\n"
              << module.forward({input()}) << "\n";
    const Module frozen = torch::jit::freeze(deep);
    Module mine = frozen;
    std::cout << frozen.hasattr("offset") << frozen.parameters().size() << " " << mine.forward({input()}) << "\n";
    const Module kept = torch::jit::freeze(deep, std::vector<std::string>{"offset"});
    std::cout << kept.hasattr("offset") << kept.hasattr("training") << "\n";
    Module quick = torch::jit::optimize_for_inference(deep);
    std::cout << quick.forward({input()}) << "\n";
    module.to(torch::kDouble);
    std::cout << module.forward({input().to(torch::kDouble)}) << "\n";
    for (const auto &each : module.named_buffers()) {
        std::cout << each.name << " " << each.value.dtype() << "\n";
    }
    module.to(torch::kCPU, torch::kFloat);
    module.to(torch::kCPU);
    std::cout << (*module.parameters().begin()).dtype() << (*module.parameters().begin()).device() << "\n";
}

void saves(Module module)
{
    module.setattr("scale", 4.0);
    module.register_buffer("extra", torch::tensor({1, 2, 3}));
    module.register_parameter("more", torch::ones({2}), false);
    module.register_attribute("note", c10::StringType::get(), "text");
    module.eval();
    std::stringstream file;
    torch::jit::ExtraFilesMap extra{{"a.txt", "content"}};
    module.save(file, extra);
    torch::jit::ExtraFilesMap read{{"a.txt", ""}, {"b.txt", "same"}};
    Module again = torch::jit::load(file, c10::nullopt, read);
    std::cout << read["a.txt"] << " " << read["b.txt"] << " " << again.attr("note") << " " << again.attr("scale")
              << "\n"
              << again.attr("extra").toTensor() << "\n"
              << again.forward({input()}) << "\n";
    list(again);
    std::stringstream lite;
    module._save_for_mobile(lite);
    torch::jit::mobile::Module small = torch::jit::_load_for_mobile(lite);
    std::cout << small.forward({input()}) << "\n"
              << small.name() << " " << small.named_parameters().size() << " " << small.parameters().size() << "\n";
    std::stringstream part;
    module.attr("part").toModule().save(part);
    std::cout << torch::jit::load(part).forward({input()}) << "\n";
    failing("save", [&] { module.save("/no/such/folder/x.pt"); });
}

} // namespace

int main(int argc, char **argv)
{
    if (argc < 2) {
        return 1;
    }
    const std::string folder = argv[1];
    const auto load = [&] { return torch::jit::load(folder + "/modules.pt"); };
    Module module = load();
    list(module);
    types(module);
    values(module);
    print(module.dump_to_str(false, false, false));
    print(module.attr("part").toModule().dump_to_str(false, true, true));
    errors(module);
    changes(load());
    children(load());
    copies(load());
    saves(load());
    Module moved = torch::jit::load(folder + "/modules_cuda.pt", torch::kCPU);
    moved.eval();
    std::cout << moved.forward({input()}) << "\n";
    std::cout << "models\nmodules.pt norm_of\n";
    module.eval();
    std::cout << module.run_method("norm_of", torch::ones({2, 2})) << "\n";
    return 0;
}
