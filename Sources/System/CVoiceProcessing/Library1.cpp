// SPDX-License-Identifier: Apache-2.0
#include "Library.hpp"

#if EARSHOT_VOICE_GENERATION == 1
#include <modules/audio_processing/include/audio_processing.h>

using webrtc::AudioProcessing;

// Without any residual echo, AEC3 passes the distortion of a loudspeaker: docs/figures/voice.md.
const float Library::echo_left = 0.2f;

struct Library::Parts {
    rtc::scoped_refptr<AudioProcessing> processing;
    webrtc::StreamConfig stream;
};

#include "LibraryCalls.hpp"

Library::Library(const earshot_voice_options &options)
    : parts_(new Parts{webrtc::AudioProcessingBuilder().Create(), webrtc::StreamConfig(options.sample_rate, 1)}) {}

int Library::configure(const earshot_voice_options &o) {
    if (!parts_->processing) return AudioProcessing::kCreationFailedError;
    using Config = AudioProcessing::Config;
    Config config;
    config.pipeline.maximum_internal_processing_rate = 48000;
    config.high_pass_filter.enabled = o.high_pass != 0;
    config.echo_canceller.enabled = o.echo_suppression >= 0;
    config.echo_canceller.enforce_high_pass_filtering = o.high_pass != 0;
    config.residual_echo_detector.enabled = false;
    config.noise_suppression.enabled = o.noise_suppression >= 0;
    if (o.noise_suppression >= 0)
        config.noise_suppression.level = static_cast<Config::NoiseSuppression::Level>(o.noise_suppression);
    auto &gain = config.gain_controller1;
    gain.enabled = o.gain_control >= 0;
    gain.analog_gain_controller.enabled = false;
    gain.target_level_dbfs = o.target_level;
    gain.compression_gain_db = o.compression_gain;
    if (o.gain_control >= 0) gain.mode = static_cast<Config::GainController1::Mode>(o.gain_control);
    config.voice_detection.enabled = true;
    parts_->processing->ApplyConfig(config);
    webrtc::ProcessingConfig format;
    for (auto &stream : format.streams) stream = parts_->stream;
    return parts_->processing->Initialize(format);
}

int Library::take_reference(const float *reference, int delay) {
    const float *far[1] = {reference};
    const int e = parts_->processing->AnalyzeReverseStream(far, parts_->stream);
    return e != 0 || delay == 0 ? e : tell_delay(delay);
}

void Library::get_statistics(earshot_voice_statistics &statistics) {
    const webrtc::AudioProcessingStats known = parts_->processing->GetStatistics();
    if (known.echo_return_loss) statistics.echo_return_loss = int(*known.echo_return_loss);
    statistics.library_delay = known.delay_ms.value_or(-1);
    statistics.has_voice = known.voice_detected.value_or(false);
}

extern "C" const char *earshot_voice_package(void) { return "libwebrtc-audio-processing-1-3"; }

// The echo suppressor delays by 8 ms, the noise suppressor by 6, the splitting into bands by 1; 8 kHz is converted to 16 and
// back.
extern "C" double earshot_voice_delay(const earshot_voice_options *o) {
    if (!earshot_voice_changes(o)) return 0;
    const double bands = o->sample_rate == 48000 ? 0.98 : o->sample_rate == 32000 ? 0.12 : o->sample_rate == 8000 ? 3 : 0;
    return (o->echo_suppression >= 0 ? 8 : 0) + (o->noise_suppression >= 0 ? 6 : 0) + bands;
}
#endif
