// SPDX-License-Identifier: BSD-2-Clause
// Collects the data of a session's profile, which inspect.c shows to the host.
#include "base/checked.h"
#include "runtime/session.h"

void taper_profile_free(taper_session *session)
{
    const taper_allocator *allocator = session->model->allocator;
    taper_free(allocator, session->profile, session->model->state_count * sizeof *session->profile);
    taper_free(allocator, session->parts, session->part_capacity * sizeof *session->parts);
}

// Allocates items for the parts of a site (taper_profile_site: an instruction of the program) if the site has no items,
// or if the number of parts has changed. Returns false if memory is missing.
static bool find_parts(taper_session *session, taper_profile_site *site, size_t count)
{
    if (site->part_count == count) {
        return true;
    }
    size_t end, capacity = session->part_capacity;
    if (!taper_add_size(session->part_count, count, &end)) {
        return false;
    }
    if (end > capacity) {
        capacity = end + capacity;
        taper_profile_part *grown = taper_realloc(session->model->allocator, session->parts,
                                                  session->part_capacity * sizeof *grown, capacity * sizeof *grown);
        if (grown == NULL) {
            return false;
        }
        session->parts = grown;
        session->part_capacity = capacity;
    }
    memset(session->parts + session->part_count, 0, count * sizeof *session->parts);
    site->first_part = session->part_count;
    site->part_count = count;
    session->part_count = end;
    return true;
}

void taper_profile_add_part(void *user, size_t index, size_t count, const taper_part *part)
{
    taper_profile_parts *parts = user;
    if (!find_parts(parts->session, parts->site, count)) {
        return; // the time of this node is added to its segment
    }
    taper_profile_part *row = &parts->session->parts[parts->site->first_part + index];
    const double before = row->last.seconds;
    row->last = *part;
    row->last.seconds += before;
    row->calls++;
    parts->seconds += part->seconds;
}
