// SPDX-License-Identifier: BSD-2-Clause
// Drops references to Python objects some time after Taper has released them. Taper calls a release function in
// whichever thread drops the last reference, possibly in a run without the GIL or with a lock of Taper held. Waiting
// for the GIL there could deadlock with a thread that holds the GIL and waits for that lock. The function therefore
// appends its argument to a list. The next thread that holds the GIL, and releases an object or ends a run, empties the
// list. If the function runs in a thread that Python does not know, it asks the main thread to empty the list.
#include "binding.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "dlpack.h"

// The only mutable global. A release function may run after the module is gone, so it cannot use the module's
// state.
static _Atomic(binding_later *) first;

binding_later *binding_later_new(void)
{
    binding_later *const later = calloc(1, sizeof *later);
    if (later == NULL) {
        PyErr_NoMemory();
    }
    return later;
}

static int empty_pending(void *unused)
{
    (void)unused;
    binding_later_empty();
    return 0;
}

void binding_later_release(void *later)
{
    binding_later *const own = later;
    own->next = atomic_load_explicit(&first, memory_order_relaxed);
    while (!atomic_compare_exchange_weak(&first, &own->next, own)) {
    }
    if (Py_IsInitialized() && PyGILState_GetThisThreadState() == NULL) {
        (void)Py_AddPendingCall(empty_pending, NULL); // can fail; a later release or run then empties the list
    }
}

void binding_later_drop(binding_later *later)
{
    if (later == NULL) {
        return;
    }
    // A Python destructor may run here. It must not see the current exception.
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    if (later->view.obj != NULL) {
        PyBuffer_Release(&later->view);
    }
    if (later->managed != NULL) {
        dlpack_delete(later->managed, later->versioned);
    }
    Py_XDECREF(later->reference);
    free(later);
    PyErr_Restore(type, value, traceback);
}

void binding_later_empty(void)
{
    if (atomic_load_explicit(&first, memory_order_relaxed) == NULL) {
        return;
    }
    for (binding_later *later = atomic_exchange(&first, NULL); later != NULL;) {
        binding_later *const next = later->next;
        binding_later_drop(later);
        later = next;
    }
}

void binding_value_release(taper_value *value)
{
    taper_value_release(value);
    binding_later_empty();
}
