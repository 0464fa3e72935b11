// SPDX-License-Identifier: Apache-2.0
#include "CKernels.h"
#include <math.h>
#include <string.h>

void ck_add(float *restrict to, const float *restrict from, long count, float gain) {
    for (long i = 0; i < count; i++) to[i] += from[i] * gain;
}

void ck_scale(float *restrict to, const float *restrict from, long count, float gain) {
    for (long i = 0; i < count; i++) to[i] = from[i] * gain;
}

void ck_add_ramp(float *restrict to, const float *restrict from, long count, float gain, float step, long past) {
    int32_t n = (int32_t)past;
    for (long i = 0; i < count; i++) to[i] += from[i] * (gain + (float)++n * step);
}

void ck_scale_ramp(float *restrict to, const float *restrict from, long count, float gain, float step, long past) {
    int32_t n = (int32_t)past;
    for (long i = 0; i < count; i++) to[i] = from[i] * (gain + (float)++n * step);
}

typedef struct {
    long (*process)(const channel *channels, long count);
    const channel *channels;
} node;

static long look(const channel *channels, long count) {
    int bad = 0;
    for (long c = 0; c < 2; c++) {
        const float *from = channels[c];
        for (long i = 0; i < count; i++) bad |= !(fabsf(from[i]) <= 3.4e38f);
    }
    return bad;
}

long ck_visit(long nodes, const channel *channels, long count) {
    static node table[64];
    for (long k = 0; k < nodes; k++) table[k] = (node){look, channels};
    __asm__ volatile("" : : "r"(table) : "memory");  // which function it is cannot be known
    long found = 0;
    for (long k = 0; k < nodes; k++) found += table[k].process(table[k].channels, count);
    return found;
}

void ck_mix(float *restrict to, const channel *inputs, const float *gains, long input_count, long count) {
    for (long k = 0; k < input_count; k++) {
        const float *restrict from = inputs[k];
        float gain = gains[k];
        for (long i = 0; i < count; i++) to[i] += from[i] * gain;
    }
}

void ck_mix_fours(float *restrict to, const channel *inputs, const float *gains, long input_count, long count) {
    long k = 0;
    for (; k + 4 <= input_count; k += 4) {
        const float *restrict a = inputs[k], *restrict b = inputs[k + 1];
        const float *restrict c = inputs[k + 2], *restrict d = inputs[k + 3];
        float ga = gains[k], gb = gains[k + 1], gc = gains[k + 2], gd = gains[k + 3];
        for (long i = 0; i < count; i++) to[i] = to[i] + a[i] * ga + b[i] * gb + c[i] * gc + d[i] * gd;
    }
    for (; k < input_count; k++) {
        const float *restrict from = inputs[k];
        for (long i = 0; i < count; i++) to[i] += from[i] * gains[k];
    }
}

float ck_peak(const float *from, long count) {
    float top = 0;
    for (long i = 0; i < count; i++) {
        float x = from[i] < 0 ? -from[i] : from[i];
        top = x > top ? x : top;
    }
    return top;
}

float ck_energy(const float *from, long count) {
    float sum = 0;
    for (long i = 0; i < count; i++) sum += from[i] * from[i];
    return sum;
}

static void read_int16(const void *bytes, long channels, long count, const channel *to) {
    for (long c = 0; c < channels; c++) {
        const char *from = (const char *)bytes + 2 * c;
        float *restrict out = to[c];
        if (channels == 1) {
            for (long i = 0; i < count; i++) {
                int16_t x;
                memcpy(&x, from + 2 * i, 2);
                out[i] = (float)x * (1.0f / 32768);
            }
        } else {
            for (long i = 0; i < count; i++) {
                int16_t x;
                memcpy(&x, from + 2 * channels * i, 2);
                out[i] = (float)x * (1.0f / 32768);
            }
        }
    }
}

static void read_int24(const void *bytes, long channels, long count, const channel *to) {
    for (long c = 0; c < channels; c++) {
        const uint8_t *from = (const uint8_t *)bytes + 3 * c;
        float *restrict out = to[c];
        for (long i = 0; i < count; i++) {
            const uint8_t *p = from + 3 * channels * i;
            uint16_t low;
            memcpy(&low, p, 2);
            out[i] = (float)(int32_t)((uint32_t)low << 8 | (uint32_t)p[2] << 24) * (1.0f / 2147483648.0f);
        }
    }
}

static void read_int32(const void *bytes, long channels, long count, const channel *to) {
    for (long c = 0; c < channels; c++) {
        const char *from = (const char *)bytes + 4 * c;
        float *restrict out = to[c];
        if (channels == 1) {
            for (long i = 0; i < count; i++) {
                int32_t x;
                memcpy(&x, from + 4 * i, 4);
                out[i] = (float)x * (1.0f / 2147483648.0f);
            }
        } else {
            for (long i = 0; i < count; i++) {
                int32_t x;
                memcpy(&x, from + 4 * channels * i, 4);
                out[i] = (float)x * (1.0f / 2147483648.0f);
            }
        }
    }
}

// Rounds by adding 1.5 * 2^23 or 2^52, like ours: lrintf would be a function call, four times as slow.
static inline uint16_t to_int16(float x) {
    float scaled = x == x ? x * 32768 : 0;
    float limited = scaled > -32768 ? (scaled < 32767 ? scaled : 32767) : -32768;
    float shifted = limited + 12582912.0f;
    uint32_t bits;
    memcpy(&bits, &shifted, 4);
    return (uint16_t)bits;
}

static inline uint32_t to_integer(float x, double scale) {
    double scaled = x == x ? (double)x * scale : 0;
    double limited = scaled > -scale ? (scaled < scale - 1 ? scaled : scale - 1) : -scale;
    double shifted = limited + 6755399441055744.0;
    uint64_t bits;
    memcpy(&bits, &shifted, 8);
    return (uint32_t)bits;
}

static void write_int16(const channel *from, long count, void *bytes, long channels) {
    for (long c = 0; c < channels; c++) {
        char *to = (char *)bytes + 2 * c;
        const float *restrict in = from[c];
        if (channels == 1) {
            for (long i = 0; i < count; i++) {
                uint16_t word = to_int16(in[i]);
                memcpy(to + 2 * i, &word, 2);
            }
        } else {
            for (long i = 0; i < count; i++) {
                uint16_t word = to_int16(in[i]);
                memcpy(to + 2 * channels * i, &word, 2);
            }
        }
    }
}

static void write_int24(const channel *from, long count, void *bytes, long channels) {
    for (long c = 0; c < channels; c++) {
        uint8_t *to = (uint8_t *)bytes + 3 * c;
        const float *restrict in = from[c];
        for (long i = 0; i < count; i++) {
            uint32_t word = to_integer(in[i], 8388608);
            uint8_t *p = to + 3 * channels * i;
            uint16_t low = (uint16_t)word;
            memcpy(p, &low, 2);
            p[2] = (uint8_t)(word >> 16);
        }
    }
}

static void write_int32(const channel *from, long count, void *bytes, long channels) {
    for (long c = 0; c < channels; c++) {
        char *to = (char *)bytes + 4 * c;
        const float *restrict in = from[c];
        if (channels == 1) {
            for (long i = 0; i < count; i++) {
                uint32_t word = to_integer(in[i], 2147483648.0);
                memcpy(to + 4 * i, &word, 4);
            }
        } else {
            for (long i = 0; i < count; i++) {
                uint32_t word = to_integer(in[i], 2147483648.0);
                memcpy(to + 4 * channels * i, &word, 4);
            }
        }
    }
}

void ck_read(int bits, const void *bytes, long channels, long count, const channel *to) {
    switch (bits) {
    case 16: read_int16(bytes, channels, count, to); break;
    case 24: read_int24(bytes, channels, count, to); break;
    case 32: read_int32(bytes, channels, count, to); break;
    }
}

void ck_write(int bits, const channel *from, long count, void *bytes, long channels) {
    switch (bits) {
    case 16: write_int16(from, count, bytes, channels); break;
    case 24: write_int24(from, count, bytes, channels); break;
    case 32: write_int32(from, count, bytes, channels); break;
    }
}
