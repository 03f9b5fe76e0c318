/* SPDX-License-Identifier: BSD-2-Clause */
// c10::Error and its subclasses, and c10::str. All exceptions of these headers are derived from std::exception.
#ifndef TAPER_CPP_EXCEPTION_H
#define TAPER_CPP_EXCEPTION_H

#include <cstddef>
#include <cstdint>
#include <exception>
#include <sstream>
#include <string>
#include <typeinfo>
#include <utility>
#include <vector>

#if defined(__GNUG__)
#include <cxxabi.h>

#include <cstdlib>
#endif

#include <taper/cpp/macros.h>

namespace c10
{

// A place in the source code of a program. The texts are not owned.
struct SourceLocation {
    const char *function;
    const char *file;
    uint32_t line;
};
inline std::ostream &operator<<(std::ostream &out, const SourceLocation &place)
{
    return out << place.function << " at " << place.file << ":" << place.line;
}

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
// Returns the name of a file without its folders.
inline std::string StripBasename(const std::string &path)
{
    const size_t slash = path.rfind('/');
    return slash == std::string::npos ? path : path.substr(slash + 1);
}
} // namespace detail

// Returns the arguments as concatenated text.
template <class... T> std::string str(const T &...parts)
{
    std::ostringstream out;
    detail::append(out, parts...);
    return out.str();
}
inline std::string str(const std::string &text)
{
    return text;
}
inline const char *str(const char *text)
{
    return text;
}
inline const char *str()
{
    return "";
}

// Returns the name of a type in C++ from the compiler's mangled name, or the mangled name itself if it is not valid.
inline std::string demangle(const char *name)
{
#if defined(__GNUG__)
    int status = 1;
    char *const made = abi::__cxa_demangle(name, nullptr, nullptr, &status);
    const std::string text = status == 0 && made != nullptr ? made : name;
    std::free(made);
    return text;
#else
    return name;
#endif
}
template <class T> const char *demangle_type()
{
    static const std::string name = demangle(typeid(T).name());
    return name.c_str();
}

// Returns a fixed text, because call stacks are not recorded.
inline std::string get_backtrace(size_t = 0, size_t = 64, bool = true)
{
    return "(no backtrace available)";
}

class Error : public std::exception
{
  public:
    explicit Error(std::string message) : Error(std::move(message), std::string())
    {
    }
    // backtrace: lines that follow the message in what(), such as the place in the model's code.
    Error(std::string message, std::string backtrace, const void *caller = nullptr)
        : message_(std::move(message)), backtrace_(std::move(backtrace)), caller_(caller)
    {
        describe();
    }
    Error(SourceLocation place, std::string message)
        : Error(std::move(message),
                str("Exception raised from ", place, " (most recent call first):\n", get_backtrace()))
    {
    }
    Error(const char *file, const uint32_t line, const char *condition, const std::string &message,
          const std::string &backtrace, const void *caller = nullptr)
        : Error(str("[enforce fail at ", detail::StripBasename(file), ":", line, "] ", condition, ". ", message),
                backtrace, caller)
    {
    }

    const char *what() const noexcept override
    {
        return what_.c_str();
    }
    const std::string &msg() const noexcept
    {
        return message_;
    }
    const std::vector<std::string> &context() const noexcept
    {
        return context_;
    }
    const std::string &backtrace() const noexcept
    {
        return backtrace_;
    }
    const void *caller() const noexcept
    {
        return caller_;
    }
    // Returns the message and the context.
    const char *what_without_backtrace() const noexcept
    {
        return short_.c_str();
    }
    // Adds a line that says where the error occurred.
    void add_context(std::string line)
    {
        context_.push_back(std::move(line));
        describe();
    }

  private:
    void describe()
    {
        short_ = message_;
        if (context_.size() == 1) {
            short_ += " (" + context_[0] + ")";
        } else {
            for (const std::string &line : context_) {
                short_ += "\n  " + line;
            }
        }
        what_ = backtrace_.empty() ? short_ : short_ + "\n" + backtrace_;
    }
    std::string message_, backtrace_, short_, what_;
    std::vector<std::string> context_;
    const void *caller_;
};

#define TAPER_CPP_ERROR(name, base)                                                                                    \
    class name : public base                                                                                           \
    {                                                                                                                  \
        using base::base;                                                                                              \
    };
TAPER_CPP_ERROR(IndexError, Error)
TAPER_CPP_ERROR(ValueError, Error)
TAPER_CPP_ERROR(TypeError, Error)
TAPER_CPP_ERROR(NotImplementedError, Error)
TAPER_CPP_ERROR(EnforceFiniteError, Error)
TAPER_CPP_ERROR(OnnxfiBackendSystemError, Error)
TAPER_CPP_ERROR(LinAlgError, Error)
TAPER_CPP_ERROR(OutOfMemoryError, Error)
#undef TAPER_CPP_ERROR

// Returns the type and the text of an exception.
inline std::string GetExceptionString(const std::exception &error)
{
    return demangle(typeid(error).name()) + ": " + error.what();
}

} // namespace c10

namespace at
{
using namespace c10;
}

#endif
