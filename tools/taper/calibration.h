// SPDX-License-Identifier: BSD-2-Clause
// The samples for calibration: pictures, arrays, or JSON files that contain the inputs of a call.
#ifndef TAPER_TOOLS_CALIBRATION_H
#define TAPER_TOOLS_CALIBRATION_H

#include "common/file_list.h"
#include "taper/inputs.h"
#include "taper/vision.h"

// Appends the file `path`, or the .npy, .npz, .json, .png, .jpg and .jpeg files of the folder `path`. Failures are
// reported; a folder without such files is a failure.
bool calibration_add(file_list *files, const char *path);

// Reads one sample as the inputs of forward. A picture or an array is one input; a .json file contains an array of
// INPUTs in the form of `taper run`.
bool calibration_inputs(const opened_model *opened, const vision *v, const char *path, call_inputs *inputs);

#endif
