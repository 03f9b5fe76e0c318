// SPDX-License-Identifier: BSD-2-Clause
// LAPACK, loaded from the machine when it is first needed; Taper does not link to it. A build without TAPER_WITH_LAPACK
// never finds it.
#ifndef TAPER_PLATFORM_LAPACK_H
#define TAPER_PLATFORM_LAPACK_H

typedef struct taper_lapack taper_lapack;   // an open library
typedef void (*taper_lapack_routine)(void); // cast this to the routine's own type

// Returns NULL if the machine has no LAPACK.
taper_lapack *taper_lapack_open(void);
void taper_lapack_close(taper_lapack *lapack); // lapack may be NULL
// Returns a routine by its Fortran name with the underscore ("sgesdd_"), or NULL if the library lacks it. Any thread
// may call this.
taper_lapack_routine taper_lapack_find(taper_lapack *lapack, const char *name);

#endif
