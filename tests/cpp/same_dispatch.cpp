// SPDX-License-Identifier: BSD-2-Clause
// same_dispatch: finds operators, calls them, parses schemas, and registers a class. The output must be the same with
// Taper's headers and with PyTorch's headers.
#include <torch/script.h>

#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/csrc/jit/frontend/function_schema_parser.h>
#include <torch/custom_class.h>
#include <torch/library.h>

#include <iostream>

namespace
{

struct Stack : torch::CustomClassHolder {
    explicit Stack(std::vector<std::string> words) : words_(std::move(words))
    {
    }
    void push(std::string word)
    {
        words_.push_back(std::move(word));
    }
    std::string pop()
    {
        std::string last = words_.back();
        words_.pop_back();
        return last;
    }
    int64_t size() const
    {
        return static_cast<int64_t>(words_.size());
    }
    c10::intrusive_ptr<Stack> twice() const
    {
        std::vector<std::string> all = words_;
        all.insert(all.end(), words_.begin(), words_.end());
        return c10::make_intrusive<Stack>(all);
    }
    int64_t mark = 0;
    std::vector<std::string> words_;
};

struct Other : torch::CustomClassHolder {
};

TORCH_LIBRARY(tests_dispatch, m)
{
    m.class_<Stack>("Stack")
        .def(torch::init<std::vector<std::string>>())
        .def("push", &Stack::push)
        .def("pop", &Stack::pop)
        .def("size", &Stack::size)
        .def("twice", &Stack::twice)
        .def("joined",
             [](const c10::intrusive_ptr<Stack> &self, std::string between) {
                 std::string all;
                 for (const std::string &each : self->words_) {
                     all += (all.empty() ? "" : between) + each;
                 }
                 return all;
             })
        .def_readwrite("mark", &Stack::mark)
        .def_static("empty", []() { return c10::make_intrusive<Stack>(std::vector<std::string>()); })
        .def_property("first", [](const c10::intrusive_ptr<Stack> &self) { return self->words_.at(0); })
        .def_pickle([](const c10::intrusive_ptr<Stack> &self) -> std::vector<std::string> { return self->words_; },
                    [](std::vector<std::string> state) { return c10::make_intrusive<Stack>(std::move(state)); });
    m.def("count(Tensor x, int by=2) -> int");
}
TORCH_LIBRARY_IMPL(tests_dispatch, CPU, m)
{
    m.impl("count", [](const at::Tensor &x, int64_t by) { return x.numel() * by; });
}

void operators()
{
    c10::Dispatcher &dispatcher = c10::Dispatcher::singleton();
    const auto add = dispatcher.findSchemaOrThrow("aten::add", "Tensor")
                         .typed<at::Tensor(const at::Tensor &, const at::Tensor &, const at::Scalar &)>();
    std::cout << add.call(torch::ones({2}), torch::ones({2}), 3) << add.schema() << add.operator_name() << "\n";
    const auto topk = dispatcher.findSchema({"aten::topk", ""});
    std::vector<c10::IValue> stack{"below", torch::arange(5), 2, -1, true, true};
    topk->callBoxed(&stack);
    std::cout << stack.size() << stack[0] << stack[1] << stack[2] << topk->schema() << "\n";
    const auto both =
        topk->typed<std::tuple<at::Tensor, at::Tensor>(const at::Tensor &, int64_t, int64_t, bool, bool)>();
    std::cout << std::get<1>(both.call(torch::arange(5), 2, -1, true, true)) << "\n";
    at::Tensor x = torch::ones({2});
    const auto in_place = dispatcher.findSchemaOrThrow("aten::add_", "Tensor")
                              .typed<at::Tensor &(at::Tensor &, const at::Tensor &, const at::Scalar &)>();
    std::cout << in_place.call(x, x, 1) << x << "\n";
    const auto count =
        dispatcher.findSchemaOrThrow("tests_dispatch::count", "").typed<int64_t(const at::Tensor &, int64_t)>();
    std::cout << count.call(x, 5) << dispatcher.findSchema({"aten::nothing", ""}).has_value() << "\n";
    try {
        dispatcher.findSchemaOrThrow("aten::nothing", "x");
    } catch (const c10::Error &error) {
        std::cout << error.what_without_backtrace() << "\n";
    }
}

void schemas()
{
    for (const char *text :
         {"aten::conv2d(Tensor input, Tensor weight, Tensor? bias=None, int[2] stride=1, int[2] padding=0) -> Tensor",
          "my::f.a(Tensor(a!) x, *, str mode='sum', float[] w=[1., 2.], Dict(str, int) d, (int, Tensor) t) -> "
          "(Tensor(a!), int)",
          "q::v(...) -> ...", "a::b() -> ()", "x::y(Tensor a, Scalar s=2, bool f=True) -> Tensor[] all"}) {
        const c10::FunctionSchema schema = torch::jit::parseSchema(text);
        std::cout << schema << " " << schema.name() << " '" << schema.overload_name() << "' "
                  << schema.arguments().size() << schema.returns().size() << schema.is_vararg() << schema.is_mutable()
                  << (schema == schema) << "\n";
        for (const c10::Argument &each : schema.arguments()) {
            std::cout << "  " << each.name() << " " << each.type()->str() << " " << each.default_value().has_value()
                      << each.kwarg_only() << each.N().has_value() << "\n";
        }
    }
    std::cout << torch::jit::parseName("aten::add.Tensor") << "\n";
}

void classes()
{
    const c10::IValue value = torch::make_custom_class<Stack>(std::vector<std::string>{"a", "b"});
    std::cout << value.isCustomClass() << torch::isCustomClass(value) << value.type()->str() << "\n";
    const c10::intrusive_ptr<Stack> stack = value.toCustomClass<Stack>();
    stack->push("c");
    std::cout << value.toCustomClass<Stack>()->size() << stack->twice()->size() << stack->pop() << "\n";
    const c10::IValue again(c10::make_intrusive<Stack>(std::vector<std::string>{"z"}));
    std::cout << again.toCustomClass<Stack>()->words_[0] << (torch::getCustomClass("no.such") == nullptr)
              << torch::getCustomClass("__torch__.torch.classes.tests_dispatch.Stack")->name()->name() << "\n";
}

} // namespace

int main()
{
    operators();
    schemas();
    classes();
    std::cout << "models\n";
    return 0;
}
