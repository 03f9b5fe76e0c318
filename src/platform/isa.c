// SPDX-License-Identifier: BSD-2-Clause
// Finds the instruction sets of the CPU. On x86 the CPU is asked, on ARM the system.
#define _DARWIN_C_SOURCE 1 // needed for sysctlbyname
#define _GNU_SOURCE 1      // needed for syscall
#include "platform/isa.h"

#include "platform/platform.h"

#ifdef TAPER_ARCH_x86
#include <cpuid.h>

typedef enum x86_word { LEAF_1_ECX, LEAF_7_EBX, LEAF_7_ECX, LEAF_7_EDX, LEAF_7_1_EAX, X86_WORDS } x86_word;
typedef struct x86_words {
    uint32_t of[X86_WORDS];
    uint32_t saved; // registers that the system saves for a process, from XCR0
} x86_words;

static x86_words ask_x86(void)
{
    x86_words words = {{0}, 0};
    unsigned a, b, c, d;
    if (__get_cpuid(1, &a, &b, &c, &d) != 0) {
        words.of[LEAF_1_ECX] = c;
        if ((c & bit_OSXSAVE) != 0) {
            __asm__("xgetbv" : "=a"(words.saved), "=d"(d) : "c"(0));
        }
    }
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d) != 0) {
        words.of[LEAF_7_EBX] = b;
        words.of[LEAF_7_ECX] = c;
        words.of[LEAF_7_EDX] = d;
    }
    if (__get_cpuid_count(7, 1, &a, &b, &c, &d) != 0) {
        words.of[LEAF_7_1_EAX] = a;
    }
    return words;
}

enum { SAVES_AVX = 0x06, SAVES_AVX512 = 0xe6 };
// True if the CPU has the feature bit and the system saves the registers that the set needs.
#define X86(word, bit, needed) ((x86.of[word] & (bit)) != 0 && (x86.saved & (needed)) == (needed))
#define PROBE() const x86_words x86 = ask_x86()

#if defined(TAPER_AMX_EMULATED)
#define TILES() true // always true for tests/kernels/amx_emulated.h, which emulates the instructions
#elif defined(TAPER_ARCH_x64) && defined(__linux__) && TAPER_IS_ONE(TAPER_BUILT_amx)
#include <sys/syscall.h>
#include <unistd.h>

// Returns true if the CPU has AMX tiles with int8 and bf16 and Linux lets this process use them. A process must ask
// first, so that Linux reserves memory for its tile registers; a process that does not ask faults. Asking again gets
// the same answer.
static bool has_tiles(const x86_words *words)
{
    enum { BF16 = 1 << 22, TILE = 1 << 24, INT8 = 1 << 25, ALL = BF16 | TILE | INT8 };
    enum { SAVES_TILES = SAVES_AVX512 | 3 << 17, REQUEST = 0x1023, TILE_DATA = 18 }; // REQUEST is ARCH_REQ_XCOMP_PERM
    return (words->of[LEAF_7_EDX] & ALL) == ALL && (words->saved & SAVES_TILES) == SAVES_TILES &&
           syscall(SYS_arch_prctl, REQUEST, TILE_DATA) == 0;
}
#define TILES() has_tiles(&x86)
#else
#define TILES() false
#endif
#else
#define PROBE() (void)0
#endif

#if defined(TAPER_ARCH_arm) && defined(__linux__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#define ARM(word, name, apple) ((getauxval(AT_##word) & word##_##name) != 0)
#elif defined(TAPER_ARCH_arm) && defined(__APPLE__)
#include <sys/sysctl.h>
static bool has(const char *feature)
{
    int32_t value = 0;
    size_t size = sizeof value;
    return sysctlbyname(feature, &value, &size, NULL, 0) == 0 && value != 0;
}
#define ARM(word, name, apple) has("hw.optional.arm." #apple)
#else
#define ARM(word, name, apple) false
#endif

#if defined(TAPER_ARCH_arm32) && defined(__linux__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#define ARM32(name) ((getauxval(AT_HWCAP) & HWCAP_##name) != 0)
#else
#define ARM32(name) false
#endif

// ---- instruction sets of this CPU

uint64_t taper_cpu_features(void)
{
    uint64_t found = 0, built = 0;
    PROBE();
#define ISA(key, architecture, bit, needs, probe, flags, hints)                                                        \
    TAPER_IF(TAPER_ARCH_##architecture, found |= (found & (needs)) == (needs) && (probe) ? TAPER_ISA_##key : 0;)       \
    TAPER_IF_ISA(key, built |= TAPER_ISA_##key;)
#include "platform/isa_list.inc"
#undef ISA
    return found & built;
}

bool taper_cpu_has_pclmul(void)
{
#ifdef TAPER_ARCH_x86
    PROBE();
    return X86(LEAF_1_ECX, bit_PCLMUL, 0);
#else
    return false;
#endif
}

// ---- names

const char *taper_instruction_set(size_t index, uint64_t *mask)
{
    // The instruction sets for which this build has kernels.
    static const struct {
        char name[16];
        uint32_t bit, with;
    } sets[] = {
#define ISA(key, architecture, bit, needs, probe, flags, hints)                                                        \
    TAPER_IF_ISA(key, {#key, TAPER_ISA_##key, TAPER_WITH_##key}, )
#include "platform/isa_list.inc"
#undef ISA
    };
    const uint64_t cpu = taper_cpu_features();
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        if ((cpu & sets[i].bit) == sets[i].bit && index-- == 0) {
            if (mask != NULL) {
                *mask = TAPER_CPU_NONE | sets[i].with;
            }
            return sets[i].name;
        }
    }
    return NULL;
}
