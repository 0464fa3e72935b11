// SPDX-License-Identifier: Apache-2.0
// libjack. Its variadic open needs a shim; its per-cycle calls are declared again with @_noLocks.
#pragma once
#include <jack/jack.h>
#include <jack/statistics.h>
#include <jack/thread.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#define EARSHOT_NO_LOCKS __attribute__((swift_attr("@_noLocks")))

static inline jack_client_t *earshot_jack_open(const char *name, const char *server, jack_status_t *status) {
    return server ? jack_client_open(name, JackNoStartServer | JackServerName, status, server)
                  : jack_client_open(name, JackNoStartServer, status);
}
static inline EARSHOT_NO_LOCKS void *earshot_jack_buffer(jack_port_t *port, jack_nframes_t frames) {
    return jack_port_get_buffer(port, frames);
}
static inline EARSHOT_NO_LOCKS int earshot_jack_cycle_times(
    const jack_client_t *client, jack_nframes_t *frames, jack_time_t *now, jack_time_t *next, float *period) {
    return jack_get_cycle_times(client, frames, now, next, period);
}
// Reading latencies only reads memory shared with the server.
static inline unsigned earshot_jack_latency(jack_port_t *port, jack_latency_callback_mode_t mode) {
    jack_latency_range_t range = {0, 0};
    jack_port_get_latency_range(port, mode, &range);
    return range.max;
}
static inline void earshot_jack_ignore(const char *message) { (void)message; }
/// Stops libjack from writing to standard error; this process reports errors in its own words.
static inline void earshot_jack_quiet(void) {
    jack_set_error_function(earshot_jack_ignore);
    jack_set_info_function(earshot_jack_ignore);
}
/// Blocks SIGPIPE permanently on the calling thread and on threads that it starts.
static inline void earshot_jack_block_sigpipe(void) {
    sigset_t pipe;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe, NULL);
}
/// True if the client's server still answers; one exchange over its socket.
static inline int earshot_jack_answers(jack_client_t *client) {
    char *uuid = jack_get_uuid_for_client_name(client, jack_get_client_name(client));
    jack_free(uuid);
    return uuid != NULL;
}
