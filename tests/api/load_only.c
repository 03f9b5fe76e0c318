/* SPDX-License-Identifier: BSD-2-Clause
 *
 * load_only MODEL: loads a file without optimizing the model; if it is compiled with -DOPENS, the program optimizes the
 * model. links_no_compiler.sh checks what is linked into each of the two programs.
 */
#include <stdio.h>
#include <taper/taper_compile.h>

int main(int argc, char **argv)
{
    const taper_load_options options = {.struct_size = sizeof options};
    taper_error *error = taper_error_create();
    taper_context *context;
    taper_model *model = NULL;
    taper_session *session = NULL;
    taper_value *result = NULL;

    if (argc != 2 || taper_context_create(NULL, &context, error) ||
#ifdef OPENS
        taper_model_open(context, argv[1], &options, &model, error) ||
#else
        taper_model_load(context, argv[1], &options, &model, error) ||
#endif
        taper_session_create(model, NULL, &session, error) ||
        taper_session_run(session, NULL, NULL, 0, &result, error)) {
        fprintf(stderr, "%s\n", taper_error_message(error));
        return 1;
    }
    return 0;
}
