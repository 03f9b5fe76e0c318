// SPDX-License-Identifier: BSD-2-Clause
// Compilations. A compilation keeps a finished model alive, and can be finished only once.
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "model.h"

static void destroy_compilation(void *body)
{
    compilation_body *compilation = body;
    double_drop(compilation->model);
    free(compilation);
}

static int make(ANeuralNetworksModel *model, uint32_t bits, bool chosen, ANeuralNetworksCompilation **compilation)
{
    model_body *body;
    if (compilation == NULL) {
        return double_misuse(ANEURALNETWORKS_UNEXPECTED_NULL, "where the compilation should go is NULL");
    }
    *compilation = NULL;
    const int code = double_find(model, DOUBLE_MODEL, &body);
    if (code != ANEURALNETWORKS_NO_ERROR) {
        return code;
    }
    if (!body->finished) {
        return double_misuse(ANEURALNETWORKS_BAD_STATE, "the model is not finished");
    }
    compilation_body *made = calloc(1, sizeof *made);
    *compilation = made != NULL ? double_object(DOUBLE_COMPILATION, made, destroy_compilation) : NULL;
    if (*compilation == NULL) {
        free(made);
        return ANEURALNETWORKS_OUT_OF_MEMORY;
    }
    double_hold(body);
    made->model = body;
    made->devices = bits;
    made->device_count = (bits & 1) + (bits >> 1 & 1);
    made->chosen = chosen;
    return ANEURALNETWORKS_NO_ERROR;
}

int ANeuralNetworksCompilation_create(ANeuralNetworksModel *model, ANeuralNetworksCompilation **compilation)
{
    ENTER;
    LEAVE(make(model, 3, false, compilation));
}

#if DOUBLE_LEVEL >= 29
int ANeuralNetworksCompilation_createForDevices(ANeuralNetworksModel *model,
                                                const ANeuralNetworksDevice *const *devices, uint32_t numDevices,
                                                ANeuralNetworksCompilation **compilation)
{
    ENTER;
    uint32_t bits;
    if (compilation != NULL) {
        *compilation = NULL;
    }
    TRY(double_devices(devices, numDevices, &bits));
    LEAVE(make(model, bits, true, compilation));
}
#endif

void ANeuralNetworksCompilation_free(ANeuralNetworksCompilation *compilation)
{
    (void)double_enter(__func__);
    compilation_body *body;
    if (double_end(compilation, DOUBLE_COMPILATION, &body) == ANEURALNETWORKS_NO_ERROR) {
        // Freeing a compilation that is in use is a misuse by the API: the compilation "must outlive the execution" and
        // the burst.
        if (body->head.holders > 1) {
            (void)double_misuse(0, "an execution or a burst still uses the compilation");
        }
        double_drop(body);
    }
    double_leave();
}

static int find_open(const ANeuralNetworksCompilation *compilation, compilation_body **body)
{
    const int code = double_find(compilation, DOUBLE_COMPILATION, body);
    if (code == ANEURALNETWORKS_NO_ERROR && (*body)->finished) {
        return double_misuse(ANEURALNETWORKS_BAD_STATE, "the compilation is finished");
    }
    return code;
}

int ANeuralNetworksCompilation_setPreference(ANeuralNetworksCompilation *compilation, int32_t preference)
{
    ENTER;
    compilation_body *body;
    TRY(find_open(compilation, &body));
    if (preference < 0 || preference > ANEURALNETWORKS_PREFER_SUSTAINED_SPEED) {
        MISUSE(ANEURALNETWORKS_BAD_DATA, "preference %d", preference);
    }
    LEAVE(ANEURALNETWORKS_NO_ERROR);
}

int ANeuralNetworksCompilation_finish(ANeuralNetworksCompilation *compilation)
{
    ENTER;
    compilation_body *body;
    TRY(find_open(compilation, &body));
    TRY(double_check_values(body->model));
    if ((body->devices & 1) != 0 && double_is_lost()) {
        LEAVE(ANEURALNETWORKS_DEAD_OBJECT);
    }
    body->finished = true; // set also after an error, because a compilation cannot be finished twice
    for (uint32_t i = 0; i < body->model->operation_count; i++) {
        const operation *op = &body->model->operations[i];
        if (op->row == NULL || double_refuses(op->code)) {
            body->finished = false;
            // The call is not a misuse: a model may contain operations that a device does not support.
            LEAVE(ANEURALNETWORKS_BAD_DATA);
        }
    }
    LEAVE(ANEURALNETWORKS_NO_ERROR);
}

#if DOUBLE_LEVEL >= 29
// `token` points to 32 bytes.
int ANeuralNetworksCompilation_setCaching(ANeuralNetworksCompilation *compilation, const char *cacheDir,
                                          const uint8_t *token)
{
    ENTER;
    compilation_body *body;
    struct stat status;
    TRY(find_open(compilation, &body));
    if (cacheDir == NULL || token == NULL) {
        MISUSE(ANEURALNETWORKS_UNEXPECTED_NULL, "no %s", cacheDir == NULL ? "directory" : "token");
    }
    if (stat(cacheDir, &status) != 0 || !S_ISDIR(status.st_mode) || access(cacheDir, W_OK) != 0) {
        MISUSE(ANEURALNETWORKS_BAD_DATA, "%s is no directory that can be written to", cacheDir);
    }
    uint8_t bits = 0;
    for (int i = 0; i < ANEURALNETWORKS_BYTE_SIZE_OF_CACHE_TOKEN; i++) {
        bits |= token[i]; // reads all bytes, so that a sanitizer detects a token that is too short
    }
    body->cached = bits != 0;
    LEAVE(ANEURALNETWORKS_NO_ERROR);
}
#endif

#if DOUBLE_LEVEL >= 30
int ANeuralNetworksCompilation_setPriority(ANeuralNetworksCompilation *compilation, int priority)
{
    ENTER;
    compilation_body *body;
    TRY(find_open(compilation, &body));
    if (priority != ANEURALNETWORKS_PRIORITY_LOW && priority != ANEURALNETWORKS_PRIORITY_MEDIUM &&
        priority != ANEURALNETWORKS_PRIORITY_HIGH) {
        MISUSE(ANEURALNETWORKS_BAD_DATA, "priority %d", priority);
    }
    LEAVE(ANEURALNETWORKS_NO_ERROR);
}

int ANeuralNetworksCompilation_setTimeout(ANeuralNetworksCompilation *compilation, uint64_t duration)
{
    ENTER;
    compilation_body *body;
    (void)duration;
    TRY(find_open(compilation, &body));
    if (!body->chosen || body->device_count != 1) {
        MISUSE(ANEURALNETWORKS_BAD_DATA, "a time limit is for a compilation for one device");
    }
    LEAVE(ANEURALNETWORKS_NO_ERROR);
}
#endif

#if DOUBLE_LEVEL >= 31
static int answer(const ANeuralNetworksCompilation *compilation, uint32_t index, bool output, uint32_t *to)
{
    compilation_body *body;
    const int code = double_find(compilation, DOUBLE_COMPILATION, &body);
    if (code != ANEURALNETWORKS_NO_ERROR) {
        return code;
    }
    if (to == NULL) {
        return double_misuse(ANEURALNETWORKS_UNEXPECTED_NULL, "where the answer should go is NULL");
    }
    if (!body->finished) {
        return double_misuse(ANEURALNETWORKS_BAD_STATE, "the compilation is not finished");
    }
    const uint32_t count = output ? body->model->output_count : body->model->input_count;
    if (index >= count) {
        return double_misuse(ANEURALNETWORKS_BAD_DATA, "%s %u of %u", output ? "output" : "input", index, count);
    }
    *to = 64;
    return ANEURALNETWORKS_NO_ERROR;
}

int ANeuralNetworksCompilation_getPreferredMemoryAlignmentForInput(const ANeuralNetworksCompilation *compilation,
                                                                   uint32_t index, uint32_t *alignment)
{
    ENTER;
    LEAVE(answer(compilation, index, false, alignment));
}

int ANeuralNetworksCompilation_getPreferredMemoryPaddingForInput(const ANeuralNetworksCompilation *compilation,
                                                                 uint32_t index, uint32_t *padding)
{
    ENTER;
    LEAVE(answer(compilation, index, false, padding));
}

int ANeuralNetworksCompilation_getPreferredMemoryAlignmentForOutput(const ANeuralNetworksCompilation *compilation,
                                                                    uint32_t index, uint32_t *alignment)
{
    ENTER;
    LEAVE(answer(compilation, index, true, alignment));
}

int ANeuralNetworksCompilation_getPreferredMemoryPaddingForOutput(const ANeuralNetworksCompilation *compilation,
                                                                  uint32_t index, uint32_t *padding)
{
    ENTER;
    LEAVE(answer(compilation, index, true, padding));
}
#endif
