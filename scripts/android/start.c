// SPDX-License-Identifier: BSD-2-Clause
// What a program for Android begins with, where no NDK brings it (library.sh with ANDROID_SYSROOT): the stack as the
// kernel left it goes to the C library's own beginning, which calls main and exit. Constructors are the dynamic
// linker's business.
#include <stddef.h>

int main(int argc, char **argv, char **environment);

typedef struct arrays {
    void *preinit, *init, *fini;
    size_t counts[3]; // that newer libraries look at
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
