/* Ids as words of eight bytes: their hash, and their order (columns/ids.py). */

#ifndef RANKBOUNDS_IDS_H
#define RANKBOUNDS_IDS_H

#include "kernel.h"

/* Longer ids, which are rare, have another hash, which Python computes. */
enum { LONG_ID = 256 };

/* What keeps so many bytes of a word. */
static const uint64_t mask_of[9] = {0,
                                    UINT64_C(0xFF),
                                    UINT64_C(0xFFFF),
                                    UINT64_C(0xFFFFFF),
                                    UINT64_C(0xFFFFFFFF),
                                    UINT64_C(0xFFFFFFFFFF),
                                    UINT64_C(0xFFFFFFFFFFFF),
                                    UINT64_C(0xFFFFFFFFFFFFFF),
                                    UINT64_C(0xFFFFFFFFFFFFFFFF)};

static inline uint64_t first_bytes(uint64_t word, int64_t count) { return word & mask_of[count < 8 ? count : 8]; }

static inline int64_t ones_in(uint64_t word) {
    word -= (word >> 1) & UINT64_C(0x5555555555555555);
    word = (word & UINT64_C(0x3333333333333333)) + ((word >> 2) & UINT64_C(0x3333333333333333));
    return (int64_t)(((word + (word >> 4)) & EACH_BYTE(15)) * EACH_BYTE(1) >> 56);
}

static inline uint64_t mix(uint64_t hash, uint64_t word) {
    hash = (hash ^ word) * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ (hash >> 32);
}

static inline uint64_t hash_id(const uint8_t *id, int64_t length) {
    uint64_t hash = (uint64_t)length;
    for (; length > 0; id += 8, length -= 8) hash = mix(hash, first_bytes(word_at(id), length));
    return hash;
}

/* The word of an id that begins at this byte of it, zeros behind the id's end. */
static inline uint64_t word_of_id(const uint8_t *id, int64_t length, int64_t byte) {
    return length > byte ? first_bytes(word_at(id + byte), length - byte) : 0;
}

static inline int same_id(const uint8_t *one, const uint8_t *other, int64_t length) {
    for (; length > 0; one += 8, other += 8, length -= 8)
        if (first_bytes(word_at(one) ^ word_at(other), length)) return 0;
    return 1;
}

/* -1, 0 or 1 as the bytes of one come before those of the other; the shorter first where the other only goes on. */
static inline int compare_ids(const uint8_t *one, int64_t length, const uint8_t *other, int64_t other_length) {
    int64_t longer = length - other_length; /* words are filled up with zeros, as an id may be too */
    while (length > 0 || other_length > 0) {
        uint64_t word = length > 0 ? byteswapped(first_bytes(word_at(one), length)) : 0;
        uint64_t other_word = other_length > 0 ? byteswapped(first_bytes(word_at(other), other_length)) : 0;
        if (word != other_word) return word < other_word ? -1 : 1;
        one += 8, other += 8, length -= 8, other_length -= 8;
    }
    return (longer > 0) - (longer < 0);
}

#endif
