// SPDX-License-Identifier: BSD-2-Clause
// The state of a session for hosts: attributes that are set, copies of a session, and what objects are saved as
// (taper_archive.h).
#include "runtime/session_state.h"

#include <taper/taper_archive.h>

#include "base/arguments.h"
#include "ir/tensor.h"

// ---- setting attributes

static taper_status set_in(taper_session *session, taper_object *object, const char *name, taper_val value,
                           taper_error *error)
{
    int64_t slot = object->klass != NULL ? taper_object_slot(object, name) : -1;
    if (object->klass == NULL || object->klass->slots == NULL) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "the attributes of the object have no names");
    }
    if (slot < 0) {
        slot = (int64_t)object->klass->count;
        TAPER_TRY(taper_object_add_slots(object, session->model->types, &name, 1, error));
    }
    return taper_object_set(object, (size_t)slot, taper_val_retain(value), error);
}

static taper_status set_attribute(taper_session *session, const char *path, taper_val value, taper_error *error)
{
    const char *dot = strrchr(path, '.'), *name = dot != NULL ? dot + 1 : path;
    if (*name == '\0') {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "\"%.100s\" does not end with the name of an attribute", path);
    }
    taper_val parent = session->root;
    if (dot != NULL) {
        const taper_allocator *allocator = session->model->allocator;
        const size_t length = (size_t)(dot - path);
        char *before = taper_alloc(allocator, length + 1);
        if (before == NULL) {
            return taper_fail_memory(error);
        }
        memcpy(before, path, length);
        before[length] = '\0';
        const taper_status status = taper_session_at(session, before, &parent, error);
        taper_free(allocator, before, length + 1);
        TAPER_TRY(status);
    }
    if (parent.tag != TAPER_OBJECT) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "%.100s: a %s has no attributes", path, taper_val_kind_name(parent));
    }
    return set_in(session, parent.as.object, name, value, error);
}

taper_status taper_session_set_attribute(taper_session *session, const char *path, const taper_value *value,
                                         taper_error *error)
{
    TAPER_NEED(session, error);
    TAPER_NEED(path, error);
    TAPER_NEED(value, error);
    TAPER_TRY(taper_session_enter(session, error));
    const taper_status status = set_attribute(session, path, value->val, error);
    taper_session_leave(session);
    return status;
}

// ---- copying a session

static taper_status copy_state(const taper_session *from, taper_session *to, taper_error *error)
{
    taper_clone_memo *memo;
    TAPER_TRY(taper_clone_begin(to->heap, &memo, error));
    taper_val root = taper_val_none();
    taper_status status = taper_clone_value(memo, from->root, &root, error);
    if (status == TAPER_OK) {
        taper_val_release(to->root);
        to->root = root;
    }
    for (size_t i = 0; status == TAPER_OK && i < from->model->constant_count; i++) {
        taper_val constant;
        status = taper_clone_value(memo, from->constants[i], &constant, error);
        if (status == TAPER_OK) {
            taper_val_release(to->constants[i]);
            to->constants[i] = constant;
        }
    }
    taper_clone_end(memo);
    return status;
}

taper_status taper_session_copy(taper_session *session, taper_session **copy, taper_error *error)
{
    taper_session *made;
    TAPER_NEED_OUT(copy, error);
    TAPER_NEED(session, error);
    TAPER_TRY(taper_session_enter(session, error));
    taper_status status = taper_session_create(session->model, NULL, &made, error);
    if (status == TAPER_OK) {
        status = copy_state(session, made, error);
        if (status == TAPER_OK) {
            *copy = made;
        } else {
            taper_session_destroy(made);
        }
    }
    taper_session_leave(session);
    return status;
}

// ---- saving

static bool is_container(taper_val value)
{
    return value.tag >= TAPER_LIST && value.tag <= TAPER_OBJECT;
}

// Visits a value of the session. `twin` is the value that it was copied from, as far as the two still correspond.
static taper_status visit(taper_saved_states *states, taper_val value, taper_val twin, int depth, taper_error *error)
{
    const taper_allocator *allocator = states->model->allocator;
    if (value.tag == TAPER_TENSOR) {
        return taper_tensor_settle(value.as.tensor, error);
    }
    if (!is_container(value) || depth > TAPER_LIMIT_VALUE_DEPTH ||
        taper_pointer_find(&states->met, value.as.obj) != NULL) {
        return TAPER_OK; // the pickler reports values that are nested too deep
    }
    TAPER_TRY(taper_pointer_add(allocator, &states->met, value.as.obj, 0, error));
    if (value.tag != twin.tag) {
        twin = taper_val_none();
    }
    const size_t *state = twin.tag == TAPER_OBJECT ? taper_pointer_find(&states->pending, twin.as.obj) : NULL;
    if (state != NULL) {
        TAPER_TRY(taper_pointer_add(allocator, &states->copies, value.as.obj, *state, error));
    }
    size_t count, twins = 0;
    const taper_val *items = taper_container_items((taper_container *)value.as.obj, &count);
    const taper_val *others = is_container(twin) ? taper_container_items((taper_container *)twin.as.obj, &twins) : NULL;
    for (size_t i = 0; i < count; i++) {
        TAPER_TRY(visit(states, items[i], i < twins ? others[i] : taper_val_none(), depth + 1, error));
    }
    return TAPER_OK;
}

taper_status taper_saved_states_collect(taper_session *session, taper_saved_states *states, taper_error *error)
{
    const taper_module *module = &session->model->module;
    *states = (taper_saved_states){.model = session->model};
    for (size_t i = 0; i < module->pending_count; i++) {
        const taper_object *object = module->pending[i].object;
        if (taper_pointer_find(&states->pending, object) == NULL) {
            TAPER_TRY(taper_pointer_add(session->model->allocator, &states->pending, object, i, error));
        }
    }
    return visit(states, session->root, module->root, 0, error);
}

void taper_saved_states_free(taper_saved_states *states)
{
    taper_pointer_free(states->model->allocator, &states->pending);
    taper_pointer_free(states->model->allocator, &states->copies);
    taper_pointer_free(states->model->allocator, &states->met);
}

taper_status taper_saved_states_find(const taper_saved_states *states, const taper_object *object, taper_saved_as *as,
                                     taper_val *value, taper_error *error)
{
    const size_t *state = taper_pointer_find(&states->copies, object);
    if (state != NULL) {
        *as = TAPER_SAVED_STATE;
        *value = states->model->module.pending[*state].state;
    } else if (object->klass->slots == NULL) {
        TAPER_FAIL(error, TAPER_ERROR_UNSUPPORTED,
                   "an object of the class %.200s was made by a run: its state is not known", object->klass->name);
    }
    return TAPER_OK;
}
