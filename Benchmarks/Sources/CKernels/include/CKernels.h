// SPDX-License-Identifier: Apache-2.0
// The kernels of the render path in plain C, compiled by clang -O3, for comparing times with ours.
#pragma once
#include <stdint.h>

typedef float *_Nonnull channel;

void ck_add(float *_Nonnull to, const float *_Nonnull from, long count, float gain);
void ck_scale(float *_Nonnull to, const float *_Nonnull from, long count, float gain);
void ck_add_ramp(float *_Nonnull to, const float *_Nonnull from, long count, float gain, float step, long past);
void ck_scale_ramp(float *_Nonnull to, const float *_Nonnull from, long count, float gain, float step, long past);
/// One input after the other.
void ck_mix(float *_Nonnull to, const channel *_Nonnull inputs, const float *_Nonnull gains, long input_count, long count);
/// Four inputs at a time, like ours.
void ck_mix_fours(float *_Nonnull to, const channel *_Nonnull inputs, const float *_Nonnull gains, long input_count, long count);
float ck_peak(const float *_Nonnull from, long count);
float ck_energy(const float *_Nonnull from, long count);

/// A host's least work for nodes in a row: it calls each through a function pointer, and checks that the samples of two channels
/// are numbers. Returns the number of nodes with samples that are not.
long ck_visit(long nodes, const channel *_Nonnull channels, long count);

// Interleaved integers of 16, 24 (packed) or 32 bits at any alignment. Full scale is 2^(bits - 1); values are rounded to nearest
// and limited.
void ck_read(int bits, const void *_Nonnull bytes, long channels, long count, const channel *_Nonnull to);
void ck_write(int bits, const channel *_Nonnull from, long count, void *_Nonnull bytes, long channels);

/// Peak filters in a row over two channels, in double precision.
typedef struct ck_cascade ck_cascade;
ck_cascade *_Nonnull ck_cascade_new(long sections);
void ck_cascade_free(ck_cascade *_Nonnull cascade);
void ck_cascade_peak(ck_cascade *_Nonnull cascade, long section, double frequency, double gain_db, double q, double rate);
/// The same state-variable form as ours, four sections at a time, with clang's vectors of two.
void ck_cascade_svf(ck_cascade *_Nonnull cascade, const channel *_Nonnull in, const channel *_Nonnull out, long count);
/// The transposed direct form II, one channel after the other: a textbook's biquad.
void ck_cascade_biquad(ck_cascade *_Nonnull cascade, const channel *_Nonnull in, const channel *_Nonnull out, long count);
