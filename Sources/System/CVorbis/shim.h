// libvorbis and libogg.
#pragma once
#include <ogg/ogg.h>
#include <vorbis/vorbisenc.h>
