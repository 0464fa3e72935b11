// SPDX-License-Identifier: Apache-2.0
// The clock of OpenSSL in the process of the tests.
//
// OpenSSL 3.2 and later time a DTLS handshake with gettimeofday. The program's own definition precedes glibc's, so libssl calls
// the one below. Its clock is stopped, and a timer expires only while DTLS_CTRL_HANDLE_TIMEOUT asks for it, which the product
// sends when its own timer expires. All other callers, and an older OpenSSL, read the machine's clock.
#define _GNU_SOURCE
#include "OpenSSLClock.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

// DTLS_CTRL_HANDLE_TIMEOUT of <openssl/ssl.h>, which layers without OpenSSL do not need.
static const int handle_timeout = 74;
// Longer than any interval of a timer, in seconds.
static const time_t far_ahead = 1000000;

static _Thread_local int uses_machine_clock;
/// At the next reading of the clock every timer has expired. The reading after it starts the next interval.
static _Thread_local int is_timer_up;

static struct timeval machine_time(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (struct timeval){now.tv_sec, now.tv_nsec / 1000};
}

// MARK: The memory of libssl

static uintptr_t libssl_begin, libssl_end;
static struct timeval still_time;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static int note_libssl(struct dl_phdr_info *library, size_t size, void *unused) {
    (void)size, (void)unused;
    const char *slash = strrchr(library->dlpi_name, '/');
    if (strncmp(slash ? slash + 1 : library->dlpi_name, "libssl.so", 9) != 0) return 0;
    libssl_begin = UINTPTR_MAX;
    for (int i = 0; i < library->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &library->dlpi_phdr[i];
        if (segment->p_type != PT_LOAD) continue;
        const uintptr_t begin = library->dlpi_addr + segment->p_vaddr;
        if (begin < libssl_begin) libssl_begin = begin;
        if (begin + segment->p_memsz > libssl_end) libssl_end = begin + segment->p_memsz;
    }
    return 1;
}

/// The range stays empty for OpenSSL up to 3.1, which shows the product its timer: tests of that must not depend on this clock.
static void find_libssl(void) {
    still_time = machine_time();
    unsigned long (*version)(void) = (unsigned long (*)(void))dlsym(RTLD_DEFAULT, "OpenSSL_version_num");
    if (version && version() >= 0x30200000UL) dl_iterate_phdr(note_libssl, NULL);
}

// MARK: The functions that replace the libraries'

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
    (void)zone;
    const uintptr_t caller = (uintptr_t)__builtin_return_address(0);
    pthread_once(&once, find_libssl);
    if (uses_machine_clock || caller < libssl_begin || caller >= libssl_end) {
        *time = machine_time();
        return 0;
    }
    *time = still_time;
    if (is_timer_up) time->tv_sec += far_ahead;
    is_timer_up = 0;
    return 0;
}

long SSL_ctrl(void *ssl, int command, long number, void *argument) {
    long (*next)(void *, int, long, void *) = (long (*)(void *, int, long, void *))dlsym(RTLD_NEXT, "SSL_ctrl");
    if (!next) abort();
    if (command != handle_timeout) return next(ssl, command, number, argument);
    is_timer_up = 1;
    const long result = next(ssl, command, number, argument);
    is_timer_up = 0;
    return result;
}

void earshot_openssl_uses_machine_clock(int does) { uses_machine_clock = does; }
