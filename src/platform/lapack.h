// SPDX-License-Identifier: BSD-2-Clause
// Opens LAPACK at run time when it is first needed, if the machine has it. Taper does not link to LAPACK. A build
// without TAPER_WITH_LAPACK never opens it.
#ifndef TAPER_PLATFORM_LAPACK_H
#define TAPER_PLATFORM_LAPACK_H

typedef struct taper_lapack taper_lapack;   // handle of an open library
typedef void (*taper_lapack_routine)(void); // the caller casts this to the type of the routine

// Opens LAPACK. Returns NULL if the machine lacks it.
taper_lapack *taper_lapack_open(void);
void taper_lapack_close(taper_lapack *lapack); // lapack may be NULL
// Returns a routine by its Fortran name with the underscore ("sgesdd_"), or NULL if the library lacks it. Any thread
// may call this function.
taper_lapack_routine taper_lapack_find(taper_lapack *lapack, const char *name);

#endif
