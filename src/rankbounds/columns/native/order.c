/* The order in which a run ranks the documents of a topic: by score, and tied ones by a rule (collection/order.py). */

#include "ids.h"

/* Groups up to here are put in order by insertion. */
enum { LONG_GROUP = 64 };

/* Does the second of two rows stand before the first? */
typedef int (*Before)(const Documents *, int64_t first, int64_t second);

static int higher_score(const Documents *documents, int64_t first, int64_t second) {
    return documents->score[second] > documents->score[first];
}

static int document_order(const Documents *documents, int64_t first, int64_t second) {
    return compare_ids(documents->text + documents->start[first], documents->length[first],
                       documents->text + documents->start[second], documents->length[second]);
}

static int later_document(const Documents *documents, int64_t first, int64_t second) {
    return document_order(documents, first, second) < 0;
}

static int earlier_document(const Documents *documents, int64_t first, int64_t second) {
    return document_order(documents, first, second) > 0;
}

/* Rows that neither stands before the other keep their order: short stretches by insertion, then merged in pairs. */
INLINED void sort_rows(const Documents *documents, Before before, int64_t *rows, int64_t count, int64_t *scratch) {
    enum { SHORT = 12 };
    for (int64_t begin = 0; begin < count; begin += SHORT) {
        int64_t end = count - begin > SHORT ? begin + SHORT : count;
        for (int64_t next = begin + 1; next < end; next++) {
            int64_t row = rows[next], place = next;
            for (; place > begin && before(documents, rows[place - 1], row); place--) rows[place] = rows[place - 1];
            rows[place] = row;
        }
    }
    for (int64_t width = SHORT; width < count; width *= 2) {
        for (int64_t begin = 0; begin + width < count; begin += 2 * width) {
            int64_t middle = begin + width, end = count - middle > width ? middle + width : count;
            if (!before(documents, rows[middle - 1], rows[middle])) continue;
            memcpy(scratch, rows + begin, (size_t)width * sizeof *rows);
            int64_t left = 0, right = middle, place = begin;
            while (left < width && right < end)
                rows[place++] = before(documents, scratch[left], rows[right]) ? rows[right++] : scratch[left++];
            while (left < width) rows[place++] = scratch[left++];
        }
    }
}

static void sort_tied(const Documents *documents, Order order, int64_t *rows, int64_t count, int64_t *scratch) {
    if (order == BY_DOCUMENT_DOWN)
        sort_rows(documents, later_document, rows, count, scratch);
    else
        sort_rows(documents, earlier_document, rows, count, scratch);
}

/* Does a score rise from one of these rows to the next, which stand one behind the other in the table? Marks ties. */
static int compare_neighbours(const double *score, int64_t count, uint8_t *tied, int *ties) {
    int rises = 0, equal = 0;
    tied[0] = 0;
    for (int64_t rank = 1; rank < count; rank++) {
        rises |= score[rank] > score[rank - 1];
        tied[rank] = score[rank] == score[rank - 1];
        equal |= tied[rank];
    }
    *ties = equal;
    return rises;
}

static int compare_scattered(const double *score, const int64_t *rows, int64_t count, uint8_t *tied, int *ties) {
    int rises = 0, equal = 0;
    tied[0] = 0;
    for (int64_t rank = 1; rank < count; rank++) {
        double before = score[rows[rank - 1]], own = score[rows[rank]];
        rises |= own > before;
        tied[rank] = own == before;
        equal |= tied[rank];
    }
    *ties = equal;
    return rises;
}

/* Put the rows of one topic into the order of rank, and mark those that have the score of the one before.
   ``scratch`` holds as many rows as there are; ``together``: the rows stand one behind the other in the table. */
int rank_list(const Documents *documents, Order order, int64_t *rows, int64_t count, int together, int64_t *scratch,
              uint8_t *tied) {
    const double *score = documents->score;
    int ties = 0;
    int rises = together ? compare_neighbours(score + rows[0], count, tied, &ties)
                         : compare_scattered(score, rows, count, tied, &ties);
    if (rises && order != AS_GIVEN) {
        for (int64_t rank = 0; rank < count; rank++)
            if (score[rows[rank]] != score[rows[rank]]) return HANDED_BACK; /* not a number, so of no order */
        sort_rows(documents, higher_score, rows, count, scratch);
        compare_scattered(score, rows, count, tied, &ties);
    }
    if (!ties || order == AS_GIVEN || order == BY_LINE) return 0;
    for (int64_t first = 0, last; first < count; first = last) {
        for (last = first + 1; last < count && tied[last];) {
            if (documents->length[rows[last]] > LONG_ID || documents->length[rows[first]] > LONG_ID) return HANDED_BACK;
            last++;
        }
        if (last - first > 1) sort_tied(documents, order, rows + first, last - first, scratch);
    }
    return 0;
}

/* The order by value, falling or rising, within groups that stand one behind the other; equal ones keep their order.
   ``start`` says where each group begins. */
int order_in_groups(const double *value, int64_t count, const int64_t *start, int64_t groups, int falling,
                    int64_t *order) {
    for (int64_t i = 0; i < count; i++) {
        if (value[i] != value[i]) return HANDED_BACK;
        order[i] = i;
    }
    for (int64_t group = 0; group < groups; group++) {
        int64_t begin = start[group], end = group + 1 < groups ? start[group + 1] : count;
        if (end - begin > LONG_GROUP) return HANDED_BACK; /* insertion would take long */
        for (int64_t next = begin + 1; next < end; next++) {
            double moved = value[next];
            int64_t place = next;
            for (; place > begin; place--) {
                double before = value[order[place - 1]];
                if (falling ? before >= moved : before <= moved) break;
                order[place] = order[place - 1];
            }
            order[place] = next;
        }
    }
    return 0;
}
