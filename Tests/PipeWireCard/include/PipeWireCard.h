// SPDX-License-Identifier: Apache-2.0
// A sound card of a test: a device object with routes and profiles, exported into a PipeWire server as a session manager exports
// a card of ALSA or BlueZ. Its nodes are not its own; tests give nodes the card's number.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct test_card;

/// A list of the card.
enum test_card_list { TEST_CARD_ROUTES, TEST_CARD_POSSIBLE_ROUTES, TEST_CARD_PROFILES, TEST_CARD_POSSIBLE_PROFILES };

struct test_card_route {
    int32_t index;
    const char *name;
    /// "headphones", "speaker", "mic" …; NULL for none.
    const char *port_type;
    bool is_output;
    /// The number that the route's node has as card.profile.device.
    int32_t device;
    /// The profile that has the route.
    int32_t profile;
    /// 0 unknown, 1 no, 2 yes.
    uint32_t availability;
};

struct test_card_profile {
    int32_t index;
    const char *name;
    int32_t priority;
    /// 0 unknown, 1 no, 2 yes.
    uint32_t availability;
    /// The number of the profile's sink, and of its source; -1 for none.
    int32_t sink, source;
};

/// A value that no card should announce.
enum test_card_damage {
    /// No properties.
    TEST_CARD_EMPTY,
    /// A number as the name.
    TEST_CARD_NUMBER_FOR_NAME,
    /// Texts as numbers, numbers as lists, and an odd count of texts in the information.
    TEST_CARD_WRONG_TYPES,
    TEST_CARD_DAMAGE_COUNT
};

/// A request that the card received.
struct test_card_request {
    /// TEST_CARD_ROUTES or TEST_CARD_PROFILES.
    enum test_card_list list;
    int32_t index;
};

/// Creates a card without lists. device.name is required among the properties, and media.class is added.
struct test_card *test_card_create(const char *const *names, const char *const *values, size_t count);
/// Exports the card, once, into the server at the socket. Returns false on failure.
bool test_card_export(struct test_card *card, const char *socket);
/// The card's number on the server; UINT32_MAX until the server has answered.
uint32_t test_card_number(struct test_card *card);
/// Removes the card from the server and frees it.
void test_card_remove(struct test_card *card);

/// Begins a change, which ends with test_card_announce by the same thread. The server learns of it then.
void test_card_begin(struct test_card *card);
/// Empties a list, which exists from then on. Each function below is for use in a change.
void test_card_clear(struct test_card *card, enum test_card_list list);
void test_card_add_route(struct test_card *card, enum test_card_list list, const struct test_card_route *route);
void test_card_add_profile(struct test_card *card, enum test_card_list list, const struct test_card_profile *profile);
void test_card_add_damage(struct test_card *card, enum test_card_list list, enum test_card_damage damage);
/// Removes a list, so that the card no longer names it.
void test_card_drop(struct test_card *card, enum test_card_list list);
void test_card_announce(struct test_card *card);

/// While true, the card does not answer; it answers later in the order of the requests.
void test_card_hold(struct test_card *card, bool holds);
/// The number of requests for lists that the card holds back.
size_t test_card_held_count(struct test_card *card);
/// Copies the requests to set a route or a profile, in order. Returns how many; only the first 64 are kept.
size_t test_card_requests(struct test_card *card, struct test_card_request *requests, size_t capacity);
