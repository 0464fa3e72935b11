// SPDX-License-Identifier: Apache-2.0
// The calls that both generations of the library have. Included behind the definition of Library::Parts.
#pragma once

Library::~Library() = default;

int Library::tell_delay(int delay) {
    const int told = parts_->processing->set_stream_delay_ms(delay);
    return told == webrtc::AudioProcessing::kBadStreamParameterWarning ? 0 : told;
}

int Library::process(const float *microphone, float *cleaned) {
    const float *near[1] = {microphone};
    float *out[1] = {cleaned};
    const int e = parts_->processing->ProcessStream(near, parts_->stream, parts_->stream, out);
    return e == webrtc::AudioProcessing::kBadStreamParameterWarning ? 0 : e;
}
