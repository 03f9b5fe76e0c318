// SPDX-License-Identifier: BSD-2-Clause
// What Taper lets go of is given back to Python later. Taper calls a release function in whichever thread drops the
// last reference, in a run without the GIL or while it holds a lock of its own; to wait for the GIL there could be
// waiting for a thread that waits for that lock. So the function puts its argument on a list, and whoever next holds
// the GIL and released something, or ends a run, empties it. Threads that Python does not know ask its main thread to
// do so.
#include "binding.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "dlpack.h"

// The only mutable global: a release function gets what was given with the memory, and may come when the module is
// gone.
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
        (void)Py_AddPendingCall(empty_pending, NULL); // full: somebody empties the list soon
    }
}

void binding_later_drop(binding_later *later)
{
    if (later == NULL) {
        return;
    }
    // A destructor of Python's may run here, which must not see the exception that is on its way.
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
