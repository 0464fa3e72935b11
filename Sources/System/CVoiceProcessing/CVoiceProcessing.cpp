// SPDX-License-Identifier: Apache-2.0
#include "CVoiceProcessing.h"

#include "EchoPath.hpp"
#include "Library.hpp"

#include <algorithm>
#include <memory>

struct earshot_voice {
    Library library;
    std::unique_ptr<EchoPath> path;
    int sample_rate;
    bool cancels_echo;
    bool changes;
};

namespace {

constexpr int kException = -100;

}  // namespace

extern "C" earshot_voice *earshot_voice_create(const earshot_voice_options *options, int *error) {
    *error = 0;
    try {
        const bool cancels_echo = options->echo_suppression >= 0;
        std::unique_ptr<earshot_voice> voice(
            new earshot_voice{Library(*options), nullptr, options->sample_rate, cancels_echo, earshot_voice_changes(options) != 0});
        if (cancels_echo && options->path_frames > 0)
            voice->path.reset(new EchoPath(options->sample_rate / 100, options->path_frames, Library::echo_left));
        *error = voice->library.configure(*options);
        return *error == 0 ? voice.release() : nullptr;
    } catch (...) {
        *error = kException;
        return nullptr;
    }
}

extern "C" void earshot_voice_destroy(earshot_voice *voice) {
    try {
        delete voice;
    } catch (...) {
    }
}

extern "C" int earshot_voice_process(earshot_voice *voice, const float *microphone, const float *reference,
                                     float *cleaned, int delay) {
    try {
        if (voice->cancels_echo) {
            if (const int e = voice->library.take_reference(reference, delay)) return e;
        }
        const float *near = microphone;
        if (voice->path) {
            voice->path->process(microphone, reference, cleaned);
            near = cleaned;
        }
        if (voice->changes) return voice->library.process(near, cleaned);
        // 1.x converts 8 kHz even if the library only detects voice.
        float unused[480];
        const int e = voice->library.process(near, unused);
        std::copy(near, near + voice->sample_rate / 100, cleaned);
        return e;
    } catch (...) {
        return kException;
    }
}

extern "C" void earshot_voice_get_statistics(earshot_voice *voice, earshot_voice_statistics *statistics) {
    *statistics = {-100, -1, -1, 0};
    try {
        voice->library.get_statistics(*statistics);
        const int peak = voice->path ? voice->path->peak() : -1;
        if (peak >= 0) statistics->path_delay = peak * 1000 / voice->sample_rate;
    } catch (...) {
    }
}
