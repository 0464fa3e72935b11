// SPDX-License-Identifier: Apache-2.0
// The ring that comes with JACK, to compare with.
#pragma once
#include <jack/ringbuffer.h>
