// LAME. It has no pkg-config file.
#pragma once
#include <lame/lame.h>
