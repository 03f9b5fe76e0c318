/* SPDX-License-Identifier: BSD-2-Clause */
// The conversion of errors of the C library to exceptions, whose what() is the library's message.
#ifndef TAPER_CPP_ERROR_H
#define TAPER_CPP_ERROR_H

#include <string>

#include <taper/cpp/check.h>
#include <taper/cpp/error_kind.h>
#include <taper/taper.h>

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
        throw_error(status, message, detail);
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
