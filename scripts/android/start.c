// SPDX-License-Identifier: BSD-2-Clause
// The entry point of a program for Android, for builds without an NDK, which contains one (library.sh with
// ANDROID_SYSROOT). It passes the stack that the kernel has prepared to the C library, which calls main and exit. The
// dynamic linker calls the constructors.
#include <stddef.h>

int main(int argc, char **argv, char **environment);

typedef struct arrays {
    void *preinit, *init, *fini;
    size_t counts[3]; // numbers of entries of the three arrays; only newer C libraries read these numbers
} arrays;

_Noreturn void __libc_init(void *stack, void (*at_exit)(void), int (*main)(int, char **, char **),
                           const arrays *arrays);
__attribute__((naked, noreturn)) void _start(void);
__attribute__((used, noreturn, visibility("hidden"))) void taper_start(void *stack);

void taper_start(void *stack)
{
    static const arrays none;
    __libc_init(stack, NULL, main, &none);
}

void _start(void)
{
#if defined(__aarch64__)
    __asm__("mov x29, #0\n mov x30, #0\n mov x0, sp\n b taper_start");
#elif defined(__arm__)
    __asm__("mov r0, sp\n b taper_start");
#elif defined(__x86_64__)
    __asm__("xor %ebp, %ebp\n mov %rsp, %rdi\n and $-16, %rsp\n call taper_start");
#else
    __asm__("xor %ebp, %ebp\n mov %esp, %eax\n and $-16, %esp\n sub $12, %esp\n push %eax\n call taper_start");
#endif
}
