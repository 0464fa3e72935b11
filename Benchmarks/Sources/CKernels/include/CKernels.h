// SPDX-License-Identifier: Apache-2.0
// The kernels of the render path as somebody would write them in C, compiled by clang -O3: what ours are timed beside.
#pragma once
#include <stdint.h>

typedef float *_Nonnull channel;

void ck_add(float *_Nonnull to, const float *_Nonnull from, long count, float gain);
void ck_scale(float *_Nonnull to, const float *_Nonnull from, long count, float gain);
void ck_add_ramp(float *_Nonnull to, const float *_Nonnull from, long count, float gain, float step, long past);
void ck_scale_ramp(float *_Nonnull to, const float *_Nonnull from, long count, float gain, float step, long past);
/// One input after the other.
void ck_mix(float *_Nonnull to, const channel *_Nonnull inputs, const float *_Nonnull gains, long input_count, long count);
/// Four inputs at a time, as ours does it.
void ck_mix_fours(float *_Nonnull to, const channel *_Nonnull inputs, const float *_Nonnull gains, long input_count, long count);
float ck_peak(const float *_Nonnull from, long count);
float ck_energy(const float *_Nonnull from, long count);

/// A host's least work for nodes in a row: calls each by a pointer to a function, which looks whether the samples of two
/// channels are numbers. Returns how many nodes found one that is not.
long ck_visit(long nodes, const channel *_Nonnull channels, long count);

// Interleaved integers of 16, 24 (packed) or 32 bits at any alignment; full scale is 2^(bits - 1), rounded to nearest and
// limited.
void ck_read(int bits, const void *_Nonnull bytes, long channels, long count, const channel *_Nonnull to);
void ck_write(int bits, const channel *_Nonnull from, long count, void *_Nonnull bytes, long channels);

/// Peaks one after the other over two channels, in double precision.
typedef struct ck_cascade ck_cascade;
ck_cascade *_Nonnull ck_cascade_new(long sections);
void ck_cascade_free(ck_cascade *_Nonnull cascade);
void ck_cascade_peak(ck_cascade *_Nonnull cascade, long section, double frequency, double gain_db, double q, double rate);
/// The same state-variable form as ours, four sections at a time, with clang's vectors of two.
void ck_cascade_svf(ck_cascade *_Nonnull cascade, const channel *_Nonnull in, const channel *_Nonnull out, long count);
/// The transposed direct form II, channel for channel: a textbook's biquad.
void ck_cascade_biquad(ck_cascade *_Nonnull cascade, const channel *_Nonnull in, const channel *_Nonnull out, long count);
