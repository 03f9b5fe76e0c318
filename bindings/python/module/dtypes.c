// SPDX-License-Identifier: BSD-2-Clause
// Python's names and formats for Taper's dtypes. The library gives name and size; everything else is derived from them.
#include "binding.h"

#include <string.h>

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static char kind_of(const char *name)
{
    return begins(name, "int")         ? 'i'
           : begins(name, "uint")      ? 'u'
           : begins(name, "float")     ? 'f'
           : begins(name, "bfloat")    ? 'v'
           : begins(name, "complex")   ? 'c'
           : strcmp(name, "bool") == 0 ? 'b'
                                       : '\0';
}

// Returns the format code of Python's module struct, or NumPy's code for complex numbers.
static const char *format_of(char kind, size_t size)
{
    switch (kind) {
    case 'i':
        return size == 1 ? "b" : size == 2 ? "h" : size == 4 ? "i" : size == 8 ? "q" : NULL;
    case 'u':
        return size == 1 ? "B" : NULL;
    case 'f':
        return size == 2 ? "e" : size == 4 ? "f" : size == 8 ? "d" : NULL;
    case 'c':
        return size == 8 ? "Zf" : size == 16 ? "Zd" : NULL;
    case 'b':
        return "?";
    default:
        return NULL;
    }
}

void binding_dtypes_fill(binding_state *state)
{
    for (int i = 0; i < BINDING_DTYPES; i++) {
        const char *const name = taper_dtype_name((taper_dtype)i);
        const size_t size = taper_dtype_size((taper_dtype)i);
        if (size == 0) {
            continue;
        }
        binding_dtype *const dtype = &state->dtypes[i];
        *dtype = (binding_dtype){.name = name, .size = size, .quantized = name[0] == 'q'};
        dtype->kind = kind_of(name + dtype->quantized);
        dtype->format = format_of(dtype->kind, size);
    }
}

int binding_dtype_find(const binding_state *state, char kind, size_t size)
{
    for (int i = 0; i < BINDING_DTYPES; i++) {
        const binding_dtype *const dtype = &state->dtypes[i];
        if (dtype->name != NULL && dtype->kind == kind && dtype->size == size && !dtype->quantized) {
            return i;
        }
    }
    return -1;
}

int binding_dtype_named(const binding_state *state, PyObject *name)
{
    const char *const text = PyUnicode_Check(name) ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
    if (PyErr_Occurred()) {
        return -1;
    }
    for (int i = 0; text != NULL && i < BINDING_DTYPES; i++) {
        if (state->dtypes[i].name != NULL && strcmp(text, state->dtypes[i].name) == 0) {
            return i;
        }
    }
    if (text == NULL) {
        binding_refuse(PyExc_TypeError, "a dtype is given by its name: \"float32\"");
    } else {
        binding_refuse(PyExc_ValueError, "there is no dtype \"%U\"", name);
    }
    return -1;
}

const char *binding_dtype_name(const binding_state *state, taper_dtype dtype)
{
    return (unsigned)dtype < BINDING_DTYPES && state->dtypes[dtype].name != NULL ? state->dtypes[dtype].name
                                                                                 : "unknown";
}
