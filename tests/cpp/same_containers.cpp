// SPDX-License-Identifier: BSD-2-Clause
// same_containers: tests containers, pointers, schemas and calculations with sizes of c10 and at. The output must be
// the same with Taper's headers and with PyTorch's headers.
#include <ATen/ExpandUtils.h>
#include <ATen/InferSize.h>
#include <ATen/TensorUtils.h>
#include <ATen/WrapDimUtils.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/DeviceGuard.h>
#include <c10/util/MaybeOwned.h>
#include <c10/util/ScopeExit.h>
#include <c10/util/SmallVector.h>
#include <c10/util/StringUtil.h>
#include <c10/util/accumulate.h>
#include <c10/util/hash.h>
#include <c10/util/intrusive_ptr.h>
#include <c10/util/irange.h>
#include <c10/util/safe_numerics.h>
#include <torch/csrc/jit/frontend/function_schema_parser.h>
#include <torch/csrc/jit/runtime/operator.h>
#include <torch/script.h>

#include <set>

#include "show.h"

namespace
{

struct Counted : c10::intrusive_ptr_target {
    explicit Counted(int n) : number(n)
    {
    }
    void release_resources() override
    {
        std::cout << "released " << number << "\n";
    }
    int number;
};
void containers()
{
    for (const auto i : c10::irange(3)) {
        std::cout << i;
    }
    for (const auto i : c10::irange(2, 5)) {
        std::cout << i;
    }
    SHOW(c10::irange(-2).begin() == c10::irange(-2).end());
    c10::SmallVector<int64_t, 3> few = {1, 2, 3};
    few.append({4, 5});
    few.insert(few.begin(), 0);
    SHOW(at::IntArrayRef(few));
    SHOW(few.pop_back_val());
    few.resize(2);
    few.append(2, 9);
    SHOW(at::IntArrayRef(few));
    SHOW(few == (c10::SmallVector<int64_t, 3>{0, 1, 9, 9}));
    const at::DimVector dims(few.begin(), few.end());
    SHOW(torch::zeros(c10::IntArrayRef(dims)).sizes());
    SHOW(c10::multiply_integers(std::vector<int64_t>{2, 3, 4}));
    SHOW(c10::sum_integers(std::vector<int>{2, 3, 4}));
    SHOW(c10::numelements_from_dim(1, std::vector<int64_t>{2, 3, 4}));
    SHOW(c10::numelements_to_dim(1, std::vector<int64_t>{2, 3, 4}));
    SHOW(c10::numelements_between_dim(2, 0, std::vector<int64_t>{2, 3, 4}));
    uint64_t product = 0;
    SHOW(c10::mul_overflows(uint64_t{1} << 40, uint64_t{1} << 30, &product));
    SHOW(c10::mul_overflows(7, 6, &product));
    SHOW(product);
    {
        const auto guard = c10::make_scope_exit([] { std::cout << "left\n"; });
        auto released = c10::make_scope_exit([] { std::cout << "never\n"; });
        released.release();
    }
    const at::Tensor x = torch::ones({2});
    const auto borrowed = c10::MaybeOwned<at::Tensor>::borrowed(x);
    const auto owned = c10::MaybeOwned<at::Tensor>::owned(torch::zeros({3}));
    SHOW(borrowed->sizes());
    SHOW((*owned).sizes());
    auto strong = c10::make_intrusive<Counted>(1);
    c10::weak_intrusive_ptr<Counted> weak(strong);
    auto other = strong;
    SHOW(strong.use_count());
    SHOW(strong == other);
    SHOW(weak.lock()->number);
    other.reset();
    SHOW(strong.unique());
    Counted *raw = strong.release();
    strong = c10::intrusive_ptr<Counted>::reclaim(raw);
    SHOW(weak.expired());
    strong = c10::intrusive_ptr<Counted>();
    SHOW(weak.expired());
    SHOW(weak.lock().defined());
    SHOW(c10::Join(", ", std::vector<int>{1, 2, 3}));
    std::string text = "a-b-c";
    SHOW(c10::ReplaceAll(text, "-", "+-"));
    SHOW(text);
    SHOW(c10::get_hash(1, 2) == c10::get_hash(1, 2));
    ERROR((c10::DeviceGuard(at::Device("cuda:0")).current_device()));
    SHOW(c10::OptionalDeviceGuard().current_device().has_value());
}

void sizes()
{
    using at::IntArrayRef;
    ERROR(c10::maybe_wrap_dim(int64_t{3}, int64_t{2}));
    ERROR(c10::maybe_wrap_dim(int64_t{1}, int64_t{0}, false));
    ERROR(c10::maybe_wrap_dim(int64_t{-1}, int64_t{3}));
    ERROR(IntArrayRef(at::infer_size(IntArrayRef({2, 1, 3}), IntArrayRef({4, 1}))));
    ERROR(IntArrayRef(at::infer_size(IntArrayRef({2, 3}), IntArrayRef({4}))));
    ERROR(IntArrayRef(at::infer_size(IntArrayRef({2, -1}), int64_t{6})));
    ERROR(IntArrayRef(at::infer_size(IntArrayRef({5, -1}), int64_t{6})));
    ERROR(IntArrayRef(at::infer_size(IntArrayRef({-1, -1}), int64_t{6})));
    ERROR(IntArrayRef(at::infer_size(IntArrayRef({0, -1}), int64_t{0})));
    ERROR(IntArrayRef(at::infer_size(IntArrayRef({2, -3}), int64_t{6})));
    const at::Tensor x = torch::ones({2, 3}), y = torch::ones({2, 3, 4}).to(at::kLong), z = torch::ones({4, 1, 3});
    SHOW(at::is_expandable_to(IntArrayRef({1, 3}), IntArrayRef({2, 3})));
    SHOW(at::are_expandable({2, 1}, {3}));
    SHOW(at::sum_to(y, IntArrayRef({3, 1})).sizes());
    SHOW(at::geometry_is_contiguous({2, 3}, {3, 1}));
    const auto both = at::expand_outplace(x, z);
    SHOW(std::get<0>(both)->sizes());
    SHOW(std::get<1>(both)->sizes());
    at::TensorGeometry geometry(x);
    SHOW(geometry.transpose(0, 1).strides());
    using Pair = std::pair<std::vector<int64_t>, std::vector<int64_t>>;
    for (const Pair &each :
         {Pair{{2, 3, 4, 5}, {60, 1, 15, 3}}, Pair{{2, 3, 4, 5}, {60, 20, 5, 1}}, Pair{{1, 1, 1, 1}, {1, 1, 1, 1}},
          Pair{{1, 3, 1, 1}, {3, 1, 3, 3}}, Pair{{2, 1, 3, 3}, {9, 9, 3, 1}}, Pair{{2, 1, 3, 3}, {9, 1, 3, 1}}}) {
        std::cout << c10::is_channels_last_strides_2d(each.first, each.second);
    }
    const at::TensorArg a(x, "first", 1), b(y, "second", 0);
    const at::Tensor transposed = x.t();
    const at::TensorArg t(transposed, "t", 3);
    const auto check = [](auto work) {
        try {
            work();
            std::cout << "fine\n";
        } catch (const c10::Error &e) {
            std::cout << e.what_without_backtrace() << "\n";
        }
    };
    check([&] { at::checkDim("f", a, 3); });
    check([&] { at::checkDim("f", x, "n", 2, 3); });
    check([&] { at::checkDimRange("f", b, 1, 3); });
    check([&] { at::checkSameDim("f", a, b); });
    check([&] { at::checkContiguous("f", t); });
    check([&] { at::checkSize("f", a, {2, 4}); });
    check([&] { at::checkSize("f", a, 1, 4); });
    check([&] { at::checkSize("f", a, 1, 3); });
    check([&] { at::checkNumel("f", b, 3); });
    check([&] { at::checkSameSize("f", a, b); });
    check([&] { at::checkScalarType("f", a, at::kLong); });
    check([&] { at::checkScalarTypes("f", a, {at::kLong, at::kInt}); });
    check([&] { at::checkSameType("f", a, b); });
    check([&] { at::checkAllSameNumel("f", {a, b}); });
    check([&] { at::checkLayout("f", x, at::kSparse); });
    check([&] { at::checkDeviceType("f", {x}, at::kCUDA); });
}

// Checks which schemas are compatible with an older schema, and the messages about arguments of other types.
void schema_checks()
{
    using torch::jit::parseSchema;
    const c10::FunctionSchema old = parseSchema("my::f(Tensor a, int b=1, *, Tensor(a!) out) -> Tensor(a!)");
    const char *const texts[] = {"my::f(Tensor a, int b=1, *, Tensor(a!) out) -> Tensor(a!)",
                                 "my::f(Tensor a, int b=1, int c=2, *, Tensor(a!) out) -> Tensor(a!)",
                                 "my::f(Tensor a, int b=1, *, int c, Tensor(a!) out) -> Tensor(a!)",
                                 "my::f(Tensor a, int b=1, int[] c=[1, 2], *, Tensor(a!) out) -> Tensor(a!)",
                                 "my::f(Tensor? a, int b=1, *, Tensor(a!) out) -> Tensor(a!)",
                                 "my::f(Tensor a, int b=2, *, Tensor(a!) out) -> Tensor(a!)",
                                 "my::f(Tensor a, int b, *, Tensor(a!) out) -> Tensor(a!)",
                                 "my::f(Tensor a, int b=1) -> Tensor",
                                 "my::f(Tensor a, *, int b=1, Tensor(a!) out) -> Tensor(a!)",
                                 "my::f(Tensor a, int b=1, *, Tensor(b!) out) -> Tensor(b!)",
                                 "my::g(Tensor a, int b=1, *, Tensor(a!) out) -> Tensor(a!)"};
    for (const char *text : texts) {
        const c10::FunctionSchema made = parseSchema(text);
        std::ostringstream back, forward, sub;
        std::cout << made.isBackwardCompatibleWith(old, &back) << " " << back.str() << "; "
                  << made.isForwardCompatibleWith(old, forward) << " " << forward.str() << "; "
                  << made.isSubtypeOf(old, false, &sub) << " " << sub.str() << made.isSubtypeOf(old, true) << " "
                  << c10::findFirstOutArg(made.arguments()) << "\n";
    }
    std::cout << old.formatTypeMismatchMsg(old.arguments()[0], "int", size_t(3), std::string("7")) << "\n"
              << old.formatTypeMismatchMsg(old.arguments()[1], "str") << "\n"
              << old.arguments()[0].formatTypeMismatchMsg("List[int]");
    for (size_t i = 0; i < 3; i++) {
        const c10::SchemaArgument argument(c10::SchemaArgType::input, i);
        std::cout << old.is_aliasing(argument) << old.is_mutable(argument) << " ";
    }
    const c10::SchemaArgument result(c10::SchemaArgType::output, 0);
    std::cout << old.is_aliasing(result) << old.is_mutable(result) << old.getCorrectList(result.type).size()
              << (result == c10::SchemaArgument(c10::SchemaArgType::input, 0)) << "\n"
              << old.cloneWithRemappedTypes([](c10::TypePtr type) { return c10::OptionalType::create(type); }) << " "
              << old.cloneWithRealTypes() << " " << *old.argumentIndexWithName("out") << "\n";
}

void operators_by_name()
{
    const c10::OperatorNameView view = c10::OperatorNameView::parse("aten::add.Tensor"),
                                plain = c10::OperatorNameView::parse("aten::add");
    std::cout << view.name << " " << view.overload_name << " " << plain.name << plain.overload_name.size() << "\n";
    const c10::OperatorHandle handle = c10::Dispatcher::singleton().findSchemaOrThrow("aten::mul", "Tensor");
    c10::Stack stack = {torch::full({2}, 3), torch::full({2}, 4)};
    handle.callBoxedForDispatchKey(c10::DispatchKey::CPU, stack);
    std::cout << stack.size() << " " << stack[0].toTensor()[1].item<int64_t>() << "\n";
    const torch::jit::Operation none = nullptr, some = [](torch::jit::Stack &) {};
    const torch::jit::Operator op("my::g(Tensor a) -> Tensor", some, c10::AliasAnalysisKind::FROM_SCHEMA);
    std::cout << static_cast<bool>(none) << static_cast<bool>(some) << " " << op.schema() << " " << op.isC10Op()
              << op.hasOperation() << "\n";
    std::cout << c10::is_contiguous_strides({2, 3}, {3, 1}) << c10::is_contiguous_strides({2, 3}, {1, 2})
              << c10::is_contiguous_strides({}, {}) << c10::is_contiguous_strides({2}, {2}) << "\n";
}

int freed = 0;
void count(void *)
{
    freed++;
}

void memory()
{
    int context = 0;
    char bytes[8];
    {
        c10::DataPtr data(bytes, &context, count, at::Device("cpu"));
        SHOW(data.get() == bytes && data.get_context() == &context && data.get_deleter() == count);
        SHOW(data.cast_context<int>(count) == &context);
        SHOW(data.compare_exchange_deleter(c10::NoDelete, count));
        SHOW(data != nullptr);
        c10::DataPtr moved = std::move(data);
        SHOW(freed);
    }
    SHOW(freed);
    const c10::DataPtr held = c10::InefficientStdFunctionContext::makeDataPtr(bytes, count, at::kCPU);
    SHOW(held.get() == bytes);
    c10::Allocator *const allocator = c10::GetAllocator(at::kCPU);
    void *const block = allocator->raw_allocate(100);
    SHOW(reinterpret_cast<uintptr_t>(block) % c10::gAlignment);
    allocator->raw_deallocate(block);
    SHOW(allocator->allocate(0).get() == nullptr);
    c10::Storage storage(c10::Storage::use_byte_size_t(), 16, allocator, true);
    SHOW(storage.nbytes());
    SHOW(storage.resizable() && storage.allocator() == allocator);
    storage.set_data_ptr(c10::DataPtr(bytes, nullptr, count, at::kCPU));
    SHOW(storage.data() == bytes);
    storage.reset_legacy();
    SHOW(storage.nbytes());
}

void blobs()
{
    float numbers[6] = {0, 1, 2, 3, 4, 5};
    SHOW(at::for_blob(numbers, {2, 2}).strides(at::IntArrayRef({3, 1})).storage_offset(1).make_tensor());
    SHOW(at::for_blob(numbers, {3}).options(at::kInt).make_tensor().dtype());
    freed = 0;
    {
        const at::Tensor x = at::for_blob(numbers, {6}).context(numbers, count).make_tensor();
        SHOW(x[5].item<float>());
        SHOW(freed);
    }
    SHOW(freed);
    SHOW(at::for_blob(numbers, {2}).deleter([](void *) { freed++; }).make_tensor());
    SHOW(freed);
    SHOW(at::globalContext().defaultGenerator(at::kCPU).defined());
    SHOW(at::globalContext().defaultGenerator(at::kCPU).device());
    SHOW(at::kFloat == caffe2::TypeMeta::Make<float>());
    SHOW(at::ones({1}, at::kInt).dtype() != at::kFloat);
    SHOW(at::TensorOptions().dtype(c10::optional<caffe2::TypeMeta>(at::ones({1}).dtype())).dtype());
    SHOW(at::TensorOptions().device_index(1).device());
    SHOW(at::TensorOptions().merge_memory_format(at::MemoryFormat::ChannelsLast).memory_format_opt().value());
    SHOW(at::TensorOptions().is_sparse_csr());
    SHOW(at::CPU(at::kFloat).options(c10::optional<at::Device>()).layout_opt().has_value());
}

} // namespace

int main()
{
    memory();
    blobs();
    containers();
    sizes();
    schema_checks();
    operators_by_name();
    std::cout << "models\n";
    return 0;
}
