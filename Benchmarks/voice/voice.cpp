// SPDX-License-Identifier: Apache-2.0
// Runs the shim of webrtc-audio-processing over mono files of 32-bit floats. scripts/bench voice compiles both together.
#include "CVoiceProcessing.h"
#include "EchoPath.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

static std::vector<float> read(const char *path) {
    std::vector<float> samples;
    float block[480];
    FILE *file = std::fopen(path, "rb");
    if (!file) std::perror(path), std::exit(1);
    for (size_t got; (got = std::fread(block, sizeof *block, 480, file)) > 0;) samples.insert(samples.end(), block, block + got);
    std::fclose(file);
    return samples;
}

int main(int count, char **arguments) {
    if (count != 9) {
        std::fprintf(stderr, "usage: voice RATE ECHO NOISE PATH_FRAMES shim|whole MICROPHONE REFERENCE OUTPUT\n");
        return 64;
    }
    earshot_voice_options options = {};
    options.sample_rate = std::atoi(arguments[1]);
    options.echo_suppression = std::atoi(arguments[2]);
    options.noise_suppression = std::atoi(arguments[3]);
    options.gain_control = -1;
    options.high_pass = options.noise_suppression >= 0;
    const int frames = std::atoi(arguments[4]);
    // "whole" subtracts all of the estimated echo before the shim, instead of the part that the shim would.
    const bool is_whole = std::strcmp(arguments[5], "whole") == 0;
    options.path_frames = is_whole ? 0 : frames;
    const auto microphone = read(arguments[6]), reference = read(arguments[7]);
    int error = 0;
    earshot_voice *voice = earshot_voice_create(&options, &error);
    if (!voice) return std::fprintf(stderr, "the library refused: %d\n", error), 1;
    const size_t frame = options.sample_rate / 100;
    EchoPath path(int(frame), frames > 0 ? frames : 1, 0);
    std::vector<float> cleaned(microphone.size());
    std::vector<double> times;
    for (size_t at = 0; at + frame <= std::min(microphone.size(), reference.size()); at += frame) {
        const auto began = std::chrono::steady_clock::now();
        if (is_whole) path.process(&microphone[at], &reference[at], &cleaned[at]);
        error = earshot_voice_process(voice, is_whole ? &cleaned[at] : &microphone[at], &reference[at], &cleaned[at], 0);
        times.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - began).count());
        if (error != 0) return std::fprintf(stderr, "the library failed: %d\n", error), 1;
    }
    FILE *output = std::fopen(arguments[8], "wb");
    if (!output || std::fwrite(cleaned.data(), sizeof(float), cleaned.size(), output) != cleaned.size() || std::fclose(output))
        return std::perror(arguments[8]), 1;
    earshot_voice_statistics known;
    earshot_voice_get_statistics(voice, &known);
    std::sort(times.begin(), times.end());
    std::printf("{\"package\": \"%s\", \"delayMs\": %.2f, \"medianUs\": %.1f, \"echoDelayMs\": %d, \"libraryDelayMs\": %d}\n",
                earshot_voice_package(), earshot_voice_delay(&options), times[times.size() / 2], known.path_delay,
                known.library_delay);
    earshot_voice_destroy(voice);
}
