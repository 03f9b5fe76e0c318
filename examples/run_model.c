/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <taper/taper_compile.h>

int main(int argc, char **argv)
{
    static float pixels[3 * 96 * 96]; /* pixels of a picture, prepared for the model; all zeros here */
    const int64_t sizes[] = {1, 3, 96, 96};
    taper_tensor_info scores = {.struct_size = sizeof scores};
    taper_error *error = taper_error_create();
    taper_context *context;
    taper_model *model;
    taper_session *session;
    taper_value *input, *output;

    if (argc != 2 || taper_context_create(NULL, &context, error) ||
        taper_model_open(context, argv[1], NULL, &model, error) || taper_session_create(model, NULL, &session, error) ||
        taper_value_tensor_from(context, TAPER_F32, 4, sizes, NULL, pixels, sizeof pixels, 1, NULL, NULL, &input,
                                error) ||
        taper_session_run(session, "forward", &input, 1, &output, error) ||
        taper_value_get_tensor(output, &scores, error)) {
        fprintf(stderr, "%s\n", argc == 2 ? taper_error_message(error) : "usage: run_model MODEL.ptl");
        return 1;
    }
    printf("output: %d x %d, first: %g\n", (int)scores.sizes[0], (int)scores.sizes[1], (double)*(float *)scores.data);
    taper_value_release(output);
    taper_value_release(input);
    taper_session_destroy(session);
    taper_model_release(model);
    taper_context_release(context);
    taper_error_destroy(error);
    return 0;
}
