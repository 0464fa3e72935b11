// SPDX-License-Identifier: Apache-2.0
// libpipewire. Its variadic functions, inline interfaces and macros need one-line functions here; those called in a cycle are
// marked for @_noLocks.
#pragma once
#include <errno.h>
#include <pipewire/extensions/metadata.h>
#include <pipewire/filter.h>
#include <pipewire/pipewire.h>
#include <pwd.h>
#include <sched.h>
#include <spa/param/audio/format-utils.h>
#include <spa/param/latency-utils.h>
#include <spa/param/param.h>
#include <spa/param/props.h>
// Older versions define routes and profiles in param.h.
#if __has_include(<spa/param/route.h>)
#include <spa/param/profile.h>
#include <spa/param/route.h>
#endif
#include <spa/pod/builder.h>
#include <spa/pod/iter.h>
#include <spa/utils/json.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>
#define EARSHOT_NO_LOCKS __attribute__((swift_attr("@_noLocks")))

static inline struct pw_properties *earshot_pw_properties(void) { return pw_properties_new(NULL, NULL); }

// Each adds a listener to one kind of object. The hook belongs to the caller.
static inline void earshot_pw_listen_core(
    struct pw_core *core, struct spa_hook *hook, const struct pw_core_events *events, void *data) {
    pw_core_add_listener(core, hook, events, data);
}
static inline void earshot_pw_listen_registry(
    struct pw_registry *registry, struct spa_hook *hook, const struct pw_registry_events *events, void *data) {
    pw_registry_add_listener(registry, hook, events, data);
}
static inline void earshot_pw_listen_node(
    void *node, struct spa_hook *hook, const struct pw_node_events *events, void *data) {
    pw_node_add_listener((struct pw_node *)node, hook, events, data);
}
static inline void earshot_pw_listen_port(
    void *port, struct spa_hook *hook, const struct pw_port_events *events, void *data) {
    pw_port_add_listener((struct pw_port *)port, hook, events, data);
}
static inline void earshot_pw_watch_latency(void *port) {
    uint32_t ids[1] = {SPA_PARAM_Latency};
    pw_port_subscribe_params((struct pw_port *)port, ids, 1);
}
static inline void earshot_pw_listen_device(
    void *device, struct spa_hook *hook, const struct pw_device_events *events, void *data) {
    pw_device_add_listener((struct pw_device *)device, hook, events, data);
}
static inline void earshot_pw_listen_link(
    void *link, struct spa_hook *hook, const struct pw_link_events *events, void *data) {
    pw_link_add_listener((struct pw_link *)link, hook, events, data);
}
static inline void earshot_pw_listen_metadata(
    void *metadata, struct spa_hook *hook, const struct pw_metadata_events *events, void *data) {
    pw_metadata_add_listener((struct pw_metadata *)metadata, hook, events, data);
}

static inline int earshot_pw_sync(struct pw_core *core, int seq) { return pw_core_sync(core, PW_ID_CORE, seq); }
static inline void *earshot_pw_create(
    struct pw_core *core, const char *factory, const char *type, uint32_t version, const struct spa_dict *properties) {
    return pw_core_create_object(core, factory, type, version, properties, 0);
}
static inline void earshot_pw_destroy(void *proxy) { pw_proxy_destroy((struct pw_proxy *)proxy); }
static inline struct spa_source *earshot_pw_add_timer(struct pw_loop *loop, spa_source_timer_func_t call, void *data) {
    return pw_loop_add_timer(loop, call, data);
}
static inline void earshot_pw_remove_source(struct pw_loop *loop, struct spa_source *source) {
    pw_loop_destroy_source(loop, source);
}
/// Fires once, after this many nanoseconds.
static inline void earshot_pw_set_timer(struct pw_loop *loop, struct spa_source *source, long nanoseconds) {
    struct timespec value = {.tv_sec = nanoseconds / 1000000000, .tv_nsec = nanoseconds % 1000000000};
    pw_loop_update_timer(loop, source, &value, NULL, false);
}
/// Stops the library from writing warnings to standard error; this process reports errors in its own words.
static inline void earshot_pw_init(void) {
    pw_init(NULL, NULL);
    if (getenv("PIPEWIRE_DEBUG") == NULL) pw_log_set_level(SPA_LOG_LEVEL_NONE);
}

static inline int earshot_pw_errno(void) { return errno; }

/// Connects to a server's socket; a negative result is minus an errno. It never blocks: a server with a full backlog counts as
/// missing.
static inline int earshot_pw_socket(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_LOCAL};
    if (strlen(path) >= sizeof(address.sun_path)) return -ENAMETOOLONG;
    strcpy(address.sun_path, path);
    int fd = socket(PF_LOCAL, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) return -errno;
    if (connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0) return fd;
    int code = -errno;
    close(fd);
    return code;
}

// A stream has one volume per channel. If the soft volumes are set, they multiply the stream instead of those that the user sees
// and the session manager remembers, until the user changes them again.
static inline void earshot_pw_watch_properties(void *node) {
    uint32_t ids[1] = {SPA_PARAM_Props};
    pw_node_subscribe_params((struct pw_node *)node, ids, 1);
}
/// Reads numbers from a stream's Props. Returns how many, 0 if there are none with this key.
static inline uint32_t earshot_pw_floats(const struct spa_pod *props, uint32_t key, float *values, uint32_t capacity) {
    const struct spa_pod_prop *all = spa_pod_find_prop(props, NULL, key);
    // libspa copies the number of bytes per value that the sender declares.
    if (!all || !spa_pod_is_array(&all->value) || SPA_POD_ARRAY_VALUE_SIZE(&all->value) != sizeof(float)) return 0;
    return spa_pod_copy_array(&all->value, SPA_TYPE_Float, values, capacity);
}
static inline bool earshot_pw_is_muted(const struct spa_pod *props) {
    bool muted = false;
    const struct spa_pod_prop *mute = spa_pod_find_prop(props, NULL, SPA_PROP_mute);
    if (mute) spa_pod_get_bool(&mute->value, &muted);
    return muted;
}
static inline void earshot_pw_set_soft_volumes(void *node, const float *volumes, uint32_t count, bool muted) {
    uint8_t buffer[1024];
    struct spa_pod_builder b = SPA_POD_BUILDER_INIT(buffer, sizeof(buffer));
    struct spa_pod *props = (struct spa_pod *)spa_pod_builder_add_object(
        &b, SPA_TYPE_OBJECT_Props, SPA_PARAM_Props, SPA_PROP_softVolumes,
        SPA_POD_Array(sizeof(float), SPA_TYPE_Float, count, volumes), SPA_PROP_softMute, SPA_POD_Bool(muted));
    if (props) pw_node_set_param((struct pw_node *)node, SPA_PARAM_Props, 0, props);
}

// A device is a card. Its profile is the set of nodes that it has; a route is one of its sockets or built-in converters.

/// Requests all values of a device's parameter. Returns the number that its answers carry, or a negative errno.
static inline int earshot_pw_read_parameter(void *device, uint32_t id) {
    return pw_device_enum_params((struct pw_device *)device, 0, id, 0, UINT32_MAX, NULL);
}
/// Sets a device's profile until its user or the session manager chooses another; the session manager does not store it.
static inline void earshot_pw_set_profile(void *device, int32_t index) {
    uint8_t buffer[256];
    struct spa_pod_builder b = SPA_POD_BUILDER_INIT(buffer, sizeof(buffer));
    struct spa_pod *profile = (struct spa_pod *)spa_pod_builder_add_object(
        &b, SPA_TYPE_OBJECT_ParamProfile, SPA_PARAM_Profile, SPA_PARAM_PROFILE_index, SPA_POD_Int(index),
        SPA_PARAM_PROFILE_save, SPA_POD_Bool(false));
    if (profile) pw_device_set_param((struct pw_device *)device, SPA_PARAM_Profile, 0, profile);
}

/// Captures sound and discards it. The properties belong to the stream from then on. Returns NULL on failure.
static inline struct pw_stream *earshot_pw_capture(struct pw_core *core, struct pw_properties *properties) {
    uint8_t buffer[1024];
    struct spa_pod_builder b = SPA_POD_BUILDER_INIT(buffer, sizeof(buffer));
    struct spa_audio_info_raw format = {.format = SPA_AUDIO_FORMAT_F32, .channels = 1};
    const struct spa_pod *formats[1] = {spa_format_audio_raw_build(&b, SPA_PARAM_EnumFormat, &format)};
    struct pw_stream *stream = pw_stream_new(core, "headset microphone", properties);
    if (!stream) return NULL;
    enum pw_stream_flags flags = (enum pw_stream_flags)(PW_STREAM_FLAG_AUTOCONNECT | PW_STREAM_FLAG_MAP_BUFFERS);
    if (pw_stream_connect(stream, PW_DIRECTION_INPUT, PW_ID_ANY, flags, formats, 1) >= 0) return stream;
    pw_stream_destroy(stream);
    return NULL;
}

// Each reads a property of an object. A property of another type counts as missing.
static inline int32_t earshot_pw_int(const struct spa_pod *object, uint32_t key, int32_t missing) {
    const struct spa_pod_prop *property = spa_pod_find_prop(object, NULL, key);
    if (property) spa_pod_get_int(&property->value, &missing);
    return missing;
}
static inline uint32_t earshot_pw_id(const struct spa_pod *object, uint32_t key, uint32_t missing) {
    const struct spa_pod_prop *property = spa_pod_find_prop(object, NULL, key);
    if (property) spa_pod_get_id(&property->value, &missing);
    return missing;
}
/// The text belongs to the object; NULL if it is missing.
static inline const char *earshot_pw_text(const struct spa_pod *object, uint32_t key) {
    const struct spa_pod_prop *property = spa_pod_find_prop(object, NULL, key);
    const char *text = NULL;
    return property && spa_pod_get_string(&property->value, &text) >= 0 ? text : NULL;
}
/// Reads numbers from an array. Returns how many, 0 if there are none.
static inline uint32_t earshot_pw_ints(
    const struct spa_pod *object, uint32_t key, int32_t *values, uint32_t capacity) {
    const struct spa_pod_prop *property = spa_pod_find_prop(object, NULL, key);
    if (!property || !spa_pod_is_array(&property->value) ||
        SPA_POD_ARRAY_VALUE_SIZE(&property->value) != sizeof(int32_t))
        return 0;
    return spa_pod_copy_array(&property->value, SPA_TYPE_Int, values, capacity);
}
/// Reads an entry of a structure that has a number, and then names and values in turn. The text belongs to the object; NULL if
/// it is missing.
static inline const char *earshot_pw_entry(const struct spa_pod *object, uint32_t key, const char *name) {
    const struct spa_pod_prop *property = spa_pod_find_prop(object, NULL, key);
    const struct spa_pod *item;
    uint32_t place = 0;
    bool is_found = false;
    if (!property || !spa_pod_is_struct(&property->value)) return NULL;
    SPA_POD_STRUCT_FOREACH(&property->value, item) {
        const char *text = NULL;
        spa_pod_get_string(item, &text);
        if (place > 0 && place % 2 == 0 && is_found) return text;
        if (place % 2 == 1) is_found = text && strcmp(text, name) == 0;
        place++;
    }
    return NULL;
}

/// The thread's number, with which any thread can query the scheduler.
static inline EARSHOT_NO_LOCKS int earshot_thread_id(void) { return (int)syscall(SYS_gettid); }
/// The SCHED_FIFO or SCHED_RR priority of a thread, or 0.
static inline int earshot_thread_priority(int thread) {
    struct sched_param p = {0};
    int policy = sched_getscheduler(thread) & ~0x40000000;  // SCHED_RESET_ON_FORK, which needs _GNU_SOURCE
    return (policy == SCHED_FIFO || policy == SCHED_RR) && sched_getparam(thread, &p) == 0 ? p.sched_priority : 0;
}

static inline EARSHOT_NO_LOCKS void *earshot_pw_dsp_buffer(void *port, uint32_t frames) {
    return pw_filter_get_dsp_buffer(port, frames);
}
