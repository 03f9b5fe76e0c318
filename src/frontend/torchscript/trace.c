// SPDX-License-Identifier: BSD-2-Clause
// Prints the source lines where an operator failed, as PyTorch does.
#include "frontend/torchscript/ast.h"
#include "frontend/torchscript/torchscript.h"

enum { DEEPEST = 100 };

static void add_line(const taper_module *module, const taper_module_place *place, taper_error *error)
{
    const taper_module_source *source = &module->sources[place->source];
    const char *line;
    size_t length, column;
    const size_t number = taper_ts_line(source->text, source->length, place->at, &line, &length, &column);
    taper_error_add_detail(error, "  File \"%s\", line %zu, in %s\n    %.*s\n    %*s~~~~ <--- HERE\n", source->name,
                           number, place->function, (int)taper_min_size(length, 200), line,
                           (int)taper_min_size(column, 200), "");
}

void taper_torchscript_trace(const taper_module *module, uint32_t place, taper_error *error)
{
    const taper_module_place *chain[DEEPEST];
    size_t count = 0;
    while (place < module->place_count && count < DEEPEST) {
        chain[count] = &module->places[place];
        place = chain[count++]->parent;
    }
    if (count == 0) {
        return;
    }
    taper_error_add_detail(error, "Traceback of TorchScript, serialized code (most recent call last):\n");
    while (count-- != 0) {
        add_line(module, chain[count], error);
    }
}
