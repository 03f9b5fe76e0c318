// SPDX-License-Identifier: BSD-2-Clause
// op_arguments [CALLS [NAME]]: calls each operator of the list with wrong arguments: wrong kinds, ranks, dtypes,
// dimensions, negative sizes, empty tensors, huge sizes, NaN. A call may succeed or fail with a message. It must not
// crash, hang, leak, write out of bounds (sanitizers) or fail without a message. If a call crashes, the other operators
// are still tested. The random numbers depend on the operator's name and the position in the stride (tests/sample.h).
#include <stdlib.h>

#include "tests/limits/made_calls.h"
#include "tests/sample.h"

static unsigned calls = 100;

static bool try_calls(const taper_op *op, const char *text)
{
    static bench b;
    bench_open(&b, text);
    const taper_schema *schema = NULL;
    check(taper_registry_schema(b.registry, op, &schema, b.error), &b);
    bool good = schema->arg_count <= MOST_ARGUMENTS && schema->ret_count <= MOST_RESULTS;
    for (unsigned i = 0; i < calls && good; i++) {
        row_progress(i);
        taper_status status;
        good = call_row(&b, op, schema, false, &status);
        if (status == TAPER_OK) {
            row_worked();
        }
    }
    return bench_close(&b) && good;
}

int main(int argc, char **argv)
{
    if (argc > 1) {
        calls = (unsigned)strtoul(argv[1], NULL, 10);
    }
    calls = (calls + (unsigned)sample_stride() - 1) / (unsigned)sample_stride();
    return each_row(argc > 2 ? argv[2] : "", try_calls);
}
