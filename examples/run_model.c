/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <taper/taper_compile.h>

int main(int argc, char **argv)
{
    static float pixels[3 * 96 * 96]; /* a picture, prepared as the model wants it; here a black one */
    const int64_t sizes[] = {1, 3, 96, 96};
    const taper_load_options options = {.struct_size = sizeof options, .compiler = taper_compiler()};
    taper_tensor_info scores = {.struct_size = sizeof scores};
    taper_error *error = taper_error_create();
    taper_context *context = NULL;
    taper_model *model = NULL;
    taper_session *session = NULL;
    taper_value *input = NULL, *output = NULL;
    int64_t best = 0;
    int status = 1;

    if (argc == 2 && taper_context_create(NULL, &context, error) == TAPER_OK &&
        taper_model_load(context, argv[1], &options, &model, error) == TAPER_OK &&
        taper_session_create(model, NULL, &session, error) == TAPER_OK &&
        taper_value_tensor_from(context, TAPER_F32, 4, sizes, NULL, pixels, sizeof pixels, 1, NULL, NULL, &input, error) == TAPER_OK &&
        taper_session_run(session, "forward", &input, 1, &output, error) == TAPER_OK &&
        taper_value_get_tensor(output, &scores, error) == TAPER_OK) {
        for (int64_t i = 1; i < scores.sizes[1]; i++) {
            best = ((float *)scores.data)[i] > ((float *)scores.data)[best] ? i : best;
        }
        printf("output: %d x %d, best: %d\n", (int)scores.sizes[0], (int)scores.sizes[1], (int)best);
        status = 0;
    } else {
        fprintf(stderr, "%s\n", argc == 2 ? taper_error_message(error) : "usage: run_model MODEL.ptl");
    }
    taper_value_release(output);
    taper_value_release(input);
    taper_session_destroy(session);
    taper_model_release(model);
    taper_context_release(context);
    taper_error_destroy(error);
    return status;
}
