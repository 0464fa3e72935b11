// SPDX-License-Identifier: Apache-2.0
#include "PipeWireCardValues.h"

#include <spa/param/param.h>
#if __has_include(<spa/param/route.h>)
#include <spa/param/profile.h>
#include <spa/param/route.h>
#endif
#include <spa/pod/builder.h>
#include <stdlib.h>

static struct spa_pod *copy(const struct spa_pod *value) {
    struct spa_pod *copy = value ? malloc(SPA_POD_SIZE(value)) : NULL;
    if (copy) memcpy(copy, value, SPA_POD_SIZE(value));
    return copy;
}

static void add_info(struct spa_pod_builder *b, const char *port_type) {
    struct spa_pod_frame info;
    spa_pod_builder_prop(b, SPA_PARAM_ROUTE_info, 0);
    spa_pod_builder_push_struct(b, &info);
    spa_pod_builder_int(b, 2);
    spa_pod_builder_add(b, SPA_POD_String("device.icon_name"), SPA_POD_String("audio"), NULL);
    if (port_type) spa_pod_builder_add(b, SPA_POD_String("port.type"), SPA_POD_String(port_type), NULL);
    spa_pod_builder_pop(b, &info);
}

struct spa_pod *test_card_route_value(uint32_t id, const struct test_card_route *route) {
    uint8_t buffer[2048];
    struct spa_pod_builder b = SPA_POD_BUILDER_INIT(buffer, sizeof(buffer));
    struct spa_pod_frame object;
    spa_pod_builder_push_object(&b, &object, SPA_TYPE_OBJECT_ParamRoute, id);
    spa_pod_builder_add(
        &b, SPA_PARAM_ROUTE_index, SPA_POD_Int(route->index), SPA_PARAM_ROUTE_direction,
        SPA_POD_Id(route->is_output ? SPA_DIRECTION_OUTPUT : SPA_DIRECTION_INPUT), SPA_PARAM_ROUTE_name,
        SPA_POD_String(route->name), SPA_PARAM_ROUTE_description, SPA_POD_String(route->name),
        SPA_PARAM_ROUTE_priority, SPA_POD_Int(100 + route->index), SPA_PARAM_ROUTE_available,
        SPA_POD_Id(route->availability), NULL);
    add_info(&b, route->port_type);
    spa_pod_builder_add(
        &b, SPA_PARAM_ROUTE_profiles, SPA_POD_Array(sizeof(int32_t), SPA_TYPE_Int, 1, &route->profile),
        SPA_PARAM_ROUTE_devices, SPA_POD_Array(sizeof(int32_t), SPA_TYPE_Int, 1, &route->device), NULL);
    if (id == SPA_PARAM_Route)
        spa_pod_builder_add(
            &b, SPA_PARAM_ROUTE_device, SPA_POD_Int(route->device), SPA_PARAM_ROUTE_profile,
            SPA_POD_Int(route->profile), NULL);
    return copy(spa_pod_builder_pop(&b, &object));
}

static void add_class(struct spa_pod_builder *b, const char *name, int32_t device) {
    spa_pod_builder_add_struct(
        b, SPA_POD_String(name), SPA_POD_Int(1), SPA_POD_String("card.profile.devices"),
        SPA_POD_Array(sizeof(int32_t), SPA_TYPE_Int, 1, &device));
}

struct spa_pod *test_card_profile_value(uint32_t id, const struct test_card_profile *profile) {
    uint8_t buffer[2048];
    struct spa_pod_builder b = SPA_POD_BUILDER_INIT(buffer, sizeof(buffer));
    struct spa_pod_frame object, classes;
    spa_pod_builder_push_object(&b, &object, SPA_TYPE_OBJECT_ParamProfile, id);
    spa_pod_builder_add(
        &b, SPA_PARAM_PROFILE_index, SPA_POD_Int(profile->index), SPA_PARAM_PROFILE_name,
        SPA_POD_String(profile->name), SPA_PARAM_PROFILE_description, SPA_POD_String(profile->name),
        SPA_PARAM_PROFILE_priority, SPA_POD_Int(profile->priority), SPA_PARAM_PROFILE_available,
        SPA_POD_Id(profile->availability), NULL);
    spa_pod_builder_prop(&b, SPA_PARAM_PROFILE_classes, 0);
    spa_pod_builder_push_struct(&b, &classes);
    spa_pod_builder_int(&b, (profile->sink >= 0) + (profile->source >= 0));
    if (profile->sink >= 0) add_class(&b, "Audio/Sink", profile->sink);
    if (profile->source >= 0) add_class(&b, "Audio/Source", profile->source);
    spa_pod_builder_pop(&b, &classes);
    return copy(spa_pod_builder_pop(&b, &object));
}

static bool is_route(uint32_t id) { return id == SPA_PARAM_Route || id == SPA_PARAM_EnumRoute; }

struct spa_pod *test_card_damaged_value(uint32_t id, enum test_card_damage damage) {
    uint8_t buffer[1024];
    struct spa_pod_builder b = SPA_POD_BUILDER_INIT(buffer, sizeof(buffer));
    struct spa_pod_frame object;
    spa_pod_builder_push_object(
        &b, &object, is_route(id) ? SPA_TYPE_OBJECT_ParamRoute : SPA_TYPE_OBJECT_ParamProfile, id);
    const uint32_t name = is_route(id) ? SPA_PARAM_ROUTE_name : SPA_PARAM_PROFILE_name;
    const uint32_t index = is_route(id) ? SPA_PARAM_ROUTE_index : SPA_PARAM_PROFILE_index;
    switch (damage) {
    case TEST_CARD_NUMBER_FOR_NAME:
        spa_pod_builder_add(&b, index, SPA_POD_Int(7), name, SPA_POD_Int(7), NULL);
        break;
    case TEST_CARD_WRONG_TYPES:
        spa_pod_builder_add(&b, name, SPA_POD_String("damaged"), index, SPA_POD_String("7"), NULL);
        if (!is_route(id)) break;
        spa_pod_builder_add(
            &b, SPA_PARAM_ROUTE_device, SPA_POD_String("0"), SPA_PARAM_ROUTE_devices, SPA_POD_Int(0),
            SPA_PARAM_ROUTE_direction, SPA_POD_String("Output"), SPA_PARAM_ROUTE_available, SPA_POD_Float(1.0),
            SPA_PARAM_ROUTE_info, SPA_POD_Int(3), NULL);
        break;
    default: break;
    }
    return copy(spa_pod_builder_pop(&b, &object));
}
