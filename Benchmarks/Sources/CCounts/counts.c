// SPDX-License-Identifier: Apache-2.0
#include "counts.h"

// The assembler statements prevent the optimiser from removing the calls and from merging the two functions.
__attribute__((noinline)) void counts_begin(void) { __asm__ volatile("# begin" ::: "memory"); }
__attribute__((noinline)) void counts_end(void) { __asm__ volatile("# end" ::: "memory"); }
