// SPDX-License-Identifier: BSD-2-Clause
// Reference counts, flags and short spin locks on <stdatomic.h>. All other code uses this header, except headers in
// which a backend defines an interface of its own. Only load and store an atomic_bool, and exchange an atomic_uint:
// RISC-V exchanges no single bytes, so gcc calls libatomic, which Taper does not link.
#ifndef TAPER_BASE_ATOMIC_H
#define TAPER_BASE_ATOMIC_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef atomic_uint taper_refs;

static inline void taper_refs_init(taper_refs *refs)
{
    atomic_init(refs, 1u);
}

inline void taper_refs_add(taper_refs *refs)
{
    atomic_fetch_add_explicit(refs, 1u, memory_order_relaxed);
}

// Drops a reference. Returns true if it was the last reference. In that case, everything that other threads wrote
// before they dropped their references is visible.
inline bool taper_refs_drop(taper_refs *refs)
{
    if (atomic_fetch_sub_explicit(refs, 1u, memory_order_release) != 1u) {
        return false;
    }
    (void)atomic_load_explicit(refs, memory_order_acquire); // this load replaces a fence, which TSan does not support
    return true;
}

// Adds a reference and returns true. If the last reference is gone, the object is being freed: adds nothing and returns
// false.
static inline bool taper_refs_try_add(taper_refs *refs)
{
    unsigned count = atomic_load_explicit(refs, memory_order_relaxed);
    while (count != 0) {
        if (atomic_compare_exchange_weak_explicit(refs, &count, count + 1, memory_order_acquire,
                                                  memory_order_relaxed)) {
            return true;
        }
    }
    return false;
}

static inline unsigned taper_refs_count(const taper_refs *refs)
{
    return atomic_load_explicit((taper_refs *)refs, memory_order_acquire);
}

// A lock for sections of a few dozen instructions that threads rarely enter at the same time.
typedef atomic_flag taper_spin;

static inline void taper_spin_init(taper_spin *lock)
{
    atomic_flag_clear(lock);
}

static inline void taper_spin_lock(taper_spin *lock)
{
    while (atomic_flag_test_and_set_explicit(lock, memory_order_acquire)) {
    }
}

static inline void taper_spin_unlock(taper_spin *lock)
{
    atomic_flag_clear_explicit(lock, memory_order_release);
}

// Pauses the CPU core briefly. Call it in a loop that waits: the other hardware thread of the core gets more time, and
// the core saves power.
static inline void taper_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__) || (defined(__ARM_ARCH) && __ARM_ARCH >= 7)
    __asm__ volatile("yield");
#endif
}

#endif
