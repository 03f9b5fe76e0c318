// SPDX-License-Identifier: BSD-2-Clause
// Determines the kind of a file by its first bytes, regardless of its name.
#ifndef TAPER_TOOLS_FILE_KIND_H
#define TAPER_TOOLS_FILE_KIND_H

#include <stddef.h>

typedef enum file_kind {
    FILE_KIND_NPY,
    FILE_KIND_ZIP,     // zip archive: .npz archives, models and files of torch.save
    FILE_KIND_PICTURE, // PNG or JPEG
    FILE_KIND_OTHER,
} file_kind;

// Returns the kind and sets *name to its description, for example "a JPEG picture" or "text".
file_kind file_kind_of(const unsigned char *bytes, size_t size, const char **name);

#endif
