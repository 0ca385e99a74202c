/* Lines of fields with blanks between them (files/trec.py): where the documents stand, their keys and their values. */

#include <stdlib.h>

#if defined(__SSE2__) || defined(_M_X64) /* what every processor of the kind has */
#include <emmintrin.h>
#endif

#include "decimals.h"
#include "ids.h"

enum { MOST_FIELDS = 16 };

int64_t count_lines(const uint8_t *text, int64_t begin, int64_t stop) {
    int64_t lines = 0;
    while (begin < stop) { /* in stretches that a byte can count, which compilers make wide instructions of */
        int64_t end = stop - begin > 255 ? begin + 255 : stop;
        uint8_t counted = 0;
        for (; begin < end; begin++) counted += text[begin] == '\n';
        lines += counted;
    }
    return lines;
}

/* Of the next 64 bytes, which are blanks or control characters and which are newlines; the first in the lowest bit. */
static inline void look_ahead(const uint8_t *at, uint64_t *blanks, uint64_t *newlines) {
    *blanks = *newlines = 0;
#if defined(__SSE2__) || defined(_M_X64)
    const __m128i highest = _mm_set1_epi8(32), newline = _mm_set1_epi8('\n');
    for (int part = 0; part < 4; part++) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(at + 16 * part));
        int blank = _mm_movemask_epi8(_mm_cmpeq_epi8(_mm_min_epu8(bytes, highest), bytes));
        *blanks |= (uint64_t)(uint32_t)blank << (16 * part);
        *newlines |= (uint64_t)(uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, newline)) << (16 * part);
    }
#else
    for (int part = 0; part < 8; part++) { /* no byte carries into the next */
        uint64_t word = word_at(at + 8 * part), other = word ^ EACH_BYTE('\n');
        uint64_t above = ((word & EACH_BYTE(127)) + EACH_BYTE(127 - 32)) | word;
        uint64_t differs = ((other & EACH_BYTE(127)) + EACH_BYTE(127)) | other;
        *blanks |= (((~above >> 7) & EACH_BYTE(1)) * UINT64_C(0x0102040810204080)) >> 56 << (8 * part);
        *newlines |= (((~differs >> 7) & EACH_BYTE(1)) * UINT64_C(0x0102040810204080)) >> 56 << (8 * part);
    }
#endif
}

/* Where the fields of a line begin and end, if it has so many with one blank between them, and 63 bytes at the most.
   What follows the line; NULL: it must be looked at in the general way. */
static inline const uint8_t *plain_line(const uint8_t *at, int fields, const uint8_t **field,
                                        const uint8_t **field_end) {
    uint64_t blanks, newlines;
    look_ahead(at, &blanks, &newlines);
    if (!newlines || *at == '#') return NULL;
    const uint8_t *behind = at + trailing_zeros(newlines) + 1; /* told early: the next line waits for it alone */
    newlines &= 0 - newlines;
    blanks &= newlines | (newlines - 1);
    uint64_t repeated = blanks & (blanks << 1 | 1);
    if (repeated) {
        if (repeated != newlines || repeated == 1) return NULL;
        blanks ^= newlines; /* a blank, or what CRLF begins with, before the newline */
    }
    const uint8_t *next = at;
    for (int number = 0; number < fields; number++) {
        if (!blanks) return NULL;
        field[number] = next;
        next = at + trailing_zeros(blanks);
        field_end[number] = next++;
        blanks &= blanks - 1;
    }
    return blanks ? NULL : behind;
}

/* The first byte from here on that is a blank or a control character; there is one, at the latest the last newline. */
static inline const uint8_t *end_of_field(const uint8_t *at) {
    for (;; at += 8) {
        uint64_t word = word_at(at);
        uint64_t blanks = (word - EACH_BYTE(33)) & ~word & EACH_BYTE(128);
        if (blanks) return at + trailing_zeros(blanks) / 8;
    }
}

/* The topics that were met, found by their hashes. */
typedef struct {
    int32_t *number; /* -1: none */
    uint64_t *hash;  /* of each topic */
    int64_t size, room;
} Topics;

static int grow(Topics *topics, int64_t met) {
    int64_t size = topics->size ? 4 * topics->size : 256;
    int32_t *number = malloc((size_t)size * sizeof *number);
    uint64_t *hash = realloc(topics->hash, (size_t)(size / 2) * sizeof *hash);
    if (hash) topics->hash = hash;
    if (!number || !hash) {
        free(number);
        return 0;
    }
    memset(number, -1, (size_t)size * sizeof *number);
    for (int64_t topic = 0; topic < met; topic++) {
        int64_t place = (int64_t)(hash[topic] & (uint64_t)(size - 1));
        while (number[place] >= 0) place = (place + 1) & (size - 1);
        number[place] = (int32_t)topic;
    }
    free(topics->number);
    topics->number = number;
    topics->size = size;
    topics->room = size / 2;
    return 1;
}

/* So many steps in one search are chance no more: somebody chose the topics so. */
enum { MOST_STEPS = 256 };

/* The number of a topic, a new one where it was not met; HANDED_BACK where it cannot be told. */
static int64_t number_of(Topics *topics, Lines *lines, const uint8_t *text, int64_t start, int64_t length,
                         uint64_t hash) {
    if (lines->topics >= topics->room && !grow(topics, lines->topics)) return HANDED_BACK;
    int64_t place = (int64_t)(hash & (uint64_t)(topics->size - 1));
    for (int steps = 0; steps < MOST_STEPS; steps++) {
        int64_t topic = topics->number[place];
        if (topic < 0) {
            topics->number[place] = (int32_t)lines->topics;
            topics->hash[lines->topics] = hash;
            lines->topic_start[lines->topics] = start;
            lines->topic_length[lines->topics] = (int32_t)length;
            return lines->topics++;
        }
        if (topics->hash[topic] == hash && lines->topic_length[topic] == length &&
            same_id(text + lines->topic_start[topic], text + start, length))
            return topic;
        place = (place + 1) & (topics->size - 1);
    }
    return HANDED_BACK;
}

/* Number the topics of several blocks: the same one has one number, whichever blocks it stands in. */
int64_t merge_topics(const uint8_t *text, const int64_t *start, const int32_t *length, int64_t count, int32_t *number,
                     int64_t *first_start, int32_t *first_length) {
    Topics topics = {NULL, NULL, 0, 0};
    Lines merged = {.topic_start = first_start, .topic_length = first_length};
    for (int64_t i = 0; i < count; i++) {
        int64_t topic = number_of(&topics, &merged, text, start[i], length[i], hash_id(text + start[i], length[i]));
        if (topic < 0) {
            merged.topics = HANDED_BACK;
            break;
        }
        number[i] = (int32_t)topic;
    }
    free(topics.number);
    free(topics.hash);
    return merged.topics;
}

/* Give every row the number that its topic has among those of all blocks; HANDED_BACK where one has none. */
int renumber(int32_t *topic, int64_t rows, const int32_t *number, int64_t count) {
    uint32_t highest = 0;
    for (int64_t row = 0; row < rows; row++) highest = (uint32_t)topic[row] > highest ? (uint32_t)topic[row] : highest;
    if (rows && highest >= (uint64_t)count) return HANDED_BACK;
    for (int64_t row = 0; row < rows; row++) topic[row] = number[topic[row]];
    return 0;
}

/* Write ids one behind the other, a newline behind each; return how many bytes that are. */
int64_t write_ids(const uint8_t *text, const int64_t *start, const int32_t *length, int64_t count, uint8_t *out) {
    uint8_t *at = out;
    for (int64_t i = 0; i < count; i++) {
        memcpy(at, text + start[i], (size_t)length[i]);
        at += length[i];
        *at++ = '\n';
    }
    return at - out;
}

/* Inlined for the layouts that most files have, so that where a field stands is known when this is compiled. */
INLINED int64_t parse(const uint8_t *text, int64_t begin, int64_t stop, const Layout *layout, Lines *lines,
                            Topics *topics) {
    const uint8_t *at = text + begin, *end = text + stop;
    const uint8_t *field[MOST_FIELDS], *field_end[MOST_FIELDS];
    const int fields = layout->fields;
    int64_t row = 0, topic = -1, topic_length = -1;
    const uint8_t *topic_at = at;
    uint64_t topic_hash = 0;
    while (at < end) {
        const uint8_t *behind = plain_line(at, fields, field, field_end);
        if (behind) {
            at = behind;
        } else {
            int met = 0;
            for (;; met++) {
                while (*at <= 32 && *at != '\n') at++;
                if (*at == '\n') break;
                if (met == fields) return HANDED_BACK;
                field[met] = at;
                if (met == 0 && *at == '#') { /* a comment */
                    at = memchr(at, '\n', (size_t)(end - at));
                    met = 0;
                    break;
                }
                field_end[met] = at = end_of_field(at);
            }
            at++;
            if (!met) continue;
            if (met < fields) return HANDED_BACK;
        }
        if (row == lines->capacity) return HANDED_BACK;
        const uint8_t *doc = field[layout->doc], *query = field[layout->query];
        int64_t length = field_end[layout->doc] - doc, query_length = field_end[layout->query] - query;
        if (length > LONG_ID || query_length > LONG_ID) return HANDED_BACK;
        if (query_length != topic_length || !same_id(query, topic_at, query_length)) {
            topic_at = query;
            topic_length = query_length;
            topic_hash = hash_id(query, query_length);
            topic = number_of(topics, lines, text, query - text, query_length, topic_hash);
            if (topic < 0) return HANDED_BACK;
        }
        if (!parse_decimal(field[layout->value], field_end[layout->value], &lines->value[row])) return HANDED_BACK;
        lines->topic[row] = (int32_t)topic;
        lines->start[row] = doc - text;
        lines->length[row] = (int32_t)length;
        lines->keys[row] = mix(hash_id(doc, length), topic_hash);
        row++;
    }
    return row;
}

static const Layout run_layout = {6, 0, 2, 4}, qrels_layout = {4, 0, 2, 3};

static int same_layout(const Layout *one, const Layout *other) {
    return one->fields == other->fields && one->query == other->query && one->doc == other->doc &&
           one->value == other->value;
}

int64_t parse_lines(const uint8_t *text, int64_t begin, int64_t stop, const Layout *layout, Lines *lines) {
    if (begin < 16 || begin >= stop || text[stop - 1] != '\n' || layout->fields > MOST_FIELDS) return HANDED_BACK;
    Topics topics = {NULL, NULL, 0, 0};
    lines->topics = 0;
    int64_t rows;
    if (same_layout(layout, &run_layout))
        rows = parse(text, begin, stop, &run_layout, lines, &topics);
    else if (same_layout(layout, &qrels_layout))
        rows = parse(text, begin, stop, &qrels_layout, lines, &topics);
    else
        rows = parse(text, begin, stop, layout, lines, &topics);
    free(topics.number);
    free(topics.hash);
    return rows;
}
