// SPDX-License-Identifier: BSD-2-Clause
// Gradients: the attribute requires_grad of tensors, and taper.grad.
#include "binding.h"

#include <taper/taper_gradient.h>

static binding_tensor *tensor_of(PyObject *object)
{
    return (binding_tensor *)(void *)object;
}

PyObject *binding_tensor_requires_grad(PyObject *self, void *unused)
{
    taper_tensor_info info = {.struct_size = sizeof info};
    (void)unused;
    if (!binding_tensor_know(self)) {
        return NULL;
    }
    taper_error *const error = taper_error_create();
    const taper_status status = taper_value_get_tensor(tensor_of(self)->value, &info, error);
    return binding_check(binding_state_of(self), status, error) ? PyBool_FromLong(info.requires_grad) : NULL;
}

int binding_tensor_require_grad(PyObject *self, PyObject *wanted, void *unused)
{
    const int flag = wanted != NULL ? PyObject_IsTrue(wanted) : 0;
    (void)unused;
    if (flag < 0 || !binding_tensor_know(self)) {
        return -1;
    }
    taper_error *const error = taper_error_create();
    const taper_status status = taper_value_require_gradient(tensor_of(self)->value, flag, error);
    return binding_check(binding_state_of(self), status, error) ? 0 : -1;
}

// Makes a value that lists the tensors of a Python list. None is allowed if the items are optional.
static taper_value *list_of(const binding_state *state, const binding_context *context, PyObject *list, bool optional)
{
    const size_t count = (size_t)PyList_Size(list);
    binding_values values = {NULL, 0};
    taper_value *made = NULL;
    bool done = binding_values_room(&values, count);
    taper_error *const error = taper_error_create();
    taper_status status = TAPER_OK;
    for (size_t i = 0; done && status == TAPER_OK && i < count; i++) {
        PyObject *const item = PyList_GetItem(list, (Py_ssize_t)i);
        if (PyObject_TypeCheck(item, state->tensor)) {
            done = binding_tensor_know(item);
            values.items[i] = done ? taper_value_retain(tensor_of(item)->value) : NULL;
        } else if (optional && item == Py_None) {
            status = taper_value_none(context->context, &values.items[i], error);
        } else {
            binding_refuse(PyExc_TypeError, "taper.grad takes tensors of taper.tensor and of models, not %R",
                           (PyObject *)Py_TYPE(item));
            done = false;
        }
    }
    if (done && status == TAPER_OK) {
        status = taper_value_list(context->context, optional ? "Optional[Tensor]" : "Tensor", values.items, count,
                                  &made, error);
    }
    binding_values_free(&values);
    if (!done) {
        taper_error_destroy(error);
        return NULL;
    }
    return binding_check(state, status, error) ? made : NULL;
}

static taper_value *flag_of(const binding_state *state, const binding_context *context, int flag)
{
    taper_value *value = NULL;
    taper_error *const error = taper_error_create();
    return binding_check(state, taper_value_bool(context->context, flag, &value, error), error) ? value : NULL;
}

enum { ARGUMENTS = 6 };

static PyObject *compute(const binding_state *state, binding_context *context, taper_value *const *arguments)
{
    taper_operator *op = NULL;
    taper_value *result = NULL;
    taper_error *const error = taper_error_create();
    taper_status status;
    Py_BEGIN_ALLOW_THREADS status = taper_operator_find(context->context, "aten::grad", &op, error);
    status = status == TAPER_OK ? taper_operator_record(op, 1, error) : status;
    status = status == TAPER_OK ? taper_operator_call(op, arguments, ARGUMENTS, &result, 1, error) : status;
    taper_operator_release(op);
    Py_END_ALLOW_THREADS;
    return binding_check(state, status, error) ? binding_value_out(state, context, result, false) : NULL;
}

PyObject *binding_grad(PyObject *module, PyObject *args)
{
    const binding_state *const state = PyModule_GetState(module);
    PyObject *outputs, *inputs, *grads;
    int keep, create, allow_unused;
    if (!PyArg_ParseTuple(args, "O!O!Oppp:grad", &PyList_Type, &outputs, &PyList_Type, &inputs, &grads, &keep, &create,
                          &allow_unused)) {
        (void)binding_adopt(NULL);
        return NULL;
    }
    PyObject *const first = PyList_Size(outputs) != 0 ? PyList_GetItem(outputs, 0) : NULL;
    if (first == NULL || !PyObject_TypeCheck(first, state->tensor)) {
        binding_refuse(PyExc_TypeError, "taper.grad takes at least one output, a tensor that a model returned");
        return NULL;
    }
    binding_context *const c = tensor_of(first)->context;
    taper_value *arguments[ARGUMENTS] = {NULL};
    PyObject *found = NULL;
    arguments[0] = list_of(state, c, outputs, false);
    arguments[1] = arguments[0] != NULL ? list_of(state, c, inputs, false) : NULL;
    bool done = arguments[1] != NULL;
    if (done && grads != Py_None) {
        arguments[2] = list_of(state, c, grads, true);
        done = arguments[2] != NULL;
    }
    const int flags[3] = {keep, create, allow_unused};
    for (size_t i = 0; i < 3 && done; i++) {
        arguments[3 + i] = flag_of(state, c, flags[i]);
        done = arguments[3 + i] != NULL;
    }
    if (done) {
        found = compute(state, c, arguments);
    }
    for (size_t i = 0; i < ARGUMENTS; i++) {
        if (arguments[i] != NULL) {
            binding_value_release(arguments[i]);
        }
    }
    return found;
}
