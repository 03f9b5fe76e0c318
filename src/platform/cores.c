// SPDX-License-Identifier: BSD-2-Clause
#include "platform/cores.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_BYTES = 1024, TEXT_BYTES = 4096 };

// The text of root + a formatted path; false: there is none.
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

// "0-1,4": is there an allowed CPU before this one?
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

// The allowed CPUs that are the first of their core and, by what the file `name` says of their power, at least
// `percent` of the strongest. 0: the file is not there.
static unsigned count_cores(const char *root, const unsigned char *allowed, size_t count, const char *name,
                            unsigned percent)
{
    char text[TEXT_BYTES];
    unsigned long strongest = 0;
    unsigned cores = 0;
    // First who is the strongest, then who comes near.
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

// ---- control groups

static unsigned quota_of(double quota, double period, unsigned most)
{
    if (!(quota > 0 && period > 0) || quota >= period * most) {
        return most;
    }
    const unsigned whole = (unsigned)(quota / period);
    return whole + (whole * period < quota);
}

// Of the group at `path` below `mount` and of all those it is in.
static unsigned quota_of_groups(const char *mount, const char *path, bool unified, unsigned most)
{
    char group[PATH_BYTES], file[PATH_BYTES + 32], text[TEXT_BYTES];
    const int length = snprintf(group, sizeof group, "%s%s", mount, strcmp(path, "/") == 0 ? "" : path);
    for (size_t end = length > 0 && length < PATH_BYTES ? (size_t)length : 0; end >= strlen(mount) && end > 0;) {
        group[end] = '\0';
        (void)snprintf(file, sizeof file, "%s/%s", group, unified ? "cpu.max" : "cpu.cfs_quota_us");
        if (read_text(text, file)) {
            char *rest;
            const double quota = strtod(text, &rest); // "max" is 0, v1 has -1
            if (!unified) {
                (void)snprintf(file, sizeof file, "%s/cpu.cfs_period_us", group);
                rest = read_text(text, file) ? text : rest;
            }
            most = quota_of(quota, strtod(rest, NULL), most);
        }
        while (end > 0 && group[--end] != '/') {
        }
    }
    return most;
}

static bool names_cpu(const char *controllers)
{
    for (const char *at = controllers; at != NULL; at = strchr(at, ',') != NULL ? strchr(at, ',') + 1 : NULL) {
        if (strncmp(at, "cpu", 3) == 0 && (at[3] == ',' || at[3] == '\0')) {
            return true;
        }
    }
    return false;
}

static unsigned at_most_quota(const char *root, unsigned most)
{
    char text[TEXT_BYTES], mount[PATH_BYTES];
    (void)snprintf(mount, sizeof mount, "%s/proc/self/cgroup", root);
    if (!read_text(text, mount)) {
        return most;
    }
    // Lines "number:controllers:path"; no controllers: the unified hierarchy.
    for (char *line = text, *next; line != NULL && *line != '\0'; line = next) {
        next = strchr(line, '\n');
        if (next != NULL) {
            *next++ = '\0';
        }
        char *controllers = strchr(line, ':'), *path = controllers != NULL ? strchr(controllers + 1, ':') : NULL;
        if (path == NULL) {
            continue;
        }
        *controllers++ = *path++ = '\0';
        const bool unified = *controllers == '\0';
        const char *const mounts[2] = {unified ? "" : "/cpu", unified ? "/unified" : controllers};
        for (size_t i = 0; i < 2 && (unified || names_cpu(controllers)); i++) {
            (void)snprintf(mount, sizeof mount, "%s/sys/fs/cgroup%s%s", root, i == 1 && !unified ? "/" : "", mounts[i]);
            most = quota_of_groups(mount, path, unified, most);
        }
    }
    return most;
}

unsigned taper_cores_count(const char *root, const unsigned char *allowed, size_t count)
{
    // Half the capacity, the kernel's own measure, is what small cores do not have. They are closer in frequency.
    unsigned cores = count_cores(root, allowed, count, "cpu_capacity", 50);
    if (cores == 0) {
        cores = count_cores(root, allowed, count, "cpufreq/cpuinfo_max_freq", 70);
    }
    if (cores == 0) {
        cores = count_cores(root, allowed, count, NULL, 0);
    }
    return cores > 1 ? at_most_quota(root, cores) : 1;
}
