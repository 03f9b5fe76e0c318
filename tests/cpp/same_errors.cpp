// SPDX-License-Identifier: BSD-2-Clause
// same_errors: tests the types and texts of errors, and the macros that throw them. The output must be the same with
// Taper's headers and with PyTorch's headers.
#include <torch/csrc/jit/runtime/jit_exception.h>
#include <torch/script.h>

#include <iostream>

namespace
{

template <class F> void print(const char *what, bool with_text, F work)
{
    std::cout << what << ": ";
    const char *kind = "";
    std::string text = "nothing";
    try {
        work();
    } catch (const c10::IndexError &e) {
        kind = "IndexError ", text = e.what_without_backtrace();
    } catch (const c10::ValueError &e) {
        kind = "ValueError ", text = e.what_without_backtrace();
    } catch (const c10::TypeError &e) {
        kind = "TypeError ", text = e.what_without_backtrace();
    } catch (const c10::LinAlgError &e) {
        kind = "LinAlgError ", text = e.what_without_backtrace();
    } catch (const c10::NotImplementedError &e) {
        kind = "NotImplementedError ", text = e.what_without_backtrace();
    } catch (const c10::Error &e) {
        kind = "Error ", text = e.what_without_backtrace();
    } catch (const std::runtime_error &e) {
        kind = "runtime_error ", text = e.what();
    } catch (const std::exception &e) {
        kind = "exception ", text = e.what();
    }
    std::cout << kind << (with_text ? text : "") << "\n";
}
#define ERROR(expression)                                                                                              \
    print(#expression, true, [&] {                                                                                     \
        auto x = torch::ones({3, 4});                                                                                  \
        (void)x;                                                                                                       \
        (void)(expression);                                                                                            \
    })
#define KIND(expression)                                                                                               \
    print(#expression, false, [&] {                                                                                    \
        auto x = torch::ones({3, 4});                                                                                  \
        (void)x;                                                                                                       \
        (void)(expression);                                                                                            \
    })
#define STATEMENT(...) print(#__VA_ARGS__, true, [&] { __VA_ARGS__; })
#define TENSORS                                                                                                        \
    const auto s = torch::ones({}), b = torch::ones({2, 3, 4}), sq = torch::zeros({3, 3}), f1 = torch::ones({1});      \
    const auto i9 = torch::full({1}, 9, at::kLong), i2 = torch::zeros({2, 2}, at::kLong), neg = -i9;                   \
    const auto mask = torch::ones({2}, at::kBool);                                                                     \
    (void)s, (void)b, (void)sq, (void)f1, (void)i9, (void)i2, (void)neg, (void)mask

void first_operators()
{
    TENSORS;
    ERROR(x.argmax(4));
    ERROR(torch::embedding(x, i9));
    ERROR(torch::embedding(x, neg));
    ERROR(x.view({5, 2}));
    ERROR(x.view({-1, -1}));
    ERROR(x.view({-1, 5}));
    ERROR(x.size(5));
    ERROR(x.select(0, 5));
    ERROR(x.select(3, 0));
    ERROR(x.sum(7));
    ERROR(s.sum(3));
    ERROR(x.index_select(0, i9));
    ERROR(x.index_select(0, i2));
    ERROR(x.index_select(5, i9));
    ERROR(x.index({i9}));
    ERROR(x.index({mask}));
    ERROR(x.index({i2, torch::zeros({3}, at::kLong)}));
    ERROR(x.index({f1}));
    ERROR(x.gather(0, torch::full({1, 1}, 9, at::kLong)));
    ERROR(x.gather(0, i9));
    ERROR(x.scatter(0, torch::full({1, 1}, 9, at::kLong), 1.0));
    ERROR(x.take(i9.neg() * 5));
    ERROR(x.take(i9 * 5));
    ERROR(x.narrow(0, 2, 5));
    ERROR(x.narrow(9, 0, 1));
    ERROR(x.narrow(0, 5, 1));
    ERROR(x.transpose(0, 4));
    ERROR(x.squeeze(5));
    ERROR(x.unsqueeze(5));
    ERROR(x.flip({7}));
    ERROR(x.flip({0, 0}));
    ERROR(x.roll({1}, {5}));
    ERROR(b.t());
    ERROR(x.mm(x));
    ERROR(x + torch::ones({5}));
    ERROR(torch::cat({x, b}));
    ERROR(torch::cat(std::vector<at::Tensor>{}));
    ERROR(torch::cat({x, torch::ones({2, 2})}));
    ERROR(torch::cat({x, x}, 5));
    ERROR(torch::stack(std::vector<at::Tensor>{}));
    ERROR(torch::stack({x, torch::ones({2})}));
    ERROR(torch::stack({x, x}, 7));
    ERROR(x.expand({2, 2}));
    ERROR(x.repeat({1}));
    ERROR(x.chunk(0));
}
void second_operators()
{
    TENSORS;
    ERROR(x.split(-1));
    ERROR(x.unbind(4));
    ERROR(x.diagonal(0, 0, 0));
    ERROR(x.topk(9));
    ERROR(x.topk(1, 5));
    ERROR(x.sort(5));
    ERROR(x.cumsum(5));
    ERROR(x.softmax(5));
    ERROR(x.max(5));
    ERROR(torch::conv2d(torch::ones({1, 2, 3, 3}), torch::ones({1, 1, 5, 5})));
    ERROR(torch::linear(x, x.t()));
    ERROR(torch::linear(x, torch::ones({2, 3})));
    ERROR(torch::linalg_inv(sq));
    ERROR(torch::linalg_cholesky(sq));
    ERROR(torch::linalg_inv(x));
    ERROR(torch::linalg_solve(sq, sq));
    ERROR(torch::inverse(sq));
    ERROR(torch::linalg_eigh(x));
    ERROR(torch::det(x));
    ERROR(torch::linalg_norm(x, "what"));
    ERROR(torch::arange(0, 10, -1));
    ERROR(torch::arange(0, 10, 0));
    ERROR(torch::linspace(0, 1, -1));
    ERROR(torch::zeros({-1}));
    ERROR(torch::randint(0, {1}));
    ERROR(torch::multinomial(x, 9));
    ERROR(torch::multinomial(-x, 1));
    ERROR(torch::normal(0.0, -1.0, {1}));
    ERROR(torch::full({1}, 3, at::kInt).bitwise_not_().sqrt_());
    ERROR(x.item());
    ERROR(x.item<int>());
    ERROR(x.data_ptr<int64_t>());
    ERROR((x.accessor<float, 3>()));
    ERROR(x.to(at::kLong).mean());
    ERROR(x.to(at::kBool) - x.to(at::kBool));
    ERROR(x.add_(b));
    ERROR(x.to(at::kLong).add_(1.5));
    ERROR(x.to(at::kLong).remainder(0));
    ERROR(torch::floor_divide(x.to(at::kLong), 0));
    ERROR(x.copy_(b));
    ERROR(x.masked_fill(mask, 0.0));
    ERROR(torch::where(x, x, x));
    ERROR(x.index_add(0, i9, x));
    ERROR(x.index_copy(0, i9, torch::ones({1, 4})));
    ERROR(x.index_put({i9}, f1));
}
void third_operators()
{
    TENSORS;
    ERROR(torch::one_hot(i9, 3));
    ERROR(torch::one_hot(neg, 3));
    ERROR(torch::bincount(neg));
    ERROR(x.reshape({5}));
    ERROR(x.flatten(1, 0));
    ERROR(x.unflatten(0, {2}));
    ERROR(x.unflatten(1, {2, 3}));
    ERROR(x.unfold(0, 9, 1));
    ERROR(x.unfold(0, 1, 0));
    ERROR(torch::einsum("ij,jk->ik", {x, x}));
    ERROR(torch::einsum("ij", {x, x}));
    ERROR(torch::tensordot(x, x, {0}, {1}));
    ERROR(torch::cdist(x, torch::ones({2, 2})));
    ERROR(torch::pixel_shuffle(b, 2));
    ERROR(torch::fft_fft(x, -1));
    ERROR(torch::trapz(x, x, 4));
    ERROR(x.dot(x));
    ERROR(f1.dot(x));
    ERROR(torch::addmm(x, x, x));
    ERROR(torch::baddbmm(b, b, b));
    ERROR(torch::outer(x, x));
    ERROR(x.clamp());
    ERROR(torch::dropout(x, 2, true));
    ERROR(torch::gelu(x, "bad"));
    ERROR(x.nansum({9}));
    ERROR(x.median(5));
    ERROR(x.mode(5));
    ERROR(x.norm(2, 5));
    ERROR(x.all(5));
    ERROR(x.any(5));
    ERROR(x.prod(5));
    ERROR(x.logsumexp({5}));
    ERROR(x.amax({5}));
    ERROR(b.trace());
    ERROR(torch::tensor_split(x, 0));
    ERROR(torch::hsplit(s, 2));
    ERROR(torch::bucketize(x, b));
    ERROR(torch::block_diag({b}));
    ERROR(torch::renorm(x, 2, 5, 1));
    ERROR(torch::swapaxes(x, 0, 9));
    ERROR(torch::movedim(x, 0, 9));
    ERROR(torch::movedim(x, {0, 0}, {1, 0}));
    ERROR(torch::from_blob(nullptr, {-1}));
}
// Prints only the types of errors. The types are equal in both libraries, but Taper's texts say more than PyTorch's.
void other_texts()
{
    TENSORS;
    KIND(x.index_select(0, f1));
    KIND(x.index({0, 0, 0}));
    KIND(x.gather(0, f1));
    KIND(x.permute({0}));
    KIND(x.permute({0, 0}));
    KIND(x.matmul(x));
    KIND(torch::bmm(x, x));
    KIND(x.expand({4}));
    KIND(x.split_with_sizes({1}));
    KIND(x.kthvalue(9));
    KIND(torch::layer_norm(x, {3}));
    KIND(torch::zeros({0}).max());
    KIND(torch::zeros({0, 3}).argmax(0));
    KIND(torch::zeros({0}).argmax());
    KIND(torch::zeros({0, 3}).max(0));
    KIND(torch::conv2d(x, x));
    KIND(torch::conv2d(b, torch::ones({1, 1, 1, 1})));
    KIND(torch::max_pool2d(x, {2, 2}));
    KIND(torch::max_pool2d(b, {9, 9}));
    KIND(torch::max_pool2d(b, {0, 0}));
    KIND(torch::avg_pool2d(b, {9, 9}));
    KIND(torch::upsample_bilinear2d(b, {2, 2}, false));
    KIND(torch::batch_norm(x, {}, {}, {}, {}, false, 0.1, 1e-5, false));
    KIND(torch::linalg_svd(s));
    KIND(torch::linalg_qr(s));
    KIND(torch::randperm(-1));
    KIND(-x.to(at::kBool));
    KIND(x.__lshift__(i9));
    KIND(x.to(at::kLong).softmax(0).sum());
    KIND(x.resize_({-1}));
    KIND(x.masked_select(mask));
    KIND(x.index_fill(0, i9, 1));
    KIND(torch::nll_loss(x, i9));
    KIND(torch::cross_entropy_loss(x, torch::full({3}, 9, at::kLong)));
    KIND(torch::histc(x, 0));
    KIND(x.as_strided({9}, {9}));
    KIND(torch::pad(x, {1}));
    KIND(torch::constant_pad_nd(x, {1, 1, 1, 1, 1, 1}, 0));
    KIND(torch::reflection_pad1d(x, {9, 9}));
    KIND(torch::stft(x, 9));
    KIND(torch::quantize_per_tensor(x, 0.1, 0, at::kFloat));
    KIND(x.quantile(2));
    KIND(s.diag());
    KIND(b.diag());
    KIND(torch::vsplit(f1, 2));
    KIND(torch::searchsorted(b, x));
}

void macros()
{
    const int n = 2;
    STATEMENT(TORCH_CHECK(n == 2));
    STATEMENT(TORCH_CHECK(n == 3));
    STATEMENT(TORCH_CHECK(n == 3, "n is ", n, " and not ", 3.5));
    STATEMENT(TORCH_CHECK_INDEX(n > 3, "out of ", n));
    STATEMENT(TORCH_CHECK_VALUE(n > 3, "value ", n));
    STATEMENT(TORCH_CHECK_TYPE(n > 3, "type"));
    STATEMENT(TORCH_CHECK_LINALG(n > 3, "singular"));
    STATEMENT(TORCH_CHECK_NOT_IMPLEMENTED(n > 3, "later"));
    STATEMENT(TORCH_CHECK_WITH(IndexError, n > 3, "with"));
    STATEMENT(TORCH_CHECK_ARG(n > 3, 7, "argument"));
    STATEMENT(AT_ERROR("at ", n));
    STATEMENT(C10_THROW_ERROR(IndexError, "thrown"));
    int evaluations = 0;
    STATEMENT(TORCH_CHECK(++evaluations == 7, "once"));
    std::cout << evaluations << "\n";
    for (int i = 0; i < 3; i++) {
        try {
            if (i == 0) {
                TORCH_INTERNAL_ASSERT(n > 3 && std::string("a,b") == "(", "more of ", n);
            } else if (i == 1) {
                AT_ASSERT(n > 3);
            } else {
                AT_ASSERTM(n > 3, "assert ", n);
            }
        } catch (const c10::Error &e) {
            const std::string text = e.what_without_backtrace();
            std::cout << text.substr(0, text.find(" at \"")) << text.substr(text.find(", please")) << "\n";
        }
    }
    try {
        try {
            TORCH_CHECK(false, "first");
        } catch (c10::Error &e) {
            e.add_context("second");
            std::cout << e.what_without_backtrace() << "|" << e.msg() << "|" << e.context().size() << "\n";
            TORCH_RETHROW(e, "third ", 3);
        }
    } catch (const c10::Error &e) {
        std::cout << e.what_without_backtrace() << "\n" << std::string(e.what()).find("Exception raised from ") << "\n";
    }
    const c10::Error error(c10::SourceLocation{"function", "file.cpp", 12}, "text");
    std::cout << error.msg() << " " << std::string(error.what()).substr(0, 52) << "\n";
    std::cout << c10::GetExceptionString(std::runtime_error("x")) << " " << c10::str() << c10::str("a", 1, 'b') << "\n";
}

struct Collector : c10::WarningHandler {
    std::vector<std::string> texts;
    void process(const c10::SourceLocation &, const std::string &text, const bool) override
    {
        texts.push_back(text);
    }
};
void warnings()
{
    Collector collector;
    {
        const c10::Warning::WarningHandlerGuard guard(&collector);
        TORCH_WARN("number ", 3);
        for (int i = 0; i < 3; i++) {
            TORCH_WARN_ONCE("once");
        }
        const c10::Warning::WarnAlways always;
        for (int i = 0; i < 2; i++) {
            TORCH_WARN_ONCE("always");
        }
        std::cout << c10::Warning::get_warnAlways();
    }
    std::cout << c10::Warning::get_warnAlways() << (c10::Warning::get_warning_handler() == &collector) << "\n";
    for (const std::string &text : collector.texts) {
        std::cout << text << "\n";
    }
}

void jit_exceptions()
{
    using torch::jit::JITException;
    const JITException plain("the text"), made("the text", std::string("builtins.KeyError"), std::string("the key"));
    std::cout << plain.what() << " " << plain.getPythonClassName().has_value() << plain.getOriginalMsg().has_value()
              << " " << *made.getPythonClassName() << " " << *made.getOriginalMsg() << "\n";
    JITException::setCaughtOriginalMsg("first");
    JITException::setCaughtPythonClassName("second");
    std::cout << JITException::getCaughtOriginalMsg() << " " << JITException::getCaughtPythonClassName() << "\n";
}

} // namespace

int main()
{
    first_operators();
    second_operators();
    third_operators();
    other_texts();
    macros();
    warnings();
    std::cout << "models\n";
    jit_exceptions();
    return 0;
}
