// SPDX-License-Identifier: BSD-2-Clause
// Finds the states with which a session's objects are saved (archive_writer.c): the values that `__setstate__` of the
// objects' classes reads.
#ifndef TAPER_RUNTIME_SESSION_STATE_H
#define TAPER_RUNTIME_SESSION_STATE_H

#include "base/pointer_map.h"
#include "format/pickle_write.h"
#include "runtime/session.h"

// A file has a state for each object whose class has a __setstate__. The session's copy of such an object is saved with
// the same state.
typedef struct taper_saved_states {
    const taper_model *model;
    taper_pointer_map pending; // maps each object of the model to the index of its state in the module's `pending`
    taper_pointer_map copies;  // maps the session's copy of each object in `pending` to the index of the same state
    taper_pointer_map met;     // contains the containers and objects of the session that were visited
} taper_saved_states;

// Compares the model's objects with the session's, and settles the session's tensors for reading. The caller calls
// taper_saved_states_free afterwards, also after a failure.
TAPER_MUST_USE taper_status taper_saved_states_collect(taper_session *session, taper_saved_states *states,
                                                       taper_error *error);
void taper_saved_states_free(taper_saved_states *states);
// Implements taper_pickle_saver.state.
TAPER_MUST_USE taper_status taper_saved_states_find(const taper_saved_states *states, const taper_object *object,
                                                    taper_saved_as *as, taper_val *value, taper_error *error);

#endif
