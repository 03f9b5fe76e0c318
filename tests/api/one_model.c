/* SPDX-License-Identifier: BSD-2-Clause
 *
 * one_model MODEL.ptl: runs the model on a generated picture and prints the results, one per line. If the model cannot
 * be loaded, prints the reason with details and exits with 1. one_model_test.sh compares the output for two libraries.
 */
#include <stdio.h>
#include <taper/taper_compile.h>

#define COUNT (3 * 96 * 96)

int main(int argc, char **argv)
{
    static float pixels[COUNT];
    const int64_t sizes[] = {1, 3, 96, 96};
    taper_tensor_info scores = {.struct_size = sizeof scores};
    taper_error *error = taper_error_create();
    taper_context *context;
    taper_model *model;
    taper_session *session;
    taper_value *input, *output;
    unsigned random = 1;

    for (int i = 0; i < COUNT; i++) {
        random = random * 1664525u + 1013904223u;
        pixels[i] = (float)(random >> 8) / (float)(1 << 23) - 1.0f;
    }
    if (argc != 2 || taper_context_create(NULL, &context, error) ||
        taper_model_open(context, argv[1], NULL, &model, error) || taper_session_create(model, NULL, &session, error) ||
        taper_value_tensor_from(context, TAPER_F32, 4, sizes, NULL, pixels, sizeof pixels, 1, NULL, NULL, &input,
                                error) ||
        taper_session_run(session, "forward", &input, 1, &output, error) ||
        taper_value_get_tensor(output, &scores, error)) {
        printf("%s\n%s", taper_error_message(error), taper_error_detail(error));
        return 1;
    }
    for (int64_t i = 0; i < scores.sizes[1]; i++) {
        printf("%.9g\n", (double)((const float *)scores.data)[i]);
    }
    taper_value_release(output);
    taper_value_release(input);
    taper_session_destroy(session);
    taper_model_release(model);
    taper_context_release(context);
    taper_error_destroy(error);
    return 0;
}
