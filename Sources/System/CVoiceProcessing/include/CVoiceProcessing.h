// SPDX-License-Identifier: Apache-2.0
// webrtc-audio-processing 0.3 or 1.x in plain C, after a linear echo canceller: one microphone, one loudspeaker, frames of 10 ms.
// No C++ exception leaves it. One thread at a time for each object; it allocates and locks.
#pragma once

// The C++ sources and the linked library depend on this choice.
#if __has_include(<webrtc-audio-processing-1/modules/audio_processing/include/audio_processing.h>)
#include "Library1.h"
#elif __has_include(<webrtc_audio_processing/webrtc/modules/audio_processing/include/audio_processing.h>)
#include "Library03.h"
#else
#error "webrtc-audio-processing is missing, 0.3 or 1.x: apt-get install libwebrtc-audio-processing-dev"
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef struct earshot_voice earshot_voice;

/// Levels are the library's own enumerations; -1 turns a part off.
typedef struct {
    int sample_rate;         // 8000, 16000, 32000 or 48000
    int echo_suppression;    // -1 off, 0 low, 1 moderate, 2 high; 1.x has one level
    int noise_suppression;   // -1 off, 0 low, 1 moderate, 2 high, 3 very high
    int gain_control;        // -1 off, 1 adaptive digital, 2 fixed digital
    int target_level;        // dB below full scale, 0 to 31
    int compression_gain;    // dB, 0 to 90
    int high_pass;           // 0 or 1
    int path_frames;         // echo path of the linear stage before the library, in frames of 10 ms; 0 is without it
} earshot_voice_options;

/// -100 or -1 until the value is known.
typedef struct {
    int echo_return_loss;  // dB, by the library
    int library_delay;     // ms from the reference to its echo, by the library, -1 unknown
    int path_delay;        // ms to the largest tap of the linear stage, -1 unknown
    int has_voice;         // 0 or 1, of the newest frame
} earshot_voice_statistics;

/// False if every part is off, so that the sound is unchanged.
static inline int earshot_voice_changes(const earshot_voice_options *o) {
    return o->echo_suppression >= 0 || o->noise_suppression >= 0 || o->gain_control >= 0 || o->high_pass != 0;
}

/// The name of the library's Debian package, for messages.
const char *earshot_voice_package(void);

/// Creates an object; NULL if the library refuses, with its code (or -100 for a C++ exception) in `error`.
earshot_voice *earshot_voice_create(const earshot_voice_options *options, int *error);
void earshot_voice_destroy(earshot_voice *voice);

/// The milliseconds by which `cleaned` is later than `microphone`, as measured by correlation, within 0.1 ms.
double earshot_voice_delay(const earshot_voice_options *options);

/// Processes 10 ms. `reference` is the loudspeaker's sound, which the microphone captures `delay` ms later (0 if unknown).
/// `cleaned` may be `microphone`. Returns 0, the library's code, or -100 for a C++ exception.
int earshot_voice_process(earshot_voice *voice, const float *microphone, const float *reference, float *cleaned, int delay);

/// Fills in the values that are known. Call it on the processing thread.
void earshot_voice_get_statistics(earshot_voice *voice, earshot_voice_statistics *statistics);

#ifdef __cplusplus
}
#endif
