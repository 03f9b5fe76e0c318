// SPDX-License-Identifier: BSD-2-Clause
// same_values: makes, compares, copies and prints IValues and their types. The output must be the same with Taper's
// headers and with PyTorch's headers.
#include <torch/script.h>

#include <algorithm>
#include <iostream>

namespace
{

using at::IValue;

template <class F> void failing(const char *what, F function)
{
    try {
        function();
        std::cout << what << ": nothing\n";
    } catch (const c10::Error &error) {
        std::string text = error.what_without_backtrace();
        const size_t assertion = text.find("report a bug to PyTorch. ");
        text = assertion == std::string::npos ? text : text.substr(assertion + 25);
        std::cout << what << ": " << text.substr(0, text.find('\n')) << "\n";
    } catch (const std::exception &error) {
        std::cout << what << ": std " << error.what() << "\n";
    }
}

std::vector<IValue> samples()
{
    c10::Dict<std::string, int64_t> dict;
    dict.insert("a", 1);
    dict.insert("b", 2);
    c10::List<c10::optional<at::Tensor>> maybe;
    maybe.push_back(at::ones({1}));
    maybe.push_back(c10::nullopt);
    return {IValue(),
            IValue(true),
            IValue(3),
            IValue(2.5),
            IValue(c10::complex<double>(1, -2)),
            IValue("text"),
            IValue(at::Device("cpu")),
            IValue(torch::ones({1})),
            IValue(std::vector<int64_t>{1, 2}),
            IValue(std::vector<double>{0.5}),
            IValue(c10::List<bool>({true, false})),
            IValue(std::vector<at::Tensor>{torch::zeros({1})}),
            IValue(std::vector<std::string>{"x", "y"}),
            IValue(maybe),
            IValue(c10::List<c10::complex<double>>({c10::complex<double>(0, 1)})),
            IValue(c10::ivalue::Tuple::create({IValue(1), IValue("two")})),
            IValue(std::make_tuple(int64_t(1), 2.0, std::string("three"))),
            IValue(dict),
            IValue(std::array<int64_t, 2>{{4, 5}}),
            IValue(at::kLong),
            IValue(at::Scalar(1.5)),
            IValue(c10::optional<int64_t>())};
}

void kinds()
{
    for (const IValue &v : samples()) {
        std::cout << v.tagKind() << " " << v.type()->str() << " " << v.type()->annotation_str() << " "
                  << c10::typeKindToString(v.type()->kind()) << " ";
        std::cout << v.isNone() << v.isBool() << v.isInt() << v.isDouble() << v.isComplexDouble() << v.isString()
                  << v.isDevice() << v.isTensor() << v.isIntList() << v.isDoubleList() << v.isBoolList()
                  << v.isTensorList() << v.isOptionalTensorList() << v.isComplexDoubleList() << v.isList()
                  << v.isTuple() << v.isGenericDict() << v.isObject() << v.isModule() << v.isFuture() << v.isCapsule()
                  << v.isCustomClass() << v.isBlob() << v.isRRef() << v.isStream() << v.isStorage() << v.isQuantizer()
                  << v.isEnum() << v.isPyObject() << v.isGenerator() << v.isScalar() << v.isPtrType() << "\n";
        if (!v.isTensor() && !v.isTensorList() && !v.isOptionalTensorList()) {
            std::cout << v << "\n";
        }
    }
}

void comparisons()
{
    const std::vector<IValue> all = samples(), again = samples();
    for (size_t i = 0; i < all.size(); i++) {
        if (!all[i].isTensorList() && !all[i].isOptionalTensorList()) {
            std::cout << (all[i] == all[i]) << (all[i].isTensor() || all[i] == again[i]) << (all[i] != all[0]);
        }
        std::cout << all[i].is(all[i]) << all[i].is(again[i]) << all[i].isAliasOf(all[i]) << "\n";
    }
    std::cout << IValue(1).equals(IValue(1)) << IValue(1).equals(IValue(1.0)) << IValue("a").equals(IValue("b")) << " "
              << IValue(torch::ones({2})).equals(IValue(torch::tensor({1.0F, 2.0F}))) << "\n";
    std::cout << (IValue::hash(IValue(7)) == IValue::hash(IValue(7))) << (IValue("a").hash() == IValue("a").hash())
              << "\n";
    failing("hash", [] { IValue::hash(IValue(std::vector<int64_t>{1})); });
}

void copies()
{
    const at::Tensor tensor = torch::ones({2});
    const IValue value(c10::ivalue::Tuple::create({IValue(tensor), IValue(std::vector<at::Tensor>{tensor})}));
    const IValue copy = value.deepcopy();
    tensor.fill_(3);
    const at::Tensor first = copy.toTupleRef().elements()[0].toTensor();
    std::cout << first << copy.toTuple()->elements()[1].toTensorVector()[0].is_same(first)
              << value.toTuple()->elements().at(0).toTensor() << "\n";
    const auto elements = copy.toTuple()->elements();
    const std::vector<IValue> vector = elements.vec();
    size_t count = 0;
    for (const IValue &each : elements) {
        count += each.isTensor() ? 1 : 10;
    }
    std::cout << vector.size() << elements.size() << elements.empty() << count << copy.toTuple()->size() << "\n";
    const c10::ivalue::TupleElements &same = value.toTupleRef().elements();
    std::cout << same.size() << c10::ivalue::ConstantString::create("x")->string() << IValue("yz").toString()->string()
              << IValue("yz").toStringRef() << IValue("abc").toStringView().size() << IValue().toNone() << "\n";
    IValue(std::vector<int64_t>{1, 2}).dump();
}

void lists()
{
    c10::List<int64_t> list({3, 1, 2});
    list.insert(list.begin() + 1, 9);
    list.append(c10::List<int64_t>({7, 8}));
    list.emplace(list.end(), 5);
    std::cout << IValue(list) << list.size() << "\n";
    list.erase(list.begin());
    list.erase(list.begin() + 1, list.begin() + 3);
    std::cout << IValue(list) << "\n";
    list.resize(6, 4);
    list[0] = list.get(1);
    std::cout << IValue(list) << list.vec().back() << (list.end() - list.begin()) << (list.begin() < list.end())
              << "\n";
    list.resize(2);
    swap(list[0], list[1]);
    std::cout << IValue(list) << (list == list.copy()) << list.is(list.copy()) << list.elementType()->str() << "\n";
    std::sort(list.begin(), list.end());
    std::cout << IValue(list) << list.extract(0) << "\n";
    list.clear();
    std::cout << list.empty() << "\n";
    failing("get", [&] { list.get(0); });
    c10::impl::GenericList any(c10::AnyType::get());
    any.push_back(1);
    any.push_back("two");
    std::cout << IValue(any) << any.get(1) << "\n";
}

void dicts()
{
    c10::Dict<std::string, at::Tensor> dict;
    dict.insert("x", torch::ones({1}));
    dict.insert("y", torch::zeros({2}));
    std::cout << dict.insert("x", torch::zeros({3})).second << dict.insert_or_assign("x", torch::zeros({3})).second
              << dict.at("x").sizes() << dict.contains("z") << (dict.find("z") == dict.end()) << "\n";
    const auto copy = dict.copy();
    dict.erase(dict.find("x"));
    std::cout << dict.size() << copy.size() << dict.is(dict) << dict.is(copy) << dict.keyType()->str()
              << dict.valueType()->str() << "\n";
    dict.clear();
    std::cout << dict.empty() << copy.empty() << "\n";
    failing("at", [&] { dict.at("x"); });
    for (const auto &item : copy) {
        std::cout << item.key() << item.value().sizes() << "\n";
    }
    c10::Dict<int64_t, double> numbers;
    numbers.insert(5, 0.5);
    std::cout << IValue(numbers) << (numbers == numbers.copy()) << "\n";
    c10::impl::GenericDict generic(c10::StringType::get(), c10::IntType::get());
    generic.insert("k", 4);
    std::cout << IValue(generic) << IValue(generic).toGenericDict().at("k") << "\n";
}

void futures()
{
    const auto future = c10::make_intrusive<c10::ivalue::Future>(c10::IntType::get());
    const auto next =
        future->then([](c10::ivalue::Future &done) { return done.value().toInt() + 1; }, c10::IntType::get());
    int called = 0;
    future->addCallback([&](c10::ivalue::Future &) { called++; });
    const IValue value(future);
    std::cout << value.isFuture() << value.isObject() << value.tagKind() << value.type()->str() << future->completed()
              << future->hasValue() << "\n";
    future->markCompleted(41);
    future->wait();
    std::cout << value.toFuture()->value() << next->value() << called << future->completed() << future->hasError()
              << future->elementType()->str() << "\n";
    failing("again", [&] { future->markCompleted(1); });
    const auto broken = c10::make_intrusive<c10::ivalue::Future>(c10::IntType::get());
    broken->setError(std::make_exception_ptr(std::runtime_error("broken")));
    std::cout << broken->hasError() << broken->tryRetrieveErrorMessage() << "\n";
    failing("value", [&] { broken->value(); });
    failing("waitAndThrow", [&] { broken->waitAndThrow(); });
}

void types()
{
    const c10::TypePtr tensor = c10::TensorType::get(), list = c10::ListType::create(tensor);
    const c10::TypePtr all[] = {tensor,
                                c10::IntType::get(),
                                c10::FloatType::get(),
                                c10::BoolType::get(),
                                c10::StringType::get(),
                                c10::NoneType::get(),
                                c10::AnyType::get(),
                                c10::NumberType::get(),
                                c10::DeviceObjType::get(),
                                c10::ComplexType::get(),
                                list,
                                c10::ListType::ofInts(),
                                c10::ListType::ofFloats(),
                                c10::ListType::ofBools(),
                                c10::ListType::ofStrings(),
                                c10::ListType::create(list),
                                c10::DictType::create(c10::StringType::get(), list),
                                c10::OptionalType::create(tensor),
                                c10::TupleType::create({tensor, c10::IntType::get()}),
                                c10::FutureType::create(tensor)};
    for (const c10::TypePtr &type : all) {
        std::cout << type->str() << " " << type->annotation_str() << " " << type->repr_str() << " "
                  << c10::typeKindToString(type->kind()) << " " << type->containedTypes().size() << " " << *type << " ";
        for (const c10::TypePtr &other : all) {
            std::cout << type->isSubtypeOf(*other) << (*type == *other);
        }
        std::cout << "\n";
    }
    std::cout << list->expect<c10::ListType>()->getElementType()->str() << list->cast<c10::ListType>()->str()
              << (list->cast<c10::DictType>() == nullptr) << all[16]->cast<c10::DictType>()->getKeyType()->str()
              << all[16]->expectRef<c10::DictType>().getValueType()->str()
              << all[17]->cast<c10::OptionalType>()->getElementType()->str()
              << all[18]->cast<c10::TupleType>()->elements().size() << "\n";
}

void conversions()
{
    const IValue tuple(std::make_tuple(int64_t(1), std::string("a")));
    const auto back = tuple.to<std::tuple<int64_t, std::string>>();
    std::cout << std::get<0>(back) << std::get<1>(back) << IValue(4).to<int>() << IValue(0.5).to<float>()
              << IValue(4).toScalar() << IValue(at::kHalf).toScalarType() << IValue("s").to<std::string>() << "\n";
    const std::vector<IValue> all = samples();
    failing("toTensor", [&] { all[2].toTensor(); });
    failing("toTuple", [&] { all[2].toTuple(); });
    failing("toList", [&] { all[2].toList(); });
    failing("toGenericDict", [&] { all[2].toGenericDict(); });
    failing("toString", [&] { all[2].toStringRef(); });
    failing("toFuture", [&] { all[2].toFuture(); });
    failing("toObject", [&] { all[2].toObject(); });
    failing("toIntList", [&] { all[9].toIntList(); });
    failing("toTensorVector", [&] { all[9].toTensorVector(); });
    std::cout << all[11].toTensorVector().size() << all[13].toOptionalTensorVector()[1].has_value()
              << all[14].toComplexDoubleVector()[0] << all[8].toIntVector() << all[9].toDoubleVector()
              << all[8].toListRef().size() << all[2].toOptional<int64_t>().value()
              << all[0].toOptional<int64_t>().has_value() << "\n";
}

void insides()
{
    const at::Tensor tensor = torch::ones({1});
    c10::Dict<std::string, at::Tensor> dict;
    dict.insert("x", tensor);
    const IValue value(c10::ivalue::Tuple::create({IValue(dict), IValue("text"), IValue(std::vector<int64_t>{1, 2})}));
    size_t count = 0;
    value.visit([&](const IValue &each) {
        count++;
        return each.isGenericDict();
    });
    IValue::HashAliasedIValues all;
    value.getSubValues(all);
    std::cout << count << " " << all.count(IValue(tensor)) << all.count(IValue(torch::ones({1})))
              << value.overlaps(tensor) << value.overlaps(torch::ones({1})) << "\n";
    value.repr(std::cout, [](std::ostream &out, const IValue &each) {
        if (each.isTensor()) {
            out << "a tensor";
        }
        return each.isTensor();
    });
    std::cout << "\n";
    std::vector<IValue> words{"b", "c", "a"};
    std::sort(words.begin(), words.end(), c10::getLessThanComparator(words[0]));
    std::cout << words[0] << words[2] << c10::getGreaterThanComparator(IValue(1))(IValue(2), IValue(1)) << "\n";
    failing("comparator", [&] { c10::getLessThanComparator(IValue(dict)); });
    const c10::List<int64_t> numbers({1, 2});
    c10::impl::GenericList generic = c10::impl::toList(numbers);
    std::cout << generic.get(0) << c10::impl::toTypedList<int64_t>(generic).get(1)
              << c10::getTypePtr<std::string>()->str() << c10::getTypePtr<c10::List<double>>()->str()
              << c10::getTypePtr<c10::optional<at::Tensor>>()->str() << "\n";
    std::cout << c10::scalarTypeFromJitType(*c10::IntType::get())
              << c10::tryScalarTypeFromJitType(*c10::StringType::get()).has_value() << IValue(at::kStrided).toLayout()
              << IValue(at::MemoryFormat::ChannelsLast).toMemoryFormat() << c10::ivalue::from(3) << "\n";
    torch::jit::Stack stack;
    torch::jit::push(stack, 1, "two", 3.0);
    std::cout << torch::jit::peek(stack, 0, 2) << torch::jit::last(stack, 1)[0] << torch::jit::pop(stack)
              << stack.size();
    torch::jit::drop(stack, 1);
    torch::jit::pack(stack, std::vector<int64_t>{4});
    std::cout << stack.size() << stack[1] << "\n";
}

} // namespace

int main()
{
    kinds();
    comparisons();
    copies();
    lists();
    dicts();
    futures();
    types();
    conversions();
    insides();
    std::cout << "models\n";
    return 0;
}
