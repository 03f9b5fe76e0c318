/* SPDX-License-Identifier: BSD-2-Clause
 *
 * top_classes MODEL PICTURE.ppm: prints the five most probable classes of a picture. The picture is an 8-bit PPM
 * (P6), which decoders and `convert photo.jpg photo.ppm` write. The model's taper.json, in the file or next to it,
 * describes how pictures are prepared and names the classes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <taper/taper_app.h>
#include <taper/taper_compile.h>

static int read_ppm(const char *path, taper_picture *picture, unsigned char **pixels)
{
    FILE *file = fopen(path, "rb");
    int width, height, most;
    size_t bytes = 0;
    *pixels = NULL;
    if (file != NULL && fscanf(file, "P6 %d %d %d", &width, &height, &most) == 3 && fgetc(file) != EOF && most == 255 &&
        width > 0 && height > 0 && width <= 16384 && height <= 16384) {
        bytes = (size_t)width * (size_t)height * 3;
        *pixels = malloc(bytes);
    }
    if (*pixels == NULL || fread(*pixels, 1, bytes, file) != bytes) {
        bytes = 0;
    }
    if (file != NULL) {
        fclose(file);
    }
    *picture = (taper_picture){.struct_size = sizeof *picture,
                               .format = TAPER_PIXELS_RGB,
                               .width = bytes != 0 ? width : 0,
                               .height = bytes != 0 ? height : 0,
                               .planes = {*pixels}};
    return bytes != 0;
}

int main(int argc, char **argv)
{
    taper_error *error = taper_error_create();
    taper_context *context = NULL;
    taper_model *model = NULL;
    taper_session *session = NULL;
    taper_settings *settings = NULL;
    taper_value *input = NULL, *output = NULL, *scores = NULL, *probabilities = NULL;
    taper_preparation preparation = {.struct_size = sizeof preparation};
    taper_picture picture;
    unsigned char *pixels;
    taper_ranked best[5];
    size_t count = 0;

    if (argc != 3 || !read_ppm(argv[2], &picture, &pixels)) {
        fprintf(stderr, argc == 3 ? "%s is no PPM picture of 8 bits\n" : "usage: top_classes MODEL PICTURE.ppm\n",
                argc == 3 ? argv[2] : "");
        return 1;
    }
    const int done = taper_context_create(NULL, &context, error) == TAPER_OK &&
                     taper_model_open(context, argv[1], NULL, &model, error) == TAPER_OK &&
                     taper_session_create(model, NULL, &session, error) == TAPER_OK &&
                     taper_settings_read(model, NULL, &settings, error) == TAPER_OK &&
                     taper_settings_preparation(settings, NULL, &preparation, error) == TAPER_OK &&
                     taper_picture_tensor(context, &picture, &preparation, &input, error) == TAPER_OK &&
                     taper_session_run(session, NULL, &input, 1, &output, error) == TAPER_OK &&
                     taper_scores_find(output, &scores, error) == TAPER_OK &&
                     taper_scores_softmax(context, scores, &probabilities, error) == TAPER_OK &&
                     taper_scores_top(context, probabilities, best, 5, &count, error) == TAPER_OK;
    for (size_t i = 0; i < count; i++) {
        const char *label = taper_settings_label(settings, best[i].index);
        printf("%5.1f %%  %zu  %s\n", 100 * (double)best[i].score, best[i].index, label != NULL ? label : "");
    }
    if (!done) {
        fprintf(stderr, "%s\n", taper_error_message(error));
    }
    taper_value_release(probabilities);
    taper_value_release(scores);
    taper_value_release(output);
    taper_value_release(input);
    taper_settings_release(settings);
    taper_session_destroy(session);
    taper_model_release(model);
    taper_context_release(context);
    taper_error_destroy(error);
    free(pixels);
    return !done;
}
