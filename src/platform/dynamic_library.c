// SPDX-License-Identifier: BSD-2-Clause
// Opens shared libraries at run time. A taper_library is the system's own handle.
#include "platform/dynamic_library.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

taper_library *taper_library_open(const char *name)
{
    return dlopen(name, RTLD_NOW | RTLD_LOCAL);
}

void taper_library_close(taper_library *library)
{
    if (library != NULL) {
        (void)dlclose(library);
    }
}

taper_library_function taper_library_find(taper_library *library, const char *name)
{
    // ISO C has no conversion between pointers to data and pointers to functions, but POSIX guarantees that both have
    // the same representation.
    void *const address = dlsym(library, name);
    taper_library_function function;
    _Static_assert(sizeof function == sizeof address, "pointers of one size");
    memcpy(&function, &address, sizeof function);
    return function;
}
