// SPDX-License-Identifier: Apache-2.0
// A musician for tests, as the sound card of a JACK server: hears what is played to it, begins its track with the first sound, and
// plays on until it is ended. A program that uses the client NAME as its loudspeaker and microphone records it in time with the
// song that it plays. Clients of two servers must have different names, since their sockets share a folder.
//
//   JACKPerformer NAME TRACK RESULT        on the server JACK_DEFAULT_SERVER
//   JACKPerformer NAME TRACK RESULT talk   begins at once, and repeats the track
//
// TRACK has 32-bit floats. RESULT gets two for each frame of the server's clock from the start on: heard, and played then. Between a
// client's output and its input, JACK delays a loop by one block; the rest of the latencies that the ports declare is waited here.
#include <jack/jack.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

enum { ear_latency = 300, mouth_latency = 421, seconds = 60 };  // the latencies in frames

static jack_client_t *client;
static jack_port_t *ear, *mouth;
static float *track, *result;
static long track_frames, capacity, start, begin = -1, end;
static int talks;

static void declare(jack_latency_callback_mode_t mode, void *unused) {
    (void)unused;
    const jack_nframes_t frames = mode == JackCaptureLatency ? mouth_latency : ear_latency;
    jack_latency_range_t range = {frames, frames};
    jack_port_set_latency_range(mode == JackCaptureLatency ? mouth : ear, mode, &range);
}

static int process(jack_nframes_t frames, void *unused) {
    (void)unused;
    const float *heard = jack_port_get_buffer(ear, frames);
    float *played = jack_port_get_buffer(mouth, frames);
    const long now = (jack_nframes_t)(jack_last_frame_time(client) - (jack_nframes_t)start);
    for (long i = 0; i < (long)frames; i++) {
        const long frame = now + i;
        if (begin < 0 && fabsf(heard[i]) > 1e-5f) begin = frame + ear_latency + mouth_latency - (long)frames;
        const long place = frame - begin;
        const int plays = begin >= 0 && place >= 0 && (talks || place < track_frames);
        played[i] = plays ? track[place % track_frames] : 0;
        if (frame >= capacity) continue;
        result[2 * frame] = heard[i];
        result[2 * frame + 1] = played[i];
        end = frame + 1;
    }
    return 0;
}

static jack_port_t *port(const char *name, unsigned long flags) {
    return jack_port_register(client, name, JACK_DEFAULT_AUDIO_TYPE, flags | JackPortIsTerminal, 0);
}

static int failed(const char *words) {
    fprintf(stderr, "JACKPerformer: %s\n", words);
    return 1;
}

int main(int count, char **arguments) {
    sigset_t ending;
    sigemptyset(&ending);
    sigaddset(&ending, SIGTERM);
    sigprocmask(SIG_BLOCK, &ending, NULL);  // before libjack's threads begin
    talks = count == 5;
    if (talks) begin = 0;
    if (count != 4 && !talks) return failed("usage: JACKPerformer NAME TRACK RESULT [talk]");
    FILE *file = fopen(arguments[2], "rb");
    if (!file || fseek(file, 0, SEEK_END)) return failed("cannot read the track");
    track_frames = ftell(file) / (long)sizeof *track;
    rewind(file);
    track = calloc(track_frames + 1, sizeof *track);
    if (!track || fread(track, sizeof *track, track_frames, file) != (size_t)track_frames) return failed("no track");
    fclose(file);
    client = jack_client_open(arguments[1], JackNoStartServer, NULL);
    if (!client) return failed("no server");
    capacity = (long)seconds * jack_get_sample_rate(client);
    result = calloc(2 * capacity, sizeof *result);
    ear = port("ear", JackPortIsInput);
    mouth = port("mouth", JackPortIsOutput);
    if (!result || !ear || !mouth) return failed("no ports");
    start = (jack_nframes_t)jack_frame_time(client);
    jack_set_process_callback(client, process, NULL);
    jack_set_latency_callback(client, declare, NULL);
    if (jack_activate(client)) return failed("cannot run");
    jack_recompute_total_latencies(client);
    puts("ready");
    fflush(stdout);
    int number;
    sigwait(&ending, &number);
    jack_client_close(client);
    file = fopen(arguments[3], "wb");
    if (!file || fwrite(result, 2 * sizeof *result, end, file) != (size_t)end || fclose(file)) return failed("no result");
    return 0;
}
