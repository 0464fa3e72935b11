// SPDX-License-Identifier: Apache-2.0
// libsndfile.
#pragma once
#include <sndfile.h>
