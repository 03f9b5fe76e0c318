/* SPDX-License-Identifier: BSD-2-Clause */
// c10::ivalue::Future: a value that another thread may compute.
#include <taper/cpp/ivalue.h> // the two headers include each other, so that a program may include either first
#ifndef TAPER_CPP_FUTURE_H
#define TAPER_CPP_FUTURE_H

#include <atomic>
#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace c10
{
namespace ivalue
{

class Future final : public Foreign
{
  public:
    explicit Future(TypePtr type, std::vector<Device> = {}) : type_(std::move(type))
    {
    }
    void wait()
    {
        std::unique_lock<std::mutex> guard(lock_);
        done_.wait(guard, [this] { return is_done_; });
    }
    // Waits until the future is completed, and throws the exception if there is one.
    void waitAndThrow()
    {
        wait();
        if (error_) {
            std::rethrow_exception(error_);
        }
    }
    bool completed() const
    {
        const std::lock_guard<std::mutex> guard(lock_);
        return is_done_;
    }
    bool hasValue() const
    {
        const std::lock_guard<std::mutex> guard(lock_);
        return is_done_ && !error_;
    }
    bool hasError() const
    {
        const std::lock_guard<std::mutex> guard(lock_);
        return is_done_ && error_;
    }
    // Returns the value, or throws the exception. Throws if the future is not completed.
    IValue value()
    {
        const std::lock_guard<std::mutex> guard(lock_);
        if (!is_done_) {
            throw Error("the future is not completed");
        }
        if (error_) {
            std::rethrow_exception(error_);
        }
        return value_;
    }
    const IValue &constValue() const
    {
        const std::lock_guard<std::mutex> guard(lock_);
        if (!is_done_ || error_) {
            throw Error("the future has no value");
        }
        return value_;
    }
    std::exception_ptr exception_ptr() const
    {
        const std::lock_guard<std::mutex> guard(lock_);
        return error_;
    }
    std::string tryRetrieveErrorMessage() const
    {
        try {
            if (const std::exception_ptr error = exception_ptr()) {
                std::rethrow_exception(error);
            }
        } catch (const std::exception &error) {
            return error.what();
        } catch (...) {
            return "Unknown Exception Type";
        }
        throw Error("No error present on the future.");
    }
    void markCompleted(IValue value = IValue())
    {
        finish(std::move(value), nullptr);
    }
    void setError(std::exception_ptr error)
    {
        finish(IValue(), std::move(error));
    }
    // Calls the function when the future is completed, in the thread that completes it.
    void addCallback(std::function<void(Future &)> callback)
    {
        {
            const std::lock_guard<std::mutex> guard(lock_);
            if (!is_done_) {
                callbacks_.push_back(std::move(callback));
                return;
            }
        }
        callback(*this);
    }
    // Returns a future with the result of the function.
    intrusive_ptr<Future> then(std::function<IValue(Future &)> callback, TypePtr type)
    {
        const intrusive_ptr<Future> next = make_intrusive<Future>(std::move(type));
        addCallback([next, callback](Future &self) {
            try {
                next->markCompleted(callback(self));
            } catch (...) {
                next->setError(std::current_exception());
            }
        });
        return next;
    }
    TypePtr elementType() const
    {
        return type_;
    }

  private:
    void finish(IValue value, std::exception_ptr error)
    {
        std::vector<std::function<void(Future &)>> callbacks;
        {
            const std::lock_guard<std::mutex> guard(lock_);
            if (is_done_) {
                throw Error("Attempting to mark a completed Future as complete again. Note that a Future can only be "
                            "marked completed once.");
            }
            value_ = std::move(value);
            error_ = std::move(error);
            is_done_ = true;
            callbacks.swap(callbacks_);
        }
        done_.notify_all();
        for (const std::function<void(Future &)> &each : callbacks) {
            each(*this);
        }
    }

    TypePtr type_;
    mutable std::mutex lock_;
    std::condition_variable done_;
    bool is_done_ = false;
    IValue value_;
    std::exception_ptr error_;
    std::vector<std::function<void(Future &)>> callbacks_;
};

} // namespace ivalue

inline IValue::IValue(intrusive_ptr<ivalue::Future> future)
    : IValue("Future[" + future->elementType()->annotation_str() + "]", future.get())
{
}
inline bool IValue::isFuture() const noexcept
{
    return foreign<ivalue::Future>() != nullptr;
}
inline intrusive_ptr<ivalue::Future> IValue::toFuture() const
{
    const ivalue::Future *future = foreign<ivalue::Future>();
    if (future == nullptr) {
        throw Error("Expected Future but got " + tagKind());
    }
    return intrusive_ptr<ivalue::Future>(const_cast<ivalue::Future *>(future));
}

template <> struct Convert<intrusive_ptr<ivalue::Future>> {
    static intrusive_ptr<ivalue::Future> from(const IValue &value)
    {
        return value.toFuture();
    }
};
namespace impl
{
template <> struct TypeName<intrusive_ptr<ivalue::Future>> {
    static constexpr bool known = false; // false, because each future object has its own type of value
    static std::string text()
    {
        return "Future[Any]";
    }
};
template <class T> const std::vector<T> &futures_of(const std::vector<T> &all)
{
    return all;
}
template <class T> std::vector<T> futures_of(const List<T> &all)
{
    return all.vec();
}
} // namespace impl

// Returns a future whose value is the list of the given futures. The new future is completed when all given futures are
// completed. If some of them fail, the new future has the error of one of them.
template <class Futures> intrusive_ptr<ivalue::Future> collectAll(const Futures &list)
{
    const std::vector<intrusive_ptr<ivalue::Future>> futures = impl::futures_of(list);
    const TypePtr type = FutureType::create(futures.empty() ? TypePtr(AnyType::get()) : futures.front()->elementType());
    const intrusive_ptr<ivalue::Future> all = make_intrusive<ivalue::Future>(ListType::create(type));
    const std::shared_ptr<std::atomic<size_t>> left = std::make_shared<std::atomic<size_t>>(futures.size());
    const auto finish = [all, futures, type] {
        for (const intrusive_ptr<ivalue::Future> &each : futures) {
            if (each->hasError()) {
                all->setError(each->exception_ptr());
                return;
            }
        }
        all->markCompleted(IValue(
            impl::make_list(type->annotation_str().c_str(), std::vector<IValue>(futures.begin(), futures.end()))));
    };
    if (futures.empty()) {
        finish();
    }
    for (const intrusive_ptr<ivalue::Future> &each : futures) {
        each->addCallback([left, finish](ivalue::Future &) {
            if (left->fetch_sub(1) == 1) {
                finish();
            }
        });
    }
    return all;
}
// Returns a future with the result of the future that is completed first.
template <class Futures> intrusive_ptr<ivalue::Future> collectAny(const Futures &list)
{
    const std::vector<intrusive_ptr<ivalue::Future>> futures = impl::futures_of(list);
    const intrusive_ptr<ivalue::Future> first =
        make_intrusive<ivalue::Future>(futures.empty() ? TypePtr(NoneType::get()) : futures.front()->elementType());
    const std::shared_ptr<std::atomic<bool>> is_done = std::make_shared<std::atomic<bool>>(futures.empty());
    if (futures.empty()) {
        first->markCompleted();
    }
    for (const intrusive_ptr<ivalue::Future> &each : futures) {
        each->addCallback([first, is_done](ivalue::Future &done) {
            if (!is_done->exchange(true)) {
                done.hasError() ? first->setError(done.exception_ptr()) : first->markCompleted(done.value());
            }
        });
    }
    return first;
}

} // namespace c10

#endif
