/* SPDX-License-Identifier: BSD-2-Clause
 *
 * own_allocator MODEL [MEGABYTES]: gives Taper an allocator that counts blocks and limits their total size. If
 * MEGABYTES is too small, the load or the run ends in an error, and all memory is freed. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <taper/taper_compile.h>

typedef struct purse {
    pthread_mutex_t lock; /* protects the other members, because any thread may call the allocator */
    size_t limit, held, most, calls;
} purse;

/* Implements taper_allocator.reallocate. old_size is always the size that was requested for the block. */
static void *reallocate(void *user, void *block, size_t old_size, size_t new_size)
{
    purse *p = user;
    void *given = NULL;
    pthread_mutex_lock(&p->lock);
    if (new_size == 0) {
        free(block);
        p->held -= old_size;
    } else if (new_size <= old_size || new_size - old_size <= p->limit - p->held) {
        given = realloc(block, new_size);
        if (given != NULL) {
            p->held += new_size - old_size;
            p->most = p->held > p->most ? p->held : p->most;
            p->calls++;
        }
    }
    pthread_mutex_unlock(&p->lock);
    return given;
}

static taper_status run(taper_context *context, const char *path, const purse *p, taper_error *error)
{
    static float black[3 * 96 * 96];
    const int64_t sizes[] = {1, 3, 96, 96};
    taper_model *model = NULL;
    taper_session *session = NULL;
    taper_value *input = NULL;
    taper_status status = taper_model_open(context, path, NULL, &model, error);
    if (status == TAPER_OK) {
        status = taper_session_create(model, NULL, &session, error);
    }
    if (status == TAPER_OK) {
        status = taper_value_tensor_from(context, TAPER_F32, 4, sizes, NULL, black, sizeof black, 1, NULL, NULL, &input,
                                         error);
    }
    for (int i = 0; status == TAPER_OK && i < 5; i++) {
        taper_value *output;
        const size_t before = p->calls;
        status = taper_session_run(session, NULL, &input, 1, &output, error);
        if (status == TAPER_OK) {
            printf("run %d: %zu blocks asked for, %zu bytes held\n", i, p->calls - before, p->held);
            taper_value_release(output);
        }
    }
    taper_value_release(input);
    taper_session_destroy(session);
    taper_model_release(model);
    return status;
}

int main(int argc, char **argv)
{
    purse p = {.limit = argc == 3 ? (size_t)(atof(argv[2]) * 1e6) : (size_t)-1};
    const taper_allocator allocator = {.user = &p, .reallocate = reallocate};
    const taper_context_options options = {.struct_size = sizeof options, .allocator = &allocator};
    taper_error *error = taper_error_create();
    taper_context *context;
    if (argc < 2 || argc > 3) {
        fprintf(stderr, "usage: own_allocator MODEL [MEGABYTES]\n");
        return 1;
    }
    pthread_mutex_init(&p.lock, NULL);
    taper_status status = taper_context_create(&options, &context, error);
    if (status == TAPER_OK) {
        status = run(context, argv[1], &p, error);
        taper_context_release(context);
    }
    if (status != TAPER_OK) {
        printf("%s\n", taper_error_message(error));
    }
    printf("%zu blocks, %zu bytes at most, %zu left\n", p.calls, p.most, p.held);
    taper_error_destroy(error);
    pthread_mutex_destroy(&p.lock);
    return p.held != 0 ? 1 : status == TAPER_OK ? 0 : 2;
}
