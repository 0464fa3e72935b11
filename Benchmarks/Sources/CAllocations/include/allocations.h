// SPDX-License-Identifier: Apache-2.0
// Counts allocations per thread: all calls of malloc and similar functions pass through here.
#pragma once

/// Allocations of the calling thread so far.
long allocation_count(void);
