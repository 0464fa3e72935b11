// SPDX-License-Identifier: Apache-2.0
// For systems with webrtc-audio-processing 1.x: Debian 13.
#pragma once
#define EARSHOT_VOICE_GENERATION 1
