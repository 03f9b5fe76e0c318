// SPDX-License-Identifier: BSD-2-Clause
// Tests how the number of useful threads of a machine and the sizes of its caches are found. The test writes /proc and
// /sys of several machines to a folder.
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "platform/cores.h"
#include "platform/platform.h"

typedef struct machine {
    char root[64];
    unsigned char allowed[4];
} machine;

static void begin(machine *m, unsigned cpus)
{
    (void)snprintf(m->root, sizeof m->root, "/tmp/taper_cores_XXXXXX");
    assert_non_null(mkdtemp(m->root));
    for (unsigned i = 0; i < 4; i++) {
        m->allowed[i] = (unsigned char)(cpus >= 8 * (i + 1) ? 0xff : cpus <= 8 * i ? 0 : (1u << (cpus - 8 * i)) - 1);
    }
}

static void end(machine *m)
{
    char command[96];
    (void)snprintf(command, sizeof command, "rm -rf %s", m->root);
    assert_int_equal(system(command), 0);
}

// Writes a file, and creates its folders.
static void put(const machine *m, const char *name, const char *text)
{
    char path[512];
    (void)snprintf(path, sizeof path, "%s/%s", m->root, name);
    for (char *at = path + strlen(m->root) + 1; (at = strchr(at, '/')) != NULL; at++) {
        *at = '\0';
        (void)mkdir(path, 0700);
        *at = '/';
    }
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    (void)fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static void put_cpu(const machine *m, unsigned cpu, const char *name, const char *text)
{
    char path[128];
    (void)snprintf(path, sizeof path, "sys/devices/system/cpu/cpu%u/%s", cpu, name);
    put(m, path, text);
}

static void put_number(const machine *m, unsigned cpu, const char *name, unsigned number)
{
    char text[16];
    (void)snprintf(text, sizeof text, "%u\n", number);
    put_cpu(m, cpu, name, text);
}

static unsigned count(const machine *m)
{
    return taper_cores_count(m->root, m->allowed, sizeof m->allowed);
}

static void nothing_is_known(void **state)
{
    (void)state;
    machine m;
    begin(&m, 6);
    assert_int_equal(count(&m), 6);
    memset(m.allowed, 0, sizeof m.allowed);
    assert_int_equal(count(&m), 1);
    m.allowed[2] = 4;
    assert_int_equal(count(&m), 1);
    end(&m);
    assert_true(taper_cpu_cores() >= 1);
}

// The machine has two threads per core, which Intel numbers 0,4 and AMD 0-1.
static void two_threads_a_core(void **state)
{
    (void)state;
    for (unsigned near = 0; near < 2; near++) {
        machine m;
        begin(&m, 8);
        for (unsigned i = 0; i < 8; i++) {
            char text[16];
            near ? (void)snprintf(text, sizeof text, "%u-%u\n", i / 2 * 2, i / 2 * 2 + 1)
                 : (void)snprintf(text, sizeof text, "%u,%u\n", i % 4, i % 4 + 4);
            put_cpu(&m, i, "topology/thread_siblings_list", text);
            // One core has a slightly higher frequency.
            put_number(&m, i, "cpufreq/cpuinfo_max_freq", i % 4 == 1 ? 4900000 : 4700000);
        }
        assert_int_equal(count(&m), 4);
        m.allowed[0] = 0x0f;
        assert_int_equal(count(&m), near ? 2 : 4);
        m.allowed[0] = 0xf0;
        // The first thread of a core is not allowed for this process, but the core counts because its second thread is
        // allowed.
        assert_int_equal(count(&m), near ? 2 : 4);
        m.allowed[0] = 0x01;
        assert_int_equal(count(&m), 1);
        end(&m);
    }
}

static void big_and_little(void **state)
{
    (void)state;
    static const struct {
        const char *file;
        unsigned numbers[8], cores;
    } phones[] = {
        {"cpufreq/cpuinfo_max_freq", {1800, 1800, 1800, 1800, 2800, 2800, 2800, 2800}, 4}, // a phone with 4 + 4 cores
        {"cpu_capacity", {381, 381, 381, 381, 1024, 1024, 1024, 1024}, 4},
        // A phone with 1 + 3 + 4 cores.
        {"cpufreq/cpuinfo_max_freq", {1804, 1804, 1804, 1804, 2419, 2419, 2419, 2841}, 4},
        {"cpu_capacity", {325, 325, 325, 325, 792, 792, 792, 1024}, 4},
        {"cpu_capacity", {430, 430, 430, 430, 430, 430, 1024, 1024}, 2}, // a phone with 2 + 6 cores
        {"cpu_capacity", {1024, 1024, 1024, 1024, 1024, 1024, 1024, 1024}, 8},
    };
    for (size_t p = 0; p < sizeof phones / sizeof *phones; p++) {
        machine m;
        begin(&m, 8);
        for (unsigned i = 0; i < 8; i++) {
            put_number(&m, i, phones[p].file, phones[p].numbers[i]);
        }
        assert_int_equal(count(&m), phones[p].cores);
        m.allowed[0] = 0x07; // only the little cores are allowed, as for an app in the background
        assert_int_equal(count(&m), 3);
        end(&m);
    }
}

// If the CPUs have both cpu_capacity and cpuinfo_max_freq, the capacities decide. If the capacity of one CPU is
// missing, the frequencies decide.
static void both_files(void **state)
{
    (void)state;
    machine m;
    begin(&m, 4);
    for (unsigned i = 0; i < 4; i++) {
        put_number(&m, i, "cpufreq/cpuinfo_max_freq", 2000);
        if (i > 0) {
            put_number(&m, i, "cpu_capacity", i == 1 ? 1024 : 300);
        }
    }
    assert_int_equal(count(&m), 4);
    put_number(&m, 0, "cpu_capacity", 300);
    assert_int_equal(count(&m), 1);
    end(&m);
}

static void quota_of_version_2(void **state)
{
    (void)state;
    machine m;
    begin(&m, 8);
    put(&m, "proc/self/cgroup", "0::/system.slice/app.service\n");
    assert_int_equal(count(&m), 8);
    put(&m, "sys/fs/cgroup/system.slice/app.service/cpu.max", "max 100000\n");
    assert_int_equal(count(&m), 8);
    put(&m, "sys/fs/cgroup/system.slice/app.service/cpu.max", "150000 100000\n"); // a quota of 1.5 CPUs
    assert_int_equal(count(&m), 2);
    put(&m, "sys/fs/cgroup/system.slice/app.service/cpu.max", "50000 100000\n");
    assert_int_equal(count(&m), 1);
    put(&m, "sys/fs/cgroup/system.slice/app.service/cpu.max", "900000 100000\n");
    assert_int_equal(count(&m), 8);
    put(&m, "sys/fs/cgroup/system.slice/cpu.max", "300000 100000\n"); // a quota of the parent group
    assert_int_equal(count(&m), 3);
    put(&m, "sys/fs/cgroup/cpu.max", "20000 10000\n"); // quota of a container, which sees its group as the root
    assert_int_equal(count(&m), 2);
    m.allowed[0] = 0x10;
    assert_int_equal(count(&m), 1);
    end(&m);
}

static void quota_of_version_1(void **state)
{
    (void)state;
    static const char *const mounts[] = {"sys/fs/cgroup/cpu", "sys/fs/cgroup/cpu,cpuacct"};
    for (size_t i = 0; i < 2; i++) {
        machine m;
        char path[128];
        begin(&m, 8);
        put(&m, "proc/self/cgroup", "12:cpuset:/a\n5:cpu,cpuacct:/docker/abc\n1:name=systemd:/x\n0::/\n");
        (void)snprintf(path, sizeof path, "%s/docker/abc/cpu.cfs_quota_us", mounts[i]);
        put(&m, path, "-1\n");
        (void)snprintf(path, sizeof path, "%s/docker/abc/cpu.cfs_period_us", mounts[i]);
        put(&m, path, "100000\n");
        assert_int_equal(count(&m), 8);
        (void)snprintf(path, sizeof path, "%s/docker/abc/cpu.cfs_quota_us", mounts[i]);
        put(&m, path, "250000\n");
        assert_int_equal(count(&m), 3);
        // /proc has the group's path on the host, but the mounted directory is the group itself, as in a container.
        (void)snprintf(path, sizeof path, "%s/cpu.cfs_quota_us", mounts[i]);
        put(&m, path, "150000\n");
        (void)snprintf(path, sizeof path, "%s/cpu.cfs_period_us", mounts[i]);
        put(&m, path, "100000\n");
        assert_int_equal(count(&m), 2);
        end(&m);
    }
}

static void nonsense(void **state)
{
    (void)state;
    machine m;
    begin(&m, 4);
    put(&m, "proc/self/cgroup", "\n:\n1:\n::\n0::\n2:cpu:\n0::/../..\n");
    put(&m, "sys/fs/cgroup/cpu.max", "nan inf\n");
    put(&m, "sys/fs/cgroup/cpu/cpu.cfs_quota_us", "100000\n"); // the file with the period is missing
    for (unsigned i = 0; i < 4; i++) {
        put_cpu(&m, i, "cpu_capacity", "");
        put_cpu(&m, i, "cpufreq/cpuinfo_max_freq", "many\n");
        put_cpu(&m, i, "topology/thread_siblings_list", i % 2 ? "3-,99999999999999999999,x" : ",");
    }
    const unsigned cores = count(&m);
    assert_true(cores >= 1 && cores <= 4);
    end(&m);
}

static void put_cache(const machine *m, unsigned cpu, unsigned index, const char *type, unsigned level,
                      const char *size)
{
    char name[40], text[16];
    (void)snprintf(name, sizeof name, "cache/index%u/type", index);
    put_cpu(m, cpu, name, type);
    (void)snprintf(name, sizeof name, "cache/index%u/level", index);
    (void)snprintf(text, sizeof text, "%u\n", level);
    put_cpu(m, cpu, name, text);
    (void)snprintf(name, sizeof name, "cache/index%u/size", index);
    put_cpu(m, cpu, name, size);
}

static void assert_caches(const machine *m, size_t l1, size_t l2)
{
    const taper_caches caches = taper_cores_caches(m->root, m->allowed, sizeof m->allowed);
    assert_int_equal(caches.l1, l1 * 1024);
    assert_int_equal(caches.l2, l2 * 1024);
}

static void caches_of_a_server(void **state)
{
    (void)state;
    machine m;
    begin(&m, 4);
    assert_caches(&m, 0, 0);
    for (unsigned i = 0; i < 4; i++) {
        put_cache(&m, i, 0, "Data\n", 1, "48K\n");
        put_cache(&m, i, 1, "Instruction\n", 1, "64K\n");
        put_cache(&m, i, 2, "Unified\n", 2, "1280K\n");
        put_cache(&m, i, 3, "Unified\n", 3, "55296K\n");
    }
    assert_caches(&m, 48, 1280);
    m.allowed[0] = 0x04;
    assert_caches(&m, 48, 1280);
    m.allowed[0] = 0;
    assert_caches(&m, 0, 0);
    end(&m);
}

// The big cores may have the lowest or the highest numbers.
static void caches_of_a_phone(void **state)
{
    (void)state;
    for (unsigned big_first = 0; big_first < 2; big_first++) {
        machine m;
        begin(&m, 8);
        for (unsigned i = 0; i < 8; i++) {
            const bool big = (i < 4) == (big_first == 1);
            put_cache(&m, i, 0, "Instruction\n", 1, "128K\n");
            put_cache(&m, i, 1, "Data\n", 1, big ? "64K\n" : "32K\n");
            put_cache(&m, i, 2, "Unified\n", 2, big ? "512K\n" : "128K\n");
        }
        assert_caches(&m, 64, 512);
        m.allowed[0] = big_first ? 0xf0 : 0x0f; // only the little cores are allowed, as for an app in the background
        assert_caches(&m, 32, 128);
        end(&m);
    }
}

static void nonsense_of_caches(void **state)
{
    (void)state;
    machine m;
    begin(&m, 1);
    put_cache(&m, 0, 0, "Data\n", 1, "99999999999999999999K\n");
    put_cache(&m, 0, 1, "Unified\n", 2, "-5K\n");
    put_cache(&m, 0, 2, "?\n", 4000000000u, "32K\n");
    put_cpu(&m, 0, "cache/index3/type", "Data\n"); // the other files of this cache are missing
    assert_caches(&m, 0, 0);
    end(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_is_known),   cmocka_unit_test(two_threads_a_core),
                                       cmocka_unit_test(big_and_little),     cmocka_unit_test(both_files),
                                       cmocka_unit_test(quota_of_version_2), cmocka_unit_test(quota_of_version_1),
                                       cmocka_unit_test(nonsense),           cmocka_unit_test(caches_of_a_server),
                                       cmocka_unit_test(caches_of_a_phone),  cmocka_unit_test(nonsense_of_caches)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
