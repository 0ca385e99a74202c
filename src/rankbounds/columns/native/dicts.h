/* See dicts.c. */

#ifndef RANKBOUNDS_DICTS_H
#define RANKBOUNDS_DICTS_H

#include <Python.h>
#include <stdint.h>

#include "kernel.h"

/* Judgments that are found by the hashes that Python has for their documents. */
typedef struct {
    uint64_t key;
    int64_t start, length;
    double grade;
} HeldJudgment;

typedef struct {
    const uint8_t *text;
    const HeldJudgment *judgments;
    const int64_t *begin, *last; /* of each topic's stretch of the table */
    const int32_t *row;          /* the table */
} HeldJudgments;

/* The documents of the last run, whose lists had the topics and lengths of this one's, one behind the other, and their
   judgments; to be filled with this one's, unless to_find is NULL. */
typedef struct {
    PyObject *documents, *to_keep;
    const int32_t *found;
    int32_t *to_find;
    int64_t *again; /* Has this run the same ones? */
} Seen;

PyObject *read_dicts(PyObject *dicts, const int64_t *lengths, int64_t count, int64_t padding, int64_t *length,
                     double *value, int64_t *hash);
int64_t rank_dicts(PyObject *dicts, int64_t count, const int64_t *topics, const int64_t *lengths,
                   const HeldJudgments *held, Order order, int single, Seen *seen, RankedRows *out);
PyObject *dict_of_rows(PyObject *rows, PyObject *columns, const double *value);

#endif
