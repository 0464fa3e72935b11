// Cairo, for pictures.
#pragma once
#include <cairo.h>
