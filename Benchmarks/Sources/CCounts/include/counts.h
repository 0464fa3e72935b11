// SPDX-License-Identifier: Apache-2.0
// Marks the beginning and the end of counting: callgrind resets its counts on entry to the first function and writes them on
// entry to the second.
#pragma once

void counts_begin(void);
void counts_end(void);
