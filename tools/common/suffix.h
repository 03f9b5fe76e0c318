// SPDX-License-Identifier: BSD-2-Clause
// Suffixes of file names, which decide the format of input and output.
#ifndef TAPER_TOOLS_SUFFIX_H
#define TAPER_TOOLS_SUFFIX_H

#include <stdbool.h>

// Suffixes of formats that other programs write but these programs do not. An output file with such a suffix is
// refused, because its content would have another format than its name says.
#define SUFFIXES_OF_MODELS ".pt2 .onnx .tflite .pte .safetensors"
#define SUFFIXES_OF_ARRAYS ".npy .npz .json .csv .txt .h5 .hdf5 .mat .pkl .pickle"
#define SUFFIXES_OF_PICTURES ".png " SUFFIXES_OF_OTHER_PICTURES
#define SUFFIXES_OF_OTHER_PICTURES ".jpg .jpeg .gif .webp .bmp .tif .tiff .svg .pdf"

// Returns true if the name ends with one of the suffixes, in upper or lower case, and has characters before that
// suffix. The suffixes of the list are separated by blanks: ".npy .npz".
bool suffix_among(const char *name, const char *list);

#endif
