// SPDX-License-Identifier: BSD-2-Clause
// Includes own_names.inc. Macros that the including file does not define expand to nothing.
#ifndef PROPERTY
#define PROPERTY(name, operator)
#endif
#ifndef TURNED
#define TURNED(name, before, operator, reals)
#endif
#ifndef SEVERAL
#define SEVERAL(name, count)
#endif
#ifndef NEUTRAL
#define NEUTRAL(name, number, commutes)
#endif
#ifndef NUMERIC
#define NUMERIC(name, alpha)
#endif
#ifndef CAST
#define CAST(name)
#endif
#ifndef ALIAS
#define ALIAS(alias, name)
#endif
#include "ops/list/own_names.inc"
