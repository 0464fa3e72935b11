// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "allocations.h"
#include <errno.h>
#include <stddef.h>

// The C library's own functions, under the names that it provides for replacements.
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static __thread long count __attribute__((tls_model("initial-exec")));

long allocation_count(void) { return count; }

void *malloc(size_t size) {
    count++;
    return __libc_malloc(size);
}
void *calloc(size_t items, size_t size) {
    count++;
    return __libc_calloc(items, size);
}
void *realloc(void *old, size_t size) {
    count++;
    return __libc_realloc(old, size);
}
void *memalign(size_t alignment, size_t size) {
    count++;
    return __libc_memalign(alignment, size);
}
void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }
int posix_memalign(void **to, size_t alignment, size_t size) {
    *to = memalign(alignment, size);
    return *to ? 0 : ENOMEM;
}
