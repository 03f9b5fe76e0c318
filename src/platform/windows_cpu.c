// SPDX-License-Identifier: BSD-2-Clause
// Finds the number of cores that this process may use on Windows, and the sizes of their caches.
#include "platform/windows.h"

#include <stdlib.h>

#include "platform/cores.h"
#include "platform/platform.h"

// Calls `found` for each record of one kind about the processors of this machine.
static void each_record(LOGICAL_PROCESSOR_RELATIONSHIP kind,
                        void (*found)(void *user, const SYSTEM_LOGICAL_PROCESSOR_INFORMATION_EX *record), void *user)
{
    DWORD bytes = 0;
    (void)GetLogicalProcessorInformationEx(kind, NULL, &bytes);
    char *all = bytes != 0 ? malloc(bytes) : NULL;
    if (all != NULL &&
        GetLogicalProcessorInformationEx(kind, (SYSTEM_LOGICAL_PROCESSOR_INFORMATION_EX *)(void *)all, &bytes)) {
        for (DWORD at = 0; at < bytes;) {
            const SYSTEM_LOGICAL_PROCESSOR_INFORMATION_EX *record = (const void *)(all + at);
            found(user, record);
            at += record->Size;
        }
    }
    free(all);
}

// Counts the cores of the strongest class on which the process may run.
typedef struct core_count {
    ULONG_PTR allowed;
    unsigned strongest, cores;
} core_count;

static void count_core(void *user, const SYSTEM_LOGICAL_PROCESSOR_INFORMATION_EX *record)
{
    core_count *count = user;
    if (record->Processor.GroupCount == 1 && record->Processor.GroupMask[0].Group == 0 &&
        (record->Processor.GroupMask[0].Mask & count->allowed) == 0) {
        return;
    }
    // The byte after Flags is the class: 0 for all cores if they are equal. Older headers have no name for this byte.
    const unsigned class = ((const BYTE *)&record->Processor)[1];
    if (class > count->strongest) {
        count->strongest = class;
        count->cores = 0;
    }
    count->cores += class == count->strongest;
}

unsigned taper_cpu_cores(void)
{
    ULONG_PTR system = 0;
    core_count count = {0, 0, 0};
    if (!GetProcessAffinityMask(GetCurrentProcess(), &count.allowed, &system)) {
        count.allowed = (ULONG_PTR)-1;
    }
    each_record(RelationProcessorCore, count_core, &count);
    return count.cores > 0 ? count.cores : 1;
}

static void add_cache(void *user, const SYSTEM_LOGICAL_PROCESSOR_INFORMATION_EX *record)
{
    taper_caches *caches = user;
    const CACHE_RELATIONSHIP *cache = &record->Cache;
    size_t *size = cache->Level == 1 ? &caches->l1 : cache->Level == 2 ? &caches->l2 : NULL;
    if (size != NULL && cache->Type != CacheInstruction && cache->CacheSize > *size) {
        *size = cache->CacheSize;
    }
}

taper_caches taper_cpu_caches(void)
{
    taper_caches caches = {0, 0};
    each_record(RelationCache, add_cache, &caches);
    return caches;
}
