/* Python's dicts: their ids and numbers laid out as files/named_columns.py lays them out, or looked up and ranked where
   they are, as rankings/join.py does. The one part that touches Python objects, and only those whose type is exactly
   known: no code of theirs runs, so nothing changes meanwhile. What an object points to is asked for some objects ahead,
   because dicts are scattered over memory. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <math.h>

#include "dicts.h"
#include "kernel.h"

#if defined(Py_GIL_DISABLED)
#error "What stands in a dict is read under the interpreter's lock. Without one rankbounds works on NumPy."
#endif

#define AHEAD 12

/* What stands in dicts, one behind the other; 0 where one is no dict, or has not the length that was seen: another
   thread may have changed it since. */
static int entries_of(PyObject *dicts, const int64_t *length, int64_t count, PyObject **keys, PyObject **values) {
    int64_t rows = 0;
    Py_ssize_t number = PyList_Size(dicts);
    for (Py_ssize_t i = 0; i < number; i++) {
        PyObject *inner = PyList_GetItem(dicts, i), *key, *entry;
        Py_ssize_t place = 0;
        if (i + 1 < number) soon(PyList_GetItem(dicts, i + 1));
        if (inner == NULL || !PyDict_CheckExact(inner)) return 0;
        if (PyDict_Size(inner) != length[i] || length[i] > count - rows) return 0;
        while (PyDict_Next(inner, &place, &key, &entry)) keys[rows] = key, values[rows++] = entry;
    }
    return rows == count;
}

/* An id's bytes; NULL where it is none. */
static inline const char *id_of(PyObject *key, Py_ssize_t *length) {
    const char *text = PyUnicode_CheckExact(key) ? PyUnicode_AsUTF8AndSize(key, length) : NULL;
    return text != NULL && *length > 0 ? text : NULL;
}

/* A finite number; not a number where there is none. */
static inline double number_of(PyObject *value) {
    double number = (double)NAN;
    if (PyFloat_CheckExact(value)) {
        number = PyFloat_AsDouble(value);
    } else if (PyLong_CheckExact(value)) {
        number = PyLong_AsDouble(value);
        if (PyErr_Occurred()) return (double)NAN;
    }
    return isfinite(number) ? number : (double)NAN;
}

/* The ids as bytes, a line each, with padding around them; None where anything is odd, NULL with an exception. The hashes
   are those that Python has for them. */
PyObject *read_dicts(PyObject *dicts, const int64_t *lengths, int64_t count, int64_t padding, int64_t *length,
                     double *value, int64_t *hash) {
    PyObject **keys = PyMem_Malloc((size_t)(2 * count + 1) * sizeof *keys), *lines = NULL;
    if (keys == NULL) return PyErr_NoMemory();
    PyObject **values = keys + count;
    int64_t size = 0;
    if (!entries_of(dicts, lengths, count, keys, values)) goto odd;
    for (int64_t row = 0; row < count; row++) {
        Py_ssize_t bytes;
        if (row + AHEAD < count) soon(keys[row + AHEAD]), soon(values[row + AHEAD]);
        const char *text = id_of(keys[row], &bytes);
        if (text == NULL || memchr(text, '\n', (size_t)bytes) != NULL) goto odd;
        value[row] = number_of(values[row]);
        if (isnan(value[row])) goto odd;
        length[row] = bytes;
        hash[row] = PyObject_Hash(keys[row]);
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

typedef struct {
    const char *text;
    Py_ssize_t length;
    uint64_t key;
} Document;

typedef struct {
    double score;
    int64_t number; /* of the document in its dict */
} Place;

/* Falling scores, equal ones as they are: short stretches by counting who comes before whom, then merged in pairs. Which
   of two scores is higher nobody can foresee, so that no branch hangs on it. */
static void sort_by_score(Place *places, int64_t count, Place *scratch) {
    enum { SHORT = 8 };
    for (int64_t begin = 0; begin < count; begin += SHORT) {
        int size = count - begin > SHORT ? SHORT : (int)(count - begin), rank[SHORT] = {0};
        Place stretch[SHORT];
        for (int own = 0; own < size; own++) {
            stretch[own] = places[begin + own];
            for (int other = 0; other < own; other++) {
                int before = stretch[own].score > stretch[other].score;
                rank[other] += before;
                rank[own] += !before;
            }
        }
        for (int own = 0; own < size; own++) places[begin + rank[own]] = stretch[own];
    }
    for (int64_t width = SHORT; width < count; width *= 2) {
        for (int64_t begin = 0; begin + width < count; begin += 2 * width) {
            Place *to = places + begin, *right = to + width;
            const Place *end = places + (count - begin > 2 * width ? begin + 2 * width : count);
            if (!(right->score > right[-1].score)) continue;
            memcpy(scratch, to, (size_t)width * sizeof *places);
            const Place *left = scratch, *left_end = scratch + width;
            while (left < left_end && right < end) {
                uintptr_t ours = (uintptr_t)left, theirs = (uintptr_t)right;
                uintptr_t later = -(uintptr_t)(right->score > left->score);
                *to++ = *(const Place *)(ours ^ ((ours ^ theirs) & later));
                right += later & 1;
                left += ~later & 1;
            }
            memcpy(to, left, (size_t)(left_end - left) * sizeof *places);
        }
    }
}

/* Do the bytes of one come behind those of the other? */
static int comes_later(const Document *one, const Document *other) {
    Py_ssize_t shared = one->length < other->length ? one->length : other->length;
    int order = memcmp(one->text, other->text, (size_t)shared);
    return order != 0 ? order > 0 : one->length > other->length;
}

/* Documents of one score, put in the order of their ids. */
static void sort_by_id(const Document *documents, Place *places, int64_t count, Place *scratch, int falling) {
#define BEFORE(one, other)                                                       \
    (falling ? comes_later(&documents[(one).number], &documents[(other).number]) \
             : comes_later(&documents[(other).number], &documents[(one).number]))
    for (int64_t width = 1; width < count; width *= 2) {
        for (int64_t begin = 0; begin + width < count; begin += 2 * width) {
            int64_t middle = begin + width, end = count - begin > 2 * width ? begin + 2 * width : count;
            if (!BEFORE(places[middle], places[middle - 1])) continue;
            memcpy(scratch, places + begin, (size_t)width * sizeof *places);
            int64_t left = 0, right = middle, to = begin;
            while (left < width && right < end)
                places[to++] = BEFORE(places[right], scratch[left]) ? places[right++] : scratch[left++];
            while (left < width) places[to++] = scratch[left++];
        }
    }
#undef BEFORE
}

/* The judgments of a topic's documents, -1 where there is none. All that will be read is asked for first, and looked at
   in a further round. */
static void look_up(const HeldJudgments *held, int64_t topic, const Document *documents, int64_t count,
                    int32_t *found) {
    enum { MOST_STEPS = 32 }; /* none stands further from its place */
    const int32_t *stretch = held->row + held->begin[topic];
    const int64_t mask = held->last[topic];
    for (int64_t i = 0; i < count; i++) {
        found[i] = stretch[(int64_t)documents[i].key & mask];
        if (found[i] >= 0) soon(&held->judgments[found[i]]);
    }
    for (int64_t i = 0; i < count; i++) {
        uint64_t key = documents[i].key;
        int64_t place = (int64_t)key & mask;
        for (int step = 1; found[i] >= 0 && held->judgments[found[i]].key != key; step++) {
            place = (place + 1) & mask;
            found[i] = step < MOST_STEPS ? stretch[place] : -1;
        }
        if (found[i] >= 0) soon(held->text + held->judgments[found[i]].start);
    }
    for (int64_t i = 0; i < count; i++) {
        if (found[i] < 0) continue;
        /* Where another document has the key, this one is not judged: the table refused no judgment. */
        const HeldJudgment *judgment = &held->judgments[found[i]];
        if (judgment->length != documents[i].length ||
            memcmp(held->text + judgment->start, documents[i].text, (size_t)judgment->length) != 0)
            found[i] = -1;
    }
}

/* Are these the objects in a list? */
static int same_objects(PyObject *const *keys, int64_t count, PyObject *list) {
    if (PyList_Size(list) != count) return 0;
    for (int64_t row = 0; row < count; row++)
        if (PyList_GetItem(list, row) != keys[row]) return 0;
    return 1;
}

/* Dicts of documents and scores as ranked lists of grades, of those dicts that have a judged topic: how many lists there
   are; HANDED_BACK where anything is odd, HANDED_BACK - 1 with an exception. */
int64_t rank_dicts(PyObject *dicts, int64_t count, const int64_t *topics, const int64_t *lengths,
                   const HeldJudgments *held, Order order, int single, Seen *seen, RankedRows *out) {
    int64_t lists = HANDED_BACK, longest = 0, first = 0, done = 0;
    Py_ssize_t number = PyList_Size(dicts);
    for (Py_ssize_t i = 0; i < number; i++) {
        if (lengths[i] <= 0) return HANDED_BACK;
        if (lengths[i] > longest) longest = lengths[i];
    }
    PyObject **keys = PyMem_Malloc((size_t)(2 * count + 1) * sizeof *keys);
    Document *documents = PyMem_Malloc((size_t)(longest + 1) * sizeof *documents);
    Place *places = PyMem_Malloc((size_t)(2 * longest + 1) * sizeof *places);
    int32_t *found = PyMem_Malloc((size_t)(longest + 1) * sizeof *found);
    if (keys == NULL || documents == NULL || places == NULL || found == NULL) {
        PyErr_NoMemory();
        lists = HANDED_BACK - 1;
        goto done;
    }
    PyObject **values = keys + count;
    Place *scratch = places + longest;
    int64_t made = 0;
    if (!entries_of(dicts, lengths, count, keys, values)) goto done;
    const int again = *seen->again = same_objects(keys, count, seen->documents);
    for (Py_ssize_t i = 0; i < number; i++) {
        int64_t length = lengths[i], topic = topics[i];
        const int32_t *stretch = topic < 0 || again ? NULL : held->row + held->begin[topic];
        int rises = 0, ties = 0;
        for (int64_t rank = 0; rank < length; rank++) {
            int64_t row = first + rank;
            if (row + AHEAD < count) soon(values[row + AHEAD]);
            double score = number_of(values[row]);
            if (isnan(score)) goto done;
            if (!again) {
                if (row + AHEAD < count) soon(keys[row + AHEAD]), soon((char *)keys[row + AHEAD] + 40);
                Document *document = &documents[rank];
                document->text = id_of(keys[row], &document->length);
                if (document->text == NULL) goto done;
                document->key = (uint64_t)PyObject_Hash(keys[row]);
                if (stretch) soon(&stretch[(int64_t)document->key & held->last[topic]]);
            }
            places[rank].score = single ? (double)(float)score : score;
            places[rank].number = rank;
            if (rank > 0) rises |= places[rank].score > places[rank - 1].score;
        }
        first += length;
        if (topic < 0) continue;
        if (rises && order != AS_GIVEN) sort_by_score(places, length, scratch);
        uint8_t *tied = out->tied + done;
        tied[0] = 0;
        for (int64_t rank = 1; rank < length; rank++) ties |= tied[rank] = places[rank].score == places[rank - 1].score;
        if (ties && order != AS_GIVEN && order != BY_LINE) {
            for (int64_t begin = 0, end; begin < length; begin = end) {
                for (end = begin + 1; end < length && tied[end];) end++;
                for (int64_t rank = begin; again && end - begin > 1 && rank < end; rank++) {
                    Document *document = &documents[places[rank].number];
                    document->text = id_of(keys[first - length + places[rank].number], &document->length);
                }
                if (end - begin > 1)
                    sort_by_id(documents, places + begin, end - begin, scratch, order == BY_DOCUMENT_DOWN);
            }
        }
        const int32_t *judgment = again ? seen->found + (first - length) : found;
        if (!again) look_up(held, topic, documents, length, found);
        if (!again && seen->to_find) memcpy(seen->to_find + (first - length), found, (size_t)length * sizeof *found);
        for (int64_t rank = 0; rank < length; rank++) {
            int32_t row = judgment[places[rank].number];
            out->grade[done + rank] = row < 0 ? (double)NAN : held->judgments[row].grade;
            if (out->judgment) out->judgment[done + rank] = row;
        }
        out->list_length[made] = length;
        out->list_topic[made++] = topic;
        done += length;
    }
    lists = made;
    /* Kept is what was looked up just now: whoever read the dicts again might find others in them. */
    for (int64_t row = 0; !again && seen->to_find && row < count; row++) {
        Py_INCREF(keys[row]);
        PyList_SetItem(seen->to_keep, row, keys[row]);
    }
done:
    if (lists == HANDED_BACK) PyErr_Clear();
    PyMem_Free(keys);
    PyMem_Free(documents);
    PyMem_Free(places);
    PyMem_Free(found);
    return lists;
}

/* Rows of numbers as {row: {column: number}}, of the names in two lists; NULL with an exception. */
PyObject *dict_of_rows(PyObject *rows, PyObject *columns, const double *value) {
    Py_ssize_t width = PyList_Size(columns), length = PyList_Size(rows);
    PyObject *result = PyDict_New();
    for (Py_ssize_t row = 0; result != NULL && row < length; row++) {
        PyObject *inner = PyDict_New();
        int failed = inner == NULL;
        for (Py_ssize_t column = 0; !failed && column < width; column++) {
            PyObject *number = PyFloat_FromDouble(*value++);
            failed = number == NULL || PyDict_SetItem(inner, PyList_GetItem(columns, column), number) < 0;
            Py_XDECREF(number);
        }
        if (failed || PyDict_SetItem(result, PyList_GetItem(rows, row), inner) < 0) Py_CLEAR(result);
        Py_XDECREF(inner);
    }
    return result;
}
