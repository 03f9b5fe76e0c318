/* SPDX-License-Identifier: BSD-2-Clause */
// Checks of conditions that throw c10::Error, and warnings.
#ifndef TAPER_CPP_CHECK_H
#define TAPER_CPP_CHECK_H

#include <atomic>
#include <cstdio>

#include <taper/cpp/exception.h>

namespace c10
{

namespace detail
{
// The end marker after the parts of a message, so that a message always has at least one part.
struct MessageEnd {
};
inline std::ostream &operator<<(std::ostream &out, MessageEnd)
{
    return out;
}
// condition: the text of the condition, which is all of the check's text if the check has no message.
inline std::string check_message(const char *condition, MessageEnd)
{
    return std::string("Expected ") + condition +
           " to be true, but got false.  (Could this error message be improved?  If so, please report an enhancement "
           "request to PyTorch.)";
}
template <class... T> std::string check_message(const char *, const T &...parts)
{
    return str(parts...);
}
template <class... T> std::string assert_message(const char *condition, const char *file, int line, const T &...parts)
{
    const std::string text = condition;
    // The text also contains the message, which begins after a comma outside of brackets and strings.
    size_t end = 0, depth = 0;
    for (char quote = 0; end < text.size() && (quote != 0 || depth > 0 || text[end] != ','); end++) {
        const char c = text[end];
        if (quote != 0) {
            end += c == '\\' ? 1 : 0;
            quote = c == quote ? 0 : quote;
        } else {
            quote = c == '"' || c == '\'' ? c : 0;
            depth += c == '(' || c == '{' || c == '[' ? 1 : 0;
            depth -= (c == ')' || c == '}' || c == ']') && depth > 0 ? 1 : 0;
        }
    }
    return str(text.substr(0, end), " INTERNAL ASSERT FAILED at \"", file, "\":", line,
               ", please report a bug to PyTorch. ", parts...);
}
} // namespace detail

// Receives warnings. The function `process` is called in the thread that warns.
class WarningHandler
{
  public:
    virtual ~WarningHandler() = default;
    // verbatim: true if the text must be printed as it is.
    virtual void process(const SourceLocation &place, const std::string &text, const bool)
    {
        std::fprintf(stderr, "[W %s:%u] Warning: %s (function %s)\n", detail::StripBasename(place.file).c_str(),
                     static_cast<unsigned>(place.line), text.c_str(), place.function);
    }
};

namespace Warning
{

namespace detail
{
// Returns the handler of this thread, as a reference that may be changed. NULL stands for the standard handler.
inline WarningHandler *&handler()
{
    static thread_local WarningHandler *here = nullptr;
    return here;
}
inline std::atomic<bool> &always()
{
    static std::atomic<bool> flag{false};
    return flag;
}
} // namespace detail

inline WarningHandler *get_warning_handler() noexcept
{
    static WarningHandler standard;
    WarningHandler *const own = detail::handler();
    return own != nullptr ? own : &standard;
}
// Sets the handler for this thread. The handler must outlive its use. NULL sets the standard handler.
inline void set_warning_handler(WarningHandler *handler) noexcept
{
    detail::handler() = handler;
}
inline void warn(const SourceLocation &place, const std::string &text, bool verbatim)
{
    get_warning_handler()->process(place, text, verbatim);
}
class WarningHandlerGuard
{
  public:
    explicit WarningHandlerGuard(WarningHandler *handler) : before_(detail::handler())
    {
        set_warning_handler(handler);
    }
    ~WarningHandlerGuard()
    {
        set_warning_handler(before_);
    }
    WarningHandlerGuard(const WarningHandlerGuard &) = delete;
    WarningHandlerGuard &operator=(const WarningHandlerGuard &) = delete;

  private:
    WarningHandler *before_;
};
// If flag is true, TORCH_WARN_ONCE warns every time.
inline void set_warnAlways(bool flag) noexcept
{
    detail::always() = flag;
}
inline bool get_warnAlways() noexcept
{
    return detail::always();
}
struct WarnAlways {
    explicit WarnAlways(bool flag = true) : before(get_warnAlways())
    {
        set_warnAlways(flag);
    }
    ~WarnAlways()
    {
        set_warnAlways(before);
    }
    WarnAlways(const WarnAlways &) = delete;
    WarnAlways &operator=(const WarnAlways &) = delete;
    bool before;
};

} // namespace Warning
namespace WarningUtils = Warning;

} // namespace c10

#define TAPER_CPP_PLACE                                                                                                \
    ::c10::SourceLocation                                                                                              \
    {                                                                                                                  \
        __func__, __FILE__, static_cast<uint32_t>(__LINE__)                                                            \
    }
// TAPER_CPP_FIRST expands to the first argument, TAPER_CPP_REST to the other arguments and an end marker. Each inner
// macro gets one more argument, so that its variadic part is never empty.
#define TAPER_CPP_FIRST_(first, ...) first
#define TAPER_CPP_FIRST(...) TAPER_CPP_FIRST_(__VA_ARGS__, 0)
#define TAPER_CPP_REST_(first, ...) __VA_ARGS__
#define TAPER_CPP_REST(...) TAPER_CPP_REST_(__VA_ARGS__, ::c10::detail::MessageEnd())
#define C10_THROW_ERROR(kind, message) throw ::c10::kind(TAPER_CPP_PLACE, message)
// text: the unexpanded text of the check.
#define TAPER_CPP_CHECK(kind, text, ...)                                                                               \
    do {                                                                                                               \
        if (C10_UNLIKELY(!(TAPER_CPP_FIRST(__VA_ARGS__)))) {                                                           \
            C10_THROW_ERROR(kind, ::c10::detail::check_message(text, TAPER_CPP_REST(__VA_ARGS__)));                    \
        }                                                                                                              \
    } while (false)
#define TORCH_CHECK(...) TAPER_CPP_CHECK(Error, #__VA_ARGS__, __VA_ARGS__)
#define TORCH_CHECK_INDEX(...) TAPER_CPP_CHECK(IndexError, #__VA_ARGS__, __VA_ARGS__)
#define TORCH_CHECK_VALUE(...) TAPER_CPP_CHECK(ValueError, #__VA_ARGS__, __VA_ARGS__)
#define TORCH_CHECK_TYPE(...) TAPER_CPP_CHECK(TypeError, #__VA_ARGS__, __VA_ARGS__)
#define TORCH_CHECK_LINALG(...) TAPER_CPP_CHECK(LinAlgError, #__VA_ARGS__, __VA_ARGS__)
#define TORCH_CHECK_NOT_IMPLEMENTED(...) TAPER_CPP_CHECK(NotImplementedError, #__VA_ARGS__, __VA_ARGS__)
#define TORCH_CHECK_WITH(kind, ...) TAPER_CPP_CHECK(kind, #__VA_ARGS__, __VA_ARGS__)
#define TORCH_CHECK_WITH_MSG(kind, condition, type, ...) TAPER_CPP_CHECK(kind, #condition, condition, __VA_ARGS__)
#define TORCH_CHECK_ARG(condition, number, ...)                                                                        \
    TAPER_CPP_CHECK(Error, #condition, condition, "invalid argument " #number ": ", __VA_ARGS__)
#define TORCH_INTERNAL_ASSERT(...)                                                                                     \
    do {                                                                                                               \
        if (C10_UNLIKELY(!(TAPER_CPP_FIRST(__VA_ARGS__)))) {                                                           \
            C10_THROW_ERROR(                                                                                           \
                Error, ::c10::detail::assert_message(#__VA_ARGS__, __FILE__, __LINE__, TAPER_CPP_REST(__VA_ARGS__)));  \
        }                                                                                                              \
    } while (false)
#ifdef NDEBUG
#define TORCH_INTERNAL_ASSERT_DEBUG_ONLY(...)                                                                          \
    while (false) {                                                                                                    \
        TORCH_INTERNAL_ASSERT(__VA_ARGS__);                                                                            \
    }
#else
#define TORCH_INTERNAL_ASSERT_DEBUG_ONLY(...) TORCH_INTERNAL_ASSERT(__VA_ARGS__)
#endif
#define AT_ERROR(...)                                                                                                  \
    do {                                                                                                               \
        C10_THROW_ERROR(Error, ::c10::str(__VA_ARGS__));                                                               \
    } while (false)
#define AT_INDEX_ERROR(...)                                                                                            \
    do {                                                                                                               \
        C10_THROW_ERROR(IndexError, ::c10::str(__VA_ARGS__));                                                          \
    } while (false)
#define AT_CHECK(...) TORCH_CHECK(__VA_ARGS__)
#define AT_ASSERT(...) TORCH_INTERNAL_ASSERT(__VA_ARGS__)
#define AT_ASSERTM(...) TORCH_INTERNAL_ASSERT(__VA_ARGS__)
#define TORCH_RETHROW(error, ...)                                                                                      \
    do {                                                                                                               \
        error.add_context(::c10::str(__VA_ARGS__));                                                                    \
        throw;                                                                                                         \
    } while (false)
#define WARNING_MESSAGE_STRING(...) ::c10::str(__VA_ARGS__)
#define TORCH_WARN(...) ::c10::Warning::warn(TAPER_CPP_PLACE, ::c10::str(__VA_ARGS__), false)
#define TORCH_WARN_ONCE(...)                                                                                           \
    do {                                                                                                               \
        static ::std::atomic<bool> taper_cpp_warned{false};                                                            \
        if (!taper_cpp_warned.exchange(true) || ::c10::Warning::get_warnAlways()) {                                    \
            TORCH_WARN(__VA_ARGS__);                                                                                   \
        }                                                                                                              \
    } while (false)
#define TORCH_WARN_DEPRECATION(...) TORCH_WARN(__VA_ARGS__)
#define AT_WARN(...) TORCH_WARN(__VA_ARGS__)
#define CAFFE_THROW(...)                                                                                               \
    throw ::c10::Error(__FILE__, static_cast<uint32_t>(__LINE__), "", ::c10::str(__VA_ARGS__), std::string())
#define CAFFE_ENFORCE(...)                                                                                             \
    do {                                                                                                               \
        if (!(TAPER_CPP_FIRST(__VA_ARGS__))) {                                                                         \
            throw ::c10::Error(__FILE__, static_cast<uint32_t>(__LINE__), #__VA_ARGS__,                                \
                               ::c10::str(TAPER_CPP_REST(__VA_ARGS__)), std::string());                                \
        }                                                                                                              \
    } while (false)

#endif
