// SPDX-License-Identifier: BSD-2-Clause
// same_utilities: tests numbers, element types, devices, strings, threads, modes and switches of c10, at and
// torch::jit. The output must be the same with Taper's headers and with PyTorch's headers.
#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>
#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>
#include <c10/util/complex.h>
#include <c10/util/string_view.h>
#include <torch/csrc/jit/codegen/cuda/interface.h>
#include <torch/csrc/jit/passes/tensorexpr_fuser.h>
#include <torch/csrc/jit/runtime/graph_executor.h>
#include <torch/data.h>
#include <torch/optim.h>
#include <torch/script.h>
#include <torch/torch.h>

#include <cstring>
#include <mutex>
#include <set>

#include "show.h"

namespace
{

uint32_t bits_of(float value)
{
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
}

template <class H> void halves()
{
    // A checksum of the conversions of all halves to float, and of floats near each half back to half.
    uint64_t sum = 0, back = 0;
    for (uint32_t i = 0; i < 65536; i++) {
        const float wide = H(static_cast<uint16_t>(i), H::from_bits());
        if (wide != wide) {
            continue;
        }
        sum = sum * 31 + bits_of(wide);
        for (float factor : {1.0F, 1.0001F, 0.9998F, 1.00048828125F, 1.00390625F, 1.0005F}) {
            back = back * 31 + H(wide * factor).x;
        }
    }
    SHOW(sum);
    SHOW(back);
    const H a = 1.5F, b = -2.25F;
    SHOW(static_cast<float>(a + b));
    SHOW(static_cast<float>(a * b + a / b - a));
    SHOW(static_cast<float>(a + 1));
    SHOW(static_cast<float>(a * int64_t{3}));
    SHOW(a * 0.1);
    SHOW(static_cast<float>(2.5F - b));
    SHOW(static_cast<float>(-a));
    SHOW(a < b);
    H c = a;
    c += b;
    c *= a;
    float wide = 1;
    wide += a;
    SHOW(static_cast<float>(c));
    SHOW(wide);
    SHOW(sizeof(decltype(a + b)) + 10 * sizeof(decltype(a + 1.0F)) + 100 * sizeof(decltype(1.0 * a)));
    using limits = std::numeric_limits<H>;
    for (H value : {limits::max(), limits::lowest(), limits::min(), limits::epsilon(), limits::infinity(),
                    limits::denorm_min(), limits::round_error()}) {
        std::cout << static_cast<float>(value) << " ";
    }
    std::cout << limits::digits << limits::max_exponent10 << "\n";
}

void complexes()
{
    using c10::complex;
    const complex<double> a(1.5, -2), b(0.25, 3);
    const complex<float> f(2, 1);
    SHOW(a + b);
    SHOW(a * b);
    SHOW(a / b);
    SHOW(a - 2.0);
    SHOW(2.0 / a);
    SHOW(a * 3);
    SHOW(a + complex<double>(f));
    SHOW(a == b);
    SHOW(a != b);
    SHOW(std::exp(a));
    SHOW(std::sqrt(a));
    SHOW(std::abs(b));
    SHOW(std::conj(a));
    SHOW(std::pow(a, b));
    SHOW(std::tanh(a));
    SHOW(c10::polar(2.0, 0.5));
    SHOW(static_cast<complex<float>>(a));
    SHOW(static_cast<std::complex<double>>(a) + std::complex<double>(1));
    SHOW(complex<double>(std::complex<double>(1, 2)));
    complex<double> c = a;
    c /= b;
    c += f;
    c = 4.0;
    SHOW(c);
    SHOW(sizeof(complex<float>) + alignof(complex<double>) * 100);
    using namespace c10::complex_literals;
    SHOW(1.0 + 2.0_id);
}

void scalars()
{
    const at::Scalar values[] = {at::Scalar(300),
                                 at::Scalar(-1),
                                 at::Scalar(2.75),
                                 at::Scalar(1e20),
                                 at::Scalar(true),
                                 at::Scalar(c10::complex<double>(1, 2)),
                                 at::Scalar(c10::Half(1.5F)),
                                 at::Scalar(70000.0)};
    for (const at::Scalar &value : values) {
        std::cout << value << " " << value.type() << value.isIntegral(false) << value.isIntegral(true)
                  << value.isFloatingPoint() << value.isComplex() << value.isBoolean() << "\n";
        ERROR(value.toInt());
        ERROR(static_cast<int>(value.toByte()));
        ERROR(static_cast<int>(value.toChar()));
        ERROR(value.toShort());
        ERROR(value.toLong());
        ERROR(value.toFloat());
        ERROR(value.toDouble());
        ERROR(value.toHalf());
        ERROR(value.toBool());
        ERROR(value.toComplexDouble());
        ERROR(-value);
        SHOW(value.equal(2.75));
        SHOW(value.equal(300));
        SHOW(value.equal(true));
        SHOW(value.conj());
    }
}

void element_types()
{
    for (int i = 0; i <= static_cast<int>(at::ScalarType::QUInt2x4); i++) {
        const at::ScalarType a = static_cast<at::ScalarType>(i);
        std::cout << a << c10::elementSize(a) << c10::isIntegralType(a, true) << c10::isFloatingType(a)
                  << c10::isComplexType(a) << c10::isQIntType(a) << c10::toQIntType(a) << c10::toUnderlying(a)
                  << c10::toRealValueType(a) << " " << c10::scalarTypeToTypeMeta(a) << "\n";
        ERROR(c10::isSignedType(a));
        ERROR(c10::toComplexType(a));
        for (int j = 0; j <= static_cast<int>(at::ScalarType::BFloat16); j++) {
            const at::ScalarType b = static_cast<at::ScalarType>(j);
            std::cout << c10::canCast(a, b);
            if (!c10::isQIntType(a) && !c10::isQIntType(b)) {
                std::cout << c10::promoteTypes(a, b);
            }
        }
        std::cout << "\n";
    }
    SHOW(torch::kF32 == torch::kFloat && torch::kU8 == torch::kByte && torch::kI64 == torch::kLong);
    SHOW(caffe2::TypeMeta::Make<float>() == at::kFloat);
    SHOW(caffe2::TypeMeta::Make<float>().isScalarType(at::kFloat));
    SHOW(std::is_same<c10::impl::ScalarTypeToCPPTypeT<at::kLong>, int64_t>::value);
    SHOW(static_cast<int>(c10::CppTypeToScalarType<double>::value));
}

void devices()
{
    for (const char *text : {"cpu", "cuda", "cuda:3", "mps", "xla:1", "vulkan", "hip:0", "meta", "lazy", "ve:12"}) {
        const at::Device device(text);
        std::cout << device << " " << device.type() << static_cast<int>(device.index()) << device.has_index()
                  << device.is_cuda() << device.is_cpu() << device.is_mps() << device.is_meta()
                  << device.supports_as_strided() << " " << c10::DeviceTypeName(device.type()) << "\n";
    }
    ERROR(at::Device(""));
    ERROR(at::Device("cuda:x"));
    ERROR(at::Device("what"));
    ERROR(at::Device("cuda:01"));
    ERROR(at::Device("cuda:0:1"));
    ERROR(at::Device(":1"));
    ERROR(at::Device("cuda:"));
    SHOW(at::Device(at::kCUDA, 1) == at::Device("cuda:1"));
    SHOW(at::kSparse);
    SHOW(at::kStrided);
    SHOW(at::MemoryFormat::ChannelsLast3d);
    SHOW(toString(at::kPerChannelAffine));
    SHOW(std::hash<at::Device>()(at::Device("cuda:1")) == std::hash<at::Device>()(at::Device("cuda:1")));
    SHOW(torch::cuda::is_available());
    SHOW(torch::cuda::device_count());
    SHOW(torch::cuda::cudnn_is_available());
    SHOW(torch::hasCUDA());
    SHOW(torch::hasMPS());
    SHOW(at::getNumGPUs());
    try {
        torch::cuda::synchronize();
    } catch (const c10::Error &e) {
        std::cout << e.what_without_backtrace() << "\n";
    }
    torch::cuda::manual_seed(1);
    torch::cuda::manual_seed_all(1);
}

void strings()
{
    const c10::string_view text = "a text of words", part = "text";
    SHOW(text.find(part));
    SHOW(text.find('x', 3));
    SHOW(text.rfind('o'));
    SHOW(text.rfind("o", 10));
    SHOW(text.find_first_of("xyz"));
    SHOW(text.find_last_of("xyzo", 9));
    SHOW(text.find_first_not_of("a "));
    SHOW(text.find_last_not_of("sd"));
    SHOW(text.find("none") == c10::string_view::npos);
    SHOW(text.substr(2, 4));
    SHOW(text.substr(2, 4) == part);
    SHOW(text.compare("a text") > 0);
    SHOW(text.starts_with("a t"));
    SHOW(text.ends_with('s'));
    SHOW(text < part);
    SHOW(text.front());
    SHOW(text.at(2));
    c10::string_view shorter = text;
    shorter.remove_prefix(2);
    shorter.remove_suffix(6);
    SHOW(shorter);
    SHOW(std::string(shorter) + "!");
    SHOW(c10::string_view() == "");
}

void optionals_and_arrays()
{
    c10::optional<int> some = 3, none;
    SHOW(some > none);
    SHOW(none < some);
    SHOW(some == 3);
    SHOW(none == c10::nullopt);
    SHOW(c10::value_or_else(none, [] { return 7; }));
    SHOW(c10::make_optional(std::string("x")).value());
    some.swap(none);
    SHOW(none.value_or(0));
    SHOW(c10::optional<std::vector<int>>(c10::in_place, {1, 2, 3})->size());
    const std::vector<int64_t> numbers = {1, 2, 3, 4};
    const at::IntArrayRef all = numbers;
    SHOW(all);
    SHOW(all.slice(1, 2));
    SHOW(all.slice(3));
    SHOW(all.vec() == numbers);
    SHOW(all.equals({1, 2, 3, 4}));
    SHOW(c10::makeArrayRef(numbers) == all);
    ERROR(all.at(4));
    ERROR(all.slice(3, 2));
    ERROR(at::IntArrayRef().front());
    ERROR(at::IntArrayRef().back());
}

template <class T> int64_t sum_of(const at::Tensor &tensor)
{
    int64_t sum = 0;
    for (int64_t i = 0; i < tensor.numel(); i++) {
        sum += static_cast<int64_t>(static_cast<double>(tensor.data_ptr<T>()[i]));
    }
    return sum;
}
int64_t dispatched(const at::Tensor &tensor)
{
    return AT_DISPATCH_ALL_TYPES_AND2(at::kHalf, at::kBFloat16, tensor.scalar_type(), "sum_of",
                                      [&] { return sum_of<scalar_t>(tensor); });
}
void dispatch()
{
    const at::Tensor x = torch::arange(5);
    for (at::ScalarType type : {at::kByte, at::kShort, at::kLong, at::kFloat, at::kHalf, at::kBFloat16, at::kBool}) {
        ERROR(dispatched(x.to(type)));
    }
    ERROR(AT_DISPATCH_FLOATING_TYPES(at::kDouble, "floats", [] { return sizeof(scalar_t); }));
    ERROR(AT_DISPATCH_INTEGRAL_TYPES(at::kFloat, "integers", [] { return sizeof(scalar_t); }));
    ERROR(AT_DISPATCH_FLOATING_TYPES_AND_HALF(at::kHalf, "halves", [] { return sizeof(scalar_t); }));
    ERROR(AT_DISPATCH_ALL_TYPES_AND(at::kBool, at::kBool, "bools", [] { return sizeof(scalar_t); }));
    ERROR(AT_DISPATCH_INDEX_TYPES(at::kInt, "indices", [] { return sizeof(index_t); }));
}

void threads()
{
    at::init_num_threads();
    at::set_num_threads(1);
    SHOW(at::get_num_threads());
    SHOW(at::get_thread_num());
    SHOW(at::in_parallel_region());
    for (int64_t grain : {1, 4, 40}) {
        std::mutex lock;
        int64_t sum = 0;
        at::parallel_for(0, 10, grain, [&](int64_t begin, int64_t end) {
            at::parallel_for(begin, end, 1, [&](int64_t from, int64_t to) {
                const std::lock_guard<std::mutex> guard(lock);
                for (int64_t i = from; i < to; i++) {
                    sum += i * i;
                }
            });
        });
        SHOW(sum);
    }
    at::parallel_for(3, 3, 1, [&](int64_t, int64_t) { std::cout << "never\n"; });
    ERROR((at::parallel_for(0, 100, 1, [](int64_t, int64_t) { TORCH_CHECK(false, "from a thread"); }), 1));
    SHOW(at::parallel_reduce(
        0, 10, 20, 100, [](int64_t from, int64_t to, int x) { return x + static_cast<int>(to - from); },
        [](int a, int b) { return a + b; }));
    SHOW(at::parallel_reduce(
        4, 4, 20, 100, [](int64_t from, int64_t to, int x) { return x + static_cast<int>(to - from); },
        [](int a, int b) { return a + b; }));
    SHOW(at::divup(10, 3));
    try {
        at::set_num_threads(0);
    } catch (const c10::Error &e) {
        std::cout << e.what_without_backtrace() << "\n";
    }
    at::set_num_interop_threads(2);
    SHOW(at::get_num_interop_threads());
    try {
        torch::set_num_interop_threads(3);
    } catch (const c10::Error &e) {
        std::cout << e.what_without_backtrace() << "\n";
    }
}

void modes()
{
    SHOW(torch::autograd::GradMode::is_enabled());
    {
        const torch::NoGradGuard guard;
        SHOW(at::GradMode::is_enabled());
        const torch::autograd::AutoGradMode on(true);
        SHOW(c10::GradMode::is_enabled());
    }
    {
        const c10::InferenceMode guard;
        SHOW(c10::InferenceMode::is_enabled());
        SHOW(c10::GradMode::is_enabled());
        const c10::InferenceMode off(false);
        SHOW(c10::InferenceMode::is_enabled());
        SHOW(c10::GradMode::is_enabled());
    }
    SHOW(c10::InferenceMode::is_enabled());
    SHOW(c10::GradMode::is_enabled());
}

void switches()
{
    using namespace torch::jit;
    SHOW(getGraphExecutorOptimize());
    setGraphExecutorOptimize(false);
    SHOW(getGraphExecutorOptimize());
    {
        const GraphOptimizerEnabledGuard guard(true);
        SHOW(getGraphExecutorOptimize());
    }
    SHOW(getGraphExecutorOptimize());
    SHOW(getProfilingMode());
    SHOW(getExecutorMode());
    SHOW(getNumProfiledRuns());
    SHOW(getBailoutDepth());
    SHOW(IsNewExecutorEnabled());
    FusionStrategy strategy = {{FusionBehavior::DYNAMIC, 3}};
    SHOW(setFusionStrategy(strategy).size());
    SHOW(getFusionStrategy()[0].second);
    SHOW(getBailoutDepth());
    SHOW(tensorExprFuserEnabled());
    setTensorExprFuserEnabled(false);
    SHOW(tensorExprFuserEnabled());
    SHOW(texprReductionsEnabled());
    SHOW(tensorExprDynamicShapeFusionEnabled());
    SHOW(getFusionGroupInlining());
    SHOW(fuser::cuda::isEnabled());
    SHOW(fuser::cuda::canBeEnabled());
    ERROR(fuser::cuda::setEnabled(true));
    at::Context &context = at::globalContext();
    SHOW(context.userEnabledCuDNN());
    context.setUserEnabledCuDNN(false);
    SHOW(context.userEnabledCuDNN());
    SHOW(context.benchmarkCuDNN());
    context.setBenchmarkCuDNN(true);
    SHOW(context.benchmarkCuDNN());
    SHOW(context.deterministicCuDNN());
    SHOW(context.deterministicAlgorithms());
    context.setDeterministicAlgorithms(true, true);
    SHOW(context.deterministicAlgorithms());
    SHOW(context.deterministicAlgorithmsWarnOnly());
    SHOW(context.allowTF32CuBLAS());
    context.setFloat32MatmulPrecision("medium");
    SHOW(context.allowTF32CuBLAS());
    SHOW(context.hasCUDA());
    SHOW(context.hasLAPACK());
    SHOW(toString(at::QEngine::QNNPACK));
}

void spaces()
{
    const at::Tensor x = torch::arange(6).to(at::kFloat).view({2, 3}) + 1, square = x.mm(x.t());
    SHOW(torch::fft::rfft(x).abs());
    SHOW(torch::fft::fftn(x).abs());
    SHOW(torch::fft::fftfreq(4));
    SHOW(torch::fft::fftfreq(4, torch::kDouble));
    SHOW(torch::linalg::norm(x, c10::nullopt, c10::nullopt, false, c10::nullopt));
    SHOW(torch::linalg::det(square));
    SHOW(torch::linalg::inv(square));
    SHOW(torch::special::expit(x));
    SHOW(torch::special::gammaln(x));
    SHOW(torch::special::xlogy(x, 2.0));
}

struct Numbers : torch::data::datasets::Dataset<Numbers> {
    torch::data::Example<> get(size_t index) override
    {
        const int64_t number = static_cast<int64_t>(index);
        return {torch::full({1, 2, 2}, static_cast<double>(number)), torch::full({1}, number)};
    }
    torch::optional<size_t> size() const override
    {
        return 7;
    }
};

void data_sets()
{
    namespace transforms = torch::data::transforms;
    auto set = Numbers().map(transforms::Normalize<>(0.5, 0.25)).map(transforms::Stack<>());
    const std::vector<size_t> indices = {1, 5};
    const torch::data::Example<> batch = set.get_batch(indices);
    SHOW(batch.data);
    SHOW(batch.target);
    SHOW(set.size().value());
    auto shared = torch::data::datasets::make_shared_dataset<torch::data::datasets::TensorDataset>(torch::eye(3));
    SHOW(shared->get(1).data);
    SHOW(shared.map(transforms::Stack<torch::data::TensorExample>()).get_batch(indices[0]).data);
    SHOW(torch::data::FullDataLoaderOptions(torch::data::DataLoaderOptions(8).workers(3)).max_jobs);
}

void optimizer_options()
{
    torch::optim::AdamOptions adam(0.5);
    adam.betas(std::make_tuple(0.25, 0.75)).eps(2);
    SHOW(adam.get_lr() + std::get<1>(adam.betas()) + adam.eps() + adam.weight_decay());
    SHOW(torch::optim::SGDOptions(0.125).momentum(0.5).nesterov(true).nesterov());
    SHOW(torch::optim::AdamWOptions().weight_decay());
    SHOW(torch::optim::RMSpropOptions().alpha());
    SHOW(torch::optim::AdagradOptions().lr());
    SHOW(torch::optim::LBFGSOptions().history_size());
    torch::optim::OptimizerParamGroup group({torch::ones({2})}, std::make_unique<torch::optim::AdamOptions>(adam));
    const torch::optim::OptimizerParamGroup copy = group;
    group.options().set_lr(4);
    SHOW(copy.options().get_lr());
    SHOW(copy.params().size());
    ERROR(torch::optim::OptimizerOptions().clone() == nullptr);
    ERROR(torch::optim::OptimizerParamState().clone() == nullptr);
    ERROR(torch::optim::OptimizerOptions().get_lr());
}

} // namespace

int main()
{
    halves<c10::Half>();
    halves<c10::BFloat16>();
    complexes();
    scalars();
    element_types();
    devices();
    strings();
    optionals_and_arrays();
    dispatch();
    spaces();
    threads();
    modes();
    switches();
    data_sets();
    optimizer_options();
    std::cout << "models\n";
    return 0;
}
