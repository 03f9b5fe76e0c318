// SPDX-License-Identifier: BSD-2-Clause
// LAPACK as it is found on the machine when it is first needed: nothing is linked. Built without TAPER_WITH_LAPACK,
// none is ever found.
#ifndef TAPER_PLATFORM_LAPACK_H
#define TAPER_PLATFORM_LAPACK_H

typedef struct taper_lapack taper_lapack;   // an open library
typedef void (*taper_lapack_routine)(void); // to be cast to the routine's own type

// NULL: there is none.
taper_lapack *taper_lapack_open(void);
void taper_lapack_close(taper_lapack *lapack); // NULL is fine
// A routine by its Fortran name with the underscore ("sgesdd_"); NULL when the library lacks it. Thread-safe.
taper_lapack_routine taper_lapack_find(taper_lapack *lapack, const char *name);

#endif
