/* From rows of a run to ranked grades: documents looked up among the judgments, topics ranked (rankings/join.py). */

#include <math.h>
#include <stdlib.h>

#include "ids.h"

enum { MOST_STEPS = 32 };

/* The table as it is looked into: a bit for each place, and the judged ids one behind the other as their places come.
   So a topic's places stay in the nearest cache, and most documents that nobody judged cost nothing beyond it. How many
   ids there are; HANDED_BACK where the table holds others than these rows. */
int64_t gather_ids(const uint8_t *text, const int64_t *start, const int32_t *length, int64_t rows,
                   const int64_t *table_begin, const int64_t *last, int64_t topics, const int32_t *table,
                   const int64_t *begin, Places *places, JudgedId *ids) {
    int64_t count = 0;
    for (int64_t topic = 0; topic < topics; topic++) {
        const int32_t *stretch = table + table_begin[topic];
        Places *own = places + begin[topic];
        for (int64_t place = 0; place <= last[topic]; place++) {
            if (place % 64 == 0) own[place / 64] = (Places){0, count};
            int32_t row = stretch[place];
            if (row < 0) continue;
            if (row >= rows || count == rows) return HANDED_BACK;
            const uint8_t *id = text + start[row];
            own[place / 64].taken |= (uint64_t)1 << place % 64;
            ids[count++] = (JudgedId){word_of_id(id, length[row], 0), word_of_id(id, length[row], 8), start[row],
                                      length[row], row};
        }
    }
    return count;
}

/* The number of the id at a place, -1 where none is. Without a branch: nobody can guess who is judged. */
static inline int32_t id_at(const Places *places, int64_t place) {
    const Places *own = &places[place >> 6];
    const uint64_t bit = (uint64_t)1 << (place & 63);
    const int32_t number = (int32_t)(own->before + ones_in(own->taken & (bit - 1)));
    return own->taken & bit ? number : -1;
}

/* The row of the judgment on a document, looked for from this place on; -1 where there is none. */
static int32_t judgment_from(const Judgments *judgments, const Places *places, int64_t mask, int64_t place,
                             const uint8_t *id, int64_t length) {
    const uint64_t first = word_of_id(id, length, 0), second = word_of_id(id, length, 8);
    for (int steps = 0; steps < MOST_STEPS; steps++, place = (place + 1) & mask) { /* none stands further behind */
        const int32_t number = id_at(places, place);
        if (number < 0) return -1;
        const JudgedId *judged = &judgments->ids[number];
        if (judged->first == first && judged->second == second && judged->length == length &&
            (length <= 16 || same_id(id + 16, judgments->text + judged->start + 16, length - 16)))
            return judged->row;
    }
    return -1;
}

/* The judgments of a topic's documents, -1 where there is none.

   All judgments are more than the nearest cache holds. So of some documents all that will be read is asked for first, and
   looked at in a further round: nothing waits. Nor is anything guessed: documents that share a place with others, or have
   long ids, are put aside. */
static void look_up(const RunRows *run, const Judgments *judgments, int64_t topic, const int64_t *rows, int64_t count,
                    int32_t *found) {
    enum { AT_ONCE = 128 };
    const Places *places = judgments->places + judgments->begin[topic];
    const int64_t mask = judgments->last[topic];
    const Documents *documents = &run->documents;
    for (; count > 0; rows += AT_ONCE, found += AT_ONCE, count -= AT_ONCE) {
        int32_t chosen[AT_ONCE + 1], candidates = 0, aside = 0;
        for (int32_t i = 0; i < AT_ONCE && i < count; i++) {
            const int32_t number = id_at(places, (int64_t)run->keys[rows[i]] & mask);
            found[i] = number;
            soon(&judgments->ids[number < 0 ? 0 : number]);
            soon(documents->text + documents->start[rows[i]]);
            chosen[candidates] = i;
            candidates += number >= 0;
        }
        for (int32_t candidate = 0; candidate < candidates; candidate++) {
            const int32_t i = chosen[candidate];
            const JudgedId *judged = &judgments->ids[found[i]];
            const uint8_t *id = documents->text + documents->start[rows[i]];
            const int64_t length = documents->length[rows[i]];
            const uint64_t first = word_at(id) & mask_of[length < 8 ? length : 8];
            const uint64_t second = word_at(id + 8) & mask_of[length < 8 ? 0 : length < 16 ? length - 8 : 8];
            const uint64_t differs = (judged->first ^ first) | (judged->second ^ second) |
                                     (uint64_t)(judged->length ^ length) | (uint64_t)(length > 16);
            found[i] = judged->row;
            chosen[aside] = i; /* behind those that are still to be looked at */
            aside += differs != 0;
        }
        for (int32_t again = 0; again < aside; again++) {
            const int32_t i = chosen[again];
            const int64_t row = rows[i];
            found[i] = judgment_from(judgments, places, mask, (int64_t)run->keys[row] & mask,
                                     documents->text + documents->start[row], documents->length[row]);
        }
    }
}

int64_t rank_lists(const RunRows *run, const Judgments *judgments, Order order, RankedRows *out) {
    int64_t lists = 0, done = 0, longest = 0;
    const int together = !run->rows;
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
        if (together) look_up(run, judgments, topic, rows, count, found); /* so that ids are near when ties are broken */
        if (rank_list(&run->documents, order, rows, count, together, scratch, out->tied + done) < 0) {
            lists = HANDED_BACK;
            break;
        }
        if (!together) look_up(run, judgments, topic, rows, count, found);
        for (int64_t rank = 0; rank < count; rank++) {
            const int32_t judgment = found[together ? rows[rank] - run->first - first : rank];
            out->grade[done + rank] = judgment < 0 ? (double)NAN : judgments->grade[judgment];
            if (out->judgment) out->judgment[done + rank] = judgment;
        }
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
