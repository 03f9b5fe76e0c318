// SPDX-License-Identifier: BSD-2-Clause
// same_members: tests members of tensors, also of a tensor that was never set: properties, storage, accessors, and
// calls that name a dimension by a single number. The output must be the same with Taper's headers and with PyTorch's
// headers.
#include <torch/script.h>

#include <iostream>

namespace
{

template <class Work> void print(const char *what, Work work)
{
    std::cout << what << ": ";
    try {
        work();
    } catch (const c10::IndexError &) {
        std::cout << "IndexError";
    } catch (const c10::Error &thrown) {
        std::string text = thrown.what_without_backtrace();
        std::cout << "Error " << text.substr(0, text.find('\n'));
    } catch (const std::exception &) {
        std::cout << "an error";
    }
    std::cout << "\n";
}
#define PRINT(expression) print(#expression, [&] { std::cout << (expression); })

at::Tensor counted(const std::vector<int64_t> &sizes)
{
    int64_t count = 1;
    for (int64_t size : sizes) {
        count *= size;
    }
    return torch::arange(count, torch::kFloat).view(sizes);
}

void undefined()
{
    const at::Tensor t;
    PRINT(t.defined());
    PRINT(t.numel());
    PRINT(t.dim());
    PRINT(t.sizes());
    PRINT(t.size(0));
    PRINT(t.strides());
    PRINT(t.is_contiguous());
    PRINT(t.is_floating_point());
    PRINT(t.is_complex());
    PRINT(t.scalar_type());
    PRINT(t.itemsize());
    PRINT(t.nbytes());
    PRINT(t.has_storage());
    PRINT(t.is_cpu());
    PRINT(t.is_cuda());
    PRINT(t.is_quantized());
    PRINT(t.device());
    PRINT(t.use_count());
    PRINT(t.toString());
    PRINT(t.requires_grad());
    PRINT(t.is_same(at::Tensor()));
    PRINT(t.storage_offset());
}

void state()
{
    const at::Tensor x = counted({2, 3, 4});
    PRINT(x.type());
    PRINT(x.type().scalarType());
    PRINT(x.type().toString());
    PRINT(x.to(at::kLong).type() == x.type());
    PRINT(x.get_device());
    PRINT(x.element_size());
    PRINT(x.is_signed());
    PRINT(x.to(at::kByte).is_signed());
    PRINT(x.is_leaf());
    PRINT(x.is_sparse());
    PRINT(x.is_meta());
    PRINT(x.is_mkldnn());
    PRINT(x.has_names());
    PRINT(x.layout());
    PRINT(x.is_non_overlapping_and_dense());
    PRINT(x.transpose(0, 1).is_non_overlapping_and_dense());
    PRINT(x.select(2, 1).is_non_overlapping_and_dense());
    PRINT(x.expand({2, 3, 4}).is_non_overlapping_and_dense());
    PRINT(x.select(0, 1).storage_offset());
    PRINT(x.set_requires_grad(false).requires_grad());
    PRINT(x.to(at::kLong).set_requires_grad(true));
    PRINT(x.grad().defined());
    PRINT(x.data().is_same(x));
    PRINT(x.data().data_ptr() == x.data_ptr());
    at::Tensor y = x.clone();
    PRINT(y.use_count());
    const at::Tensor z = y;
    PRINT(y.use_count());
    const std::vector<at::Tensor> two = {y, y};
    PRINT(y.use_count());
    y.set_data(counted({5}));
    PRINT(z.sizes());
    PRINT(at::size(x, -1));
    PRINT(at::stride(x, 0));
    PRINT(at::numel(x));
    PRINT(x.to(at::ones({1}, at::kDouble).dtype()).dtype());
    PRINT(c10::get_channels_last_strides_2d({2, 3, 4, 5}));
    PRINT(c10::get_channels_last_strides_2d({3, 4, 5}));
    PRINT(c10::get_channels_last_strides_3d({2, 3, 4, 5, 6}));
}

void storages()
{
    const at::Tensor x = counted({2, 3, 4}), part = x.select(0, 1);
    PRINT(x.storage().nbytes());
    PRINT(part.storage().nbytes());
    PRINT(part.storage().data() == x.data_ptr());
    PRINT(part.storage().data<float>()[2]);
    PRINT(part.is_alias_of(x));
    PRINT(part.clone().is_alias_of(x));
    PRINT(part.storage().device());
    PRINT(static_cast<bool>(part.storage().data_ptr()));
}

void accessors()
{
    at::Tensor x = counted({3, 4});
    const at::Tensor turned = x.t(), booleans = x.gt(3), halves = x.to(at::kHalf), doubles = x.to(at::kDouble);
    auto a = turned.accessor<float, 2>();
    PRINT(a[1][2]);
    PRINT(a.size(0));
    PRINT(a.stride(1));
    PRINT(a.sizes());
    auto b = x.packed_accessor32<float, 2>();
    PRINT(b[2][1]);
    auto c = x.packed_accessor64<float, 2, torch::DefaultPtrTraits>();
    PRINT(c[2][1]);
    PRINT(c.transpose(0, 1)[1][2]);
    PRINT(c.transpose(0, 2)[1][2]);
    PRINT((booleans.accessor<bool, 2>()[1][0]));
    PRINT((static_cast<float>(halves.accessor<at::Half, 2>()[1][3])));
    PRINT(doubles.data_ptr<double>()[5]);
    PRINT(doubles.data_ptr<float>()[5]);
    PRINT((x.accessor<float, 3>().size(0)));
    auto row = b[1];
    row[0] = 77;
    PRINT(x[1][0].item<float>());
}

void dimensions()
{
    const at::Tensor x = counted({3, 4}), i = torch::tensor({2, 0});
    PRINT(x.std(0));
    PRINT(x.var(1).sizes());
    PRINT(x.std(-1).sizes());
    PRINT(x.std({0}).sizes());
    PRINT(x.std(false));
    PRINT(torch::var(x, 0).sizes());
    PRINT(torch::std(x, 1));
    PRINT(std::get<0>(torch::std_mean(x, 0)).sizes());
    PRINT(std::get<0>(torch::var_mean(x, 1)).sizes());
    PRINT(x[i[0]][1].item<float>());
    PRINT(x[i[1].item()][2].item<float>());
    PRINT(x[i]);
    PRINT(x[at::Tensor()]);
    PRINT(x[at::Scalar(1.5)]);
}

void nested()
{
    PRINT(torch::tensor({{1, 2}, {3, 4}}));
    PRINT(torch::tensor({{1.5, 2.5}, {3., 4.}}));
    PRINT(torch::tensor({{{1}, {2}}, {{3}, {4}}}).sizes());
    PRINT(torch::tensor({{1, 2}, {3, 4}}, torch::kFloat));
    PRINT(torch::tensor({true, false}));
    PRINT(torch::tensor({{true}, {false}}).dtype());
    PRINT(torch::tensor(3.5));
    PRINT(torch::tensor(3).dtype());
    PRINT(torch::tensor({1, 2, 3}).dtype());
    PRINT(torch::tensor({c10::complex<float>(1, 2)}).conj());
    PRINT(torch::tensor({1.5}).conj());
    PRINT(torch::tensor({1.f, 2.f}).dtype());
    PRINT(torch::tensor({}).sizes());
    PRINT(torch::tensor({{}, {}}).sizes());
    PRINT(torch::tensor({{1, 2}, {3}}));
    PRINT(torch::tensor({{1, 2}, {3., 4.}}));
    PRINT(torch::tensor({c10::complex<float>(1, 2)}).dtype());
    PRINT(torch::tensor(std::vector<int64_t>{4, 5}));
    PRINT(torch::tensor(std::vector<float>{4, 5}).dtype());
    PRINT(torch::tensor(std::vector<double>{4, 5}).dtype());
    PRINT(torch::tensor(std::vector<int>{4, 5}).dtype());
    PRINT(torch::tensor(at::ArrayRef<int64_t>({4, 5})));
}

} // namespace

int main()
{
    undefined();
    state();
    storages();
    accessors();
    dimensions();
    nested();
    std::cout << "models\n";
    return 0;
}
