/* Where marked cells stand (columns/by_rank.py). */

#include "kernel.h"

/* List after list and rank after rank: the list, the rank, and how many of the list's stand before. How many there are.
   There is room for one more than that, since every cell is written, and only marked ones are kept. */
int64_t find_places(const uint8_t *marked, int64_t lists, int64_t width, int64_t *list_of, int64_t *rank_of,
                    int64_t *number_of) {
    int64_t count = 0;
    for (int64_t list = 0; list < lists; list++, marked += width) {
        const int64_t before = count;
        for (int64_t begin = 0; begin < width; begin += 8) {
            const int64_t end = width - begin > 8 ? begin + 8 : width;
            if (end - begin == 8 && !word_at(marked + begin)) continue;
            for (int64_t rank = begin; rank < end; rank++) {
                list_of[count] = list;
                rank_of[count] = rank;
                number_of[count] = count - before;
                count += marked[rank] != 0;
            }
        }
    }
    return count;
}
