// SPDX-License-Identifier: Apache-2.0
// Cairo, for pictures.
#pragma once
#include <cairo.h>
