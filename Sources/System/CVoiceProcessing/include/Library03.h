// SPDX-License-Identifier: Apache-2.0
// For systems with webrtc-audio-processing 0.3: Debian 12, Ubuntu 22.04 and 24.04.
#pragma once
#define EARSHOT_VOICE_GENERATION 0
