// SPDX-License-Identifier: Apache-2.0
// webrtc-audio-processing 1.x is installed: Debian 13.
#pragma once
#define EARSHOT_VOICE_GENERATION 1
