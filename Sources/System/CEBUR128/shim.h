// SPDX-License-Identifier: Apache-2.0
// libebur128, the reference of our loudness meter in tests and benchmarks. No product uses it.
#pragma once
#include <ebur128.h>
