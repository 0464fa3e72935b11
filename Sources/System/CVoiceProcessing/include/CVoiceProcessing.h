// webrtc-audio-processing 0.3 in plain C, with a linear echo canceller before it: one microphone, one loudspeaker, frames of
// 10 ms. No C++ exception leaves it. One thread at a time for each; it allocates and locks.
#pragma once
#ifdef __cplusplus
extern "C" {
#endif

typedef struct earshot_voice earshot_voice;

/// What is to be done. Levels are the library's own enumerations; -1 switches a part off.
typedef struct {
    int sample_rate;         // 8000, 16000, 32000 or 48000
    int echo_suppression;    // -1 off, 0 low, 1 moderate, 2 high
    int noise_suppression;   // -1 off, 0 low, 1 moderate, 2 high, 3 very high
    int gain_control;        // -1 off, 1 adaptive digital, 2 fixed digital
    int target_level;        // dB below full scale, 0 to 31
    int compression_gain;    // dB, 0 to 90
    int high_pass;           // 0 or 1
    int extended_filter;     // 0 or 1: 128 ms of echo path, not 48
    int delay_agnostic;      // 0 or 1: the delay of the echo is searched, not told
    int path_frames;         // echo path of the linear stage before the library, in frames of 10 ms; 0 is without it
} earshot_voice_options;

/// What the library says of itself; -100 where it does not know yet.
typedef struct {
    int echo_return_loss;              // dB
    int echo_return_loss_enhancement;  // dB, before the comfort noise
    int linear_enhancement;            // dB, of the adaptive filter alone
    int delay_median;                  // ms, -1 unknown
    int delay_deviation;               // ms, -1 unknown
    int path_delay;                    // where the linear stage has its largest tap, ms, -1 unknown
    float poor_delays;                 // share of delay estimates that are out of the filter's reach, -1 unknown
    float speech_probability;          // of the noise suppressor, -1 unknown
    int has_voice;                     // 0 or 1, of the newest frame
    int has_echo;                      // 0 or 1, of the newest frame
} earshot_voice_statistics;

/// Makes one; NULL where the library refuses, with its code (or -100 for a C++ exception) in `error`.
earshot_voice *earshot_voice_create(const earshot_voice_options *options, int *error);
void earshot_voice_destroy(earshot_voice *voice);

/// Processes 10 ms. `reference` is what is given to the loudspeaker, `delay` ms later heard by the microphone; `cleaned`
/// may be `microphone`. 0, or the library's code, or -100 for a C++ exception.
int earshot_voice_process(earshot_voice *voice, const float *microphone, const float *reference, float *cleaned, int delay);

/// Fills in what is known by now. On the thread that processes.
void earshot_voice_get_statistics(earshot_voice *voice, earshot_voice_statistics *statistics);

#ifdef __cplusplus
}
#endif
