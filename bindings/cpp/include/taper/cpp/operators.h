/* SPDX-License-Identifier: BSD-2-Clause */
// Calling the library's operators by name.
#ifndef TAPER_CPP_OPERATORS_H
#define TAPER_CPP_OPERATORS_H

#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include <taper/cpp/handle.h>
#include <taper/taper_operator.h>

namespace taper
{
namespace cpp
{

// An operator's handle is one thread's at a time: a call takes one from here and brings it back.
class OperatorLease
{
  public:
    explicit OperatorLease(const char *name) : pool_(pool())
    {
        {
            const std::lock_guard<std::mutex> guard(pool_.lock);
            free_ = &pool_.free[name]; // stays where it is when others come
            if (!free_->empty()) {
                operator_ = free_->back();
                free_->pop_back();
                return;
            }
        }
        ErrorScope error;
        error.check(taper_operator_find(context(), name, &operator_, error));
    }
    ~OperatorLease()
    {
        try {
            const std::lock_guard<std::mutex> guard(pool_.lock);
            if (!pool_.closed) {
                free_->push_back(operator_);
                return;
            }
        } catch (...) { // no memory to keep it
        }
        taper_operator_release(operator_);
    }
    OperatorLease(const OperatorLease &) = delete;
    OperatorLease &operator=(const OperatorLease &) = delete;
    taper_operator *get() const
    {
        return operator_;
    }

  private:
    struct Pool {
        std::mutex lock;
        std::unordered_map<std::string, std::vector<taper_operator *>> free;
        bool closed = false; // at exit: nothing is kept any more
    };
    // Lets go of the operators at exit, and leaves the pool itself to who comes later.
    struct Closer {
        explicit Closer(Pool &of) : pool(of)
        {
        }
        ~Closer()
        {
            const std::lock_guard<std::mutex> guard(pool.lock);
            pool.closed = true;
            for (auto &named : pool.free) {
                for (taper_operator *each : named.second) {
                    taper_operator_release(each);
                }
                named.second.clear();
            }
        }
        Pool &pool;
    };
    static Pool &pool()
    {
        static Pool *const all = new Pool;
        static const Closer closer(*all);
        return *all;
    }
    Pool &pool_;
    std::vector<taper_operator *> *free_;
    taper_operator *operator_ = nullptr;
};

// Arguments in the order of the schema; a handle without a value is None.
inline std::vector<Handle> call_operator(const char *name, std::vector<Handle> args)
{
    std::vector<taper_value *> in;
    in.reserve(args.size());
    for (Handle &arg : args) {
        if (!arg) {
            arg = make_value(taper_value_none);
        }
        in.push_back(arg.get());
    }
    const OperatorLease lease(name);
    std::vector<taper_value *> out(taper_operator_result_count(lease.get()), nullptr);
    std::vector<Handle> results(out.size());
    ErrorScope error;
    error.check(taper_operator_call(lease.get(), in.data(), in.size(), out.data(), out.size(), error));
    for (size_t i = 0; i < out.size(); i++) {
        results[i] = Handle(out[i]);
    }
    return results;
}

} // namespace cpp
} // namespace taper

#endif
