// SPDX-License-Identifier: BSD-2-Clause
// Declares what the files for Windows share: the system's header and the conversion of paths.
#ifndef TAPER_PLATFORM_WINDOWS_H
#define TAPER_PLATFORM_WINDOWS_H

#define WIN32_LEAN_AND_MEAN 1
#ifndef _WIN32_WINNT
#define _WIN32_WINNT 0x0602 // Windows 8: the header declares functions up to this version
#endif
#include <windows.h>

// Converts a path from UTF-8, and gives paths beyond MAX_PATH the prefix that lifts this limit. Returns NULL and sets
// errno if the text is not UTF-8 or memory is missing. The caller calls free().
wchar_t *taper_wide_path(const char *path);

#endif
