/* Ids and numbers in Python's dicts, laid out as files/named_columns.py lays them out. The one part that touches Python
   objects, and only those whose type is exactly known: no code of theirs runs, so nothing changes meanwhile. What an
   object points to is asked for some objects ahead, because dicts are scattered over memory. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <math.h>

#include "dicts.h"
#include "kernel.h"

#define AHEAD 12

/* The ids as bytes, a line each, with padding around them; None where anything is odd, NULL with an exception. */
PyObject *read_dicts(PyObject *dicts, int64_t count, int64_t padding, int64_t *length, double *value) {
    PyObject **keys = PyMem_Malloc((size_t)(2 * count + 1) * sizeof *keys), *lines = NULL;
    if (keys == NULL) return PyErr_NoMemory();
    PyObject **values = keys + count;
    int64_t rows = 0, size = 0;
    Py_ssize_t number = PyList_Size(dicts);
    for (Py_ssize_t i = 0; i < number; i++) {
        PyObject *inner = PyList_GetItem(dicts, i), *key, *entry;
        Py_ssize_t place = 0;
        if (inner == NULL || !PyDict_CheckExact(inner)) goto odd;
        while (PyDict_Next(inner, &place, &key, &entry)) {
            if (rows == count) goto odd;
            keys[rows] = key, values[rows++] = entry;
        }
    }
    if (rows != count) goto odd;
    for (int64_t row = 0; row < count; row++) {
        Py_ssize_t bytes;
        if (row + AHEAD < count) soon(keys[row + AHEAD]), soon(values[row + AHEAD]);
        if (!PyUnicode_CheckExact(keys[row])) goto odd;
        const char *text = PyUnicode_AsUTF8AndSize(keys[row], &bytes);
        if (text == NULL || bytes == 0 || memchr(text, '\n', (size_t)bytes) != NULL) goto odd;
        if (PyFloat_CheckExact(values[row]))
            value[row] = PyFloat_AsDouble(values[row]);
        else if (PyLong_CheckExact(values[row]))
            value[row] = PyLong_AsDouble(values[row]);
        else
            goto odd;
        if (!isfinite(value[row]) || PyErr_Occurred()) goto odd;
        length[row] = bytes;
        size += bytes + 1;
    }
    lines = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(size + 2 * padding));
    if (lines == NULL) goto done;
    char *to = PyBytes_AsString(lines);
    memset(to, 0, (size_t)padding);
    to += padding;
    for (int64_t row = 0; row < count; row++) {
        Py_ssize_t bytes;
        if (row + AHEAD < count) soon(keys[row + AHEAD]);
        const char *text = PyUnicode_AsUTF8AndSize(keys[row], &bytes);
        memcpy(to, text, (size_t)bytes);
        to += bytes;
        *to++ = '\n';
    }
    memset(to, 0, (size_t)padding);
    goto done;
odd:
    PyErr_Clear();
    lines = Py_None;
    Py_INCREF(lines);
done:
    PyMem_Free(keys);
    return lines;
}
