// SPDX-License-Identifier: Apache-2.0
// LAME. It has no pkg-config file.
#pragma once
#include <lame/lame.h>
