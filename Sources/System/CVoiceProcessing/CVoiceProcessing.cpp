#include "CVoiceProcessing.h"

#include "EchoPath.hpp"

#include <memory>
#include <new>

#if !__has_include(<webrtc/modules/audio_processing/include/audio_processing.h>)
#error "webrtc-audio-processing 0.3 is missing: apt-get install libwebrtc-audio-processing-dev"
#endif
#include <webrtc/modules/audio_processing/include/audio_processing.h>

using webrtc::AudioProcessing;

struct earshot_voice {
    std::unique_ptr<AudioProcessing> processing;
    std::unique_ptr<EchoPath> path;
    webrtc::StreamConfig stream;
    bool cancels_echo;
    bool suppresses_noise;
};

namespace {

constexpr int kException = -100;

int configure(AudioProcessing &p, const earshot_voice_options &o) {
    int e = 0;
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

}  // namespace

extern "C" earshot_voice *earshot_voice_create(const earshot_voice_options *options, int *error) {
    *error = 0;
    try {
        webrtc::Config config;
        config.Set<webrtc::ExtendedFilter>(new webrtc::ExtendedFilter(options->extended_filter != 0));
        config.Set<webrtc::DelayAgnostic>(new webrtc::DelayAgnostic(options->delay_agnostic != 0));
        config.Set<webrtc::ExperimentalAgc>(new webrtc::ExperimentalAgc(false));
        std::unique_ptr<earshot_voice> voice(new earshot_voice{
            std::unique_ptr<AudioProcessing>(AudioProcessing::Create(config)), nullptr,
            webrtc::StreamConfig(options->sample_rate, 1), options->echo_suppression >= 0, options->noise_suppression >= 0});
        if (!voice->processing) {
            *error = AudioProcessing::kCreationFailedError;
            return nullptr;
        }
        if (options->echo_suppression >= 0 && options->path_frames > 0)
            voice->path.reset(new EchoPath(options->sample_rate / 100, options->path_frames));
        webrtc::ProcessingConfig format;
        for (auto &stream : format.streams) stream = voice->stream;
        *error = voice->processing->Initialize(format);
        if (*error == 0) *error = configure(*voice->processing, *options);
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
        auto &p = *voice->processing;
        if (voice->cancels_echo) {
            // With the output configured as the input the library only analyses; what it writes goes nowhere.
            float unused[480];
            float *written[1] = {unused};
            const float *far[1] = {reference};
            int e = p.ProcessReverseStream(far, voice->stream, voice->stream, written);
            if (e != 0) return e;
            e = p.set_stream_delay_ms(delay);
            if (e != 0 && e != AudioProcessing::kBadStreamParameterWarning) return e;
        }
        const float *near[1] = {microphone};
        if (voice->path) {
            voice->path->process(microphone, reference, cleaned);
            near[0] = cleaned;
        }
        float *out[1] = {cleaned};
        int e = p.ProcessStream(near, voice->stream, voice->stream, out);
        return e == AudioProcessing::kBadStreamParameterWarning ? 0 : e;
    } catch (...) {
        return kException;
    }
}

extern "C" void earshot_voice_get_statistics(earshot_voice *voice, earshot_voice_statistics *statistics) {
    *statistics = {-100, -100, -100, -1, -1, -1, -1, -1, 0, 0};
    try {
        auto &p = *voice->processing;
        if (voice->cancels_echo) {
            auto *echo = p.echo_cancellation();
            webrtc::EchoCancellation::Metrics m;
            if (echo->GetMetrics(&m) == 0) {
                statistics->echo_return_loss = m.echo_return_loss.average;
                statistics->echo_return_loss_enhancement = m.echo_return_loss_enhancement.average;
                statistics->linear_enhancement = m.a_nlp.average;
            }
            int median = -1, deviation = -1;
            float poor = -1;
            if (echo->GetDelayMetrics(&median, &deviation, &poor) == 0) {
                statistics->delay_median = median;
                statistics->delay_deviation = deviation;
                statistics->poor_delays = poor;
            }
            const int peak = voice->path ? voice->path->peak() : -1;
            if (peak >= 0) statistics->path_delay = peak * 1000 / voice->stream.sample_rate_hz();
            statistics->has_echo = echo->stream_has_echo();
        }
        if (voice->suppresses_noise) statistics->speech_probability = p.noise_suppression()->speech_probability();
        statistics->has_voice = p.voice_detection()->stream_has_voice();
    } catch (...) {
    }
}
