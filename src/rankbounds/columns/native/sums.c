/* Sums along lists, rank by rank (columns/by_rank.py). */

#include "kernel.h"

/* Every sum waits for the one before it, so several lists are summed side by side. The first entry is taken as it is. */
enum { SIDE_BY_SIDE = 8 };

INLINED void sum_some(const double *array, int64_t lists, int64_t width, int64_t first, int64_t step, double *out) {
    double sum[SIDE_BY_SIDE];
    for (int64_t list = 0; list < lists; list++) out[list * width + first] = sum[list] = array[list * width + first];
    for (int64_t done = 1, rank = first + step; done < width; done++, rank += step)
        for (int64_t list = 0; list < lists; list++)
            out[list * width + rank] = sum[list] += array[list * width + rank];
}

/* At every rank the sum of the entries down to it, or (``upward``) from the list's end up to it. */
void running_sums(const double *array, int64_t lists, int64_t width, int upward, double *out) {
    const int64_t first = upward ? width - 1 : 0, step = upward ? -1 : 1;
    if (width < 1) return;
    for (; lists >= SIDE_BY_SIDE; lists -= SIDE_BY_SIDE) {
        sum_some(array, SIDE_BY_SIDE, width, first, step, out);
        array += SIDE_BY_SIDE * width, out += SIDE_BY_SIDE * width;
    }
    for (; lists > 0; lists--, array += width, out += width) sum_some(array, 1, width, first, step, out);
}

INLINED void weigh_some(const double *array, int64_t lists, int64_t width, const double *weights, int64_t count,
                        double *out) {
    double sum[SIDE_BY_SIDE];
    for (int64_t list = 0; list < lists; list++) sum[list] = weights[0] * array[list * width];
    for (int64_t rank = 1; rank < count; rank++)
        for (int64_t list = 0; list < lists; list++) sum[list] += weights[rank] * array[list * width + rank];
    for (int64_t list = 0; list < lists; list++) out[list] = sum[list];
}

/* The first ``count`` entries of every list, each times its weight, one added after the other. */
void weighted_sums(const double *array, int64_t lists, int64_t width, const double *weights, int64_t count,
                   double *out) {
    if (count < 1 || count > width) return;
    for (; lists >= SIDE_BY_SIDE; lists -= SIDE_BY_SIDE, array += SIDE_BY_SIDE * width, out += SIDE_BY_SIDE)
        weigh_some(array, SIDE_BY_SIDE, width, weights, count, out);
    for (; lists > 0; lists--, array += width, out++) weigh_some(array, 1, width, weights, count, out);
}
