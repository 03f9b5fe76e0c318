// SPDX-License-Identifier: BSD-2-Clause
// Opens dynamic libraries at run time on Windows. A taper_library is the system's own handle.
#include "platform/windows.h"

#include <stdlib.h>
#include <string.h>

#include "platform/dynamic_library.h"

taper_library *taper_library_open(const char *name)
{
    wchar_t *wide = taper_wide_path(name);
    taper_library *library = wide != NULL ? (taper_library *)LoadLibraryW(wide) : NULL;
    free(wide);
    return library;
}

void taper_library_close(taper_library *library)
{
    if (library != NULL) {
        (void)FreeLibrary((HMODULE)library);
    }
}

taper_library_function taper_library_find(taper_library *library, const char *name)
{
    const FARPROC address = GetProcAddress((HMODULE)library, name);
    taper_library_function function;
    _Static_assert(sizeof function == sizeof address, "pointers of one size");
    memcpy(&function, &address, sizeof function);
    return function;
}
