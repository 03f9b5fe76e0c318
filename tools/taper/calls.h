// SPDX-License-Identifier: BSD-2-Clause
// Reads the file of --calls: [{"method": NAME, "inputs": [INPUT…]}, …].
#ifndef TAPER_TOOLS_CALLS_H
#define TAPER_TOOLS_CALLS_H

#include "common/json_value.h"

// Reads and checks the file; failures are reported. The caller frees *calls with json_free, also after a failure.
bool calls_read(const char *path, json_value **calls);
// Returns the folder of the file `path`, in which the input files of its calls are searched, or NULL for the working
// folder. The caller frees it.
char *calls_folder(const char *path);
// Returns the method of a call (NULL for forward), and its array of inputs. `call` owns the method and the array.
const char *call_method(const json_value *call);
const json_value *call_items(const json_value *call);

#endif
