// SPDX-License-Identifier: Apache-2.0
// JACK's own ring, for comparison.
#pragma once
#include <jack/ringbuffer.h>
