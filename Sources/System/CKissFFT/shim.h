// SPDX-License-Identifier: Apache-2.0
// kissfft, float. Its pkg-config file has -D flags that SwiftPM refuses; the default scalar is float anyway.
#pragma once
#include <kissfft/kiss_fft.h>
#include <kissfft/kiss_fftr.h>

// A transform of a size whose factors are 2, 3 and 5, to other memory than the samples', allocates nothing.
static inline __attribute__((swift_attr("@_noLocks"))) void earshot_fft_forward(
    kiss_fftr_cfg plan, const kiss_fft_scalar *samples, kiss_fft_cpx *bins) {
    kiss_fftr(plan, samples, bins);
}
