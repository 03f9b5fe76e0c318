/* SPDX-License-Identifier: BSD-2-Clause
 *
 * An allocator that keeps freed memory for the next request, between contexts and the system. All of it is
 * experimental. The conventions of taper.h hold here.
 *
 * A session keeps what its runs need, so that a run like an earlier one allocates nothing. If sizes change from run to
 * run, or sessions come and go, memory is freed and requested again. The system's allocator then unmaps, maps and
 * clears pages; this allocator answers from what it kept.
 */
#ifndef TAPER_TAPER_MEMORY_H
#define TAPER_TAPER_MEMORY_H

#include <taper/taper.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Keeps freed blocks by their exact size and hands out the one that was freed last. Any number of threads and contexts
 * may use one allocator. */
typedef struct taper_caching_allocator taper_caching_allocator;

/* under: the allocator that provides the blocks, copied; NULL: malloc. Its reallocate must be set. limit: bytes that
 * may be kept unused; a block that exceeds the limit is returned to `under` at once. limit 0: no limit. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_caching_allocator_create(
    const taper_allocator *under, size_t limit, taper_caching_allocator **caching, taper_error *error);
/* Returns what is kept to `under`. Blocks that are in use may be freed later, from any thread, and are then returned at
 * once. */
TAPER_API TAPER_EXPERIMENTAL void taper_caching_allocator_release(taper_caching_allocator *caching);
/* Returns the allocator to be passed to taper_context_create, or to be called directly. It belongs to `caching`; copies
 * of it work as long as one of its blocks is in use. */
TAPER_API TAPER_EXPERIMENTAL const taper_allocator *taper_caching_allocator_get(const taper_caching_allocator *caching);
/* Returns what is kept unused to `under`. taper_session_trim and taper_context_trim first return to this allocator what
 * sessions and contexts keep themselves. */
TAPER_API TAPER_EXPERIMENTAL void taper_caching_allocator_trim(taper_caching_allocator *caching);

typedef struct taper_caching_info {
    size_t struct_size; /* sizeof(taper_caching_info) */
    size_t used_bytes;  /* bytes of blocks that are in use */
    size_t kept_bytes;  /* bytes of blocks that are kept unused */
    uint64_t reused;    /* requests so far that a kept block answered */
    uint64_t fetched;   /* requests so far that `under` answered */
} taper_caching_info;
/* Fills *info; set info->struct_size first. */
TAPER_API TAPER_EXPERIMENTAL void taper_caching_allocator_info(const taper_caching_allocator *caching,
                                                               taper_caching_info *info);

/* Returns memory that the context keeps for values of the host to its allocator. */
TAPER_API TAPER_EXPERIMENTAL void taper_context_trim(taper_context *context);

#ifdef __cplusplus
}
#endif
#endif
