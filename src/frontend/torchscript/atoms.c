// SPDX-License-Identifier: BSD-2-Clause
// Represents names by small numbers.
#include "frontend/torchscript/atoms.h"

#include <string.h>

#include "base/charge.h"
#include "base/hash.h"
#include "base/limits.h"

enum { FREE_PROBES = 16, STEPS_A_PROBE = 2 };

static size_t hash_name(const taper_ts_atoms *atoms, const char *text, size_t length)
{
    return (size_t)taper_hash_keyed(taper_hash_seed(atoms), text, length);
}

static taper_status grow_index(taper_ts_atoms *atoms, taper_error *error)
{
    const size_t size = atoms->index_size == 0 ? 1024 : 2 * atoms->index_size;
    uint32_t *index = taper_alloc_zeroed(atoms->allocator, size * sizeof *index);
    if (index == NULL) {
        return taper_fail_memory(error);
    }
    for (size_t i = 0; i < atoms->count; i++) {
        size_t at = hash_name(atoms, atoms->names[i], strlen(atoms->names[i])) & (size - 1);
        while (index[at] != 0) {
            at = (at + 1) & (size - 1);
            atoms->probes++;
        }
        index[at] = (uint32_t)i + 1;
    }
    taper_free(atoms->allocator, atoms->index, atoms->index_size * sizeof *index);
    atoms->index = index;
    atoms->index_size = size;
    return TAPER_OK;
}

taper_status taper_ts_atom(taper_ts_atoms *atoms, const char *text, size_t length, uint32_t *atom, taper_error *error)
{
    if (2 * (atoms->count + 1) > atoms->index_size) {
        TAPER_TRY(grow_index(atoms, error));
    }
    const uint64_t probes = atoms->probes;
    size_t at = hash_name(atoms, text, length) & (atoms->index_size - 1);
    for (; atoms->index[at] != 0; at = (at + 1) & (atoms->index_size - 1)) {
        const char *name = atoms->names[atoms->index[at] - 1];
        if (strncmp(name, text, length) == 0 && name[length] == '\0') {
            *atom = atoms->index[at] - 1;
            return TAPER_OK;
        }
        if (atoms->probes - probes > FREE_PROBES && !taper_spend(atoms->allocator, STEPS_A_PROBE + length / 8)) {
            return taper_charge(atoms->allocator, 1, error);
        }
        if (++atoms->probes > TAPER_LIMIT_NAME_PROBES + 64 * (uint64_t)atoms->count) {
            TAPER_FAIL(error, TAPER_ERROR_RESOURCE, "the names of the source were chosen to be slow to look up");
        }
    }
    TAPER_TRY(TAPER_GROW(atoms->allocator, atoms->names, atoms->capacity, atoms->count + 1, error));
    char *copy = taper_arena_string(atoms->arena, text, length);
    if (copy == NULL) {
        return taper_fail_memory(error);
    }
    atoms->names[atoms->count] = copy;
    *atom = (uint32_t)atoms->count++;
    atoms->index[at] = *atom + 1;
    return TAPER_OK;
}

taper_status taper_ts_atoms_create(taper_ts_atoms *atoms, const taper_allocator *allocator, taper_arena *arena,
                                   taper_error *error)
{
    static const char *const known[] = {
#define X(id, text) text,
        TAPER_TS_KNOWN_NAMES(X)
#undef X
    };
    *atoms = (taper_ts_atoms){.allocator = allocator, .arena = arena};
    for (uint32_t i = 0; i < TAPER_ATOM_COUNT; i++) {
        uint32_t atom;
        TAPER_TRY(taper_ts_atom(atoms, known[i], strlen(known[i]), &atom, error));
    }
    return TAPER_OK;
}

void taper_ts_atoms_free(taper_ts_atoms *atoms)
{
    taper_free(atoms->allocator, atoms->names, atoms->capacity * sizeof *atoms->names);
    taper_free(atoms->allocator, atoms->index, atoms->index_size * sizeof *atoms->index);
}
