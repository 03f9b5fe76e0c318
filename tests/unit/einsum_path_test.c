// SPDX-License-Identifier: BSD-2-Clause
// Tests the order in which einsum multiplies its operands.
#include "ops/engine/einsum_path.h"
#include "tests/unit/heap_fixture.h"

// Returns the set of dimensions that a label stands for: a is dimension 0.
static uint64_t dims_of(const char *labels)
{
    uint64_t dims = 0;
    for (; *labels != '\0'; labels++) {
        dims |= UINT64_C(1) << (*labels - 'a');
    }
    return dims;
}

typedef struct path_case {
    const char *operands[7]; // labels of each operand's dimensions; the list ends with NULL
    const char *result;
    int64_t sizes[8]; // sizes of a, b, c …
    bool other;       // true if the expected order is not from left to right
    taper_einsum_step steps[5];
} path_case;

static void orders(void **state)
{
    (void)state;
    static const path_case cases[] = {
        // A large outer product is avoided: b and c are contracted first.
        {{"abc", "ad", "cde"}, "abe", {8000, 16, 5, 5, 5}, true, {{1, 2}, {0, 1}}},
        // A chain of matrices is multiplied from the end that stays small.
        {{"ab", "bc", "cd"}, "ad", {60, 2, 70, 3}, true, {{1, 2}, {0, 1}}},
        {{"ab", "bc", "cd"}, "ad", {3, 60, 70, 2}, false, {{0, 1}, {0, 2}}},
        // If the costs hardly differ, the order remains PyTorch's.
        {{"ab", "bc", "cd"}, "ad", {10, 10, 10, 10}, false, {{0, 1}, {0, 2}}},
        {{"ab", "bc"}, "ac", {2, 1000, 2}, false, {{0, 1}}},
        // Operands are multiplied from left to right if one is empty, or if there are more than five.
        {{"ab", "bc", "cd"}, "ad", {60, 0, 70, 3}, false, {{0, 1}, {0, 2}}},
        {{"ab", "bc", "cd", "de", "ef", "fg"},
         "ag",
         {60, 2, 70, 3, 50, 2, 90},
         false,
         {{0, 1}, {0, 2}, {0, 3}, {0, 4}, {0, 5}}},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        const path_case *const one = &cases[c];
        uint64_t operands[7];
        taper_einsum_step steps[6];
        size_t count = 0;
        for (; one->operands[count] != NULL; count++) {
            operands[count] = dims_of(one->operands[count]);
        }
        assert_int_equal(taper_einsum_path(count, operands, dims_of(one->result), one->sizes, steps), one->other);
        assert_memory_equal(steps, one->steps, (count - 1) * sizeof *steps);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(orders)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
