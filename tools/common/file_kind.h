// SPDX-License-Identifier: BSD-2-Clause
// What a file holds, by its first bytes, whatever its name is.
#ifndef TAPER_TOOLS_FILE_KIND_H
#define TAPER_TOOLS_FILE_KIND_H

#include <stddef.h>

typedef enum file_kind {
    FILE_KIND_NPY,
    FILE_KIND_ZIP,     // .npz archives; models and what torch.save writes, too
    FILE_KIND_PICTURE, // PNG or JPEG
    FILE_KIND_OTHER,
} file_kind;

// *name: "a JPEG picture", "text".
file_kind file_kind_of(const unsigned char *bytes, size_t size, const char **name);

#endif
