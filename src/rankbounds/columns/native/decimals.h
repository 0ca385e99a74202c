/* A token of text to the double nearest to it (columns/decimals.py).

   The digits are a whole number below 2**64 that is multiplied or divided by a power of ten. If both are exact in double
   precision, the processor rounds their quotient or product correctly. Where the digits are too many for that, the
   quotient is taken in 128 bits and rounded here. Digits are read eight at a time where they are few. What is longer
   still, or no decimal at all, is handed back. */

#ifndef RANKBOUNDS_DECIMALS_H
#define RANKBOUNDS_DECIMALS_H

#include <float.h>

#include "kernel.h"

#if FLT_EVAL_METHOD != 0
#error "The kernel needs double precision that rounds once. Without it rankbounds works on NumPy."
#endif

static const double powers_of_ten[23] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                         1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

#define LARGEST_EXACT ((uint64_t)1 << 53)

#if defined(__SIZEOF_INT128__)
/* digits / 10**decimals for 2**53 < digits and 0 <= decimals <= 27, to the nearest double, ties to the even one. */
static inline double divided_in_128_bits(uint64_t digits, int64_t decimals) {
    uint64_t divisor = 1;
    for (int64_t i = 0; i < decimals; i++) divisor *= 5; /* 5**27 < 2**63 */
    /* Shifted so that the quotient has 64 bits or 65, of which 53 are kept. */
    int shift = leading_zeros(digits) + 64 - leading_zeros(divisor);
    if (shift > 64) shift = 64;
    unsigned __int128 dividend = (unsigned __int128)digits << shift;
    unsigned __int128 quotient = dividend / divisor;
    int inexact = dividend % divisor != 0;
    int64_t exponent = -shift - decimals;
    int dropped = 0;
    while ((quotient >> dropped) >= ((unsigned __int128)1 << 54)) dropped++;
    uint64_t kept = (uint64_t)(quotient >> dropped); /* 54 bits: the last is the one to round by */
    inexact |= (quotient & (((unsigned __int128)1 << dropped) - 1)) != 0;
    uint64_t rounded = (kept >> 1) + ((kept & 1) & (uint64_t)(inexact || (kept & 2)));
    /* At most 2**53, times a power of two that is far from the ends of the range: exact. */
    uint64_t bits = (uint64_t)(1023 + exponent + dropped + 1) << 52;
    double value;
    memcpy(&value, &bits, 8);
    value *= (double)rounded;
    return value;
}
#endif

/* Eight bytes that are digits, the first in the lowest byte, as a number. */
static inline uint64_t eight_digits(uint64_t word) {
    word -= EACH_BYTE('0');
    word = 10 * word + (word >> 8);
    return ((word & UINT64_C(0x000000FF000000FF)) * UINT64_C(0x000F424000000064) +
            ((word >> 16) & UINT64_C(0x000000FF000000FF)) * UINT64_C(0x0000271000000001)) >>
           32;
}

static inline int all_digits(uint64_t word) {
    return ((word & EACH_BYTE(0xF0)) | ((word + EACH_BYTE(6)) & EACH_BYTE(0xF0)) >> 4) == EACH_BYTE(0x33);
}

/* The place of the point among eight bytes; 8: none is there. */
static inline int point_in(uint64_t word) {
    uint64_t other = word ^ EACH_BYTE('.');
    uint64_t marks = ~(((other & EACH_BYTE(127)) + EACH_BYTE(127)) | other) & EACH_BYTE(128);
    return marks ? trailing_zeros(marks) / 8 : 8;
}

/* Eight bytes without the point at this place: those before it move up, and another comes in at the end. */
static inline uint64_t without_point(uint64_t word, int point, uint64_t first) {
    uint64_t before = ((uint64_t)1 << (8 * point)) - 1;
    uint64_t behind = point == 7 ? 0 : ~(uint64_t)0 << (8 * point + 8);
    return (word & behind) | (word & before) << 8 | first;
}

/* As ``parse_decimal`` for up to 16 digits and a point, all at once; 0: it is something else, or may be. */
static inline int parse_short_decimal(const uint8_t *at, const uint8_t *end, double *value) {
    const int negative = *at == '-';
    const int64_t length = end - at - negative;
    if (length < 1 || length > 16 || (length == 1 && end[-1] == '.')) return 0;
    uint64_t high = word_at(end - 8), low = EACH_BYTE('0'); /* 16 bytes, zeros in front of those of the token */
    if (length < 8) {
        const uint64_t outside = ((uint64_t)1 << (64 - 8 * length)) - 1;
        high = (high & ~outside) | (low & outside);
    } else if (length > 8) {
        const uint64_t outside = length == 16 ? 0 : ((uint64_t)1 << (128 - 8 * length)) - 1;
        low = (word_at(end - 16) & ~outside) | (low & outside);
    }
    int decimals = 0, point = point_in(high);
    if (point < 8) {
        decimals = 7 - point;
        high = without_point(high, point, low >> 56);
        low = low << 8 | '0';
    } else if (length > 8 && (point = point_in(low)) < 8) {
        decimals = 15 - point;
        low = without_point(low, point, '0');
    }
    if (!all_digits(high)) return 0;
    uint64_t digits = eight_digits(high);
    if (length > 8) {
        if (!all_digits(low)) return 0;
        digits += 100000000 * eight_digits(low);
        if (digits > LARGEST_EXACT) return 0;
    }
    const double result = (double)digits / powers_of_ten[decimals];
    *value = negative ? -result : result;
    return 1;
}

/* The value of the token at [at, end), into *value; 0 where the token is not a decimal that can be told here. */
static inline int parse_decimal(const uint8_t *at, const uint8_t *end, double *value) {
    if (parse_short_decimal(at, end, value)) return 1;
    int negative = *at == '-';
    if (negative || *at == '+') at++;
    uint64_t digits = 0;
    int64_t met, decimals = 0;
    const uint8_t *first = at;
    for (; at < end && (uint8_t)(*at - '0') < 10; at++) digits = 10 * digits + (uint64_t)(*at - '0');
    met = at - first;
    if (at < end && *at == '.') {
        const uint8_t *point = ++at;
        for (; at < end && (uint8_t)(*at - '0') < 10; at++) digits = 10 * digits + (uint64_t)(*at - '0');
        decimals = at - point;
        met += decimals;
    }
    if (!met) return 0;
    if (met > 19) { /* zeros behind the point's last digit and in front do not count; more than 19 others may not fit */
        const uint8_t *last = at;
        for (; decimals && last[-1] == '0'; last--) decimals--, met--;
        for (; met > 19 && (*first == '0' || *first == '.'); first++) met -= *first == '0';
        if (met > 19) return 0;
        for (digits = 0; first < last; first++)
            if (*first != '.') digits = 10 * digits + (uint64_t)(*first - '0');
    }
    if (at < end && (*at | 32) == 'e') {
        at++;
        int below = at < end && *at == '-';
        if (below || (at < end && *at == '+')) at++;
        if (at >= end || end - at > 3) return 0;
        int exponent = 0;
        for (; at < end && (uint8_t)(*at - '0') < 10; at++) exponent = 10 * exponent + (*at - '0');
        decimals += below ? exponent : -exponent;
    }
    if (at != end) return 0;
    double result;
    if (digits <= LARGEST_EXACT && decimals >= 0 && decimals <= 22)
        result = (double)digits / powers_of_ten[decimals];
    else if (digits <= LARGEST_EXACT && decimals < 0 && decimals >= -22)
        result = (double)digits * powers_of_ten[-decimals];
    else if (!digits)
        result = 0;
#if defined(__SIZEOF_INT128__)
    else if (digits > LARGEST_EXACT && decimals >= 0 && decimals <= 27)
        result = divided_in_128_bits(digits, decimals);
#endif
    else
        return 0;
    *value = negative ? -result : result;
    return 1;
}

#endif
