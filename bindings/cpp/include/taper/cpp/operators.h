/* SPDX-License-Identifier: BSD-2-Clause */
// The class Operator: an operator of the library, found by its name.
#ifndef TAPER_CPP_OPERATORS_H
#define TAPER_CPP_OPERATORS_H

#include <atomic>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include <taper/cpp/generator.h>
#include <taper/cpp/grad_mode.h>

namespace taper
{
namespace cpp
{

// Each handle (taper_operator) is used by one thread at a time: a call takes a handle from the cache and returns it.
// The class needs no static guard and no destructor, because other threads may call the operator while the process
// ends.
class Operator
{
  public:
    explicit constexpr Operator(const char *name)
        : name_(name), result_count_(0), free_{}, next_(nullptr), listed_(false)
    {
    }
    Operator(const Operator &) = delete;
    Operator &operator=(const Operator &) = delete;

    const char *name() const noexcept
    {
        return name_;
    }
    // Returns the number of the operator's results. The caller must have taken a handle of the operator before.
    size_t result_count() const noexcept
    {
        return result_count_.load(std::memory_order_relaxed);
    }
    taper_operator *take()
    {
        for (std::atomic<taper_operator *> &each : free_) {
            if (each.load(std::memory_order_relaxed) != nullptr) {
                taper_operator *const kept = each.exchange(nullptr, std::memory_order_acquire);
                if (kept != nullptr) {
                    return kept;
                }
            }
        }
        return find();
    }
    void give(taper_operator *op) noexcept
    {
        if (!all().closed.load(std::memory_order_acquire)) {
            for (std::atomic<taper_operator *> &each : free_) {
                taper_operator *nothing = nullptr;
                if (each.compare_exchange_strong(nothing, op, std::memory_order_acq_rel)) {
                    // The cache was closed while this thread used the handle, so this thread releases the handles.
                    if (all().closed.load(std::memory_order_acquire)) {
                        release();
                    }
                    return;
                }
            }
        }
        taper_operator_release(op);
    }

  private:
    struct All {
        std::mutex lock;
        Operator *first = nullptr; // head of the list of operators with cached handles
        std::atomic<bool> closed{false};
    };
    struct Closer {
        ~Closer()
        {
            All &those = all();
            const std::lock_guard<std::mutex> guard(those.lock);
            those.closed.store(true, std::memory_order_release);
            for (Operator *each = those.first; each != nullptr; each = each->next_) {
                each->release();
            }
        }
    };
    static All &all()
    {
        static All *const those = new All; // never destroyed, so that it outlives all callers
        return *those;
    }
    taper_operator *find()
    {
        static const Closer closer{};
        (void)closer;
        // This call comes before the handle is taken, because an exception would otherwise leak the handle.
        DefaultGenerator::get().state();
        ErrorScope error;
        taper_operator *found = nullptr;
        error.check(taper_operator_find(context(), name_, &found, error));
        result_count_.store(taper_operator_result_count(found), std::memory_order_relaxed);
        DefaultGenerator::get().serve(found);
        All &those = all();
        const std::lock_guard<std::mutex> guard(those.lock);
        if (!listed_) {
            listed_ = true;
            next_ = those.first;
            those.first = this;
        }
        return found;
    }
    void release() noexcept
    {
        for (std::atomic<taper_operator *> &each : free_) {
            taper_operator_release(each.exchange(nullptr, std::memory_order_acq_rel));
        }
    }

    const char *name_;
    std::atomic<size_t> result_count_;
    std::atomic<taper_operator *> free_[4];
    Operator *next_;
    bool listed_;
};

// Takes a handle of an operator for one call, and gives it back when destroyed.
class OperatorLease
{
  public:
    explicit OperatorLease(Operator &from) : from_(from), op_(from.take())
    {
        try {
            record_call(op_);
        } catch (...) {
            from_.give(op_);
            throw;
        }
    }
    ~OperatorLease()
    {
        from_.give(op_);
    }
    OperatorLease(const OperatorLease &) = delete;
    OperatorLease &operator=(const OperatorLease &) = delete;
    taper_operator *get() const
    {
        return op_;
    }

  private:
    Operator &from_;
    taper_operator *op_;
};

// Returns the operator with a name known only at run time. The operator is kept forever.
inline Operator &operator_named(const std::string &name)
{
    struct Named {
        std::mutex lock;
        std::unordered_map<std::string, Operator *> all;
    };
    static Named *const named = new Named;
    const std::lock_guard<std::mutex> guard(named->lock);
    const auto found = named->all.emplace(name, nullptr).first;
    if (found->second == nullptr) {
        // Nodes of a map do not move, so that the pointer to the key stays valid.
        found->second = new Operator(found->first.c_str());
    }
    return *found->second;
}

// Returns the operator with a name that is a string literal. A small table remembers the operator by the literal's
// address. A library that was unloaded may have had another literal at that address, so the names are compared too.
inline Operator &operator_of(const char *name)
{
    enum { slots = 1024, tries = 4 };
    static std::atomic<Operator *> table[slots];
    const size_t first = static_cast<size_t>(reinterpret_cast<uintptr_t>(name) * 0x9E3779B1u >> 7);
    for (size_t i = 0; i < tries; i++) {
        Operator *const known = table[(first + i) % slots].load(std::memory_order_acquire);
        if (known != nullptr && std::strcmp(known->name(), name) == 0) {
            return *known;
        }
    }
    Operator &found = operator_named(name);
    for (size_t i = 0; i < tries; i++) {
        Operator *nothing = nullptr;
        if (table[(first + i) % slots].compare_exchange_strong(nothing, &found, std::memory_order_acq_rel)) {
            break; // if all four places of the table are taken, the next call looks the name up again
        }
    }
    return found;
}

// Calls an operator with values in the order of the schema.
inline std::vector<Handle> call_operator(Operator &op, const std::vector<Handle> &args)
{
    const OperatorLease lease(op);
    std::vector<taper_value *> in, out(taper_operator_result_count(lease.get()), nullptr);
    in.reserve(args.size());
    for (const Handle &arg : args) {
        in.push_back(arg.get());
    }
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
