// SPDX-License-Identifier: Apache-2.0
#include "CKernels.h"
#include <math.h>
#include <stdlib.h>

typedef double pair __attribute__((vector_size(16)));
enum { CHUNK = 64, MOST = 16 };

typedef struct { pair from_band, from_input, g, direct, band, low; } svf_coefficients;
typedef struct { pair band, low; } svf_state;
typedef struct { double b0, b1, b2, a1, a2; } biquad;

struct ck_cascade {
    long sections;
    svf_coefficients svf[MOST];
    svf_state states[MOST];
    biquad biquads[MOST];
    double memory[2][MOST][2];
    pair frames[CHUNK];
};

ck_cascade *ck_cascade_new(long sections) {
    ck_cascade *c = aligned_alloc(64, (sizeof *c + 63) / 64 * 64);
    *c = (ck_cascade){.sections = sections};
    return c;
}

void ck_cascade_free(ck_cascade *cascade) { free(cascade); }

static pair both(double x) { return (pair){x, x}; }

void ck_cascade_peak(ck_cascade *c, long section, double frequency, double gain_db, double q, double rate) {
    double A = pow(10, gain_db / 40), g = tan(M_PI * frequency / rate), k = 1 / (q * A), a = 1 / (1 + g * (g + k));
    c->svf[section] = (svf_coefficients){both(2 * a), both(2 * a * g), both(g), both(1), both(0.5 * k * (A * A - 1)), both(0)};
    double w = 2 * M_PI * frequency / rate, alpha = sin(w) / (2 * q), a0 = 1 + alpha / A;
    c->biquads[section] = (biquad){
        (1 + alpha * A) / a0, -2 * cos(w) / a0, (1 - alpha * A) / a0, -2 * cos(w) / a0, (1 - alpha / A) / a0};
}

static inline pair next(svf_state *s, const svf_coefficients *c, pair x) {
    pair w = c->from_band * s->band + c->from_input * (x - s->low);
    pair y = c->direct * x + c->band * w + c->low * s->low;
    s->band = w - s->band;
    s->low += c->g * w;
    return y;
}

static void one(svf_state *states, const svf_coefficients *c, pair *frames, long count) {
    svf_state s = states[0];
    for (long i = 0; i < count; i++) frames[i] = next(&s, c, frames[i]);
    states[0] = s;
}

static void four(svf_state *states, const svf_coefficients *c, pair *frames, long count) {
    svf_state s0 = states[0], s1 = states[1], s2 = states[2], s3 = states[3];
    for (long i = 0; i < count; i++)
        frames[i] = next(&s3, c + 3, next(&s2, c + 2, next(&s1, c + 1, next(&s0, c, frames[i]))));
    states[0] = s0;
    states[1] = s1;
    states[2] = s2;
    states[3] = s3;
}

void ck_cascade_svf(ck_cascade *c, const channel *in, const channel *out, long count) {
    for (long at = 0; at < count; at += CHUNK) {
        long n = count - at < CHUNK ? count - at : CHUNK;
        for (long i = 0; i < n; i++) c->frames[i] = (pair){in[0][at + i], in[1][at + i]};
        long k = 0;
        for (; k + 4 <= c->sections; k += 4) four(c->states + k, c->svf + k, c->frames, n);
        for (; k < c->sections; k++) one(c->states + k, c->svf + k, c->frames, n);
        for (long i = 0; i < n; i++) {
            out[0][at + i] = (float)c->frames[i][0];
            out[1][at + i] = (float)c->frames[i][1];
        }
    }
}

void ck_cascade_biquad(ck_cascade *c, const channel *in, const channel *out, long count) {
    for (int channel = 0; channel < 2; channel++) {
        const float *from = in[channel];
        float *to = out[channel];
        for (long i = 0; i < count; i++) {
            double x = from[i];
            for (long k = 0; k < c->sections; k++) {
                const biquad *b = c->biquads + k;
                double *z = c->memory[channel][k];
                double y = b->b0 * x + z[0];
                z[0] = b->b1 * x - b->a1 * y + z[1];
                z[1] = b->b2 * x - b->a2 * y;
                x = y;
            }
            to[i] = (float)x;
        }
    }
}
