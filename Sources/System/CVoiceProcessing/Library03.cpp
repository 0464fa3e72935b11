// SPDX-License-Identifier: Apache-2.0
#include "Library.hpp"

#if EARSHOT_VOICE_GENERATION == 0
#include <webrtc/modules/audio_processing/include/audio_processing.h>

using webrtc::AudioProcessing;

const float Library::echo_left = 0;

struct Library::Parts {
    std::unique_ptr<AudioProcessing> processing;
    webrtc::StreamConfig stream;
    bool cancels_echo;
};

#include "LibraryCalls.hpp"

Library::Library(const earshot_voice_options &options) {
    webrtc::Config config;
    config.Set<webrtc::ExtendedFilter>(new webrtc::ExtendedFilter(true));  // 128 ms of echo path, not 48
    config.Set<webrtc::DelayAgnostic>(new webrtc::DelayAgnostic(true));
    config.Set<webrtc::ExperimentalAgc>(new webrtc::ExperimentalAgc(false));
    parts_.reset(new Parts{
        std::unique_ptr<AudioProcessing>(AudioProcessing::Create(config)), webrtc::StreamConfig(options.sample_rate, 1),
        options.echo_suppression >= 0});
}

int Library::configure(const earshot_voice_options &o) {
    if (!parts_->processing) return AudioProcessing::kCreationFailedError;
    auto &p = *parts_->processing;
    webrtc::ProcessingConfig format;
    for (auto &stream : format.streams) stream = parts_->stream;
    int e = p.Initialize(format);
    auto check = [&e](int code) {
        if (e == 0) e = code;
    };
    if (o.echo_suppression >= 0) {
        auto *echo = p.echo_cancellation();
        check(echo->enable_drift_compensation(false));
        check(echo->set_suppression_level(static_cast<webrtc::EchoCancellation::SuppressionLevel>(o.echo_suppression)));
        check(echo->enable_metrics(true));
        check(echo->enable_delay_logging(true));
        check(echo->Enable(true));
    }
    if (o.noise_suppression >= 0) {
        auto *noise = p.noise_suppression();
        check(noise->set_level(static_cast<webrtc::NoiseSuppression::Level>(o.noise_suppression)));
        check(noise->Enable(true));
    }
    if (o.gain_control >= 0) {
        auto *gain = p.gain_control();
        check(gain->set_mode(static_cast<webrtc::GainControl::Mode>(o.gain_control)));
        check(gain->set_target_level_dbfs(o.target_level));
        check(gain->set_compression_gain_db(o.compression_gain));
        check(gain->enable_limiter(true));
        check(gain->Enable(true));
    }
    check(p.high_pass_filter()->Enable(o.high_pass != 0));
    check(p.voice_detection()->Enable(true));
    return e;
}

int Library::take_reference(const float *reference, int delay) {
    // If the output is configured like the input, the library only analyses; its output is ignored.
    float unused[480];
    float *written[1] = {unused};
    const float *far[1] = {reference};
    const int e = parts_->processing->ProcessReverseStream(far, parts_->stream, parts_->stream, written);
    return e != 0 ? e : tell_delay(delay);
}

void Library::get_statistics(earshot_voice_statistics &statistics) {
    auto &p = *parts_->processing;
    if (parts_->cancels_echo) {
        auto *echo = p.echo_cancellation();
        webrtc::EchoCancellation::Metrics m;
        if (echo->GetMetrics(&m) == 0) statistics.echo_return_loss = m.echo_return_loss.average;
        int median = -1, deviation = -1;
        float poor = -1;
        if (echo->GetDelayMetrics(&median, &deviation, &poor) == 0) statistics.library_delay = median;
    }
    statistics.has_voice = p.voice_detection()->stream_has_voice();
}

extern "C" const char *earshot_voice_package(void) { return "libwebrtc-audio-processing1"; }

// The echo suppressor delays by 7 or 14 ms, the noise suppressor by 6, the splitting into bands by 1.
extern "C" double earshot_voice_delay(const earshot_voice_options *o) {
    if (!earshot_voice_changes(o)) return 0;
    const double echo = o->echo_suppression < 0 ? 0 : o->sample_rate == 8000 ? 14 : 7;
    const double bands = o->sample_rate == 48000 ? 0.98 : o->sample_rate == 32000 ? 0.12 : 0;
    return echo + (o->noise_suppression >= 0 ? 6 : 0) + bands;
}
#endif
