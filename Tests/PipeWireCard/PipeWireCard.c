// SPDX-License-Identifier: Apache-2.0
#include "PipeWireCard.h"

#include <errno.h>
#include <pipewire/impl.h>
#include <spa/monitor/utils.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "PipeWireCardValues.h"

enum { list_count = 4, most_held = 64, most_requests = 64 };  // later requests are not kept

struct list {
    struct spa_pod **values;
    uint32_t count;
    bool is_announced, is_changed;
};

/// A request of the server for a list, or for the end of all earlier answers.
struct question {
    int number;
    bool is_for_list;
    uint32_t id, first, most;
};

struct test_card {
    struct spa_device device;
    struct spa_hook_list hooks;
    struct pw_thread_loop *loop;
    struct pw_context *context;
    struct pw_core *core;
    struct pw_proxy *proxy;
    struct pw_properties *properties;
    struct list lists[list_count];
    struct spa_param_info infos[list_count];
    bool holds;
    struct question held[most_held];
    size_t held_count;
    struct test_card_request requests[most_requests];
    size_t request_count;
};

static const uint32_t ids[list_count] = {
    SPA_PARAM_Route, SPA_PARAM_EnumRoute, SPA_PARAM_Profile, SPA_PARAM_EnumProfile};

// MARK: Lists

static void clear(struct list *list) {
    for (uint32_t i = 0; i < list->count; i++) free(list->values[i]);
    free(list->values);
    list->values = NULL;
    list->count = 0;
    list->is_changed = true;
}

static void append(struct list *list, struct spa_pod *value) {
    list->values = realloc(list->values, (list->count + 1) * sizeof(*list->values));
    if (!value || !list->values) abort();
    list->values[list->count++] = value;
}

/// Reports the properties and the lists to a listener, or to all. A list's flags differ from the last ones if the list changed.
static void report(struct test_card *card, uint64_t changes) {
    uint32_t count = 0;
    for (int i = 0; i < list_count; i++) {
        struct list *list = &card->lists[i];
        struct spa_param_info *info = &card->infos[i];
        info->id = ids[i];
        if (list->is_changed) info->flags ^= SPA_PARAM_INFO_SERIAL;
        list->is_changed = false;
        const bool is_written = i == TEST_CARD_ROUTES || i == TEST_CARD_PROFILES;
        info->flags |= SPA_PARAM_INFO_READ | (is_written ? SPA_PARAM_INFO_WRITE : 0);
    }
    struct spa_param_info announced[list_count];
    for (int i = 0; i < list_count; i++)
        if (card->lists[i].is_announced) announced[count++] = card->infos[i];
    struct spa_device_info info = SPA_DEVICE_INFO_INIT();
    info.change_mask = changes;
    info.props = &card->properties->dict;
    info.params = announced;
    info.n_params = count;
    spa_device_emit_info(&card->hooks, &info);
}

static void answer(struct test_card *card, const struct question *question) {
    uint32_t sent = 0;
    if (!question->is_for_list) spa_device_emit_result(&card->hooks, question->number, 0, 0, NULL);
    for (int i = 0; i < list_count; i++) {
        if (!question->is_for_list || ids[i] != question->id) continue;
        const struct list *list = &card->lists[i];
        for (uint32_t k = question->first; k < list->count && sent < question->most; k++, sent++) {
            struct spa_result_device_params result = {question->id, k, k + 1, list->values[k]};
            spa_device_emit_result(&card->hooks, question->number, 0, SPA_RESULT_TYPE_DEVICE_PARAMS, &result);
        }
    }
}

static int ask(struct test_card *card, struct question question) {
    if (!card->holds) answer(card, &question);
    if (card->holds && card->held_count < most_held) card->held[card->held_count++] = question;
    return 0;
}

// MARK: The device's methods, called on the loop's thread

static int add_listener(void *object, struct spa_hook *hook, const struct spa_device_events *events, void *data) {
    struct test_card *card = object;
    struct spa_hook_list save;
    spa_hook_list_isolate(&card->hooks, &save, hook, events, data);
    report(card, SPA_DEVICE_CHANGE_MASK_PROPS | SPA_DEVICE_CHANGE_MASK_PARAMS);
    spa_hook_list_join(&card->hooks, &save);
    return 0;
}

static int sync_answers(void *object, int number) { return ask(object, (struct question){.number = number}); }

static int enum_params(
    void *object, int number, uint32_t id, uint32_t first, uint32_t most, const struct spa_pod *filter) {
    (void)filter;
    return ask(object, (struct question){number, true, id, first, most});
}

static int set_param(void *object, uint32_t id, uint32_t flags, const struct spa_pod *value) {
    (void)flags;
    struct test_card *card = object;
    int32_t index = -1;
    const uint32_t key = id == SPA_PARAM_Route ? SPA_PARAM_ROUTE_index : SPA_PARAM_PROFILE_index;
    const struct spa_pod_prop *property = value ? spa_pod_find_prop(value, NULL, key) : NULL;
    if (!property || spa_pod_get_int(&property->value, &index) < 0) return -EINVAL;
    if (card->request_count == most_requests) return -ENOSPC;
    card->requests[card->request_count++] =
        (struct test_card_request){id == SPA_PARAM_Route ? TEST_CARD_ROUTES : TEST_CARD_PROFILES, index};
    return 0;
}

static const struct spa_device_methods methods = {
    SPA_VERSION_DEVICE_METHODS, .add_listener = add_listener, .sync = sync_answers, .enum_params = enum_params,
    .set_param = set_param};

// MARK: The card

static int open_socket(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_LOCAL};
    snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
    int fd = socket(PF_LOCAL, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0) return fd;
    if (fd >= 0) close(fd);
    return -1;
}

struct test_card *test_card_create(const char *const *names, const char *const *values, size_t count) {
    pw_init(NULL, NULL);
    struct test_card *card = calloc(1, sizeof(*card));
    if (!card) abort();
    spa_hook_list_init(&card->hooks);
    card->device.iface = SPA_INTERFACE_INIT(SPA_TYPE_INTERFACE_Device, SPA_VERSION_DEVICE, &methods, card);
    card->properties = pw_properties_new(PW_KEY_MEDIA_CLASS, "Audio/Device", NULL);
    for (size_t i = 0; i < count; i++) pw_properties_set(card->properties, names[i], values[i]);
    card->loop = pw_thread_loop_new("card", NULL);
    if (!card->loop) abort();
    card->context = pw_context_new(pw_thread_loop_get_loop(card->loop), NULL, 0);
    return card;
}

bool test_card_export(struct test_card *card, const char *path) {
    const int fd = open_socket(path);
    if (!card->context || fd < 0) return false;
    card->core = pw_context_connect_fd(card->context, fd, pw_properties_new(PW_KEY_APP_NAME, "card", NULL), 0);
    if (!card->core) return false;
    card->proxy = pw_core_export(card->core, SPA_TYPE_INTERFACE_Device, &card->properties->dict, &card->device, 0);
    return card->proxy && pw_thread_loop_start(card->loop) >= 0;
}

uint32_t test_card_number(struct test_card *card) {
    test_card_begin(card);
    const uint32_t number = card->proxy ? pw_proxy_get_bound_id(card->proxy) : UINT32_MAX;
    pw_thread_loop_unlock(card->loop);
    return number;
}

void test_card_remove(struct test_card *card) {
    pw_thread_loop_stop(card->loop);
    if (card->proxy) pw_proxy_destroy(card->proxy);
    if (card->core) pw_core_disconnect(card->core);
    if (card->context) pw_context_destroy(card->context);
    pw_thread_loop_destroy(card->loop);
    for (int i = 0; i < list_count; i++) clear(&card->lists[i]);
    pw_properties_free(card->properties);
    free(card);
}

// MARK: Changes

void test_card_begin(struct test_card *card) { pw_thread_loop_lock(card->loop); }

void test_card_clear(struct test_card *card, enum test_card_list list) {
    clear(&card->lists[list]);
    card->lists[list].is_announced = true;
}

void test_card_add_route(struct test_card *card, enum test_card_list list, const struct test_card_route *route) {
    append(&card->lists[list], test_card_route_value(ids[list], route));
}

void test_card_add_profile(struct test_card *card, enum test_card_list list, const struct test_card_profile *profile) {
    append(&card->lists[list], test_card_profile_value(ids[list], profile));
}

void test_card_add_damage(struct test_card *card, enum test_card_list list, enum test_card_damage damage) {
    append(&card->lists[list], test_card_damaged_value(ids[list], damage));
}

void test_card_drop(struct test_card *card, enum test_card_list list) {
    clear(&card->lists[list]);
    card->lists[list].is_announced = false;
}

void test_card_announce(struct test_card *card) {
    report(card, SPA_DEVICE_CHANGE_MASK_PARAMS);
    pw_thread_loop_unlock(card->loop);
}

void test_card_hold(struct test_card *card, bool holds) {
    pw_thread_loop_lock(card->loop);
    card->holds = holds;
    for (size_t i = 0; !holds && i < card->held_count; i++) answer(card, &card->held[i]);
    if (!holds) card->held_count = 0;
    pw_thread_loop_unlock(card->loop);
}

size_t test_card_held_count(struct test_card *card) {
    pw_thread_loop_lock(card->loop);
    size_t count = 0;
    for (size_t i = 0; i < card->held_count; i++) count += card->held[i].is_for_list;
    pw_thread_loop_unlock(card->loop);
    return count;
}

size_t test_card_requests(struct test_card *card, struct test_card_request *requests, size_t capacity) {
    test_card_begin(card);
    const size_t count = card->request_count < capacity ? card->request_count : capacity;
    memcpy(requests, card->requests, count * sizeof(*requests));
    pw_thread_loop_unlock(card->loop);
    return count;
}
