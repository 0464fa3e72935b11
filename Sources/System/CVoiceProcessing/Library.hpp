// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "CVoiceProcessing.h"

#include <memory>

/// webrtc-audio-processing, whichever generation is installed: Library03.cpp or Library1.cpp. Codes are the library's own, 0 is
/// success. Its functions may throw.
class Library {
public:
    /// The share of the estimated echo that the linear stage leaves to the library.
    static const float echo_left;

    explicit Library(const earshot_voice_options &options);
    ~Library();

    /// Applies the options; once, before all else.
    int configure(const earshot_voice_options &options);

    /// Takes 10 ms of what the loudspeaker is given, `delay` ms before its echo.
    int take_reference(const float *reference, int delay);

    /// Cleans 10 ms; `cleaned` may be `microphone`.
    int process(const float *microphone, float *cleaned);

    /// Fills in what the library knows.
    void get_statistics(earshot_voice_statistics &statistics);

private:
    struct Parts;
    std::unique_ptr<Parts> parts_;

    /// Tells the library the delay of the echo; a delay out of its range is no error.
    int tell_delay(int delay);
};
