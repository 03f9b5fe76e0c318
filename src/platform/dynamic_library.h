// SPDX-License-Identifier: BSD-2-Clause
// Shared libraries that are opened at run time if the system has them.
#ifndef TAPER_PLATFORM_DYNAMIC_LIBRARY_H
#define TAPER_PLATFORM_DYNAMIC_LIBRARY_H

typedef struct taper_library taper_library;
typedef void (*taper_library_function)(void);

taper_library *taper_library_open(const char *name); // NULL if the system lacks it
void taper_library_close(taper_library *library);
taper_library_function taper_library_find(taper_library *library, const char *name); // NULL if the library lacks it

#endif
