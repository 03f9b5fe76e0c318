/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A caching allocator: it stands between contexts and the system's allocator, and keeps freed memory for later
 * requests. All of it is experimental. The conventions of taper.h hold here.
 *
 * A session keeps the memory that its runs need, so that a run like an earlier one allocates nothing. If sizes change
 * from run to run, or sessions come and go, memory is freed and requested again. The system's allocator then unmaps,
 * maps and clears pages. The caching allocator uses the memory that it kept instead.
 */
#ifndef TAPER_TAPER_MEMORY_H
#define TAPER_TAPER_MEMORY_H

#include <taper/taper.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A caching allocator. It keeps freed blocks by their exact size and hands out the block that was freed last. Any
 * number of threads and contexts may use one caching allocator. */
typedef struct taper_caching_allocator taper_caching_allocator;

/* Creates a caching allocator that takes its blocks from the allocator `under`; NULL: malloc. The function copies the
 * struct. under->user must stay valid until the caching allocator is released and all its blocks are freed, which
 * includes the release of the contexts that use it and of all their objects. limit is the number of unused bytes that
 * the allocator keeps at most; 0: no limit. A freed block that would exceed the limit goes back to `under` at once. The
 * function fails with TAPER_ERROR_ARGUMENT if under->reallocate is NULL. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_caching_allocator_create(
    const taper_allocator *under, size_t limit, taper_caching_allocator **caching, taper_error *error);
/* Releases the program's reference and returns all unused blocks to `under`. Blocks that are in use stay valid. They
 * may be freed later, from any thread, and then go to `under` at once. */
TAPER_API TAPER_EXPERIMENTAL void taper_caching_allocator_release(taper_caching_allocator *caching);
/* Returns the allocator for taper_context_create; a program may also call its reallocate directly. `caching` owns the
 * struct, and contexts copy it. A context always has a block in use, so `caching` may be released before its contexts.
 * A program's own copy of the struct works after the release only as long as a block is in use. */
TAPER_API TAPER_EXPERIMENTAL const taper_allocator *taper_caching_allocator_get(const taper_caching_allocator *caching);
/* Returns all unused blocks to `under`. Sessions and contexts keep memory too: to free as much as possible, call
 * taper_session_trim and taper_context_trim before this function. */
TAPER_API TAPER_EXPERIMENTAL void taper_caching_allocator_trim(taper_caching_allocator *caching);

/* Counts the memory of a caching allocator. */
typedef struct taper_caching_info {
    size_t struct_size; /* sizeof(taper_caching_info) */
    size_t used_bytes;  /* bytes of blocks that are in use */
    size_t kept_bytes;  /* bytes of blocks that are kept unused */
    uint64_t reused;    /* number of requests so far for which a kept block was used */
    uint64_t fetched;   /* number of requests so far that were passed to `under` */
} taper_caching_info;
/* Fills *info; set info->struct_size first. */
TAPER_API TAPER_EXPERIMENTAL void taper_caching_allocator_info(const taper_caching_allocator *caching,
                                                               taper_caching_info *info);

/* Frees the unused memory that the context keeps for the program's values. Any thread may call this function. */
TAPER_API TAPER_EXPERIMENTAL void taper_context_trim(taper_context *context);

#ifdef __cplusplus
}
#endif
#endif
