// SPDX-License-Identifier: Apache-2.0
// The values of a card's lists in the form of the server's protocol. The caller frees them.
#pragma once
#include <spa/pod/pod.h>

#include "PipeWireCard.h"

struct spa_pod *test_card_route_value(uint32_t id, const struct test_card_route *route);
struct spa_pod *test_card_profile_value(uint32_t id, const struct test_card_profile *profile);
struct spa_pod *test_card_damaged_value(uint32_t id, enum test_card_damage damage);
