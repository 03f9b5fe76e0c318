/* SPDX-License-Identifier: BSD-2-Clause */
// at::Generator: the source of random operators. Operators that are called without a generator share one default
// generator.
#ifndef TAPER_CPP_GENERATOR_H
#define TAPER_CPP_GENERATOR_H

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>

#include <taper/cpp/device.h>
#include <taper/cpp/handle.h>
#include <taper/taper_operator.h>

namespace c10
{
namespace detail
{
constexpr uint64_t default_rng_seed_val = 67280421310721;
}
} // namespace c10

namespace taper
{
namespace cpp
{

class GeneratorState
{
  public:
    explicit GeneratorState(uint64_t seed) : generator_(nullptr), seed_(seed)
    {
        ErrorScope error;
        error.check(taper_generator_create(context(), seed, &generator_, error));
    }
    ~GeneratorState()
    {
        taper_generator_release(generator_);
    }
    GeneratorState(const GeneratorState &) = delete;
    GeneratorState &operator=(const GeneratorState &) = delete;
    void seed(uint64_t seed)
    {
        seed_.store(seed, std::memory_order_relaxed);
        taper_generator_seed(generator_, seed);
    }
    // Stores the seed from which the generator's state was made. Does not change the state.
    void remember(uint64_t seed)
    {
        seed_.store(seed, std::memory_order_relaxed);
    }
    uint64_t seed() const
    {
        return seed_.load(std::memory_order_relaxed);
    }
    taper_generator *get() const
    {
        return generator_;
    }
    std::mutex &mutex()
    {
        return mutex_;
    }

  private:
    taper_generator *generator_;
    std::atomic<uint64_t> seed_;
    std::mutex mutex_;
};

// The default generator. It exists until static objects are destroyed. An operator that is called after the destruction
// of the default generator uses a generator of its own.
class DefaultGenerator
{
  public:
    static DefaultGenerator &get()
    {
        static DefaultGenerator *const all = new DefaultGenerator;
        static const Closer closer{*all};
        (void)closer;
        return *all;
    }
    void serve(taper_operator *op)
    {
        const std::shared_ptr<GeneratorState> now = state();
        taper_operator_draw_from(op, now ? now->get() : nullptr);
    }
    void serve(taper_session *session)
    {
        const std::shared_ptr<GeneratorState> now = state();
        taper_session_draw_from(session, now ? now->get() : nullptr);
    }
    std::shared_ptr<GeneratorState> state()
    {
        const std::lock_guard<std::mutex> guard(lock_);
        if (!state_ && !closed_) {
            state_ = std::make_shared<GeneratorState>(c10::detail::default_rng_seed_val);
        }
        return state_;
    }

  private:
    struct Closer {
        DefaultGenerator &of;
        ~Closer()
        {
            const std::lock_guard<std::mutex> guard(of.lock_);
            of.closed_ = true;
            of.state_.reset();
        }
    };
    std::mutex lock_;
    std::shared_ptr<GeneratorState> state_;
    bool closed_ = false;
};

} // namespace cpp
} // namespace taper

namespace at
{

class CPUGeneratorImpl;
class Tensor;

// A reference to a generator of random numbers. Copies share the generator.
class Generator
{
  public:
    Generator() = default;
    explicit Generator(std::shared_ptr<taper::cpp::GeneratorState> state) : state_(std::move(state))
    {
    }
    bool defined() const
    {
        return static_cast<bool>(state_);
    }
    void set_current_seed(uint64_t seed) const
    {
        state().seed(seed);
    }
    uint64_t current_seed() const
    {
        return state().seed();
    }
    // Seeds the generator with a number that differs from call to call, and returns this seed.
    uint64_t seed() const
    {
        static std::atomic<uint64_t> calls{0};
        const uint64_t now = static_cast<uint64_t>(std::chrono::system_clock::now().time_since_epoch().count());
        uint64_t mixed = now + 0x9e3779b97f4a7c15 * (1 + calls.fetch_add(1, std::memory_order_relaxed));
        mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
        mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
        set_current_seed(mixed ^ (mixed >> 31));
        return current_seed();
    }
    c10::Device device() const
    {
        return c10::Device(c10::kCPU);
    }
    // Returns a new generator, which continues with the state of this generator.
    Generator clone() const
    {
        const Generator made(std::make_shared<taper::cpp::GeneratorState>(current_seed()));
        const std::unique_ptr<char[]> bytes(new char[TAPER_GENERATOR_STATE_SIZE]);
        taper_generator_get_state(get(), bytes.get());
        made.restore(bytes.get(), TAPER_GENERATOR_STATE_SIZE);
        return made;
    }
    // The state as a tensor of bytes, in the layout of torch.get_rng_state; defined in generator_state.h.
    Tensor get_state() const;
    void set_state(const Tensor &bytes);
    // Sets the state of the generator to a saved state.
    void restore(const void *bytes, size_t size) const
    {
        taper::cpp::ErrorScope error;
        error.check(taper_generator_set_state(get(), bytes, size, error));
        uint64_t seed = 0;
        std::memcpy(&seed, bytes, sizeof seed); // the seed is the first member of a state
        state().remember(seed);
    }
    std::mutex &mutex() const
    {
        return state().mutex();
    }
    bool operator==(const Generator &other) const
    {
        return state_ == other.state_;
    }
    bool operator!=(const Generator &other) const
    {
        return state_ != other.state_;
    }
    taper_generator *get() const
    {
        return state().get();
    }

  private:
    taper::cpp::GeneratorState &state() const
    {
        if (!state_) {
            throw c10::Error("Generator with undefined implementation");
        }
        return *state_;
    }
    std::shared_ptr<taper::cpp::GeneratorState> state_;
};

namespace detail
{
inline Generator getDefaultCPUGenerator()
{
    return Generator(taper::cpp::DefaultGenerator::get().state());
}
inline Generator createCPUGenerator(uint64_t seed = c10::detail::default_rng_seed_val)
{
    return Generator(std::make_shared<taper::cpp::GeneratorState>(seed));
}
} // namespace detail

template <class Impl> Generator make_generator(uint64_t seed = c10::detail::default_rng_seed_val)
{
    static_assert(std::is_same<Impl, CPUGeneratorImpl>::value, "there are generators for the CPU alone");
    return detail::createCPUGenerator(seed);
}

// Seeds the default generator, which modules also use.
inline void manual_seed(uint64_t seed)
{
    detail::getDefaultCPUGenerator().set_current_seed(seed);
}

} // namespace at

namespace torch
{
using namespace at;
}

#endif
