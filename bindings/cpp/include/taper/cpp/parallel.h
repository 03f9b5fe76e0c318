/* SPDX-License-Identifier: BSD-2-Clause */
// at::parallel_for and parallel_reduce on the library's pool, and the numbers of threads.
#ifndef TAPER_CPP_PARALLEL_H
#define TAPER_CPP_PARALLEL_H

#include <atomic>
#include <exception>
#include <functional>
#include <vector>

#include <taper/cpp/future.h>
#include <taper/cpp/handle.h>
#include <taper/taper_operator.h>

namespace at
{

inline int64_t divup(int64_t x, int64_t y)
{
    return (x + y - 1) / y;
}

inline int get_num_threads()
{
    return static_cast<int>(taper_context_threads(taper::cpp::context()));
}
inline void set_num_threads(int count)
{
    TORCH_CHECK(count > 0, "Expected positive number of threads");
    taper_context_set_threads(taper::cpp::context(), static_cast<unsigned>(count));
}
// Does nothing, because threads need no preparation.
inline void init_num_threads()
{
}
inline int intraop_default_num_threads()
{
    return get_num_threads();
}

namespace internal
{
// The part of a parallel loop that this thread executes.
struct ParallelPart {
    int number = 0;
    bool inside = false;
};
inline ParallelPart &parallel_part()
{
    static thread_local ParallelPart part;
    return part;
}
class ParallelPartGuard
{
  public:
    ParallelPartGuard(int number, bool inside) : before_(parallel_part())
    {
        parallel_part().number = number;
        parallel_part().inside = inside;
    }
    ~ParallelPartGuard()
    {
        parallel_part() = before_;
    }
    ParallelPartGuard(const ParallelPartGuard &) = delete;
    ParallelPartGuard &operator=(const ParallelPartGuard &) = delete;

  private:
    ParallelPart before_;
};

// Calls body(argument, begin, end) for the parts of a range. The first exception that a part throws reaches the caller
// after all parts have ended.
class ParallelLoop
{
  public:
    using Body = void (*)(void *argument, int64_t begin, int64_t end);
    // Returns the number of parts: 1 for a small range, and inside another loop.
    static int64_t parts_of(int64_t begin, int64_t end, int64_t grain)
    {
        const int64_t count = end - begin;
        if (count <= grain || count <= 1 || parallel_part().inside) {
            return 1;
        }
        const int64_t threads = get_num_threads(), needed = grain > 0 ? divup(count, grain) : count;
        return threads < needed ? threads : needed;
    }
    static void run(int64_t begin, int64_t end, int64_t grain, Body body, void *argument)
    {
        TORCH_CHECK(grain >= 0, "Expected grain_size >= 0 to be true, but got false.");
        if (begin >= end) {
            return;
        }
        const int64_t parts = parts_of(begin, end, grain);
        if (parts <= 1) {
            const ParallelPartGuard guard(0, parallel_part().inside);
            body(argument, begin, end);
            return;
        }
        ParallelLoop loop;
        loop.body_ = body;
        loop.argument_ = argument;
        loop.begin_ = begin;
        loop.end_ = end;
        loop.size_ = divup(end - begin, parts);
        taper_context_run_tasks(taper::cpp::context(), call, &loop, static_cast<size_t>(parts));
        if (loop.thrown_) {
            std::rethrow_exception(loop.thrown_);
        }
    }

  private:
    static void call(void *argument, size_t index)
    {
        ParallelLoop &loop = *static_cast<ParallelLoop *>(argument);
        const int64_t from = loop.begin_ + static_cast<int64_t>(index) * loop.size_;
        const int64_t to = loop.end_ - from < loop.size_ ? loop.end_ : from + loop.size_;
        if (from >= to) {
            return;
        }
        const ParallelPartGuard guard(static_cast<int>(index), true);
        try {
            loop.body_(loop.argument_, from, to);
        } catch (...) {
            if (!loop.failed_.exchange(true)) {
                loop.thrown_ = std::current_exception();
            }
        }
    }
    Body body_ = nullptr;
    void *argument_ = nullptr;
    int64_t begin_ = 0, end_ = 0, size_ = 0;
    std::atomic<bool> failed_{false};
    std::exception_ptr thrown_;
};
} // namespace internal

// Returns the number of the part that this thread executes, from 0.
inline int get_thread_num()
{
    return internal::parallel_part().number;
}
inline bool in_parallel_region()
{
    return internal::parallel_part().inside;
}

// Calls body(from, to) for parts of [begin, end), of at least grain_size numbers. A loop inside a body has one part.
template <class F> void parallel_for(const int64_t begin, const int64_t end, const int64_t grain_size, const F &body)
{
    const auto call = [](void *argument, int64_t from, int64_t to) { (*static_cast<const F *>(argument))(from, to); };
    internal::ParallelLoop::run(begin, end, grain_size, call, const_cast<F *>(&body));
}
// Returns the sum of the results of body(from, to, identity), added in the order of the parts.
template <class T, class F, class Sum>
T parallel_reduce(const int64_t begin, const int64_t end, const int64_t grain_size, const T identity, const F &body,
                  const Sum &sum)
{
    if (begin >= end) {
        return identity;
    }
    const int64_t parts = internal::ParallelLoop::parts_of(begin, end, grain_size);
    if (parts <= 1) {
        const internal::ParallelPartGuard guard(0, in_parallel_region());
        return body(begin, end, identity);
    }
    struct Part { // a struct, because the items of a vector of bool would share bytes
        T result;
    };
    const int64_t size = divup(end - begin, parts);
    std::vector<Part> results(static_cast<size_t>(parts), Part{identity});
    parallel_for(begin, end, grain_size, [&](int64_t from, int64_t to) {
        results[static_cast<size_t>((from - begin) / size)].result = body(from, to, identity);
    });
    T result = identity;
    for (const Part &part : results) {
        result = sum(result, part.result);
    }
    return result;
}

namespace internal
{
inline std::atomic<int> &interop_threads()
{
    static std::atomic<int> count{0};
    return count;
}
} // namespace internal
// The number of threads for calls that run at the same time. The number has no effect: such calls run in the threads
// that programs start. The number can be set once, as in libtorch.
inline int get_num_interop_threads()
{
    const int count = internal::interop_threads();
    return count > 0 ? count : get_num_threads();
}
inline void set_num_interop_threads(int count)
{
    TORCH_CHECK(count > 0, "Expected positive number of threads");
    int unset = 0;
    TORCH_CHECK(internal::interop_threads().compare_exchange_strong(unset, count),
                "Error: cannot set number of interop threads after parallel work has started or "
                "set_num_interop_threads called");
}
// Runs the function in this thread.
inline void intraop_launch(std::function<void()> work)
{
    work();
}
// Returns a future that is completed, because the function runs before intraop_launch_future returns.
inline c10::intrusive_ptr<c10::ivalue::Future> intraop_launch_future(std::function<void()> work)
{
    const c10::intrusive_ptr<c10::ivalue::Future> future =
        c10::make_intrusive<c10::ivalue::Future>(c10::NoneType::get());
    try {
        work();
        future->markCompleted();
    } catch (...) {
        future->setError(std::current_exception());
    }
    return future;
}
inline std::string get_parallel_info()
{
    return c10::str("ATen/Parallel:\n\tat::get_num_threads() : ", get_num_threads(),
                    "\n\tat::get_num_interop_threads() : ", get_num_interop_threads(),
                    "\nATen parallel backend: the threads of Taper\n");
}

} // namespace at

namespace torch
{
using namespace at;
}

#endif
