// SPDX-License-Identifier: Apache-2.0
// libvorbis and libogg.
#pragma once
#include <ogg/ogg.h>
#include <vorbis/vorbisenc.h>
