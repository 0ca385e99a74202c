/* Means over topics of scores that are shuffled within every topic (stats/corrections.py). */

#include "kernel.h"

/* As NumPy's Generator.permuted does it: from the last place up, each changes with one not behind it, drawn from as many
   bits as it takes; a number beyond it is drawn again. Numbers first: where one is kept or not, no branch has to guess.
   PCG64 gives the lower half of a word before the higher one. */
static void shuffle(Random *random, uint32_t *places, uint32_t *drawn, uint32_t count) {
    if (count < 2) return;
    int64_t used = random->used;
    for (uint32_t last = count - 1; last > 0;) {
        const uint32_t mask = (uint32_t)(UINT64_MAX >> leading_zeros(last));
        while (last > mask >> 1) {
            if (used == DRAWN_AT_ONCE) {
                for (int word = 0; word < DRAWN_AT_ONCE / 2; word++) {
                    const uint64_t both = random->from->next_word(random->from->state);
                    memcpy(random->drawn + 2 * word, &both, sizeof both);
                }
                used = 0;
            }
            const uint32_t other = random->drawn[used++] & mask;
            drawn[last] = other;
            last += (uint32_t)(last < other) - 1;
        }
    }
    random->used = used;
    for (uint32_t last = count - 1; last > 0; last--) {
        const uint32_t held = places[drawn[last]];
        places[drawn[last]] = places[last];
        places[last] = held;
    }
}

/* By resample, measure and system the mean over topics. ``values`` lie by topic, system and measure. */
void shuffled_means(Random *random, const double *values, int64_t topics, int32_t systems, int32_t measures,
                    int64_t resamples, uint32_t *scratch, double *__restrict sums, double *means) {
    const int64_t size = (int64_t)systems * measures;
    uint32_t *places = scratch, *drawn = scratch + systems;
    for (; resamples > 0; resamples--, means += size) {
        memset(sums, 0, (size_t)size * sizeof *sums);
        for (int64_t topic = 0; topic < topics; topic++) {
            const double *of_topic = values + topic * size;
            for (int32_t system = 0; system < systems; system++) places[system] = (uint32_t)(system * measures);
            shuffle(random, places, drawn, (uint32_t)systems);
            double *sum = sums;
            for (int32_t system = 0; system < systems; system++, sum += measures) {
                const double *scores = of_topic + places[system];
                for (int32_t measure = 0; measure < measures; measure++) sum[measure] += scores[measure];
            }
        }
        for (int32_t measure = 0; measure < measures; measure++)
            for (int32_t system = 0; system < systems; system++)
                means[measure * systems + system] = sums[system * measures + measure] / (double)topics;
    }
}
