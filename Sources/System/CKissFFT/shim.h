// SPDX-License-Identifier: Apache-2.0
// kissfft, float. Its pkg-config file has -D flags that SwiftPM refuses; the default scalar is float anyway.
#pragma once
#include <kissfft/kiss_fft.h>
#include <kissfft/kiss_fftr.h>
