// SPDX-License-Identifier: BSD-2-Clause
// Compiles each qualified name and member function of PyTorch's C++ interface that apps were seen to use. Unsupported
// names are in `missing` and are printed.
#include <Libtorch-Lite/Libtorch-Lite.h>

#include <ATen/Functions.h>
#include <ATen/NativeFunctions.h>
#include <ATen/core/ivalue.h>
#include <LibTorch-Lite-Nightly/LibTorch-Lite.h>
#include <LibTorch/LibTorch.h>
#include <Libtorch-Lite-Nightly/Libtorch-Lite.h>
#include <Libtorch/Libtorch.h>
#include <c10/core/MemoryFormat.h>
#include <c10/mobile/CPUCachingAllocator.h>
#include <c10/mobile/CPUProfilingAllocator.h>
#include <c10/util/Optional.h>
#include <caffe2/core/timer.h>
#include <torch/csrc/autograd/generated/variable_factories.h>
#include <torch/csrc/jit/mobile/import.h>
#include <torch/csrc/jit/mobile/module.h>
#include <torch/script.h>
#include <torch/torch.h>

namespace
{

size_t names;

// Uses a type, with or without a value.
template <class T> void type()
{
    static_assert(sizeof(T) > 0, "complete");
    names++;
}
// Uses a value, or the result of a call.
template <class... T> void use(const T &...)
{
    names += sizeof...(T);
}
// An expression that is only compiled, because it needs a model or a device.
#define NAME(expression)                                                                                               \
    do {                                                                                                               \
        auto unused = [&] { (void)(expression); };                                                                     \
        (void)unused;                                                                                                  \
        names++;                                                                                                       \
    } while (false)

void types()
{
    type<at::Tensor>(), type<torch::Tensor>(), type<torch::jit::mobile::Module>(), type<torch::jit::script::Module>();
    type<torch::jit::Module>(), type<torch::jit::IValue>(), type<at::IValue>(), type<c10::IValue>(),
        type<torch::IValue>();
    type<c10::InferenceMode>(), type<torch::autograd::AutoGradMode>(), type<at::AutoNonVariableTypeMode>();
    type<torch::AutoNonVariableTypeMode>(), type<torch::NoGradGuard>(), type<torch::jit::GraphOptimizerEnabledGuard>();
    type<c10::optional<int>>(), type<c10::impl::GenericDict>(), type<c10::impl::GenericList>(), type<at::Device>();
    type<c10::MemoryFormat>(), type<torch::IntArrayRef>(), type<at::IntArrayRef>(), type<at::TensorOptions>();
    type<torch::TensorOptions>(), type<c10::ArrayRef<int>>(), type<at::ArrayRef<int>>(), type<c10::List<bool>>();
    type<c10::DynamicType>(), type<at::Scalar>(), type<torch::Dtype>(), type<c10::ScalarType>(), type<at::ScalarType>();
    type<c10::CPUCachingAllocator>(), type<c10::WithCPUCachingAllocatorGuard>(), type<c10::CPUProfilingAllocator>(),
        type<c10::AllocationPlan>(), type<c10::WithProfileAllocationsGuard>(),
        type<c10::WithValidateAllocationPlanGuard>(), type<c10::WithProfilingAllocatorGuard>(),
        type<torch::RegisterOperators>(), type<c10::RegisterOperators>(), type<torch::Library>();
    type<c10::Dict<std::string, at::Tensor>>(), type<at::TensorList>(), type<caffe2::Timer>(), type<c10::string_view>();
}

void values()
{
    use(at::kFloat, torch::kFloat32, torch::kInt32, torch::kUInt8, torch::kInt64, torch::kFloat64, torch::kInt8,
        torch::kInt16);
    use(at::kLong, at::kByte, c10::kByte, c10::kChar, c10::kInt, c10::kFloat, c10::kLong, c10::kDouble, at::kCUDA,
        at::kCPU);
    use(torch::kCPU, c10::MemoryFormat::ChannelsLast, c10::MemoryFormat::Contiguous, c10::MemoryFormat::ChannelsLast3d);
    use(c10::MemoryFormat::Preserve, at::MemoryFormat::ChannelsLast, at::ScalarType::Undefined, c10::ScalarType::Int);
    use(c10::TypeKind::IntType, c10::TypeKind::FloatType, c10::TypeKind::BoolType, c10::TypeKind::StringType);
    use(c10::TypeKind::NoneType, c10::TypeKind::TensorType, c10::TypeKind::ListType, c10::TypeKind::TupleType);
    use(c10::TypeKind::DictType, at::QEngine::QNNPACK);
    const c10::optional<int> nothing = c10::nullopt;
    use(nothing);
    use(c10::TensorType::get(), c10::StringType::get(), c10::IntType::get(),
        c10::typeKindToString(c10::TypeKind::IntType));
    use(at::is_vulkan_available(), torch::cuda::is_available(),
        caffe2::typeMetaToScalarType(torch::tensor({1}).dtype()));
    NAME(at::set_num_threads(1));
}

void functions()
{
    float data[4] = {1, 2, 3, 4};
    torch::Tensor t = torch::from_blob(data, {2, 2}, at::kFloat);
    const at::Tensor image = t.view({1, 1, 2, 2});
    use(torch::randn({2}), torch::cat({t, t}), torch::zeros({2}), torch::stack({t, t}), torch::tensor({1.0F}),
        torch::arange(3));
    use(torch::empty({1}), torch::eye(2), torch::full({1}, 2), torch::linspace(0, 1, 2), torch::logspace(0, 1, 2),
        torch::ones({1}));
    use(torch::rand({1}), torch::randint(2, {1}), torch::randperm(2), torch::matmul(t, t));
    use(at::upsample_bilinear2d(image, {4, 4}, false, c10::nullopt, c10::nullopt));
    use(c10::ivalue::Tuple::create(t, 1), at::globalContext().supportedQEngines());
    NAME(at::globalContext().setQEngine(at::QEngine::QNNPACK));
    NAME(torch::jit::load("path"));
    NAME(torch::jit::_load_for_mobile("path"));
}

void tensor_members()
{
    float data[4] = {1, 2, 3, 4};
    torch::Tensor t = torch::from_blob(data, {2, 2}, at::kFloat);
    use(t.data_ptr<float>(), t.size(0), t.cpu(), t.sizes(), t.numel(), t.clone(), t.squeeze(), t.view({4}),
        t[0][0].item<float>());
    use(t.to(at::kLong), t.dtype(), t.permute({1, 0}), t.topk(1), t.reshape({4}), t.clamp(0, 1), t.unsqueeze(0),
        t.sum());
    use(t.narrow(0, 0, 1), t.add(t), t.contiguous(), t.div(t), t.mul(t), t.sub(t), t.scalar_type(),
        t.suggest_memory_format());
    use(t.abs(), t.argmax(), t.nbytes(), t.expand({2, 2}), t.flip({0}), t.softmax(0), t.strides(),
        t.index({0, torch::indexing::Slice()}));
    use(c10::get_channels_last_strides_2d(t.view({1, 1, 2, 2}).sizes()));
    NAME(t.metal());
    NAME(t.vulkan());
    NAME(t.div_(2));
}

void value_members()
{
    torch::jit::mobile::Module module;
    at::IValue v;
    const at::IValue tuple(c10::ivalue::Tuple::create(1, 2));
    NAME(module.forward({v}).toTensor());
    NAME(module.eval());
    NAME(module.run_method("m", v));
    NAME(module.get_method("m")({v}));
    NAME(module.find_method("m"));
    use(tuple.toTuple()->elements().at(0), v.isTensor(), v.isBool(), v.isString(), v.isDouble(), v.isInt(), v.isNone(),
        v.isTuple());
    use(v.isList(), v.isGenericDict(), v.isBoolList(), v.isIntList(), v.isDoubleList(), v.isTensorList(), v.type(),
        v.type()->str());
    NAME(v.toGenericDict().at("key").toTensor());
    NAME(v.toList().get(0));
    NAME(v.toInt());
    NAME(v.toStringRef());
    NAME(v.toDouble());
    NAME(v.toString()->string());
    NAME(v.toBool());
    NAME(v.toBoolList());
    NAME(v.toIntList());
    NAME(v.toDoubleList());
    NAME(v.toTensorList());
    c10::impl::GenericDict dict{c10::StringType::get(), at::IValue{}.type()};
    dict.insert(std::string("key"), v);
    for (auto &item : dict) {
        use(item.key(), item.value());
    }
    use(dict.keyType(), dict.find("key"));
    c10::impl::GenericList list(c10::AnyType::get());
    NAME(list.reserve(1));
    NAME(list.push_back(v));
    std::vector<at::IValue> inputs;
    inputs.push_back(torch::zeros({1}));
    inputs.emplace_back(at::TensorList(std::vector<at::Tensor>(2, torch::zeros({1}))));
    use(inputs);
}

const char *const missing[] = {
    "torch::buildNamespace (of an app)",
};

} // namespace

int main()
{
    types();
    values();
    functions();
    tensor_members();
    value_members();
    for (const char *name : missing) {
        std::cout << "not yet: " << name << "\n";
    }
    std::cout << names << " passed, 0 failed\n";
    return names > 150 ? 0 : 1;
}
