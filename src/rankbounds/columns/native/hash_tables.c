/* Keys that stand twice, and a table with a stretch for each topic (columns/hash_tables.py). */

#include <stdlib.h>

#include "ids.h"

/* As in Python: how far from its place a row is looked for. More is nobody's chance, and is left to sorting. */
enum { MOST_STEPS = 32 };

/* Where each topic's rows end, if all of a topic stand together in rising order of topics. How many topics have any. */
int64_t topic_ends(const int32_t *topic, int64_t rows, int64_t *ends) {
    int64_t topics = 0;
    for (int64_t row = 1; row <= rows; row++) {
        if (row < rows && topic[row] == topic[row - 1]) continue;
        if (row < rows && topic[row] < topic[row - 1]) return HANDED_BACK;
        ends[topics++] = row;
    }
    return topics;
}

/* Does a key stand twice in one topic? The rows of each topic stand together. 0: none does; otherwise Python looks. */
int any_repeated(const uint64_t *keys, const int32_t *topic, int64_t rows) {
    int64_t longest = 0, size = 8;
    if (rows >= INT32_MAX) return HANDED_BACK;
    for (int64_t first = 0, last; first < rows; first = last) {
        for (last = first + 1; last < rows && topic[last] == topic[first];) last++;
        if (last < rows && topic[last] < topic[first]) return HANDED_BACK;
        if (last - first > longest) longest = last - first;
    }
    while (size < 4 * longest) size *= 2;
    int32_t *table = malloc((size_t)size * sizeof *table);
    if (!table) return HANDED_BACK;
    memset(table, -1, (size_t)size * sizeof *table);
    int repeated = 0;
    for (int64_t first = 0, row = 0; row < rows && !repeated; row++) {
        if (topic[row] != topic[first]) first = row;
        int64_t place = (int64_t)(keys[row] & (uint64_t)(size - 1));
        int steps = 0;
        while (table[place] >= first) { /* what is left of topics before counts for nothing */
            if (keys[table[place]] == keys[row] || ++steps == MOST_STEPS) {
                repeated = 1;
                break;
            }
            place = (place + 1) & (size - 1);
        }
        table[place] = (int32_t)row;
    }
    free(table);
    return repeated;
}

/* Give every row a place in its topic's stretch. 0 when all have one; otherwise Python builds the table. */
int64_t fill_table(const uint64_t *keys, const int64_t *topic, int64_t rows, const int64_t *begin, const int64_t *last,
                   int32_t *table) {
    for (int64_t row = 0; row < rows; row++) {
        int64_t start = begin[topic[row]], mask = last[topic[row]];
        int64_t place = (int64_t)keys[row] & mask;
        for (int steps = 0; table[start + place] >= 0; place = (place + 1) & mask)
            if (keys[table[start + place]] == keys[row] || ++steps == MOST_STEPS) return HANDED_BACK;
        table[start + place] = (int32_t)row;
    }
    return 0;
}

/* The hash of every id; long ones have another, which Python computes. */
int hash_ids(const uint8_t *text, const int64_t *start, const int64_t *length, int64_t rows, uint64_t *hashes) {
    for (int64_t row = 0; row < rows; row++) {
        if (length[row] > LONG_ID) return HANDED_BACK;
        hashes[row] = hash_id(text + start[row], length[row]);
    }
    return 0;
}
