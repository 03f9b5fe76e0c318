// SPDX-License-Identifier: BSD-2-Clause
// Opens LAPACK at run time. A taper_lapack is the system's handle of the library. Each call looks up its routine by
// name, which costs little compared with a factorization.
#include "platform/lapack.h"

#include <stddef.h>

#if TAPER_WITH_LAPACK
#include "platform/dynamic_library.h"

taper_lapack *taper_lapack_open(void)
{
    static const char *const names[] = {
#ifdef __APPLE__
        "/System/Library/Frameworks/Accelerate.framework/Accelerate",
#endif
        "liblapack.so.3", "liblapack.so", "libopenblas.so.0"};
    taper_library *library = NULL;
    for (size_t i = 0; library == NULL && i < sizeof names / sizeof *names; i++) {
        library = taper_library_open(names[i]);
    }
    return (taper_lapack *)library;
}

void taper_lapack_close(taper_lapack *lapack)
{
    taper_library_close((taper_library *)lapack);
}

taper_lapack_routine taper_lapack_find(taper_lapack *lapack, const char *name)
{
    return taper_library_find((taper_library *)lapack, name);
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
