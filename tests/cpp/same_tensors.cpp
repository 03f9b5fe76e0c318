// SPDX-License-Identifier: BSD-2-Clause
// same_tensors: tests parts of tensors by index, quantizers per channel, devices and lists as values. The output must
// be the same with Taper's headers and with PyTorch's headers.
#include <torch/script.h>

#include <iostream>

namespace
{

using torch::indexing::Ellipsis;
using torch::indexing::None;
using torch::indexing::Slice;
using torch::indexing::TensorIndex;

at::Tensor counted(const std::vector<int64_t> &sizes)
{
    int64_t count = 1;
    for (int64_t size : sizes) {
        count *= size;
    }
    std::vector<float> data(static_cast<size_t>(count) + 1);
    for (size_t i = 0; i < data.size(); i++) {
        data[i] = static_cast<float>(i);
    }
    return torch::from_blob(data.data(), sizes, at::kFloat).clone();
}
at::Tensor longs(std::vector<int64_t> numbers)
{
    return torch::from_blob(numbers.data(), {static_cast<int64_t>(numbers.size())}, at::kLong).clone();
}
at::Tensor bools(std::vector<uint8_t> marks, const std::vector<int64_t> &sizes)
{
    return torch::from_blob(marks.data(), sizes, at::kByte).clone().to(at::kBool);
}

template <class Work> void print(const char *what, Work work)
{
    std::cout << what << ": ";
    try {
        const at::Tensor result = work();
        std::cout << result.sizes() << result.strides() << result.contiguous().view({-1}) << "\n";
    } catch (const c10::IndexError &) {
        std::cout << "IndexError\n";
    } catch (const c10::ValueError &) {
        std::cout << "ValueError\n";
    } catch (const std::exception &) {
        std::cout << "an error\n";
    }
}
#define PRINT(expression) print(#expression, [&]() -> at::Tensor { return expression; })

void indexing()
{
    const at::Tensor x = counted({3, 4, 5}), scalar = counted({});
    const at::Tensor rows = longs({2, 0, -1}), two = longs({1, 3}), mask = bools({1, 0, 1}, {3});
    const at::Tensor mask2 = bools({1, 0, 0, 1, 0, 0, 0, 0, 1, 1, 0, 0}, {3, 4}), one = longs({1}).reshape({});
    const at::Tensor yes = bools({1}, {1}).reshape({}), no = bools({0}, {1}).reshape({});
    PRINT(x.index({0}));
    PRINT(x.index({-1, 2}));
    PRINT(x.index({0, 1, 2}));
    PRINT(x.index({0, Slice()}));
    PRINT(x.index({Slice(), 1}));
    PRINT(x.index({Slice(1, None), Slice(None, None, 2), Slice(-3, -1)}));
    PRINT(x.index({Slice(5, 9)}));
    PRINT(x.index({Slice(2, 1)}));
    PRINT(x.index({"...", 0}));
    PRINT(x.index({Ellipsis, Slice(0, 2)}));
    PRINT(x.index({0, Ellipsis, 1}));
    PRINT(x.index({Ellipsis}));
    PRINT(x.index({None}));
    PRINT(x.index({None, 0, None, Ellipsis, None}));
    PRINT(x.index({true}));
    PRINT(x.index({false}));
    PRINT(x.index({0, true}));
    PRINT(x.index({Slice(), None, false, 1}));
    PRINT(x.index({rows}));
    PRINT(x.index({Slice(), two}));
    PRINT(x.index({rows, longs({0, 1, 2})}));
    PRINT(x.index({rows, Slice(), longs({0, 1, 2})}));
    PRINT(x.index({Slice(0, 2), two, Slice(None, None, 3)}));
    PRINT(x.index({rows.view({3, 1}), two}));
    PRINT(x.index({0, two, one}));
    PRINT(x.index({one}));
    PRINT(x.index({mask}));
    PRINT(x.index({mask, 1}));
    PRINT(x.index({mask, Slice(), 2}));
    PRINT(x.index({mask2}));
    PRINT(x.index({Ellipsis, bools({0, 1, 1, 0, 1}, {5})}));
    PRINT(x.index({yes}));
    PRINT(x.index({no, 0}));
    PRINT(x.index(std::vector<TensorIndex>{1, Slice(1, 3)}));
    PRINT(x.index(at::ArrayRef<TensorIndex>()));
    PRINT(scalar.index({None}));
    PRINT(scalar.index({Ellipsis}));
    PRINT(scalar.index({true}));
    PRINT(x[1][2]);
    // Uses invalid indices.
    PRINT(x.index({3}));
    PRINT(x.index({-4}));
    PRINT(x.index({0, 0, 0, 0}));
    PRINT(x.index({"..", 0}));
    PRINT(x.index({Slice(None, None, -1)}));
    PRINT(x.index({Slice(None, None, 0)}));
    PRINT(x.index({longs({3})}));
    PRINT(x.index({bools({1, 0}, {2})}));
    PRINT(x.index({rows, two}));
    PRINT(scalar.index({0}));
    PRINT(scalar.index({Slice()}));
    std::cout << TensorIndex(None) << TensorIndex("...") << TensorIndex(3) << TensorIndex(true)
              << TensorIndex(Slice(1, 5, 2)) << std::vector<TensorIndex>{1, Slice(0, 2, 1)} << "\n";
    // Makes views; writing through a view must be visible in the tensor.
    at::Tensor y = x.clone();
    y.index({1}).fill_(0);
    y.index({Ellipsis, 0}).copy_(counted({3, 4}));
    const at::Tensor whole = y.index({Ellipsis});
    whole.select(0, 2).select(0, 3).fill_(-1);
    std::cout << y << "\n";
}

void writing()
{
    const at::Tensor rows = longs({2, 0}), mask = bools({1, 0, 1}, {3});
    const at::Tensor mask2 = bools({1, 0, 0, 1, 0, 0, 0, 0, 1, 1, 0, 0}, {3, 4});
    at::Tensor x;
#define WRITE(...)                                                                                                     \
    x = counted({3, 4});                                                                                               \
    PRINT(x.index_put_(__VA_ARGS__))
    WRITE({0}, 7);
    WRITE({0, 1}, -1.5);
    WRITE({Ellipsis}, 3);
    WRITE({Slice(), 2}, counted({3}));
    WRITE({Slice(1, None)}, counted({4}));
    WRITE({Slice(1, None)}, counted({2, 1}));
    WRITE({1}, counted({1, 1, 4}));
    WRITE({Slice(0, 2)}, counted({}));
    WRITE({rows}, 9);
    WRITE({rows}, counted({2, 4}));
    WRITE({rows}, counted({1, 1, 4}));
    WRITE({rows, longs({1, 1})}, counted({2}));
    WRITE({Slice(), rows}, counted({3, 2}));
    WRITE({mask}, 0);
    WRITE({mask, 1}, counted({2}));
    WRITE({mask2}, counted({4}));
    WRITE({mask2}, 5);
    WRITE({true}, 4);
    WRITE({false}, 4);
    WRITE({None, 1}, counted({1, 4}));
    WRITE({rows}, counted({3, 4}));
    WRITE({1}, counted({3}));
    WRITE({7}, 1);
    x = counted({3, 4});
    x[0] = counted({4}) * 2;
    x[1][2] = 100;
    x.index({Slice(), 3}) = counted({3});
    x.index({2, 0}) = -5.5;
    const at::Tensor part = x[1];
    x[2] = part;
    std::cout << x << "\n";
    at::Tensor other;
    other = x[0]; // assigns a variable, not a part of a tensor
    other = part;
    std::cout << x << other << "\n";
    at::Tensor whole = longs({1, 2, 3});
    whole.index_put_({1}, 7);
    whole[2] = 9;
    std::cout << whole << "\n";
}

void quantizers()
{
    const at::Tensor scales = (counted({3}) + 1) * 0.25, zeros = longs({1, 2, 3});
    const at::Tensor q = at::quantize_per_channel(counted({3, 4}), scales, zeros, 0, at::kQInt8);
    std::cout << q.q_per_channel_scales() << q.q_per_channel_zero_points() << q.q_per_channel_axis() << "\n";
    try {
        std::cout << counted({3}).q_per_channel_axis() << "\n";
    } catch (const std::exception &) {
        std::cout << "an error\n";
    }
}

void values()
{
    const at::IValue device(at::Device("cpu")), other(c10::Device(at::kVulkan, 0)), none;
    std::cout << std::noboolalpha << device << device.isDevice() << other.isDevice() << none.isDevice()
              << device.toDevice() << other.toDevice() << (other.toDevice() == at::Device("vulkan:0"))
              << device.tagKind() << device.type()->str() << "\n";
    try {
        std::cout << none.toDevice() << "\n";
    } catch (const std::exception &) {
        std::cout << "an error\n";
    }
    const c10::List<int64_t> ints({3, 4, 5});
    int64_t sum = 0;
    const at::IValue list(ints);
    for (const at::IValue &each : list.toListRef()) {
        sum += each.toInt();
    }
    std::cout << list.toListRef().size() << " " << sum << " " << list.toListRef()[1] << "\n";
    std::cout << at::IValue(std::make_tuple(1, c10::Device("cpu"))) << "\n";
}

// Tests that all operators draw in sequence from one generator.
void random_numbers()
{
    torch::manual_seed(5);
    std::cout << torch::rand({3}) << torch::randn({20}) << torch::randint(100, {4}) << torch::randperm(6)
              << torch::ones({8}).bernoulli(0.5) << torch::rand({2}) << "\n";
    at::Generator own = at::detail::createCPUGenerator(9);
    std::cout << at::rand({3}, own) << torch::rand({2}) << at::rand({3}, own) << own.current_seed() << "\n";
    own.set_current_seed(9);
    torch::manual_seed(5);
    std::cout << at::rand({3}, own) << torch::rand({3}) << "\n";
}

} // namespace

int main()
{
    indexing();
    writing();
    quantizers();
    values();
    random_numbers();
    std::cout << "models\n";
    return 0;
}
