// SPDX-License-Identifier: Apache-2.0
// System calls for the render side that neither wait nor allocate. The attribute tells Swift's @_noLocks checker that a C
// function is safe on the render thread, which the header cannot.
#pragma once
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define EARSHOT_NO_LOCKS __attribute__((swift_attr("@_noLocks")))

// RealtimeSanitizer's runtime if the program is linked with it, otherwise null, so it needs no separate build.
extern void __rtsan_realtime_enter(void) __attribute__((weak));
extern void __rtsan_realtime_exit(void) __attribute__((weak));

#ifdef EARSHOT_TSAN
void __tsan_acquire(void *);
void __tsan_release(void *);
static inline void earshot_lock_taken(void *mark) { __tsan_acquire(mark); }
static inline void earshot_lock_given_back(void *mark) { __tsan_release(mark); }
#else
static inline void earshot_lock_taken(void *mark) { (void)mark; }
static inline void earshot_lock_given_back(void *mark) { (void)mark; }
#endif

/// CLOCK_MONOTONIC in nanoseconds. It is read through the vDSO, without a system call.
static inline EARSHOT_NO_LOCKS int64_t earshot_monotonic_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/// Nanoseconds that the machine has slept since it was started: the clock that counts sleep minus the one that does not.
static inline int64_t earshot_slept_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_BOOTTIME, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec - earshot_monotonic_ns();
}

/// Wakes up the thread that polls the eventfd. It never blocks: the descriptor is non-blocking and the counter cannot fill up.
static inline EARSHOT_NO_LOCKS void earshot_wake(int fd) { (void)eventfd_write(fd, 1); }

/// Prefetches four cache lines that will be read soon. Any address is allowed.
static inline EARSHOT_NO_LOCKS void earshot_prefetch(const void *_Nullable p) {
    const char *line = (const char *)p;
    __builtin_prefetch(line);
    __builtin_prefetch(line + 64);
    __builtin_prefetch(line + 128);
    __builtin_prefetch(line + 192);
}

static inline EARSHOT_NO_LOCKS void earshot_copy(void *to, const void *from, size_t bytes) { memcpy(to, from, bytes); }
static inline EARSHOT_NO_LOCKS void earshot_move(void *to, const void *from, size_t bytes) { memmove(to, from, bytes); }
static inline EARSHOT_NO_LOCKS void earshot_zero(void *to, size_t bytes) { memset(to, 0, bytes); }
static inline EARSHOT_NO_LOCKS int64_t earshot_round(double x) { return llrint(x); }
static inline EARSHOT_NO_LOCKS double earshot_sin(double x) { return sin(x); }
static inline EARSHOT_NO_LOCKS double earshot_cos(double x) { return cos(x); }
static inline EARSHOT_NO_LOCKS double earshot_sqrt(double x) { return sqrt(x); }
static inline EARSHOT_NO_LOCKS double earshot_exp(double x) { return exp(x); }
static inline EARSHOT_NO_LOCKS double earshot_log(double x) { return log(x); }
static inline EARSHOT_NO_LOCKS double earshot_pow(double x, double y) { return pow(x, y); }
static inline EARSHOT_NO_LOCKS double earshot_tan(double x) { return tan(x); }
static inline EARSHOT_NO_LOCKS double earshot_atan2(double y, double x) { return atan2(y, x); }
static inline EARSHOT_NO_LOCKS float earshot_expf(float x) { return expf(x); }
static inline EARSHOT_NO_LOCKS float earshot_logf(float x) { return logf(x); }
static inline EARSHOT_NO_LOCKS float earshot_sqrtf(float x) { return sqrtf(x); }
static inline EARSHOT_NO_LOCKS float earshot_floorf(float x) { return floorf(x); }

/// Arithmetic on two doubles, SIMD2<Double> in Swift. The optimiser sees Swift's own operators lane by lane, and does not always
/// combine them again in a chain of filters.
typedef double earshot_double2 __attribute__((ext_vector_type(2)));
static inline EARSHOT_NO_LOCKS earshot_double2 earshot_add2(earshot_double2 a, earshot_double2 b) { return a + b; }
static inline EARSHOT_NO_LOCKS earshot_double2 earshot_subtract2(earshot_double2 a, earshot_double2 b) { return a - b; }
static inline EARSHOT_NO_LOCKS earshot_double2 earshot_multiply2(earshot_double2 a, earshot_double2 b) { return a * b; }
typedef float earshot_float4 __attribute__((ext_vector_type(4)));
/// Two frames of two channels as floats: both of the first channel, then both of the second.
static inline EARSHOT_NO_LOCKS earshot_float4 earshot_narrow2(earshot_double2 a, earshot_double2 b) {
    typedef float float2 __attribute__((ext_vector_type(2)));
    return __builtin_shufflevector(
        __builtin_convertvector(a, float2), __builtin_convertvector(b, float2), 0, 2, 1, 3);
}
/// 2 to the power of each, with a relative error below 3e-7, for exponents from -126 to 126. It uses the power series of exp(f ln
/// 2) for the fraction f, at most 1/2 in magnitude; 2^0 is exactly 1.
static inline EARSHOT_NO_LOCKS earshot_float4 earshot_exp2_4(earshot_float4 x) {
    typedef int32_t int4 __attribute__((ext_vector_type(4)));
    x = __builtin_elementwise_min(__builtin_elementwise_max(x, (earshot_float4)(-126.0f)), (earshot_float4)(126.0f));
    int4 whole = __builtin_convertvector(x + 1024.5f, int4) - 1024;
    earshot_float4 f = x - __builtin_convertvector(whole, earshot_float4);
    earshot_float4 high = 0.009618129f + f * (0.0013333558f + f * 0.0001540353f);
    earshot_float4 series = 1.0f + f * (0.6931472f + f * (0.2402265f + f * (0.05550411f + f * high)));
    return series * (earshot_float4)((whole + 127) << 23);
}
/// Four adjacent integers at any alignment.
static inline EARSHOT_NO_LOCKS earshot_float4 earshot_int16_to_float4(const void *_Nonnull p) {
    typedef int16_t int4 __attribute__((ext_vector_type(4)));
    int4 v;
    memcpy(&v, p, sizeof v);
    return __builtin_convertvector(v, earshot_float4);
}
static inline EARSHOT_NO_LOCKS earshot_float4 earshot_int32_to_float4(const void *_Nonnull p) {
    typedef int32_t int4 __attribute__((ext_vector_type(4)));
    int4 v;
    memcpy(&v, p, sizeof v);
    return __builtin_convertvector(v, earshot_float4);
}
/// Converts eight adjacent samples, times 32,768, to eight integers at any alignment: rounded and limited, NaN to 0.
static inline EARSHOT_NO_LOCKS void earshot_float8_to_int16(earshot_float4 a, earshot_float4 b, void *_Nonnull p) {
    typedef int32_t int4 __attribute__((ext_vector_type(4)));
    typedef int32_t int8 __attribute__((ext_vector_type(8)));
    typedef int16_t short8 __attribute__((ext_vector_type(8)));
    a = (earshot_float4)((int4)a & (a == a)) + 12582912.0f;
    b = (earshot_float4)((int4)b & (b == b)) + 12582912.0f;
    // The bits of positive numbers are in order, so numbers beyond 2^22 are beyond the limits.
    int4 x = ((int4)a & (a > 0.0f)) - 0x4B400000, y = ((int4)b & (b > 0.0f)) - 0x4B400000;
    x = __builtin_elementwise_min(__builtin_elementwise_max(x, (int4)(-32768)), (int4)32767);
    y = __builtin_elementwise_min(__builtin_elementwise_max(y, (int4)(-32768)), (int4)32767);
    short8 words = __builtin_convertvector(__builtin_shufflevector(x, y, 0, 1, 2, 3, 4, 5, 6, 7), short8);
    memcpy(p, &words, sizeof words);
}

typedef float earshot_float2 __attribute__((ext_vector_type(2)));
typedef float earshot_float8 __attribute__((ext_vector_type(8), aligned(4)));
typedef float earshot_float16 __attribute__((ext_vector_type(16), aligned(4)));
/// Adds up sixteen partial sums of each of two products, in two halves each, and optionally eight more factors.
static inline __attribute__((always_inline)) earshot_float2 earshot_dots_end(
    const float *_Nonnull a, const float *_Nonnull b, const float *_Nonnull c, long count,
    const earshot_float8 *_Nonnull sums) {
#pragma STDC FP_CONTRACT OFF
    earshot_float8 b0 = sums[0], c0 = sums[2];
    if (count > 0) {
        earshot_float8 x = *(const earshot_float8 *)a;
        b0 += x * *(const earshot_float8 *)b;
        c0 += x * *(const earshot_float8 *)c;
    }
    b0 += sums[1];
    c0 += sums[3];
    earshot_float4 v = b0.lo + b0.hi, w = c0.lo + c0.hi;
    return (earshot_float2){(v.x + v.y) + (v.z + v.w), (w.x + w.y) + (w.z + w.w)};
}
/// Computes the sums of a[k] * b[k] and of a[k] * c[k] for k below `count`, a multiple of 8, at any alignment. Each has sixteen
/// partial sums, which are added in one order. So the bits do not depend on the processor's vectors, and no multiplication is
/// fused with an addition.
static inline __attribute__((always_inline)) earshot_float2 earshot_dots_in_order(
    const float *_Nonnull a, const float *_Nonnull b, const float *_Nonnull c, long count) {
#pragma STDC FP_CONTRACT OFF
    earshot_float8 b0 = (earshot_float8)(0.0f), b1 = b0, c0 = b0, c1 = b0;
    long k = 0;
    for (; k + 16 <= count; k += 16) {
        earshot_float8 x = *(const earshot_float8 *)(a + k), y = *(const earshot_float8 *)(a + k + 8);
        b0 += x * *(const earshot_float8 *)(b + k);
        b1 += y * *(const earshot_float8 *)(b + k + 8);
        c0 += x * *(const earshot_float8 *)(c + k);
        c1 += y * *(const earshot_float8 *)(c + k + 8);
    }
    earshot_float8 sums[4] = {b0, b1, c0, c1};
    return earshot_dots_end(a + k, b + k, c + k, count - k, sums);
}
static inline EARSHOT_NO_LOCKS earshot_float2 earshot_dots(
    const float *_Nonnull a, const float *_Nonnull b, const float *_Nonnull c, long count) {
    return earshot_dots_in_order(a, b, c, count);
}
static inline EARSHOT_NO_LOCKS float earshot_dot(const float *_Nonnull a, const float *_Nonnull b, long count) {
    return earshot_dots_in_order(a, b, b, count).x;
}
#if defined(__x86_64__)
#define EARSHOT_AVX __attribute__((target("avx")))
#define EARSHOT_AVX512 __attribute__((target("avx512f")))
/// The number of floats in the longest vectors that the functions below may use here: 4, 8 (_8) or 16 (_8 and _16). Not for the
/// render thread.
static inline int earshot_vector_width(void) {
    return __builtin_cpu_supports("avx512f") ? 16 : __builtin_cpu_supports("avx") ? 8 : 4;
}
#else
#define EARSHOT_AVX
#define EARSHOT_AVX512
static inline int earshot_vector_width(void) { return 4; }
#endif
/// With vectors of eight: half as many instructions.
static inline EARSHOT_NO_LOCKS EARSHOT_AVX earshot_float2 earshot_dots_8(
    const float *_Nonnull a, const float *_Nonnull b, const float *_Nonnull c, long count) {
    return earshot_dots_in_order(a, b, c, count);
}
static inline EARSHOT_NO_LOCKS EARSHOT_AVX float earshot_dot_8(const float *_Nonnull a, const float *_Nonnull b, long count) {
    return earshot_dots_in_order(a, b, b, count).x;
}
/// With vectors of sixteen: the same sixteen partial sums in one vector.
static inline EARSHOT_NO_LOCKS EARSHOT_AVX512 earshot_float2 earshot_dots_16(
    const float *_Nonnull a, const float *_Nonnull b, const float *_Nonnull c, long count) {
#pragma STDC FP_CONTRACT OFF
    earshot_float16 bs = (earshot_float16)(0.0f), cs = bs;
    long k = 0;
    for (; k + 16 <= count; k += 16) {
        earshot_float16 x = *(const earshot_float16 *)(a + k);
        bs += x * *(const earshot_float16 *)(b + k);
        cs += x * *(const earshot_float16 *)(c + k);
    }
    earshot_float8 sums[4] = {bs.lo, bs.hi, cs.lo, cs.hi};
    return earshot_dots_end(a + k, b + k, c + k, count - k, sums);
}
/// With the longest vectors of at most this width.
static inline EARSHOT_NO_LOCKS earshot_float2 earshot_dots_by(
    int width, const float *_Nonnull a, const float *_Nonnull b, const float *_Nonnull c, long count) {
    return width >= 16 ? earshot_dots_16(a, b, c, count) : width >= 8 ? earshot_dots_8(a, b, c, count) : earshot_dots(a, b, c, count);
}
static inline EARSHOT_NO_LOCKS float earshot_dot_by(int width, const float *_Nonnull a, const float *_Nonnull b, long count) {
    return width >= 8 ? earshot_dot_8(a, b, count) : earshot_dot(a, b, count);
}

typedef earshot_float2 (*earshot_dots_function)(
    const float *_Nonnull, const float *_Nonnull, const float *_Nonnull, long);
static inline __attribute__((always_inline)) void earshot_interpolate_with(
    earshot_dots_function _Nonnull dots, const float *_Nonnull input, const float *_Nonnull rows, long taps, int64_t position,
    int64_t stride, float *_Nonnull output, long count) {
#pragma STDC FP_CONTRACT OFF
    for (long i = 0; i < count; i++, position += stride) {
        const float *row = rows + ((position >> 32) & 255) * taps;
        earshot_float2 sums = dots(input + (position >> 40), row, row + taps, taps);
        output[i] = sums.x + (sums.y - sums.x) * ((float)(uint32_t)position * 0x1p-32f);
    }
}
/// Computes a block of a resampler's output. A position is counted in 2^-40 of an input frame and advances by `stride`. For each
/// position the products of `taps` input frames (a multiple of 8) with the two adjacent rows of 257, which are 2^-8 of a frame
/// apart, are interpolated. The bits do not depend on the processor's vectors.
static inline EARSHOT_NO_LOCKS void earshot_interpolate(
    const float *_Nonnull input, const float *_Nonnull rows, long taps, int64_t position, int64_t stride,
    float *_Nonnull output, long count) {
    earshot_interpolate_with(earshot_dots_in_order, input, rows, taps, position, stride, output, count);
}
static inline EARSHOT_NO_LOCKS EARSHOT_AVX void earshot_interpolate_8(
    const float *_Nonnull input, const float *_Nonnull rows, long taps, int64_t position, int64_t stride,
    float *_Nonnull output, long count) {
    earshot_interpolate_with(earshot_dots_in_order, input, rows, taps, position, stride, output, count);
}
static inline EARSHOT_NO_LOCKS EARSHOT_AVX512 void earshot_interpolate_16(
    const float *_Nonnull input, const float *_Nonnull rows, long taps, int64_t position, int64_t stride,
    float *_Nonnull output, long count) {
    earshot_interpolate_with(earshot_dots_16, input, rows, taps, position, stride, output, count);
}
/// With the longest vectors of at most this width.
static inline EARSHOT_NO_LOCKS void earshot_interpolate_by(
    int width, const float *_Nonnull input, const float *_Nonnull rows, long taps, int64_t position, int64_t stride,
    float *_Nonnull output, long count) {
    width >= 16 ? earshot_interpolate_16(input, rows, taps, position, stride, output, count)
    : width >= 8 ? earshot_interpolate_8(input, rows, taps, position, stride, output, count)
                 : earshot_interpolate(input, rows, taps, position, stride, output, count);
}

/// Performs one step of a lattice filter in place: each pair (a, b) becomes (a - k * b, b - k * a), and every a then moves down
/// by one, next to its b of the next step. `count` is a multiple of 16; one more pair after these is read and unchanged. Returns
/// the sum of the products of the new pairs, of sixteen partial sums that are added in one order. So the bits do not depend on
/// the processor's vectors, and no multiplication is fused with an addition.
static inline __attribute__((always_inline)) float earshot_lattice_in_order(
    float *_Nonnull a, float *_Nonnull b, long count, float k) {
#pragma STDC FP_CONTRACT OFF
    earshot_float16 sum = (earshot_float16)(0.0f);
    for (long i = 0; i < count; i += 16) {
        // Read the moved values in their new places, which costs less than shifting vectors.
        earshot_float16 moved = *(const earshot_float16 *)(a + i + 1) - k * *(const earshot_float16 *)(b + i + 1);
        earshot_float16 met = *(const earshot_float16 *)(b + i) - k * *(const earshot_float16 *)(a + i);
        *(earshot_float16 *)(a + i) = moved;
        *(earshot_float16 *)(b + i) = met;
        sum += moved * met;
    }
    earshot_float8 half = sum.lo + sum.hi;
    earshot_float4 v = half.lo + half.hi;
    return (v.x + v.y) + (v.z + v.w);
}
static inline EARSHOT_NO_LOCKS float earshot_lattice(float *_Nonnull a, float *_Nonnull b, long count, float k) {
    return earshot_lattice_in_order(a, b, count, k);
}
static inline EARSHOT_NO_LOCKS EARSHOT_AVX float earshot_lattice_8(float *_Nonnull a, float *_Nonnull b, long count, float k) {
    return earshot_lattice_in_order(a, b, count, k);
}
static inline EARSHOT_NO_LOCKS EARSHOT_AVX512 float earshot_lattice_16(float *_Nonnull a, float *_Nonnull b, long count, float k) {
    return earshot_lattice_in_order(a, b, count, k);
}
/// With the longest vectors of at most this width.
static inline EARSHOT_NO_LOCKS float earshot_lattice_by(int width, float *_Nonnull a, float *_Nonnull b, long count, float k) {
    return width >= 16 ? earshot_lattice_16(a, b, count, k)
         : width >= 8 ? earshot_lattice_8(a, b, count, k) : earshot_lattice(a, b, count, k);
}

/// Sets flush-to-zero and denormals-are-zero for the calling thread. Returns the previous setting.
static inline EARSHOT_NO_LOCKS uint64_t earshot_flush_denormals(void) {
#if defined(__x86_64__)
    uint64_t old = __builtin_ia32_stmxcsr();
    __builtin_ia32_ldmxcsr((unsigned)old | 0x8040u);
    return old;
#elif defined(__aarch64__)
    uint64_t old;
    __asm__ volatile("mrs %0, fpcr" : "=r"(old));
    __asm__ volatile("msr fpcr, %0" : : "r"(old | (1u << 24)));
    return old;
#else
    return 0;
#endif
}
static inline EARSHOT_NO_LOCKS void earshot_restore_denormals(uint64_t old) {
#if defined(__x86_64__)
    __builtin_ia32_ldmxcsr((unsigned)old);
#elif defined(__aarch64__)
    __asm__ volatile("msr fpcr, %0" : : "r"(old));
#else
    (void)old;
#endif
}

/// RealtimeSanitizer, where it is linked, checks the calling thread from enter to exit. Calls may be nested.
static inline EARSHOT_NO_LOCKS void earshot_realtime_enter(void) {
    if (__rtsan_realtime_enter) __rtsan_realtime_enter();
}
static inline EARSHOT_NO_LOCKS void earshot_realtime_exit(void) {
    if (__rtsan_realtime_exit) __rtsan_realtime_exit();
}

/// Calls a render function through its pointer, with RealtimeSanitizer where that is linked.
typedef void (*earshot_render_function)(void *context, const void *cycle);
static inline EARSHOT_NO_LOCKS void earshot_render(earshot_render_function f, void *context, const void *cycle) {
    earshot_realtime_enter();
    f(context, cycle);
    earshot_realtime_exit();
}

/// Calls a unit's functions through their pointers, which point to @_noLocks functions of a kernel.
static inline EARSHOT_NO_LOCKS void earshot_unit_set(void (*f)(void *_Nonnull, const float *_Nonnull, long), void *_Nonnull state,
                                                     const float *_Nonnull values, long frames) {
    f(state, values, frames);
}
static inline EARSHOT_NO_LOCKS void earshot_unit_process(void (*f)(void *_Nonnull, const void *_Nonnull), void *_Nonnull state,
                                                         const void *_Nonnull block) {
    f(state, block);
}
static inline EARSHOT_NO_LOCKS void earshot_unit_reset(void (*f)(void *_Nonnull), void *_Nonnull state) { f(state); }

/// Calls a decoder's functions through their pointers, which point to @_noLocks functions of a decoder.
static inline EARSHOT_NO_LOCKS long earshot_decoder_frames(long (*f)(void *_Nonnull, const void *_Nonnull), void *_Nonnull state,
                                                           const void *_Nonnull call) {
    return f(state, call);
}
static inline EARSHOT_NO_LOCKS _Bool earshot_decoder_asks(_Bool (*f)(void *_Nonnull, const void *_Nonnull), void *_Nonnull state,
                                                         const void *_Nonnull call) {
    return f(state, call);
}
static inline EARSHOT_NO_LOCKS void earshot_decoder_reset(void (*f)(void *_Nonnull), void *_Nonnull state) { f(state); }

/// Sleeps until an absolute CLOCK_MONOTONIC time. For device clocks, never for a render callback.
static inline void earshot_sleep_until_ns(int64_t at) {
    struct timespec t = {.tv_sec = at / 1000000000, .tv_nsec = at % 1000000000};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR) {}
}

/// Sets SCHED_FIFO for a thread. Returns 0 or an errno.
static inline int earshot_set_thread_fifo(pthread_t thread, int priority) {
    struct sched_param p = {.sched_priority = priority};
    return pthread_setschedparam(thread, SCHED_FIFO, &p);
}
/// Sets normal scheduling for a thread. Returns 0 or an errno.
static inline int earshot_set_thread_normal(pthread_t thread) {
    struct sched_param p = {.sched_priority = 0};
    return pthread_setschedparam(thread, SCHED_OTHER, &p);
}
/// Sets SCHED_FIFO for the calling thread. Returns 0 or an errno.
static inline int earshot_set_fifo(int priority) { return earshot_set_thread_fifo(pthread_self(), priority); }
static inline void earshot_name_thread(const char *name) { prctl(PR_SET_NAME, name, 0, 0, 0); }

typedef void *(*earshot_thread_function)(void *);
/// Starts a thread with a stack of 512 KiB. Returns 0 or an errno.
static inline int earshot_start_thread(pthread_t *thread, earshot_thread_function f, void *context) {
    pthread_attr_t a;
    pthread_attr_init(&a);
    pthread_attr_setstacksize(&a, 512 * 1024);
    int e = pthread_create(thread, &a, f, context);
    pthread_attr_destroy(&a);
    return e;
}
