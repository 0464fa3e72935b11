// libpipewire. Its variadics, its inline interfaces and its macros need one-line functions here; what a cycle calls is marked
// for @_noLocks.
#pragma once
#include <pipewire/pipewire.h>
#define EARSHOT_NO_LOCKS __attribute__((swift_attr("@_noLocks")))
