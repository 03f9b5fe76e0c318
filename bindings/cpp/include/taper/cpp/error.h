/* SPDX-License-Identifier: BSD-2-Clause */
// Errors: c10::Error and its subclasses, TORCH_CHECK, and the conversion from taper_status. All exceptions of these
// headers are derived from std::exception, and what() returns the library's message.
#ifndef TAPER_CPP_ERROR_H
#define TAPER_CPP_ERROR_H

#include <exception>
#include <sstream>
#include <string>
#include <utility>

#include <taper/taper.h>

namespace c10
{

class Error : public std::exception
{
  public:
    explicit Error(std::string message) : message_(std::move(message)), what_(message_)
    {
    }
    Error(std::string message, std::string detail) : message_(std::move(message)), backtrace_(std::move(detail))
    {
        describe();
    }

    const char *what() const noexcept override
    {
        return what_.c_str();
    }
    const std::string &msg() const noexcept
    {
        return message_;
    }
    // Returns the library's details beyond the message, such as the place in the model's code.
    const std::string &backtrace() const noexcept
    {
        return backtrace_;
    }
    const char *what_without_backtrace() const noexcept
    {
        return message_.c_str();
    }
    void add_context(const std::string &line)
    {
        message_ += "\n" + line;
        describe();
    }

  private:
    void describe()
    {
        what_ = backtrace_.empty() ? message_ : message_ + "\n" + backtrace_;
    }
    std::string message_, backtrace_, what_;
};

class IndexError : public Error
{
    using Error::Error;
};
class ValueError : public Error
{
    using Error::Error;
};
class TypeError : public Error
{
    using Error::Error;
};
class NotImplementedError : public Error
{
    using Error::Error;
};

namespace detail
{
inline void append(std::ostringstream &)
{
}
template <class T, class... Rest> void append(std::ostringstream &out, const T &first, const Rest &...rest)
{
    out << first;
    append(out, rest...);
}
} // namespace detail

// Returns the arguments as concatenated text.
template <class... T> std::string str(const T &...parts)
{
    std::ostringstream out;
    detail::append(out, parts...);
    return out.str();
}

namespace detail
{
// condition: the checked condition, which is false.
template <class Condition, class... T> std::string check_message(const Condition &, const T &...parts)
{
    return sizeof...(T) == 0 ? "a condition that must hold does not" : str(parts...);
}
} // namespace detail

} // namespace c10

namespace at
{
using namespace c10;
}

// The arguments after the condition are the message, which may be omitted.
#define TAPER_CPP_CHECK(kind, condition, ...)                                                                          \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            throw ::c10::kind(::c10::detail::check_message(__VA_ARGS__));                                              \
        }                                                                                                              \
    } while (false)
#define TAPER_CPP_FIRST(first, ...) first
#define TORCH_CHECK(...) TAPER_CPP_CHECK(Error, (TAPER_CPP_FIRST(__VA_ARGS__, 0)), __VA_ARGS__)
#define TORCH_CHECK_INDEX(...) TAPER_CPP_CHECK(IndexError, (TAPER_CPP_FIRST(__VA_ARGS__, 0)), __VA_ARGS__)
#define TORCH_CHECK_VALUE(...) TAPER_CPP_CHECK(ValueError, (TAPER_CPP_FIRST(__VA_ARGS__, 0)), __VA_ARGS__)
#define TORCH_CHECK_TYPE(...) TAPER_CPP_CHECK(TypeError, (TAPER_CPP_FIRST(__VA_ARGS__, 0)), __VA_ARGS__)
#define TORCH_INTERNAL_ASSERT(...) TORCH_CHECK(__VA_ARGS__)
#define AT_ERROR(...) throw ::c10::Error(::c10::str(__VA_ARGS__))

namespace taper
{
namespace cpp
{

// A taper_error for the calls of one function. Each thread keeps one for reuse.
class ErrorScope
{
  public:
    ErrorScope() : error_(kept().error)
    {
        if (error_ != nullptr) {
            kept().error = nullptr;
        } else {
            error_ = taper_error_create();
        }
    }
    ~ErrorScope()
    {
        Kept &here = kept();
        if (here.error == nullptr && !here.closed) {
            here.error = error_;
        } else {
            taper_error_destroy(error_);
        }
    }
    ErrorScope(const ErrorScope &) = delete;
    ErrorScope &operator=(const ErrorScope &) = delete;

    operator taper_error *() const
    {
        return error_;
    }

    // Throws unless status is TAPER_OK. about: what failed, for errors whose message does not say so.
    void check(taper_status status, const std::string &about = std::string()) const
    {
        if (status == TAPER_OK) {
            return;
        }
        std::string message, detail;
        if (error_ != nullptr) { // false if memory ran out
            message = taper_error_message(error_);
            detail = taper_error_detail(error_);
        }
        if (message.empty()) {
            message = status == TAPER_ERROR_RESOURCE ? "out of memory" : "failed";
        }
        if (!about.empty()) {
            message = about + ": " + message;
        }
        if (status == TAPER_ERROR_UNSUPPORTED) {
            throw c10::NotImplementedError(message, detail);
        }
        throw c10::Error(message, detail);
    }

  private:
    struct Kept {
        taper_error *error = nullptr;
        bool closed = false; // true when the thread ends
        ~Kept()
        {
            taper_error_destroy(error);
            error = nullptr;
            closed = true;
        }
    };
    static Kept &kept()
    {
        thread_local Kept here;
        return here;
    }
    taper_error *error_;
};

} // namespace cpp
} // namespace taper

#endif
