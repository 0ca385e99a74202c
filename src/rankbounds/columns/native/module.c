/* The functions as Python calls them. Arrays come as addresses: the Python beside this file checks what lies there. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "dicts.h"
#include "kernel.h"

#define OUTSIDE_THE_LOCK(work)  \
    {                           \
        Py_BEGIN_ALLOW_THREADS; \
        work;                   \
        Py_END_ALLOW_THREADS;   \
    }

/* So many whole numbers as a function takes behind its objects; 0 and an exception where there are not. */
static int numbers_behind(int objects, PyObject *const *arguments, Py_ssize_t given, int expected, int64_t *numbers) {
    if (given != objects + expected) {
        PyErr_Format(PyExc_TypeError, "%d arguments expected, not %zd", objects + expected, given);
        return 0;
    }
    for (int i = 0; i < expected; i++) {
        numbers[i] = PyLong_AsLongLong(arguments[objects + i]);
        if (numbers[i] == -1 && PyErr_Occurred()) return 0;
    }
    return 1;
}

#define numbers_of(arguments, given, expected, numbers) numbers_behind(0, arguments, given, expected, numbers)
#define ADDRESS(number) ((void *)(intptr_t)(number))
#define FUNCTION(name) static PyObject *name(PyObject *Py_UNUSED(self), PyObject *const *arguments, Py_ssize_t given)

/* What NumPy's documentation calls the array interface: an array as C sees it. */
typedef struct {
    int two, dimensions;
    char kind;
    int item_size, flags;
    Py_ssize_t *shape, *strides;
    void *data;
    PyObject *description;
} ArrayInterface;

enum { CONTIGUOUS = 1, ALIGNED = 0x100, NOT_SWAPPED = 0x200 };

static PyObject *array_struct; /* the name of what describes an array */

/* Where an array lies: array, the letter of its kind and the size of an entry, and how many entries it has at least. */
FUNCTION(py_address) {
    int64_t n[2];
    if (!numbers_behind(1, arguments, given, 2, n)) return NULL;
    PyObject *capsule = PyObject_GetAttr(arguments[0], array_struct);
    if (!capsule) return NULL;
    ArrayInterface *array = PyCapsule_GetPointer(capsule, NULL);
    PyObject *address = NULL;
    if (array && array->two == 2) {
        int64_t size = 1;
        for (int axis = 0; axis < array->dimensions; axis++) size *= array->shape[axis];
        int needed = CONTIGUOUS | ALIGNED | NOT_SWAPPED;
        if ((array->kind << 8 | array->item_size) == n[0] && size >= n[1] && (array->flags & needed) == needed)
            address = PyLong_FromVoidPtr(array->data);
        else
            PyErr_SetString(PyExc_TypeError, "an array of another kind or size");
    } else if (array) {
        PyErr_SetString(PyExc_TypeError, "not an array");
    }
    Py_DECREF(capsule);
    return address;
}

FUNCTION(py_count_lines) {
    int64_t n[3], lines = 0;
    if (!numbers_of(arguments, given, 3, n)) return NULL;
    OUTSIDE_THE_LOCK(lines = count_lines(ADDRESS(n[0]), n[1], n[2]));
    return PyLong_FromLongLong(lines);
}

FUNCTION(py_holds_nul) {
    int64_t n[3];
    int holds = 0;
    if (!numbers_of(arguments, given, 3, n)) return NULL;
    OUTSIDE_THE_LOCK(holds = memchr((const uint8_t *)ADDRESS(n[0]) + n[1], 0, (size_t)(n[2] - n[1])) != NULL);
    return PyBool_FromLong(holds);
}

FUNCTION(py_parse_lines) {
    int64_t n[15], rows = 0;
    if (!numbers_of(arguments, given, 15, n)) return NULL;
    Layout layout = {(int)n[3], (int)n[4], (int)n[5], (int)n[6]};
    Lines lines = {ADDRESS(n[8]),  ADDRESS(n[9]),  ADDRESS(n[10]), ADDRESS(n[11]), ADDRESS(n[12]),
                   ADDRESS(n[13]), ADDRESS(n[14]), n[7],           0};
    OUTSIDE_THE_LOCK(rows = parse_lines(ADDRESS(n[0]), n[1], n[2], &layout, &lines));
    return Py_BuildValue("LL", (long long)rows, (long long)lines.topics);
}

FUNCTION(py_merge_topics) {
    int64_t n[7], topics = 0;
    if (!numbers_of(arguments, given, 7, n)) return NULL;
    OUTSIDE_THE_LOCK(topics = merge_topics(ADDRESS(n[0]), ADDRESS(n[1]), ADDRESS(n[2]), n[3], ADDRESS(n[4]),
                                           ADDRESS(n[5]), ADDRESS(n[6])));
    return PyLong_FromLongLong(topics);
}

FUNCTION(py_renumber) {
    int64_t n[4];
    int status = 0;
    if (!numbers_of(arguments, given, 4, n)) return NULL;
    OUTSIDE_THE_LOCK(status = renumber(ADDRESS(n[0]), n[1], ADDRESS(n[2]), n[3]));
    return PyLong_FromLong(status);
}

FUNCTION(py_write_ids) {
    int64_t n[5], size = 0;
    if (!numbers_of(arguments, given, 5, n)) return NULL;
    OUTSIDE_THE_LOCK(size = write_ids(ADDRESS(n[0]), ADDRESS(n[1]), ADDRESS(n[2]), n[3], ADDRESS(n[4])));
    return PyLong_FromLongLong(size);
}

FUNCTION(py_hash_ids) {
    int64_t n[5];
    int status = 0;
    if (!numbers_of(arguments, given, 5, n)) return NULL;
    OUTSIDE_THE_LOCK(status = hash_ids(ADDRESS(n[0]), ADDRESS(n[1]), ADDRESS(n[2]), n[3], ADDRESS(n[4])));
    return PyLong_FromLong(status);
}

FUNCTION(py_any_repeated) {
    int64_t n[3];
    int repeated = 0;
    if (!numbers_of(arguments, given, 3, n)) return NULL;
    OUTSIDE_THE_LOCK(repeated = any_repeated(ADDRESS(n[0]), ADDRESS(n[1]), n[2]));
    return PyLong_FromLong(repeated);
}

FUNCTION(py_topic_ends) {
    int64_t n[3], topics = 0;
    if (!numbers_of(arguments, given, 3, n)) return NULL;
    OUTSIDE_THE_LOCK(topics = topic_ends(ADDRESS(n[0]), n[1], ADDRESS(n[2])));
    return PyLong_FromLongLong(topics);
}

FUNCTION(py_fill_table) {
    int64_t n[6], status = 0;
    if (!numbers_of(arguments, given, 6, n)) return NULL;
    OUTSIDE_THE_LOCK(status = fill_table(ADDRESS(n[0]), ADDRESS(n[1]), n[2], ADDRESS(n[3]), ADDRESS(n[4]),
                                         ADDRESS(n[5])));
    return PyLong_FromLongLong(status);
}

FUNCTION(py_gather_ids) {
    int64_t n[11], count = 0;
    if (!numbers_of(arguments, given, 11, n)) return NULL;
    OUTSIDE_THE_LOCK(count = gather_ids(ADDRESS(n[0]), ADDRESS(n[1]), ADDRESS(n[2]), n[3], ADDRESS(n[4]), ADDRESS(n[5]),
                                        n[6], ADDRESS(n[7]), ADDRESS(n[8]), ADDRESS(n[9]), ADDRESS(n[10])));
    return PyLong_FromLongLong(count);
}

FUNCTION(py_rank_lists) {
    int64_t n[23], lists = 0;
    if (!numbers_of(arguments, given, 23, n)) return NULL;
    RunRows run = {{ADDRESS(n[0]), ADDRESS(n[1]), ADDRESS(n[2]), ADDRESS(n[3])},
                   ADDRESS(n[4]),
                   ADDRESS(n[5]),
                   ADDRESS(n[6]),
                   n[7],
                   n[8],
                   ADDRESS(n[9])};
    Judgments judgments = {ADDRESS(n[10]), ADDRESS(n[11]), ADDRESS(n[12]),
                           ADDRESS(n[13]), ADDRESS(n[14]), ADDRESS(n[15])};
    RankedRows out = {ADDRESS(n[17]), ADDRESS(n[18]), ADDRESS(n[19]), ADDRESS(n[20]), ADDRESS(n[21]), ADDRESS(n[22])};
    OUTSIDE_THE_LOCK(lists = rank_lists(&run, &judgments, (Order)n[16], &out));
    return PyLong_FromLongLong(lists);
}

FUNCTION(py_order_in_groups) {
    int64_t n[6];
    int status = 0;
    if (!numbers_of(arguments, given, 6, n)) return NULL;
    OUTSIDE_THE_LOCK(status = order_in_groups(ADDRESS(n[0]), n[1], ADDRESS(n[2]), n[3], (int)n[4], ADDRESS(n[5])));
    return PyLong_FromLong(status);
}

FUNCTION(py_fill_block) {
    int64_t n[8];
    if (!numbers_of(arguments, given, 8, n)) return NULL;
    OUTSIDE_THE_LOCK(fill_block(ADDRESS(n[0]), (size_t)n[1], ADDRESS(n[2]), ADDRESS(n[3]), n[4], n[5], ADDRESS(n[6]),
                                ADDRESS(n[7])));
    Py_RETURN_NONE;
}

FUNCTION(py_find_places) {
    int64_t n[6], count = 0;
    if (!numbers_of(arguments, given, 6, n)) return NULL;
    OUTSIDE_THE_LOCK(count = find_places(ADDRESS(n[0]), n[1], n[2], ADDRESS(n[3]), ADDRESS(n[4]), ADDRESS(n[5])));
    return PyLong_FromLongLong(count);
}

FUNCTION(py_running_sums) {
    int64_t n[5];
    if (!numbers_of(arguments, given, 5, n)) return NULL;
    OUTSIDE_THE_LOCK(running_sums(ADDRESS(n[0]), n[1], n[2], (int)n[3], ADDRESS(n[4])));
    Py_RETURN_NONE;
}

FUNCTION(py_weighted_sums) {
    int64_t n[6];
    if (!numbers_of(arguments, given, 6, n)) return NULL;
    OUTSIDE_THE_LOCK(weighted_sums(ADDRESS(n[0]), n[1], n[2], ADDRESS(n[3]), n[4], ADDRESS(n[5])));
    Py_RETURN_NONE;
}

/* The capsule of a generator of NumPy, memory for what was drawn from it (zeros: nothing yet), and the rest. */
FUNCTION(py_shuffled_means) {
    int64_t n[9];
    if (!numbers_behind(1, arguments, given, 9, n)) return NULL;
    Random *random = ADDRESS(n[0]);
    if (!random->from) random->used = DRAWN_AT_ONCE;
    random->from = PyCapsule_GetPointer(arguments[0], "BitGenerator");
    if (!random->from) return NULL;
    OUTSIDE_THE_LOCK(shuffled_means(random, ADDRESS(n[1]), n[2], (int32_t)n[3], (int32_t)n[4], n[5], ADDRESS(n[6]),
                                    ADDRESS(n[7]), ADDRESS(n[8])));
    Py_RETURN_NONE;
}

FUNCTION(py_read_dicts) {
    int64_t n[6];
    if (!numbers_behind(1, arguments, given, 6, n)) return NULL;
    if (!PyList_Check(arguments[0])) {
        PyErr_SetString(PyExc_TypeError, "a list of dicts expected");
        return NULL;
    }
    return read_dicts(arguments[0], ADDRESS(n[0]), n[1], n[2], ADDRESS(n[3]), ADDRESS(n[4]), ADDRESS(n[5]));
}

FUNCTION(py_rank_dicts) {
    int64_t n[18];
    if (!numbers_behind(3, arguments, given, 18, n)) return NULL;
    if (!PyList_Check(arguments[0]) || !PyList_Check(arguments[1]) || !PyList_Check(arguments[2])) {
        PyErr_SetString(PyExc_TypeError, "a list of dicts and two of documents expected");
        return NULL;
    }
    Seen seen = {arguments[1], arguments[2], ADDRESS(n[15]), ADDRESS(n[16]), ADDRESS(n[17])};
    HeldJudgments held = {ADDRESS(n[3]), ADDRESS(n[4]), ADDRESS(n[5]), ADDRESS(n[6]), ADDRESS(n[7])};
    RankedRows out = {ADDRESS(n[10]), ADDRESS(n[11]), NULL, ADDRESS(n[12]), ADDRESS(n[13]), ADDRESS(n[14])};
    int64_t lists = rank_dicts(arguments[0], n[0], ADDRESS(n[1]), ADDRESS(n[2]), &held, (Order)n[8], (int)n[9], &seen,
                               &out);
    return lists < HANDED_BACK ? NULL : PyLong_FromLongLong(lists);
}

FUNCTION(py_dict_of_rows) {
    int64_t n[1];
    if (!numbers_behind(2, arguments, given, 1, n)) return NULL;
    if (!PyList_Check(arguments[0]) || !PyList_Check(arguments[1])) {
        PyErr_SetString(PyExc_TypeError, "two lists of names expected");
        return NULL;
    }
    return dict_of_rows(arguments[0], arguments[1], ADDRESS(n[0]));
}

#define METHOD(name) {#name, (PyCFunction)(void (*)(void))py_##name, METH_FASTCALL, NULL}

static PyMethodDef methods[] = {
    METHOD(address),
    METHOD(count_lines),
    METHOD(holds_nul),
    METHOD(parse_lines),
    METHOD(merge_topics),
    METHOD(renumber),
    METHOD(write_ids),
    METHOD(hash_ids),
    METHOD(any_repeated),
    METHOD(topic_ends),
    METHOD(fill_table),
    METHOD(gather_ids),
    METHOD(rank_lists),
    METHOD(order_in_groups),
    METHOD(fill_block),
    METHOD(find_places),
    METHOD(running_sums),
    METHOD(weighted_sums),
    METHOD(shuffled_means),
    METHOD(read_dicts),
    METHOD(rank_dicts),
    METHOD(dict_of_rows),
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_kernel", "The compiled twin of the columns.", -1, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__kernel(void) {
    PyObject *module = (array_struct = PyUnicode_InternFromString("__array_struct__")) ? PyModule_Create(&definition) : NULL;
    if (module) {
        PyModule_AddIntConstant(module, "CONTRACT", CONTRACT);
        PyModule_AddIntConstant(module, "RANDOM_WORDS", (sizeof(Random) + 7) / 8);
    }
    return module;
}
