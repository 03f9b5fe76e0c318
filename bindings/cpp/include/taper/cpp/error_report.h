/* SPDX-License-Identifier: BSD-2-Clause */
// torch::jit::ErrorReport: PyTorch's error of TorchScript that cannot be compiled. Taper throws c10::Error instead.
#ifndef TAPER_CPP_ERROR_REPORT_H
#define TAPER_CPP_ERROR_REPORT_H

#include <exception>
#include <sstream>
#include <string>

namespace torch
{
namespace jit
{

struct ErrorReport : public std::exception {
    ErrorReport() = default;
    ErrorReport(const ErrorReport &other) : std::exception(other), text_(other.text_)
    {
    }
    ErrorReport &operator=(const ErrorReport &) = delete;
    const char *what() const noexcept override
    {
        return text_.c_str();
    }
    // Returns the functions that are being compiled, which are none.
    static std::string current_call_stack()
    {
        return "";
    }

  private:
    template <class T> friend const ErrorReport &operator<<(const ErrorReport &report, const T &part);
    mutable std::string text_;
};
// Adds to the text. The report may be const, so that << can be used in a throw expression.
template <class T> const ErrorReport &operator<<(const ErrorReport &report, const T &part)
{
    std::ostringstream out;
    out << part;
    report.text_ += out.str();
    return report;
}

} // namespace jit
} // namespace torch

#endif
