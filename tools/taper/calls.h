// SPDX-License-Identifier: BSD-2-Clause
// The file of --calls: [{"method": NAME, "inputs": [INPUT…]}, …].
#ifndef TAPER_TOOLS_CALLS_H
#define TAPER_TOOLS_CALLS_H

#include "common/json_value.h"

// Reads and checks it; failures are reported. *calls is freed by json_free, also on failure.
bool calls_read(const char *path, json_value **calls);
// The folder in which its files lie, or NULL for the working folder. The caller frees it.
char *calls_folder(const char *path);
// Of one call: the method, NULL for forward, and its inputs.
const char *call_method(const json_value *call);
const json_value *call_items(const json_value *call);

#endif
