// SPDX-License-Identifier: BSD-2-Clause
// same_names: names of types, symbols, operators, generators and futures, and tensors of DLPack. The output must be the
// same with Taper's headers and with PyTorch's headers.
#include <torch/torch.h>

#include <ATen/DLConvertor.h>
#include <ATen/ParallelFuture.h>
#include <torch/csrc/jit/runtime/operator.h>
#include <torch/library.h>
#include <torch/script.h>

#include <iostream>

#include "show.h"

namespace
{

using c10::IValue;
using c10::Symbol;

void symbols()
{
    const Symbol add = Symbol::fromQualString("aten::add");
    SHOW(add.toQualString());
    SHOW(add.toUnqualString());
    SHOW(add.toDisplayString());
    SHOW(add.domainString());
    SHOW(add.ns().toQualString());
    SHOW(add.is_aten());
    SHOW(add.is_prim());
    SHOW(Symbol::prim("Constant").is_prim());
    SHOW(Symbol::user("x").is_user());
    SHOW(Symbol::caffe2("x").toQualString());
    SHOW(Symbol::attr("x").domainString());
    SHOW(add == Symbol::aten("add"));
    SHOW(add == Symbol::aten("mul"));
    SHOW(Symbol::fromDomainAndUnqualString("org.pytorch.aten", "mm").toQualString());
    ERROR(Symbol::fromQualString("add").toQualString());
}

void named_types()
{
    const c10::EnumTypePtr color = c10::EnumType::create(c10::QualifiedName("__torch__.Color"), c10::IntType::get(),
                                                         {{"RED", IValue(1)}, {"BLUE", IValue(2)}}, {});
    SHOW(color->str());
    SHOW(color->annotation_str());
    SHOW(color->repr_str());
    SHOW(color->qualifiedClassName().qualifiedName());
    SHOW(color->getValueType()->str());
    SHOW(color->enumNamesValues().size());
    SHOW(color->name()->name());
    SHOW(color->kind() == c10::TypeKind::EnumType);
    ERROR(c10::EnumType::create(c10::QualifiedName("__torch__.Bad"), c10::TensorType::get(), {}, {})->str());
    const auto holder = c10::make_intrusive<c10::ivalue::EnumHolder>(color, "BLUE", IValue(2));
    const auto same = c10::make_intrusive<c10::ivalue::EnumHolder>(color, "BLUE", IValue(2));
    const auto other = c10::make_intrusive<c10::ivalue::EnumHolder>(color, "RED", IValue(1));
    const IValue blue(holder);
    SHOW(blue);
    SHOW(blue.isEnum());
    SHOW(blue.isObject());
    SHOW(blue.tagKind());
    SHOW(blue.type()->str());
    SHOW(blue.toEnumHolder()->name());
    SHOW(blue.toEnumHolder()->value());
    SHOW(blue.toEnumHolder()->qualifiedClassName());
    SHOW(blue == IValue(same));
    SHOW(blue == IValue(other));

    const c10::TupleTypePtr point =
        c10::TupleType::createNamed(c10::QualifiedName("__torch__.Point"), std::vector<std::string>{"x", "y"},
                                    {c10::IntType::get(), c10::FloatType::get()});
    SHOW(point->str());
    SHOW(point->annotation_str());
    SHOW(point->elements().size());
    SHOW(point->elements()[1]->str());
    SHOW(point->names()->at(1));
    SHOW(*point->schema());
    SHOW(c10::TupleType::create({c10::IntType::get()})->expect<c10::TupleType>()->names().has_value());
    SHOW(c10::TupleType::create({c10::IntType::get()})->expect<c10::TupleType>()->schema() == nullptr);
    SHOW(c10::elementTypeCanBeInferredFromMembers(c10::IntType::get()));
    SHOW(c10::elementTypeCanBeInferredFromMembers(c10::OptionalType::create(c10::IntType::get())));
    SHOW(c10::ListType::create(c10::IntType::get())->containedTypes().size());
    ERROR((c10::checkNoAny(*c10::IntType::get(), "attribute", "x", c10::AnyType::get()), 1));
}

void values()
{
    auto tuple = c10::ivalue::Tuple::create({IValue(1), IValue("a")});
    tuple->setElements(std::vector<IValue>{IValue(2), IValue(3), IValue(4)});
    SHOW(IValue(tuple));
    SHOW(tuple->size());
    const double nan = std::numeric_limits<double>::quiet_NaN();
    SHOW(c10::_fastEqualsForContainer(IValue(1), IValue(1)));
    SHOW(IValue(nan) == IValue(nan));
    at::Tensor tensor = at::arange(3);
    std::vector<IValue> twice{IValue(tensor), IValue(tensor)};
    IValue::HashAliasedIValueMap memo;
    const IValue first = twice[0].deepcopy(memo), second = twice[1].deepcopy(memo);
    SHOW(first.is(second));
    SHOW(first.is(twice[0]));
    c10::OptionalArray<int64_t> array;
    array = c10::OptionalArrayRef<int64_t>(std::vector<int64_t>{1, 2});
    SHOW(*array.list);
    array = c10::optional<c10::ArrayRef<int64_t>>();
    SHOW(array.list.has_value());
    const IValue generator(at::detail::createCPUGenerator(5));
    SHOW(generator.isGenerator());
    SHOW(generator.tagKind());
    SHOW(generator.toGenerator().current_seed());
    const IValue storage(tensor.storage());
    SHOW(storage.isStorage());
    SHOW(storage.toStorage().nbytes());
    const IValue inside(c10::ivalue::Tuple::create({generator, storage, generator})); // containers keep these objects
    SHOW(inside.toTuple()->elements()[0].isGenerator());
    SHOW(inside.toTuple()->elements()[2].toGenerator().current_seed());
    SHOW(inside.toTuple()->elements()[1].toStorage().nbytes());
}

void schemas()
{
    using Type = c10::SchemaArgType;
    c10::FunctionSchema add = torch::jit::parseSchema("aten::add_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)");
    SHOW(add.operator_name());
    SHOW(add.may_alias({Type::input, 0}, {Type::output, 0}));
    SHOW(add.may_alias({Type::input, 1}, {Type::output, 0}));
    SHOW(add.may_contain_alias({Type::input, 0}, {Type::output, 0}));
    SHOW(*add.arguments()[0].alias_info());
    SHOW(add.arguments()[1].alias_info() == nullptr);
    SHOW(add.arguments()[0].alias_info()->isWrite());
    SHOW(add.arguments()[0].alias_info()->beforeSet().toQualString());
    c10::FunctionSchema wild = torch::jit::parseSchema("aten::split(Tensor(a -> *) self, int n) -> Tensor(a)[]");
    SHOW(wild);
    SHOW(*wild.arguments()[0].alias_info());
    SHOW(wild.arguments()[0].alias_info()->isWildcardAfter());
    SHOW(wild.returns()[0].alias_info()->containedTypes().size());
    SHOW(wild.may_alias({Type::input, 0}, {Type::output, 0}));
    SHOW(wild.may_contain_alias({Type::input, 0}, {Type::output, 0}));
    SHOW(wild.may_contain_alias({Type::output, 0}, {Type::input, 0}, false));
    SHOW(wild.may_contain_alias({Type::input, 1}, {Type::output, 0}));
    SHOW(add.mapTypeToAliasTypeSet(c10::IntType::get()).has_value());
    SHOW(add.mapTypeToAliasTypeSet(c10::OptionalType::create(c10::TensorType::get()))->at(0)->str());
    SHOW(
        add.mapTypeToAliasTypeSet(c10::TupleType::create({c10::IntType::get(), c10::TensorType::get()}))->at(0)->str());
    SHOW(add.getAliasTypeSetContainedTypes(
                c10::AliasTypeSet{c10::ListType::create(c10::ListType::create(c10::TensorType::get()))})
             ->size());
    SHOW(add.isDefaultAliasAnalysisKind());
    SHOW(add.aliasAnalysis() == c10::AliasAnalysisKind::CONSERVATIVE);
    add.setAliasAnalysis(c10::AliasAnalysisKind::PURE_FUNCTION);
    SHOW(add.isDefaultAliasAnalysisKind());
    SHOW(c10::FunctionSchema(Symbol::aten("f"), "out", {c10::Argument("x")}, {c10::Argument("", c10::IntType::get())}));
    SHOW(torch::jit::parseSchemaOrName("aten::add.Tensor").is_left());
    SHOW(torch::jit::parseSchemaOrName("aten::f(Tensor x) -> Tensor").right().name());
}

void operators()
{
    using namespace torch::jit;
    size_t overloads = 0;
    for (const std::shared_ptr<Operator> &each : getAllOperatorsFor(Symbol::aten("relu"))) {
        overloads += each->schema().overload_name().empty();
    }
    SHOW(overloads);
    SHOW(getAllOperatorsFor(Symbol::aten("no_such_operator")).size());
    SHOW(getAllOperators().size() > 1000);
    const std::shared_ptr<Operator> relu = findOperatorFor(c10::OperatorName("aten::relu", ""));
    SHOW(relu->schema());
    SHOW(canonicalSchemaString(relu->schema()));
    SHOW(relu->isC10Op());
    Stack stack{IValue(at::tensor({-1.0f, 2.0f}))};
    relu->getOperation()(stack);
    SHOW(stack.at(0).toTensor());
    SHOW(findOperatorFor(c10::OperatorName("aten::no_such_operator", "")) == nullptr);
    SHOW(getOperatorForLiteral("aten::relu(Tensor self) -> Tensor")->schema().name());
    const std::vector<Symbol> similar = findSimilarOperators(Symbol::fromQualString("aten::sigmoidd"));
    SHOW(std::find(similar.begin(), similar.end(), Symbol::aten("sigmoid")) != similar.end());
    const Operator own(
        "tests::twice(int x) -> int", [](Stack &s) { push(s, pop(s).toInt() * 2); },
        c10::AliasAnalysisKind::FROM_SCHEMA);
    SHOW(own.isC10Op());
    SHOW(own.schema().aliasAnalysis() == c10::AliasAnalysisKind::FROM_SCHEMA);
    SHOW(own.getTags().size());
    const std::vector<c10::OperatorName> names = c10::Dispatcher::singleton().getAllOpNames();
    SHOW(std::find(names.begin(), names.end(), c10::OperatorName("aten::add", "Tensor")) != names.end());
}

// Adds 100 to the argument of any operator.
void boxed(const c10::OperatorHandle &handle, std::vector<IValue> *stack)
{
    std::cout << handle.operator_name() << " is called\n";
    stack->back() = IValue(stack->back().toInt() + 100);
}

TORCH_LIBRARY(tests_names, m)
{
    m.def(TORCH_SELECTIVE_SCHEMA("tests_names::half(int x) -> int"), [](int64_t x) { return x / 2; });
    m.def("boxed(int x) -> int", torch::CppFunction::makeFromBoxedFunction<&boxed>());
}

TORCH_LIBRARY_IMPL(_, PrivateUse1, m)
{
    m.fallback(torch::CppFunction::makeFallthrough());
}

void libraries()
{
    const auto half = c10::Dispatcher::singleton().findSchemaOrThrow("tests_names::half", "").typed<int64_t(int64_t)>();
    SHOW(half.call(9));
    SHOW(c10::Dispatcher::singleton().findSchemaOrThrow("tests_names::boxed", "").typed<int64_t(int64_t)>().call(1));
}

void futures()
{
    using c10::ivalue::Future;
    const auto one = c10::make_intrusive<Future>(c10::IntType::get()),
               two = c10::make_intrusive<Future>(c10::IntType::get());
    c10::List<c10::intrusive_ptr<Future>> list(c10::FutureType::create(c10::IntType::get()));
    list.push_back(one);
    list.push_back(two);
    const auto all = c10::collectAll(list), any = c10::collectAny(list);
    SHOW(all->completed());
    two->markCompleted(IValue(2));
    SHOW(any->completed());
    SHOW(any->value());
    SHOW(all->completed());
    one->markCompleted(IValue(1));
    SHOW(all->completed());
    SHOW(all->value().toList().size());
    SHOW(all->value().toList().get(0).toFuture()->value());
    const auto failed = c10::make_intrusive<Future>(c10::IntType::get());
    c10::List<c10::intrusive_ptr<Future>> bad(c10::FutureType::create(c10::IntType::get()));
    bad.push_back(failed);
    const auto result = c10::collectAll(bad);
    failed->setError(std::make_exception_ptr(std::runtime_error("it failed")));
    SHOW(result->hasError());
    ERROR((result->waitAndThrow(), 1));
    int ran = 0;
    at::intraop_launch_future([&ran] { ran++; })->wait();
    SHOW(ran);
}

void generators()
{
    at::Generator generator = at::detail::createCPUGenerator(7);
    const auto hash = [&generator] {
        const at::Tensor state = generator.get_state();
        uint64_t sum = 14695981039346656037u;
        for (int64_t i = 0; i < state.numel(); i++) {
            sum = (sum ^ state.data_ptr<uint8_t>()[i]) * 1099511628211u;
        }
        return sum;
    };
    SHOW(generator.get_state().sizes());
    SHOW(hash());
    at::rand({3}, generator, c10::TensorOptions());
    SHOW(hash());
    const at::Tensor state = generator.get_state();
    const at::Tensor numbers = at::rand({4}, generator, c10::TensorOptions());
    SHOW(numbers);
    generator.set_state(state);
    SHOW(at::rand({4}, generator, c10::TensorOptions()));
    at::Generator copy = generator.clone();
    SHOW(at::rand({2}, copy, c10::TensorOptions()));
    SHOW(at::rand({2}, generator, c10::TensorOptions()));
    at::rand({1000}, generator, c10::TensorOptions());
    SHOW(hash());
    at::randn({1}, generator, c10::TensorOptions(at::kDouble));
    SHOW(hash());
    SHOW(copy.current_seed());
    ERROR((generator.set_state(at::zeros({3})), 1));
}

void exchange()
{
    static int released = 0;
    at::Tensor x = at::arange(6, at::kFloat).reshape({2, 3}).t();
    DLManagedTensor *const packed = at::toDLPack(x);
    SHOW(packed->dl_tensor.ndim);
    SHOW(packed->dl_tensor.shape[0]);
    SHOW(packed->dl_tensor.strides[0]);
    SHOW(packed->dl_tensor.strides[1]);
    SHOW(static_cast<int>(packed->dl_tensor.dtype.code));
    SHOW(static_cast<int>(packed->dl_tensor.dtype.bits));
    SHOW(packed->dl_tensor.dtype.lanes);
    SHOW(static_cast<int>(packed->dl_tensor.device.device_type));
    SHOW(packed->dl_tensor.device.device_id);
    SHOW(packed->dl_tensor.data == x.data_ptr());
    {
        at::Tensor back = at::fromDLPack(packed);
        SHOW(back);
        back[0][0] = 9;
        SHOW(x[0][0].item<float>());
    }
    const at::Tensor column = at::zeros({1, 3}).slice(1, 0, 1);
    DLManagedTensor *const small = at::toDLPack(column);
    SHOW(small->dl_tensor.strides[0]);
    small->deleter(small);
    static int64_t shape[] = {2, 2};
    static float data[] = {1, 2, 3, 4};
    static DLManagedTensor own = {};
    own.dl_tensor.data = data;
    own.dl_tensor.ndim = 2;
    own.dl_tensor.shape = shape;
    own.dl_tensor.dtype = {kDLFloat, 32, 1};
    own.dl_tensor.device = {kDLCPU, 0};
    own.deleter = [](DLManagedTensor *) { released++; };
    {
        const at::Tensor shared = at::fromDLPack(&own);
        SHOW(shared);
        SHOW(shared.data_ptr() == data);
        SHOW(released);
    }
    SHOW(released);
    for (const at::ScalarType type : {at::kByte, at::kChar, at::kShort, at::kInt, at::kLong, at::kHalf, at::kFloat,
                                      at::kDouble, at::kBFloat16, at::kComplexFloat, at::kComplexDouble}) {
        const DLDataType made = at::getDLDataType(at::zeros({1}, type));
        std::cout << type << ": " << int(made.code) << " " << int(made.bits) << " " << at::toScalarType(made) << "\n";
    }
    ERROR(at::getDLDataType(at::zeros({1}, at::kBool)).bits);
    ERROR(at::toScalarType(DLDataType{kDLInt, 24, 1}));
    ERROR(at::toScalarType(DLDataType{kDLFloat, 32, 2}));
    ERROR(at::toScalarType(DLDataType{77, 32, 1}));
}

void rest()
{
    at::print(at::arange(4), 20);
    std::cout << "\n";
    at::Tensor out = at::empty({0});
    const at::Tensor x = at::arange(4, at::kFloat).reshape({2, 2});
    SHOW(torch::linalg::matrix_power_out(x, 2, out));
    at::Tensor norm = at::empty({0});
    SHOW(torch::linalg::matrix_norm_out(x, std::string("fro"), {0, 1}, false, c10::nullopt, norm));
    at::Tensor product = at::empty({0});
    SHOW(torch::linalg::multi_dot_out({x, x, x}, product));
    at::Tensor all = at::empty({0});
    SHOW(torch::linalg::linalg_norm_out(all, x, c10::optional<c10::Scalar>(2), c10::nullopt, false, c10::nullopt));
    SHOW(at::CUDA(at::kFloat));
    SHOW(at::CPU(at::kFloat).cuda().is_cuda());
    SHOW(at::CPU(at::kLong).copy(x).dtype());
    ERROR((at::checkBackend("f", {x}, at::Backend::CPU), 1));
    ERROR((at::checkBackend("f", {x}, at::Backend::CUDA), 1));
    int value = 3;
    const auto plus = [&value](int x_) { return x_ + value; };
    const c10::function_ref<int(int)> add = plus;
    SHOW(add(4));
}

} // namespace

int main()
{
    std::cout << std::boolalpha;
    symbols();
    named_types();
    values();
    schemas();
    operators();
    libraries();
    futures();
    generators();
    exchange();
    rest();
    std::cout << "models\n";
    return 0;
}
