// SPDX-License-Identifier: BSD-2-Clause
// Opens shared libraries at run time, if the system has them.
#ifndef TAPER_PLATFORM_DYNAMIC_LIBRARY_H
#define TAPER_PLATFORM_DYNAMIC_LIBRARY_H

typedef struct taper_library taper_library;
typedef void (*taper_library_function)(void);

taper_library *taper_library_open(const char *name); // returns NULL if the system lacks the library
void taper_library_close(taper_library *library);
// Returns the function with this name, or NULL if the library lacks the function.
taper_library_function taper_library_find(taper_library *library, const char *name);

#endif
