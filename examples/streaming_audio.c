/* SPDX-License-Identifier: BSD-2-Clause
 *
 * streaming_audio MODEL [SAMPLES] <SOUND.raw: passes sound piece by piece to a model with state. SOUND is mono, 16
 * bits, little-endian. The model's forward takes a float tensor [1, SAMPLES] (default 1600: 100 ms at 16 kHz) and
 * the state, which is None in the first call. It returns (output, state). The last piece is padded with silence. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <taper/taper_app.h>
#include <taper/taper_compile.h>

/* Fills the piece from the stream. Returns the number of samples that were read. */
static int read_piece(float *piece, int samples)
{
    for (int i = 0; i < samples; i++) {
        unsigned char bytes[2];
        if (fread(bytes, 1, 2, stdin) != 2) {
            for (int k = i; k < samples; k++) {
                piece[k] = 0;
            }
            return i;
        }
        const int number = bytes[0] | bytes[1] << 8;
        piece[i] = (float)(number < 32768 ? number : number - 65536) / 32768;
    }
    return samples;
}

/* Runs one step: prints the model's output and replaces *state by its new state. */
static taper_status step(taper_context *context, taper_session *session, taper_value *sound, taper_value **state,
                         int number, taper_error *error)
{
    taper_value *inputs[] = {sound, *state}, *result, *output = NULL, *next = NULL, *floats = NULL;
    taper_tensor_info info = {.struct_size = sizeof info};
    taper_status status = taper_session_run(session, NULL, inputs, 2, &result, error);
    if (status == TAPER_OK) {
        status = taper_value_item(result, 0, &output, error);
    }
    if (status == TAPER_OK) {
        status = taper_value_item(result, 1, &next, error);
    }
    if (status == TAPER_OK) {
        status = taper_value_floats(context, output, &floats, error);
    }
    if (status == TAPER_OK) {
        status = taper_value_get_tensor(floats, &info, error);
    }
    if (status == TAPER_OK) {
        printf("%4d  %.4f\n", number, (double)*(const float *)info.data);
        taper_value_release(*state);
        *state = taper_value_retain(next);
    }
    taper_value_release(floats);
    taper_value_release(next);
    taper_value_release(output);
    taper_value_release(result);
    return status;
}

int main(int argc, char **argv)
{
    taper_error *error = taper_error_create();
    taper_context *context = NULL;
    taper_model *model = NULL;
    taper_session *session = NULL;
    taper_value *sound = NULL, *state = NULL;
    const int samples = argc == 3 ? atoi(argv[2]) : 1600;
    const int64_t sizes[] = {1, samples};
    float *piece = samples > 0 && samples <= 1 << 20 ? malloc((size_t)samples * sizeof *piece) : NULL;

    if (argc < 2 || argc > 3 || piece == NULL) {
        fprintf(stderr, "usage: streaming_audio MODEL [SAMPLES] <SOUND.raw\n");
        return 1;
    }
    taper_status status = taper_context_create(NULL, &context, error);
    if (status == TAPER_OK) {
        status = taper_model_open(context, argv[1], NULL, &model, error);
    }
    if (status == TAPER_OK) {
        status = taper_session_create(model, NULL, &session, error);
    }
    if (status == TAPER_OK) { /* the tensor uses the piece's memory, which is refilled before each run */
        status = taper_value_tensor_from(context, TAPER_F32, 2, sizes, NULL, piece, (size_t)samples * sizeof *piece, 1,
                                         NULL, NULL, &sound, error);
    }
    if (status == TAPER_OK) {
        status = taper_value_none(context, &state, error);
    }
    for (int number = 0; status == TAPER_OK; number++) {
        const int there = read_piece(piece, samples);
        if (there == 0) {
            break;
        }
        status = step(context, session, sound, &state, number, error);
    }
    if (status != TAPER_OK) {
        fprintf(stderr, "%s\n", taper_error_message(error));
    }
    taper_value_release(state);
    taper_value_release(sound);
    taper_session_destroy(session);
    taper_model_release(model);
    taper_context_release(context);
    taper_error_destroy(error);
    free(piece);
    return status != TAPER_OK;
}
