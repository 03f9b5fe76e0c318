// SPDX-License-Identifier: BSD-2-Clause
// Finds the global for which a value on the stack stands.
#include "format/pickle_machine.h"

const taper_pickle_global *taper_pickle_global_of(const taper_pickle *p, taper_val value)
{
    return value.tag == TAPER_UNDEFINED ? &p->globals[value.as.i] : NULL;
}
