// webrtc-audio-processing 1.x is installed: Debian 13.
#pragma once
#define EARSHOT_VOICE_GENERATION 1
