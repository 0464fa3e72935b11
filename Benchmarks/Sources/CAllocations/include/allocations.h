// SPDX-License-Identifier: Apache-2.0
// Counts what is allocated on a thread: malloc and its like, whoever calls them, go through here.
#pragma once

/// Allocations of the calling thread since it began.
long allocation_count(void);
