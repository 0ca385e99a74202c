/* See dicts.c. */

#ifndef RANKBOUNDS_DICTS_H
#define RANKBOUNDS_DICTS_H

#include <Python.h>
#include <stdint.h>

PyObject *read_dicts(PyObject *dicts, int64_t count, int64_t padding, int64_t *length, double *value);

#endif
