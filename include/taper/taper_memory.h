/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Memory that is given back, kept for who asks next: an allocator between contexts and the system. All of it is
 * experimental.
 *
 * A session keeps what its runs need, so that a run like one before allocates nothing. With sizes that change from run
 * to run it gives memory back and asks for other; so do sessions that come and go. Such calls of the system's allocator
 * cost what unmapping, mapping and clearing of pages cost; this one answers them from what it has.
 */
#ifndef TAPER_TAPER_MEMORY_H
#define TAPER_TAPER_MEMORY_H

#include <taper/taper.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Keeps freed blocks by their exact size and hands them out again, the last one first. Any threads may use one, and
 * several contexts may share it. */
typedef struct taper_caching_allocator taper_caching_allocator;

/* under: where blocks come from and go back to, copied; NULL: malloc. Its reallocate must be set. limit: how many bytes
 * may be kept unused; what comes back beyond goes to `under`. 0: no limit. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_caching_allocator_create(
    const taper_allocator *under, size_t limit, taper_caching_allocator **caching, taper_error *error);
/* What is kept goes back; blocks that are in use may be freed later, from any thread, and go straight back then. */
TAPER_API TAPER_EXPERIMENTAL void taper_caching_allocator_release(taper_caching_allocator *caching);
/* To be given to taper_context_create, or called by itself. Borrowed: copies of it work as long as a block is out. */
TAPER_API TAPER_EXPERIMENTAL const taper_allocator *taper_caching_allocator_get(const taper_caching_allocator *caching);
/* What is kept unused goes back to where it came from. What sessions and contexts keep for their own next runs comes
 * here first: taper_session_trim, taper_context_trim. */
TAPER_API TAPER_EXPERIMENTAL void taper_caching_allocator_trim(taper_caching_allocator *caching);

typedef struct taper_caching_info {
    size_t struct_size;       /* sizeof(taper_caching_info) */
    size_t used_bytes;        /* in blocks that are in use */
    size_t kept_bytes;        /* in blocks that are not */
    uint64_t reused, fetched; /* blocks handed out so far: kept ones, ones from `under` */
} taper_caching_info;
TAPER_API TAPER_EXPERIMENTAL void taper_caching_allocator_info(const taper_caching_allocator *caching,
                                                               taper_caching_info *info);

/* Memory that the context keeps for values of the host, as taper_session_trim has it for a session's. */
TAPER_API TAPER_EXPERIMENTAL void taper_context_trim(taper_context *context);

#ifdef __cplusplus
}
#endif
#endif
