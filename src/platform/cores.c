// SPDX-License-Identifier: BSD-2-Clause
// Finds the number of useful threads from the affinity, the classes of cores and the quotas of control groups. Also
// finds the sizes of the cores' caches.
#include "platform/cores.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_BYTES = 4096, TEXT_BYTES = 4096 };

// Reads a file into `text`. Returns false if the file is missing.
static bool read_text(char *text, const char *path)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t size = fd >= 0 ? read(fd, text, TEXT_BYTES - 1) : -1;
    text[size > 0 ? size : 0] = '\0';
    if (fd >= 0) {
        (void)close(fd);
    }
    return size > 0;
}

static bool read_of_cpu(const char *root, size_t cpu, const char *name, char *text)
{
    char path[PATH_BYTES];
    (void)snprintf(path, sizeof path, "%s/sys/devices/system/cpu/cpu%zu/%s", root, cpu, name);
    return read_text(text, path);
}

// ---- cores

static bool is_allowed(const unsigned char *allowed, size_t count, size_t cpu)
{
    return cpu < 8 * count && (allowed[cpu / 8] >> cpu % 8 & 1) != 0;
}

// Returns true if a list such as "0-1,4" contains an allowed CPU with a lower number than this CPU.
static bool has_earlier(const char *list, const unsigned char *allowed, size_t count, size_t cpu)
{
    for (char *end; *list >= '0' && *list <= '9'; list = end + (*end == ',')) {
        const size_t first = strtoul(list, &end, 10);
        const size_t last = *end == '-' ? strtoul(end + 1, &end, 10) : first;
        for (size_t i = first; i <= last && i < cpu; i++) {
            if (is_allowed(allowed, count, i)) {
                return true;
            }
        }
    }
    return false;
}

// Counts the cores with at least `percent` of the performance of the strongest core. The file `name` states the
// performance of a CPU. If `name` is NULL, counts all cores. CPUs that are not allowed are ignored. Returns 0 if the
// file is missing.
static unsigned count_cores(const char *root, const unsigned char *allowed, size_t count, const char *name,
                            unsigned percent)
{
    char text[TEXT_BYTES];
    unsigned long strongest = 0;
    unsigned cores = 0;
    // The first pass finds the strongest core, the second pass counts.
    for (int pass = name != NULL ? 0 : 1; pass < 2; pass++) {
        for (size_t cpu = 0; cpu < 8 * count; cpu++) {
            if (!is_allowed(allowed, count, cpu)) {
                continue;
            }
            unsigned long power = 0;
            if (name != NULL) {
                if (!read_of_cpu(root, cpu, name, text)) {
                    return 0;
                }
                power = strtoul(text, NULL, 10);
            }
            if (pass == 0) {
                strongest = power > strongest ? power : strongest;
            } else if (power >= strongest / 100 * percent &&
                       !(read_of_cpu(root, cpu, "topology/thread_siblings_list", text) &&
                         has_earlier(text, allowed, count, cpu))) {
                cores++;
            }
        }
    }
    return cores;
}

// ---- caches

// Raises each size in *caches to the size of this CPU's cache of the same level, if that is larger.
static void add_caches(const char *root, size_t cpu, taper_caches *caches)
{
    char text[TEXT_BYTES], name[32];
    for (unsigned i = 0; i < 8; i++) {
        (void)snprintf(name, sizeof name, "cache/index%u/type", i);
        if (!read_of_cpu(root, cpu, name, text)) {
            return;
        }
        const bool of_code = text[0] == 'I';
        (void)snprintf(name, sizeof name, "cache/index%u/level", i);
        (void)read_of_cpu(root, cpu, name, text);
        const unsigned long level = strtoul(text, NULL, 10);
        (void)snprintf(name, sizeof name, "cache/index%u/size", i);
        (void)read_of_cpu(root, cpu, name, text);
        const unsigned long kilobytes = strtoul(text, NULL, 10); // the file contains a text such as "32K"
        size_t *const cache = level == 1 ? &caches->l1 : level == 2 ? &caches->l2 : NULL;
        if (cache != NULL && !of_code && kilobytes <= 1024 * 1024 && kilobytes * 1024 > *cache) {
            *cache = kilobytes * 1024;
        }
    }
}

taper_caches taper_cores_caches(const char *root, const unsigned char *allowed, size_t count)
{
    // The first and the last allowed CPU are sufficient, because the system numbers clusters from small to big cores,
    // or in the reverse order, so one of the two CPUs is a big core.
    taper_caches caches = {0, 0};
    size_t first = 0, last = 8 * count;
    while (first < last && !is_allowed(allowed, count, first)) {
        first++;
    }
    while (last > first && !is_allowed(allowed, count, last - 1)) {
        last--;
    }
    if (first < last) {
        add_caches(root, first, &caches);
    }
    if (first + 1 < last) {
        add_caches(root, last - 1, &caches);
    }
    return caches;
}

// ---- control groups

// Returns the smallest CPU quota of a control group and its parents, rounded up to whole CPUs, or `most` if that is
// less. mount: mount point of the hierarchy; of: path of the group below the mount point.
static unsigned quota_of_groups(const char *root, const char *mount, const char *of, bool unified, unsigned most)
{
    char file[PATH_BYTES], text[TEXT_BYTES], path[TEXT_BYTES];
    (void)snprintf(path, sizeof path, "%s", of);
    for (char *end = path + strlen(path);; *end = '\0') {
        const int length = snprintf(file, sizeof file, "%s/sys/fs/cgroup%s%s/%s", root, mount, path,
                                    unified ? "cpu.max" : "cpu.cfs_quota_us");
        if (length > 0 && length < PATH_BYTES && read_text(text, file)) {
            char *rest;
            // If there is no quota, the file contains "max" in version 2, which strtol reads as 0, and -1 in version 1.
            const long quota = strtol(text, &rest, 10);
            if (!unified) {
                char *name = strrchr(file, '/');
                memcpy(name, "/cpu.cfs_period_us", sizeof "/cpu.cfs_period_us");
                rest = read_text(text, file) ? text : rest;
            }
            const long period = strtol(rest, NULL, 10);
            if (quota > 0 && period > 0 && (quota - 1) / period < (long)most) {
                most = (unsigned)((quota - 1) / period + 1);
            }
        }
        if (end == path) {
            return most;
        }
        while (end > path && *--end != '/') {
        }
    }
}

static unsigned at_most_quota(const char *root, unsigned most)
{
    char text[TEXT_BYTES], file[PATH_BYTES];
    (void)snprintf(file, sizeof file, "%s/proc/self/cgroup", root);
    (void)read_text(text, file);
    // Each line is "number:controllers:path". In the unified hierarchy (version 2) the controllers are empty.
    for (char *line = text, *next; *line != '\0'; line = next) {
        next = line + strcspn(line, "\n");
        if (*next != '\0') {
            *next++ = '\0';
        }
        char *const controllers = strchr(line, ':');
        char *const path = controllers != NULL ? strchr(controllers + 1, ':') : NULL;
        if (path == NULL) {
            continue;
        }
        if (path == controllers + 1) {
            most = quota_of_groups(root, "", path + 1, true, most);
            continue;
        }
        // The hierarchy may be mounted under the name of one controller, or under the names of all its controllers.
        *path = '\0';
        *controllers = '/';
        for (const char *cpu = controllers; (cpu = strstr(cpu, "cpu")) != NULL; cpu += 3) {
            if (cpu[3] == ',' || cpu[3] == '\0') {
                most = quota_of_groups(root, "/cpu", path + 1, false, most);
                most = quota_of_groups(root, controllers, path + 1, false, most);
            }
        }
    }
    return most;
}

unsigned taper_cores_count(const char *root, const unsigned char *allowed, size_t count)
{
    // A small core has less than half the capacity of the strongest core. Linux reports the capacities that it has
    // measured. Without this report, the frequencies of the cores are compared, which differ less than the capacities.
    unsigned cores = count_cores(root, allowed, count, "cpu_capacity", 50);
    if (cores == 0) {
        cores = count_cores(root, allowed, count, "cpufreq/cpuinfo_max_freq", 70);
    }
    if (cores == 0) {
        cores = count_cores(root, allowed, count, NULL, 0);
    }
    return cores > 1 ? at_most_quota(root, cores) : 1;
}
