// SPDX-License-Identifier: Apache-2.0
// libebur128, against which tests and benchmarks hold our loudness meter; no product uses it.
#pragma once
#include <ebur128.h>
