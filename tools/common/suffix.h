// SPDX-License-Identifier: BSD-2-Clause
// The ends of file names, which say what a file holds or shall hold.
#ifndef TAPER_TOOLS_SUFFIX_H
#define TAPER_TOOLS_SUFFIX_H

#include <stdbool.h>

// Of formats that something writes, though not what is written here: who asks for one gets no other in its stead.
#define SUFFIXES_OF_MODELS ".pt2 .onnx .tflite .pte .safetensors"
#define SUFFIXES_OF_ARRAYS ".npy .npz .json .csv .txt .h5 .hdf5 .mat .pkl .pickle"
#define SUFFIXES_OF_PICTURES ".png " SUFFIXES_OF_OTHER_PICTURES
#define SUFFIXES_OF_OTHER_PICTURES ".jpg .jpeg .gif .webp .bmp .tif .tiff .svg .pdf"

// Whether a name ends in one of the suffixes, in letters of any case, and has something before it. The list has a blank
// between them: ".npy .npz".
bool suffix_among(const char *name, const char *list);

#endif
