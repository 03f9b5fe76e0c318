// SPDX-License-Identifier: BSD-2-Clause
// Derives schemas for functions without one. Bytecode 3, and some files of version 4, has such functions, and later
// versions require schemas. If the archive has no sources with more information, a function gets as many arguments as
// it takes, all of type Any. Readers then accept all arguments that they accepted for the original file.
#include "runtime/draft.h"

#include <stdio.h>

static taper_status name_arguments(taper_module_function *function, taper_arena *arena, taper_error *error)
{
    for (size_t i = 1; i < function->argument_count; i++) {
        char name[32]; // name that torch.jit.trace gives to an unnamed argument
        const int length = snprintf(name, sizeof name, "argument_%zu", i);
        const char *kept = taper_arena_string(arena, name, (size_t)length);
        if (kept == NULL) {
            return taper_fail_memory(error);
        }
        function->arguments[i] = (taper_module_argument){.name = kept, .type = &taper_type_any, .type_text = "Any"};
    }
    return TAPER_OK;
}

taper_status taper_draft_derive_schema(taper_types *types, const taper_graph *graph, taper_arena *arena,
                                       taper_module_function *function, taper_error *error)
{
    const char *dot = strrchr(function->name, '.');
    if (function->has_schema) {
        return TAPER_OK;
    }
    if (dot == NULL || graph->body->param_count == 0 || graph->body->param_count > TAPER_LIMIT_ARGUMENTS) {
        TAPER_FAIL(error, TAPER_ERROR_UNSUPPORTED,
                   "function %.200s has no schema in the file, and is not a method with an object and at most %d "
                   "arguments, of which one could be made: save the model anew with a newer PyTorch",
                   function->name, TAPER_LIMIT_ARGUMENTS);
    }
    const char *class_name = taper_arena_string(arena, function->name, (size_t)(dot - function->name));
    function->argument_count = graph->body->param_count;
    function->return_count = 1;
    function->arguments = taper_arena_array(arena, function->argument_count, sizeof *function->arguments);
    function->returns = taper_arena_array(arena, 1, sizeof *function->returns);
    if (class_name == NULL || function->arguments == NULL || function->returns == NULL) {
        return taper_fail_memory(error);
    }
    const taper_type *self;
    TAPER_TRY(taper_type_make(types, TAPER_TYPE_CLASS, class_name, NULL, NULL, 0, &self, error));
    function->arguments[0] = (taper_module_argument){.name = "self", .type = self, .type_text = class_name};
    function->returns[0] = (taper_module_argument){.name = "", .type = &taper_type_any, .type_text = "Any"};
    TAPER_TRY(name_arguments(function, arena, error));
    function->has_schema = true;
    return TAPER_OK;
}
