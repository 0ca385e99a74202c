/* From rows of a run to ranked grades: documents looked up among the judgments, topics ranked (rankings/join.py). */

#include <math.h>
#include <stdlib.h>

#include "ids.h"

enum { MOST_STEPS = 32 };

/* The judgments of a topic's documents, -1 where there is none.

   The table is larger than the nearest cache. So all that will be read is asked for first, document by document, and
   looked at in a further round: nothing waits, and nothing is guessed before it is there. */
static void look_up(const RunRows *run, const Judgments *judgments, int64_t topic, const int64_t *rows, int64_t count,
                    int32_t *found) {
    const int32_t *stretch = judgments->row + judgments->begin[topic];
    const int64_t mask = judgments->last[topic];
    for (int64_t i = 0; i < count; i++) soon(&stretch[(int64_t)run->keys[rows[i]] & mask]);
    for (int64_t i = 0; i < count; i++) {
        int32_t row = found[i] = stretch[(int64_t)run->keys[rows[i]] & mask];
        if (row < 0) continue;
        soon(&judgments->keys[row]);
        soon(&judgments->start[row]);
        soon(&judgments->length[row]);
        soon(&judgments->grade[row]);
    }
    for (int64_t i = 0; i < count; i++) {
        if (found[i] < 0) continue;
        uint64_t key = run->keys[rows[i]];
        int64_t place = (int64_t)key & mask;
        int steps = 1;
        while (found[i] >= 0 && judgments->keys[found[i]] != key) {
            place = (place + 1) & mask;
            found[i] = steps++ < MOST_STEPS ? stretch[place] : -1; /* none stands further from its place */
        }
        if (found[i] >= 0) soon(judgments->text + judgments->start[found[i]]);
    }
    for (int64_t i = 0; i < count; i++) {
        int32_t row = found[i];
        if (row < 0) continue;
        /* Where another document has the key, this one is not judged: the table refused no judgment. */
        int64_t length = run->documents.length[rows[i]];
        if (length != judgments->length[row] || !same_id(run->documents.text + run->documents.start[rows[i]],
                                                         judgments->text + judgments->start[row], length))
            found[i] = -1;
    }
}

int64_t rank_lists(const RunRows *run, const Judgments *judgments, Order order, RankedRows *out) {
    int64_t lists = 0, done = 0, longest = 0;
#define ROW(number) (run->rows ? run->rows[number] : run->first + (number))
    for (int64_t first = 0, last; first < run->count; first = last) {
        for (last = first + 1; last < run->count && run->topic[ROW(last)] == run->topic[ROW(first)];) last++;
        if (last - first > longest) longest = last - first;
    }
    int64_t *rows = malloc((size_t)(3 * longest + 1) * sizeof *rows);
    if (!rows) return HANDED_BACK;
    int64_t *scratch = rows + longest;
    int32_t *found = (int32_t *)(scratch + longest);
    for (int64_t first = 0, last; first < run->count; first = last) {
        int32_t own = run->topic[ROW(first)];
        int64_t topic = run->judged_topic[own], count = 0;
        for (last = first; last < run->count && run->topic[ROW(last)] == own; last++) rows[count++] = ROW(last);
        if (topic < 0) continue;
        if (rank_list(&run->documents, order, rows, count, scratch, out->tied + done) < 0) {
            lists = HANDED_BACK;
            break;
        }
        look_up(run, judgments, topic, rows, count, found);
        for (int64_t rank = 0; rank < count; rank++)
            out->grade[done + rank] = found[rank] < 0 ? (double)NAN : judgments->grade[found[rank]];
        if (out->judgment) memcpy(out->judgment + done, found, (size_t)count * sizeof *found);
        if (out->row) memcpy(out->row + done, rows, (size_t)count * sizeof *rows);
        out->list_length[lists] = count;
        out->list_topic[lists++] = topic;
        done += count;
    }
#undef ROW
    free(rows);
    return lists;
}

/* Rows of a flat column as lists of one width, filled up where a list has ended. */
void fill_block(const uint8_t *column, size_t item, const int64_t *start, const int64_t *length, int64_t lists,
                int64_t width, const uint8_t *beyond, uint8_t *block) {
    for (int64_t list = 0; list < lists; list++, block += (size_t)width * item) {
        size_t used = (size_t)length[list] * item;
        memcpy(block, column + (size_t)start[list] * item, used);
        for (size_t place = used; place < (size_t)width * item; place += item) memcpy(block + place, beyond, item);
    }
}
