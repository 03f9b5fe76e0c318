// SPDX-License-Identifier: BSD-2-Clause
// infer MODEL SIZE [PRECISION]: runs a model of images three times in one thread, with an input of 1 x 3 x SIZE x SIZE.
// The third run is between marks 2 and 3 of count.c, because the second run may still pack weights that the first run
// used only temporarily. Prints the sum of the result's magnitudes.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include <taper/taper_compile.h>

static void mark(unsigned number)
{
    (void)getpriority(77, number);
}

int main(int argc, char **argv)
{
    taper_error *error = taper_error_create();
    taper_context *context;
    taper_model *model;
    taper_session *session;
    taper_value *input, *result = NULL;
    const long size = argc == 3 || argc == 4 ? strtol(argv[2], NULL, 10) : 0;
    if (size < 1 || size > 4096) {
        fprintf(stderr, "usage: infer MODEL SIZE [PRECISION]\n");
        return 2;
    }
    const int64_t sizes[] = {1, 3, size, size};
    const size_t count = 3 * (size_t)size * (size_t)size;
    float *data = malloc(count * sizeof *data);
    if (data == NULL)
        return 1;
    for (size_t i = 0; i < count; i++)
        data[i] = (float)(i * 2654435761u % 1000) / 250.0f - 2.0f;
    const taper_context_options context_options = {.struct_size = sizeof context_options, .threads = 1};
    const taper_load_options options = {
        .struct_size = sizeof options, .compiler = taper_compiler(), .precision = argc == 4 ? argv[3] : NULL};
    int failed = taper_context_create(&context_options, &context, error) != TAPER_OK ||
                 taper_model_load(context, argv[1], &options, &model, error) != TAPER_OK ||
                 taper_session_create(model, NULL, &session, error) != TAPER_OK ||
                 taper_value_tensor_from(context, TAPER_F32, 4, sizes, NULL, data, count * sizeof *data, 1, free, data,
                                         &input, error) != TAPER_OK;
    for (unsigned run = 0; run < 3 && !failed; run++) {
        taper_value_release(result);
        mark(run);
        failed = taper_session_run(session, NULL, &input, 1, &result, error) != TAPER_OK;
    }
    mark(3);
    taper_tensor_info info = {.struct_size = sizeof info};
    if (failed || taper_value_get_tensor(result, &info, error) != TAPER_OK) {
        fprintf(stderr, "%s\n", taper_error_message(error));
        return 1;
    }
    double sum = 0;
    for (int64_t i = 0; info.dtype == TAPER_F32 && i < info.sizes[info.rank - 1]; i++)
        sum += fabs((double)((const float *)info.data)[i]);
    printf("%.6g\n", sum);
    return 0;
}
