// libasound.
#pragma once
#include <alsa/asoundlib.h>
#define EARSHOT_NO_LOCKS __attribute__((swift_attr("@_noLocks")))
