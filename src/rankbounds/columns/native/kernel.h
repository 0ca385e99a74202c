/* What the parts of the kernel share: integers of known width, and words of eight bytes read from anywhere.

   Every file here is the twin of a Python one and does exactly what that does, on the same arrays: decimals.h of
   columns/decimals.py, ids.h of columns/ids.py, hash_tables.c of columns/hash_tables.py, trec_lines.c of files/trec.py,
   order.c of collection/order.py, join.c of rankings/join.py, places.c and sums.c of columns/by_rank.py, shuffles.c of
   stats/corrections.py. Nothing here touches a Python object (but dicts.c, whose business they are) or knows a message:
   whatever is odd is handed back (HANDED_BACK), and Python looks at it again in its own way. */

#ifndef RANKBOUNDS_KERNEL_H
#define RANKBOUNDS_KERNEL_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "The kernel reads text as little-endian words. Without it rankbounds works on NumPy."
#endif

#if defined(_MSC_VER)
#include <intrin.h>
#include <stdlib.h>
#define INLINED static __forceinline
static __inline int trailing_zeros(uint64_t word) {
    unsigned long place;
    _BitScanForward64(&place, word);
    return (int)place;
}
static __inline int leading_zeros(uint64_t word) {
    unsigned long place;
    _BitScanReverse64(&place, word);
    return 63 - (int)place;
}
#define byteswapped(word) _byteswap_uint64(word)
#define soon(place) ((void)0)
#else
#define INLINED static inline __attribute__((always_inline))
#define trailing_zeros(word) __builtin_ctzll(word)
#define leading_zeros(word) __builtin_clzll(word)
#define byteswapped(word) __builtin_bswap64(word)
#define soon(place) __builtin_prefetch(place)
#endif

enum { HANDED_BACK = -1 };

/* Raised whenever a function takes or gives something else than before: Python uses no kernel of another contract. */
enum { CONTRACT = 2 };

/* A text always has so many bytes of padding behind it (ids.PADDING): a word may be read across its end. */
enum { PADDING = 64 };

static inline uint64_t word_at(const uint8_t *place) {
    uint64_t word;
    memcpy(&word, place, 8);
    return word;
}

#define EACH_BYTE(byte) (UINT64_C(0x0101010101010101) * (byte))

/* hash_tables.c */
int hash_ids(const uint8_t *text, const int64_t *start, const int64_t *length, int64_t rows, uint64_t *hashes);
int any_repeated(const uint64_t *keys, const int32_t *topic, int64_t rows);
int64_t topic_ends(const int32_t *topic, int64_t rows, int64_t *ends);
int64_t fill_table(const uint64_t *keys, const int64_t *topic, int64_t rows, const int64_t *begin, const int64_t *last,
                   int32_t *row);

/* trec_lines.c */
typedef struct {
    int fields, query, doc, value;
} Layout;

typedef struct {
    int32_t *topic;
    int64_t *start;
    int32_t *length;
    uint64_t *keys;
    double *value;
    int64_t *topic_start; /* of each topic, in the order in which they are first met */
    int32_t *topic_length;
    int64_t capacity, topics;
} Lines;

int64_t count_lines(const uint8_t *text, int64_t begin, int64_t stop);
int64_t parse_lines(const uint8_t *text, int64_t begin, int64_t stop, const Layout *layout, Lines *lines);

int64_t merge_topics(const uint8_t *text, const int64_t *start, const int32_t *length, int64_t count, int32_t *number,
                     int64_t *first_start, int32_t *first_length);
int renumber(int32_t *topic, int64_t rows, const int32_t *number, int64_t count);
int64_t write_ids(const uint8_t *text, const int64_t *start, const int32_t *length, int64_t count, uint8_t *out);

/* order.c */
typedef enum { AS_GIVEN, BY_LINE, BY_DOCUMENT_DOWN, BY_DOCUMENT_UP } Order;

typedef struct {
    const uint8_t *text;
    const int64_t *start;
    const int32_t *length;
    const double *score;
} Documents;

int rank_list(const Documents *documents, Order order, int64_t *rows, int64_t count, int together, int64_t *scratch,
              uint8_t *tied);

int order_in_groups(const double *value, int64_t count, const int64_t *start, int64_t groups, int falling,
                    int64_t *order);

/* join.c */
typedef struct {       /* a judged document, in half a line of the cache */
    uint64_t first, second; /* of the id's words, zeros behind its end */
    int64_t start;
    int32_t length, row;
} JudgedId;

typedef struct { /* 64 places of the table */
    uint64_t taken;
    int64_t before; /* how many places before these are taken */
} Places;

typedef struct {
    const uint8_t *text;
    const JudgedId *ids;  /* in the order of their places */
    const Places *places; /* of each topic's stretch of the table those that begin at begin[topic] */
    const int64_t *begin, *last;
    const double *grade; /* by row */
} Judgments;

typedef struct {
    Documents documents;
    const uint64_t *keys;
    const int32_t *topic;
    const int64_t *rows; /* NULL: first, first + 1, ... */
    int64_t first, count;
    const int64_t *judged_topic; /* for each topic of the run its number among the judged ones, or -1 */
} RunRows;

typedef struct {
    double *grade;
    uint8_t *tied;
    int64_t *row;      /* NULL: nobody asks */
    int32_t *judgment; /* NULL: nobody asks */
    int64_t *list_length, *list_topic;
} RankedRows;

int64_t gather_ids(const uint8_t *text, const int64_t *start, const int32_t *length, int64_t rows,
                   const int64_t *table_begin, const int64_t *last, int64_t topics, const int32_t *table,
                   const int64_t *begin, Places *places, JudgedId *ids);
int64_t rank_lists(const RunRows *run, const Judgments *judgments, Order order, RankedRows *out);
void fill_block(const uint8_t *column, size_t item, const int64_t *start, const int64_t *length, int64_t lists,
                int64_t width, const uint8_t *beyond, uint8_t *block);

/* places.c */
int64_t find_places(const uint8_t *marked, int64_t lists, int64_t width, int64_t *list_of, int64_t *rank_of,
                    int64_t *number_of);

/* sums.c */
void running_sums(const double *array, int64_t lists, int64_t width, int upward, double *out);
void weighted_sums(const double *array, int64_t lists, int64_t width, const double *weights, int64_t count,
                   double *out);

/* shuffles.c */
typedef struct { /* the beginning of what NumPy's documentation calls bitgen_t */
    void *state;
    uint64_t (*next_word)(void *state);
} BitGenerator;

enum { DRAWN_AT_ONCE = 512 };

typedef struct {
    const BitGenerator *from;
    int64_t used;
    uint32_t drawn[DRAWN_AT_ONCE];
} Random;

void shuffled_means(Random *random, const double *values, int64_t topics, int32_t systems, int32_t measures,
                    int64_t resamples, uint32_t *scratch, double *sums, double *means);

#endif
