// SPDX-License-Identifier: BSD-2-Clause
// The samples that a model is calibrated with: pictures, arrays, or JSON files with the inputs of a call.
#ifndef TAPER_TOOLS_CALIBRATION_H
#define TAPER_TOOLS_CALIBRATION_H

#include "common/file_list.h"
#include "taper/inputs.h"
#include "taper/vision.h"

// A file, or the .npy, .npz, .json, .png, .jpg and .jpeg files of a folder. Failures are reported; a folder without any
// is one.
bool calibration_add(file_list *files, const char *path);

// The inputs of forward in one of them: a picture and an array are one; a .json file holds an array of INPUTs as
// `taper run` takes them.
bool calibration_inputs(const opened_model *opened, const vision *v, const char *path, call_inputs *inputs);

#endif
