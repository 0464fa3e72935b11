// SPDX-License-Identifier: Apache-2.0
// libasound, and inotify for its device folder.
#pragma once
#include <alsa/asoundlib.h>
#include <sys/inotify.h>
#define EARSHOT_NO_LOCKS __attribute__((swift_attr("@_noLocks")))

static inline void earshot_alsa_ignore(const char *f, int line, const char *function, int error, const char *format, ...) {}
/// Stops libasound from writing to standard error; this process reports errors in its own words.
static inline void earshot_alsa_quiet(void) { snd_lib_error_set_handler(earshot_alsa_ignore); }

/// poll with a timeout in nanoseconds. For device threads, never for a render callback.
static inline int earshot_alsa_poll(struct pollfd *descriptors, unsigned count, int64_t nanoseconds) {
    struct timespec t = {.tv_sec = nanoseconds / 1000000000, .tv_nsec = nanoseconds % 1000000000};
    return ppoll(descriptors, count, &t, NULL);
}
