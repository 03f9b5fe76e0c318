// SPDX-License-Identifier: BSD-2-Clause
#include "taper/bench_inputs.h"

#include <stdlib.h>
#include <string.h>

#include "common/errors.h"
#include "common/ones.h"

bool bench_inputs_ones(const opened_model *opened, const char *dims, call_inputs *inputs)
{
    static const char subject[] = "--input-dims";
    *inputs = (call_inputs){calloc(strlen(dims) + 1, sizeof *inputs->values), 0};
    if (inputs->values == NULL) {
        return error_report_memory(subject);
    }
    while (*dims != '\0') {
        const size_t length = strcspn(dims, ";");
        int64_t sizes[TAPER_MAX_RANK];
        size_t rank;
        if (!ones_parse_sizes(subject, dims, length, sizes, &rank) ||
            !ones_tensor(subject, opened->context, opened->error, TAPER_F32, rank, sizes, false, 1,
                         &inputs->values[inputs->count])) {
            inputs_release(inputs);
            return false;
        }
        inputs->count++;
        dims += length + (dims[length] == ';');
    }
    return true;
}
