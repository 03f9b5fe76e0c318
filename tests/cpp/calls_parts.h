/* SPDX-License-Identifier: BSD-2-Clause */
// Code that the programs written by make_calls.py share, for Taper and for PyTorch.
#ifndef TAPER_TESTS_CALLS_PARTS_H
#define TAPER_TESTS_CALLS_PARTS_H

#include <array>
#include <cstdint>
#include <cstring>
#include <iostream>
#include <tuple>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include <ATen/Parallel.h>
#include <torch/script.h>

struct Case {
    Case(const char *name, void (*call)()) : name(name), call(call), next(nullptr)
    {
        *end() = this;
        end() = &next;
    }
    static Case *&first()
    {
        static Case *all = nullptr;
        return all;
    }
    static Case **&end()
    {
        static Case **last = &first();
        return last;
    }
    const char *name;
    void (*call)();
    Case *next;
};

enum { NUMBERS, UNIT, INDEX, POSITIVE, DEFINITE, LOWER, QUANTIZED, ONES, ZEROS };

// Makes the tensor of class Drawn in make_calls.py.
inline at::Tensor made(uint64_t seed, std::vector<int64_t> sizes, int dtype, int kind)
{
    const at::ScalarType type = static_cast<at::ScalarType>(dtype);
    uint64_t state = seed * 2654435761u + 12345;
    at::Tensor all = at::empty(sizes, at::kDouble);
    double *data = all.data_ptr<double>();
    const bool floats = type == at::kFloat || type == at::kDouble, complex = type == at::kComplexFloat;
    for (int64_t i = 0; i < all.numel(); i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        const int64_t n = static_cast<int64_t>(state >> 33);
        if (kind == INDEX || type == at::kBool) {
            data[i] = static_cast<double>(n % 2);
        } else if (kind == UNIT) {
            data[i] = floats ? static_cast<double>(n % 1001) / 1000.0 : static_cast<double>(n % 2);
        } else if (!floats && !complex) {
            data[i] = static_cast<double>(type == at::kByte || kind == POSITIVE ? n % 4 : n % 9 - 4);
        } else {
            data[i] = kind == POSITIVE ? static_cast<double>(n % 2001) / 500.0 + 0.01
                                       : static_cast<double>(n % 2001 - 1000) / 500.0;
        }
        data[i] = kind == ONES ? 1 : kind == ZEROS ? 0 : data[i];
    }
    at::Tensor t = all.to(type);
    if (kind == DEFINITE || kind == LOWER) {
        t = t.matmul(t.transpose(-2, -1)) + at::eye(sizes.back(), t.options()) * 2;
        t = kind == LOWER ? t.tril() : t;
    }
    return kind == QUANTIZED ? at::quantize_per_tensor(t, 0.1, 64, at::kQUInt8) : t;
}

inline void sizes(const at::Tensor &t)
{
    std::cout << "sizes " << (t.defined() ? t.sizes() : at::IntArrayRef()) << "\n";
}
inline void show(const at::Tensor &t)
{
    if (!t.defined()) {
        std::cout << "undefined\n";
    } else {
        std::cout << t.sizes() << " " << t.strides() << "\n" << t << "\n";
    }
}
inline void show(bool flag)
{
    std::cout << (flag ? "true\n" : "false\n");
}
inline void show(int64_t number)
{
    std::cout << number << "\n";
}
inline void show(double number)
{
    std::cout << number << "\n";
}
inline void show(at::ScalarType type)
{
    std::cout << static_cast<int>(type) << "\n";
}
inline void show(at::QScheme scheme)
{
    std::cout << static_cast<int>(scheme) << "\n";
}
inline void show(const at::Scalar &number)
{
    if (number.isComplex()) {
        std::cout << number.toComplexDouble().real() << " " << number.toComplexDouble().imag() << "\n";
    } else {
        std::cout << (number.isFloatingPoint() ? "float "
                      : number.isBoolean()     ? "bool "
                                               : "int ")
                  << number.toDouble() << "\n";
    }
}
inline void show(const std::vector<at::Tensor> &all)
{
    std::cout << all.size() << " tensors\n";
    for (const at::Tensor &each : all) {
        show(each);
    }
}
template <size_t I, class T> std::enable_if_t<I == std::tuple_size<T>::value> show_from(const T &)
{
}
template <size_t I, class T> std::enable_if_t<(I < std::tuple_size<T>::value)> show_from(const T &all)
{
    show(std::get<I>(all));
    show_from<I + 1>(all);
}
template <class... T> void show(const std::tuple<T...> &all)
{
    show_from<0>(all);
}

// Each call runs in a separate process, because PyTorch writes out of bounds for some arguments.
int main()
{
    at::globalContext().setQEngine(at::QEngine::QNNPACK);
    at::set_num_threads(1);
    for (Case *each = Case::first(); each != nullptr; each = each->next) {
        std::cout << "== " << each->name << std::endl;
        const pid_t child = fork();
        if (child == 0) {
            try {
                torch::manual_seed(0);
                each->call();
            } catch (const std::exception &e) {
                std::cout << "threw\n";
                std::cerr << each->name << ": " << std::string(e.what()).substr(0, 300) << std::endl;
            }
            std::cout.flush();
            _exit(0);
        }
        int status = 0;
        if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status)) {
            std::cout << "ended" << std::endl;
        }
    }
    return 0;
}

#endif
