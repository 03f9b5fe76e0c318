// SPDX-License-Identifier: BSD-2-Clause
// Opens LAPACK at run time. The handle is the library's own; routines are looked up when they are called, which costs
// little beside a factorization.
#include "platform/lapack.h"

#include <stddef.h>

#if TAPER_WITH_LAPACK
#include <dlfcn.h>
#include <string.h>

taper_lapack *taper_lapack_open(void)
{
    static const char *const names[] = {
#ifdef __APPLE__
        "/System/Library/Frameworks/Accelerate.framework/Accelerate",
#endif
        "liblapack.so.3", "liblapack.so", "libopenblas.so.0"};
    void *library = NULL;
    for (size_t i = 0; library == NULL && i < sizeof names / sizeof *names; i++) {
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    }
    return library;
}

void taper_lapack_close(taper_lapack *lapack)
{
    if (lapack != NULL) {
        (void)dlclose(lapack);
    }
}

taper_lapack_routine taper_lapack_find(taper_lapack *lapack, const char *name)
{
    // ISO C knows no conversion between pointers to data and to functions; POSIX says that they have one
    // representation.
    void *const address = dlsym(lapack, name);
    taper_lapack_routine routine;
    _Static_assert(sizeof routine == sizeof address, "pointers of one size");
    memcpy(&routine, &address, sizeof routine);
    return routine;
}
#else
taper_lapack *taper_lapack_open(void)
{
    return NULL;
}

void taper_lapack_close(taper_lapack *lapack)
{
    (void)lapack;
}

taper_lapack_routine taper_lapack_find(taper_lapack *lapack, const char *name)
{
    (void)lapack;
    (void)name;
    return NULL;
}
#endif
