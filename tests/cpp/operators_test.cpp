// SPDX-License-Identifier: BSD-2-Clause
// operators_test MODELS: tests operators that an app adds in C++: valid and invalid registrations, functions that fail,
// the end of registrations, threads.
#include <torch/csrc/jit/runtime/custom_operator.h>
#include <torch/library.h>
#include <torch/script.h>

#include <atomic>
#include <memory>
#include <thread>

#include "check.h"

namespace
{

std::vector<c10::IValue> call_values(const char *name, const std::vector<c10::IValue> &arguments)
{
    std::vector<taper::cpp::Handle> handles;
    for (const c10::IValue &each : arguments) {
        handles.push_back(each.handle());
    }
    std::vector<c10::IValue> results;
    for (taper::cpp::Handle &each : taper::cpp::call_operator(taper::cpp::operator_named(name), handles)) {
        results.emplace_back(std::move(each));
    }
    return results;
}
at::Tensor call_tensor(const std::string &name, const std::vector<c10::IValue> &arguments)
{
    return call_values(name.c_str(), arguments).at(0).toTensor();
}

at::Tensor twice(const at::Tensor &x)
{
    return x * 2;
}
at::Tensor sum_of(const at::Tensor &a, const at::Tensor &b)
{
    return a + b;
}

std::string schema_of(const char *name)
{
    taper_operator *op = nullptr;
    taper::cpp::ErrorScope error;
    error.check(taper_operator_find(taper::cpp::context(), name, &op, error));
    const std::string text = taper_operator_schema(op);
    taper_operator_release(op);
    return text;
}

// ---- registrations of a library, at program start

struct Scaled : c10::OperatorKernel {
    explicit Scaled(double by_) : by(by_)
    {
    }
    at::Tensor operator()(const at::Tensor &x)
    {
        return x * by;
    }
    double by;
};

TORCH_LIBRARY_IMPL(first_ops, CPU, m)
{
    m.impl("declared", &twice); // the function is registered before its schema
}
TORCH_LIBRARY(first_ops, m)
{
    m.def("declared(Tensor x) -> Tensor");
    m.def("nobody(Tensor x) -> Tensor");
    m.def("elsewhere(Tensor x) -> Tensor");
    m.impl("elsewhere", c10::DispatchKey::CUDA, &twice);
    m.def(TORCH_SELECTIVE_SCHEMA("first_ops::selected(Tensor x) -> Tensor"));
    m.impl(TORCH_SELECTIVE_NAME("selected"), TORCH_FN(twice));
    m.def(torch::schema("described(Tensor x, *, float[3]? by=None, str how=\"a, (b\") -> (Tensor y, Tensor? z)"),
          [](const at::Tensor &x, c10::optional<std::vector<double>>, const std::string &how) {
              return std::make_tuple(x, how == "a, (b" ? c10::optional<at::Tensor>(x) : c10::nullopt);
          });
    // The schema is derived from the function's type.
    m.def("all_types", [](at::Tensor &, const at::Tensor &, int64_t, double, bool, std::string, at::Scalar,
                          c10::optional<int64_t>, std::vector<at::Tensor>, c10::List<int64_t>, at::ArrayRef<double>,
                          c10::Dict<std::string, at::Tensor>, c10::Device, c10::ScalarType, std::array<bool, 2>,
                          std::tuple<int64_t, at::Tensor>, const c10::optional<at::IntArrayRef> &) {
        return std::tuple<at::Tensor, std::vector<c10::optional<std::string>>>();
    });
    m.def("nothing", [] {});
}
TORCH_LIBRARY_FRAGMENT(first_ops, m)
{
    m.def("more", &twice);
}
TORCH_LIBRARY_FRAGMENT(first_ops, m) // registers more operators in the same namespace
{
    m.def("quantized(Tensor x) -> int");
    m.impl("quantized", torch::dispatch(c10::DispatchKey::QuantizedCPU, [](const at::Tensor &) { return int64_t{8}; }));
    m.impl("quantized", torch::dispatch(at::kCPU, [](const at::Tensor &) { return int64_t{32}; }));
}

void libraries()
{
    const at::Tensor x = torch::tensor({1.0F, -2.0F});
    CHECK(same(call_tensor("first_ops::declared", {x}), x * 2));
    CHECK(same(call_tensor("first_ops::selected", {x}), x * 2));
    CHECK(same(call_tensor("first_ops::more", {x}), x * 2));
    CHECK_THROWS(call_values("first_ops::nobody", {x}), "there is no function of it for tensors of the CPU");
    CHECK_THROWS(call_values("first_ops::elsewhere", {x}), "first_ops::elsewhere");
    CHECK(c10::IValue(call_values("first_ops::described", {x}).at(1)).isTensor());
    CHECK(call_values("first_ops::nothing", {}).empty());
    CHECK(c10::IValue(call_values("first_ops::quantized", {x}).at(0)).toInt() == 32);
    const at::Tensor q = at::quantize_per_tensor(x, 0.5, 0, at::kQInt8);
    CHECK(c10::IValue(call_values("first_ops::quantized", {q}).at(0)).toInt() == 8);
    CHECK(schema_of("first_ops::all_types") ==
          "first_ops::all_types(Tensor(a!) _0, Tensor _1, int _2, float _3, bool _4, str _5, Scalar _6, int? _7, "
          "Tensor[] _8, int[] _9, float[] _10, Dict(str, Tensor) _11, Device _12, int _13, bool[] _14, (int, Tensor) "
          "_15, int[]? _16) -> (Tensor, str?[])");
    CHECK(schema_of("first_ops::nothing") == "first_ops::nothing() -> ()");
}

void other_types()
{
    const auto registry =
        torch::RegisterOperators()
            .op("other_ops::any", [](const at::IValue &value) { return value.isNone() ? at::IValue(7) : value; })
            .op("other_ops::sizes",
                [](at::OptionalIntArrayRef sizes) { return sizes.has_value() ? sizes->at(1) : int64_t{-1}; });
    CHECK(schema_of("other_ops::any") == "other_ops::any(Any _0) -> Any");
    CHECK(call_values("other_ops::any", {c10::IValue()}).at(0).toInt() == 7);
    CHECK(call_values("other_ops::any", {"text"}).at(0).toStringRef() == "text");
    CHECK(schema_of("other_ops::sizes") == "other_ops::sizes(int[]? _0) -> int");
    CHECK(call_values("other_ops::sizes", {c10::IValue()}).at(0).toInt() == -1);
    CHECK(call_values("other_ops::sizes", {std::vector<int64_t>{3, 4}}).at(0).toInt() == 4);
    // An operator called in a context that was made in C cannot use values of the C++ binding.
    taper_context *other = nullptr;
    taper_operator *op = nullptr;
    taper_value *argument = nullptr, *result = nullptr;
    taper::cpp::ErrorScope error;
    CHECK(taper_context_create(nullptr, &other, error) == TAPER_OK);
    CHECK(taper_operator_find(other, "other_ops::any", &op, error) == TAPER_OK);
    CHECK(taper_value_int(other, 1, &argument, error) == TAPER_OK);
    CHECK(taper_operator_call(op, &argument, 1, &result, 1, error) == TAPER_ERROR_UNSUPPORTED);
    CHECK(result == nullptr);
    taper_value_release(argument);
    taper_operator_release(op);
    taper_context_release(other);
}

// ---- registrations that are refused

void refusals()
{
    using torch::RegisterOperators;
    CHECK_THROWS(RegisterOperators("no_namespace", &twice), "no_namespace");
    CHECK_THROWS(RegisterOperators("test_ops::bad(Tensor x -> Tensor", &twice), "test_ops::bad");
    CHECK_THROWS(RegisterOperators("test_ops::bad(Tensor x)", &twice), "test_ops::bad");
    CHECK_THROWS(RegisterOperators("test_ops::bad(Matrix x) -> Tensor", &twice), "argument 0 is Matrix in its schema");
    CHECK_THROWS(RegisterOperators("test_ops::bad(Tensor x, int y) -> Tensor", &twice),
                 "its schema has 2 arguments, its function has 1");
    CHECK_THROWS(RegisterOperators("test_ops::bad(Tensor x) -> (Tensor, Tensor)", &twice),
                 "its schema has 2 results, its function has 1");
    CHECK_THROWS(RegisterOperators("test_ops::bad(Tensor? x) -> Tensor", &twice),
                 "argument 0 is Tensor? in its schema, and Tensor in its function");
    CHECK_THROWS(RegisterOperators("test_ops::bad(Tensor x) -> int", &twice), "result 0 is int");
    CHECK_THROWS(RegisterOperators("test_ops::bad", static_cast<at::Tensor (*)(const at::Tensor &)>(nullptr)), "null");
    CHECK_THROWS(RegisterOperators().op(RegisterOperators::options()), "no schema");
    CHECK_THROWS(RegisterOperators().op("test_ops::bad"), "test_ops::bad"); // the schema and the function are missing
    CHECK_THROWS(
        RegisterOperators("test_ops::one(Tensor x) -> Tensor", RegisterOperators::options().schema("test_ops::other")),
        "options have one schema");
    CHECK_THROWS(RegisterOperators("aten::relu(Tensor self) -> Tensor", &twice), "Taper's own");
    torch::Library aten(torch::Library::IMPL, "aten", c10::DispatchKey::CPU, "here", 1);
    CHECK_THROWS(aten.impl("relu", &twice), "the library's own");
    // A failed registration changes nothing: its name remains free, and an earlier registration still works.
    const RegisterOperators right("test_ops::bad(Tensor x) -> Tensor", &twice);
    CHECK_THROWS(RegisterOperators("test_ops::bad(Tensor x) -> Tensor", &twice), "test_ops::bad is registered already");
    CHECK(same(call_tensor("test_ops::bad", {torch::ones({1})}), torch::ones({1}) * 2));

    torch::Library library(torch::Library::DEF, "second_ops", c10::nullopt, "here.cpp", 7);
    CHECK_THROWS(torch::Library(torch::Library::DEF, "second_ops", c10::nullopt, "there.cpp", 8), "here.cpp:7");
    CHECK_THROWS(library.def("other_ops::f(Tensor x) -> Tensor"), "not of namespace second_ops");
    library.def("f(Tensor x) -> Tensor");
    CHECK_THROWS(library.def("f(Tensor x) -> Tensor"), "second_ops::f is registered already: here.cpp:7");
    CHECK_THROWS(library.impl("f", &sum_of), "its schema has 1 arguments, its function has 2");
    torch::Library functions(torch::Library::IMPL, "second_ops", c10::DispatchKey::CPU, "here.cpp", 9);
    CHECK_THROWS(functions.def("g", &twice), "cannot define");
    functions.impl("h", &sum_of);
    CHECK_THROWS(library.def("h(Tensor x) -> Tensor"), "its schema has 1 arguments, its function has 2");
    // An app may register an operator that the library also has, but models call the operator of the library.
    const RegisterOperators vision(
        "torchvision::nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
        [](const at::Tensor &, const at::Tensor &, double) -> at::Tensor { throw std::runtime_error("called"); });
    CHECK(call_tensor("torchvision::nms", {torch::zeros({1, 4}), torch::zeros({1}), 0.5}).numel() == 1);
}

// ---- functions with errors

void deeds()
{
    const at::Tensor x = torch::ones({2});
    const auto registry =
        torch::RegisterOperators()
            .op("deeds::standard", [](at::Tensor) -> at::Tensor { throw std::runtime_error("the lens is dirty"); })
            .op("deeds::error",
                [](at::Tensor t) -> at::Tensor {
                    TORCH_CHECK(t.dim() == 7, "it has ", t.dim(), " dimensions");
                    return t;
                })
            .op("deeds::nothing_known", [](at::Tensor) -> at::Tensor { throw 7; })
            .op("deeds::memory", [](at::Tensor) -> at::Tensor { throw std::bad_alloc(); })
            .op("deeds::inside", [](at::Tensor t) { return t.view({3}); })
            .op("deeds::undefined", [](at::Tensor) { return at::Tensor(); })
            .op("deeds::wrong_list(Tensor x) -> Tensor[]",
                [](at::Tensor) { return c10::List<at::Tensor>(c10::IValue(std::vector<int64_t>{1}).handle()); })
            .op("deeds::several", [](at::Tensor t) { return std::make_tuple(t, at::Tensor()); });
    CHECK_THROWS(call_values("deeds::standard", {x}), "the lens is dirty");
    CHECK_THROWS(call_values("deeds::standard", {x}), "deeds::standard");
    CHECK_THROWS(call_values("deeds::error", {x}), "it has 1 dimensions");
    CHECK_THROWS(call_values("deeds::nothing_known", {x}), "no std::exception");
    CHECK_THROWS(call_values("deeds::memory", {x}), "out of memory");
    CHECK_THROWS(call_values("deeds::inside", {x}), "deeds::inside: shape '[3]' is invalid for input of size 2");
    CHECK_THROWS(call_values("deeds::undefined", {x}), "result 0");
    CHECK_THROWS(call_values("deeds::wrong_list", {x}), "result 0");
    CHECK_THROWS(call_values("deeds::several", {x}), "result 1");
    CHECK_THROWS(call_values("deeds::standard", {1}), "deeds::standard"); // the argument has a wrong type
    CHECK_THROWS(call_values("deeds::standard", {}), "deeds::standard");

    const torch::jit::RegisterOperators stack({
        torch::jit::Operator(
            "deeds::stack(Tensor x, int n=2) -> (Tensor, int)",
            [](torch::jit::Stack &values) {
                at::Tensor t;
                int64_t n = 0;
                torch::jit::pop(values, t, n);
                torch::jit::push(values, t * n, n + 1);
            },
            c10::AliasAnalysisKind::FROM_SCHEMA),
        torch::jit::Operator("deeds::stack_too_many(Tensor x) -> Tensor",
                             [](torch::jit::Stack &values) { torch::jit::push(values, 1); }),
        torch::jit::Operator("deeds::stack_too_few(Tensor x) -> Tensor",
                             [](torch::jit::Stack &values) { torch::jit::drop(values, 2); }),
    });
    CHECK(c10::IValue(call_values("deeds::stack", {x}).at(1)).toInt() == 3);
    CHECK(same(call_tensor("deeds::stack", {x}), x * 2));
    CHECK_THROWS(call_values("deeds::stack_too_many", {x}), "its function gave 2 results, its schema has 1");
    CHECK_THROWS(call_values("deeds::stack_too_few", {x}), "there is too little on the stack");
    CHECK_THROWS(torch::jit::registerOperator(torch::jit::Operator("deeds::untold", [](torch::jit::Stack &) {})),
                 "needs a schema");
}

// ---- registrations that end and are repeated

void endings()
{
    const at::Tensor x = torch::ones({2});
    {
        const auto registry = torch::RegisterOperators("ends::f", &twice);
        CHECK(same(call_tensor("ends::f", {x}), x * 2));
        torch::Library above(torch::Library::IMPL, "ends", c10::DispatchKey::CPU, "here", 1);
        above.impl("f", [](const at::Tensor &t) { return t * 5; });
        CHECK(same(call_tensor("ends::f", {x}), x * 5));
        torch::Library moved(std::move(above));
        CHECK(same(call_tensor("ends::f", {x}), x * 5));
        const torch::Library taken(std::move(moved));
        CHECK(same(call_tensor("ends::f", {x}), x * 5));
    }
    CHECK_THROWS(call_values("ends::f", {x}), "there is no function of it");
    CHECK_THROWS(torch::RegisterOperators("ends::f", &sum_of), "keeps the schema that it had first");
    const auto again = torch::RegisterOperators("ends::f", [](const at::Tensor &t) { return t * 7; });
    CHECK(same(call_tensor("ends::f", {x}), x * 7));
    // Objects captured by a function are destroyed with its registration.
    const std::shared_ptr<int> held = std::make_shared<int>(3);
    {
        const auto registry = torch::RegisterOperators("ends::held", [held](const at::Tensor &t) { return t * *held; });
        CHECK(held.use_count() == 2);
        CHECK(same(call_tensor("ends::held", {x}), x * 3));
        const auto functor = torch::RegisterOperators().op(
            "ends::functor", torch::RegisterOperators::options().kernel<Scaled>(c10::DispatchKey::CPU, 4.0));
        CHECK(same(call_tensor("ends::functor", {x}), x * 4));
    }
    CHECK(held.use_count() == 1);
}

// ---- models

struct Host {
    std::atomic<int> warps{0};
    std::atomic<int> fails{0};
} host;

at::Tensor warp(const at::Tensor &image, const at::Tensor &flow, double scale)
{
    host.warps++;
    if (host.fails != 0) {
        throw std::invalid_argument("this image cannot be warped");
    }
    const float *from = flow.data_ptr<float>(); // reads the elements in the way in which apps read weights
    const at::Tensor result = image * scale;
    float *to = result.data_ptr<float>();
    for (int64_t i = 0; i < result.numel(); i++) {
        to[i] += from[i];
    }
    return result;
}

void models(const std::string &folder)
{
    const at::Tensor x = torch::tensor({1.0F, -2.0F, 3.0F}), y = torch::tensor({14.5F, 20.0F, 37.5F});
    const std::string path = folder + "/custom_ops.ptl";
    CHECK_THROWS(torch::jit::load(path), "my_ops::warp"); // the error lists all missing operators
    torch::Library library(torch::Library::DEF, "my_ops", c10::nullopt, "here", 1);
    library.def("warp(Tensor image, Tensor flow, float scale=1.5) -> Tensor", &warp);
    library.def("add_to_(Tensor(a!) self, int by) -> Tensor(a!)",
                [](at::Tensor &self, int64_t by) -> at::Tensor & { return self.add_(by); });
    library.def("parts(Tensor x, int[] sizes, str mode='plain') -> (Tensor, Tensor[])",
                [](const at::Tensor &t, at::IntArrayRef sizes, c10::string_view mode) {
                    return std::make_tuple(mode == "sum" ? t.narrow(0, 0, sizes[0]).sum() : t,
                                           std::vector<at::Tensor>{t.narrow(0, 0, sizes[0]), t});
                });
    library.def("note(Tensor(a!) x) -> ()", [](const at::Tensor &) {});
    library.def("pick.at(Tensor x, int i) -> Tensor", [](const at::Tensor &t, int64_t i) { return t[i]; });
    library.def("pick.name(Tensor x, str name) -> Tensor",
                [](const at::Tensor &t, const std::string &name) { return t[name == "first" ? 0 : -1]; });
    for (const char *name : {"/custom_ops.pt", "/custom_ops.ptl"}) {
        torch::jit::Module module = torch::jit::load(folder + name);
        for (int run = 0; run < 3; run++) {
            CHECK(same(module.forward({x}).toTuple()->elements()[0].toTensor(), y));
        }
        host.fails = 1;
        CHECK_THROWS(module.forward({x}), "this image cannot be warped");
        host.fails = 0;
        CHECK(same(module.forward({x}).toTuple()->elements()[0].toTensor(), y));
    }
    // A function called by a module cannot use that module.
    torch::jit::Module inner = torch::jit::load(path);
    torch::Library above(torch::Library::IMPL, "my_ops", c10::DispatchKey::CPU, "here", 2);
    above.impl("warp", [&](const at::Tensor &image, const at::Tensor &flow, double scale) {
        CHECK_THROWS(inner.forward({image}), "the module is running");
        CHECK_THROWS(inner.attr("flow"), "the module is running");
        return warp(image, flow, scale);
    });
    CHECK(same(inner.forward({x}).toTuple()->elements()[0].toTensor(), y));
    above = torch::Library(torch::Library::IMPL, "my_ops", c10::DispatchKey::CPU, "here", 3);
    CHECK(same(inner.forward({x}).toTuple()->elements()[0].toTensor(), y));

    std::vector<std::thread> threads;
    std::atomic<int> wrong{0};
    torch::jit::Module shared = torch::jit::load(path);
    for (int i = 0; i < 4; i++) {
        threads.emplace_back([&, i] {
            try {
                torch::jit::Module module = i < 2 ? shared : torch::jit::load(path);
                for (int run = 0; run < 20; run++) {
                    // While the module runs, this thread registers and removes operators that the module does not call.
                    const auto registry = torch::RegisterOperators("threads::f" + std::to_string(i), &twice);
                    wrong += !same(module.forward({x}).toTuple()->elements()[0].toTensor(), y);
                    wrong += !same(call_tensor("threads::f" + std::to_string(i), {x}), x * 2);
                }
            } catch (const std::exception &thrown) {
                std::printf("%s\n", thrown.what());
                wrong++;
            }
        });
    }
    for (std::thread &thread : threads) {
        thread.join();
    }
    CHECK(wrong == 0);
    CHECK(host.warps > 160);
}

} // namespace

int main(int argc, char **argv)
{
    libraries();
    other_types();
    refusals();
    deeds();
    endings();
    models(argc > 1 ? argv[1] : ".");
    return check_report();
}
