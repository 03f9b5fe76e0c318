// SPDX-License-Identifier: BSD-2-Clause
// A plugin for qemu-user (TCG plugins, API version 1) that counts the instructions between two marks, in total and by
// function. A mark is a call of getpriority(77, number), which has no other effect. The counts are reproducible on a
// busy machine, but counts do not show how long an instruction takes on a real core.
//
//     cc -shared -fPIC -O1 -o count.so count.c
//     qemu-aarch64 -plugin ./count.so[,top=N] PROGRAM
//
// For each mark, the plugin prints a line "mark NUMBER COUNT" on stderr, then lines "function COUNT NAME" for the
// functions with the highest counts. Functions come from the symbol table, so the program must be linked without PIE.
// Only programs with one thread are supported.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The declarations of qemu-plugin.h that this file uses. Debian has no package with that header for user emulation.
typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
enum { QEMU_PLUGIN_INLINE_ADD_U64 = 0 };
typedef void translated_callback(qemu_plugin_id_t id, struct qemu_plugin_tb *block);
typedef void system_call_callback(qemu_plugin_id_t id, unsigned vcpu, int64_t number, uint64_t a, uint64_t b,
                                  uint64_t c, uint64_t d, uint64_t e, uint64_t f, uint64_t g, uint64_t h);
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, translated_callback *callback);
void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *block, int operation, void *counter, uint64_t by);
void qemu_plugin_register_vcpu_syscall_cb(qemu_plugin_id_t id, system_call_callback *callback);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *block);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *block, size_t index);
const char *qemu_plugin_insn_symbol(const struct qemu_plugin_insn *instruction);
int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv);
extern int qemu_plugin_version;
int qemu_plugin_version = 1;

enum { GETPRIORITY_ARM = 96, GETPRIORITY_ARM64 = 141, MARK = 77, MOST = 1 << 15 };

typedef struct counter {
    const char *name;
    uint64_t now, before; // number of instructions executed up to now, and number at the last mark
} counter;

// Blocks of code contain pointers to the counters, which therefore must not move.
static counter counters[MOST];
static size_t used;
static size_t top = 12;

static counter *counter_of(const char *name)
{
    size_t i = 0;
    if (name == NULL)
        name = "?";
    while (i < used && strcmp(counters[i].name, name) != 0)
        i++;
    if (i == used && used < MOST - 1)
        counters[used++].name = strdup(name);
    return &counters[i];
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *block)
{
    (void)id;
    counter *c = counter_of(qemu_plugin_insn_symbol(qemu_plugin_tb_get_insn(block, 0)));
    qemu_plugin_register_vcpu_tb_exec_inline(block, QEMU_PLUGIN_INLINE_ADD_U64, &c->now, qemu_plugin_tb_n_insns(block));
}

static void mark(uint64_t number)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < used; i++)
        sum += counters[i].now - counters[i].before;
    fprintf(stderr, "mark %" PRIu64 " %" PRIu64 "\n", number, sum);
    for (size_t shown = 0; shown < top; shown++) {
        counter *most = &counters[0];
        for (size_t i = 1; i < used; i++) {
            if (counters[i].now - counters[i].before > most->now - most->before)
                most = &counters[i];
        }
        if (most->now == most->before)
            break;
        fprintf(stderr, "function %" PRIu64 " %s\n", most->now - most->before, most->name);
        most->before = most->now;
    }
    for (size_t i = 0; i < used; i++)
        counters[i].before = counters[i].now;
}

static void called(qemu_plugin_id_t id, unsigned vcpu, int64_t number, uint64_t a, uint64_t b, uint64_t c, uint64_t d,
                   uint64_t e, uint64_t f, uint64_t g, uint64_t h)
{
    (void)id, (void)vcpu, (void)c, (void)d, (void)e, (void)f, (void)g, (void)h;
    if ((number == GETPRIORITY_ARM64 || number == GETPRIORITY_ARM) && a == MARK)
        mark(b);
}

int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv)
{
    (void)info;
    for (int i = 0; i < argc; i++) {
        if (strncmp(argv[i], "top=", 4) == 0)
            top = (size_t)strtoul(argv[i] + 4, NULL, 10);
    }
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    qemu_plugin_register_vcpu_syscall_cb(id, called);
    return 0;
}
