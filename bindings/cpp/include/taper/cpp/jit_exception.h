/* SPDX-License-Identifier: BSD-2-Clause */
// torch::jit::JITException: an exception that a model raised itself.
#ifndef TAPER_CPP_JIT_EXCEPTION_H
#define TAPER_CPP_JIT_EXCEPTION_H

#include <stdexcept>
#include <string>

#include <taper/cpp/optional.h>

namespace torch
{
namespace jit
{

struct JITException : public std::runtime_error {
    // python_class_name: for example "builtins.ValueError". original_msg: the text that the model gave to the
    // exception, if `text` contains more than this text.
    explicit JITException(const std::string &text, c10::optional<std::string> python_class_name = c10::nullopt,
                          c10::optional<std::string> original_msg = c10::nullopt)
        : std::runtime_error(text), class_name_(std::move(python_class_name)), original_(std::move(original_msg))
    {
    }
    c10::optional<std::string> getPythonClassName() const
    {
        return class_name_;
    }
    c10::optional<std::string> getOriginalMsg() const
    {
        return original_;
    }
    // The text and the class of the last exception in this thread, as the app has set them.
    static const std::string &getCaughtOriginalMsg()
    {
        return caught(0);
    }
    static const std::string &getCaughtPythonClassName()
    {
        return caught(1);
    }
    static void setCaughtOriginalMsg(const std::string &text)
    {
        caught(0) = text;
    }
    static void setCaughtPythonClassName(const std::string &name)
    {
        caught(1) = name;
    }

  private:
    static std::string &caught(size_t which)
    {
        static thread_local std::string both[2];
        return both[which];
    }
    c10::optional<std::string> class_name_, original_;
};

} // namespace jit
} // namespace torch

#endif
