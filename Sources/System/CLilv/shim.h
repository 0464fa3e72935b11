// SPDX-License-Identifier: Apache-2.0
// lilv and the LV2 extensions that Earshot offers to plug-ins. Their URIs are macros of two parts, which Swift does not import,
// and logging is variadic.
#pragma once
#include <dlfcn.h>
#include <lilv/lilv.h>
#include <lv2/atom/atom.h>
#include <lv2/buf-size/buf-size.h>
#include <lv2/core/lv2.h>
#include <lv2/log/log.h>
#include <lv2/midi/midi.h>
#include <lv2/options/options.h>
#include <lv2/parameters/parameters.h>
#include <lv2/port-groups/port-groups.h>
#include <lv2/presets/presets.h>
#include <lv2/resize-port/resize-port.h>
#include <lv2/units/units.h>
#include <lv2/urid/urid.h>
#include <stdarg.h>
#include <stdio.h>

#define EARSHOT_URI(name, uri) static const char *_Nonnull const earshot_lv2_##name = uri
EARSHOT_URI(path_option, LILV_OPTION_LV2_PATH);
EARSHOT_URI(audio_port, LV2_CORE__AudioPort);
EARSHOT_URI(control_port, LV2_CORE__ControlPort);
EARSHOT_URI(cv_port, LV2_CORE__CVPort);
EARSHOT_URI(atom_port, LV2_ATOM__AtomPort);
EARSHOT_URI(input_port, LV2_CORE__InputPort);
EARSHOT_URI(output_port, LV2_CORE__OutputPort);
EARSHOT_URI(connection_optional, LV2_CORE__connectionOptional);
EARSHOT_URI(side_chain, LV2_CORE_PREFIX "isSideChain");
EARSHOT_URI(group, LV2_PORT_GROUPS__group);
EARSHOT_URI(side_chain_of, LV2_PORT_GROUPS__sideChainOf);
EARSHOT_URI(plugin_property, LV2_CORE_PREFIX "pluginProperty");
EARSHOT_URI(enumeration, LV2_CORE__enumeration);
EARSHOT_URI(scale_point, LV2_CORE__scalePoint);
EARSHOT_URI(value, LILV_NS_RDF "value");
EARSHOT_URI(label, LILV_NS_RDFS "label");
EARSHOT_URI(integer, LV2_CORE__integer);
EARSHOT_URI(toggled, LV2_CORE__toggled);
EARSHOT_URI(sample_rate, LV2_CORE__sampleRate);
EARSHOT_URI(reports_latency, LV2_CORE__reportsLatency);
EARSHOT_URI(designation, LV2_CORE__designation);
EARSHOT_URI(latency, LV2_CORE__latency);
EARSHOT_URI(free_wheeling, LV2_CORE__freeWheeling);
EARSHOT_URI(generator, LV2_CORE__GeneratorPlugin);
EARSHOT_URI(instrument, LV2_CORE__InstrumentPlugin);
EARSHOT_URI(hard_realtime, LV2_CORE__hardRTCapable);
EARSHOT_URI(in_place_broken, LV2_CORE__inPlaceBroken);
EARSHOT_URI(is_live, LV2_CORE__isLive);
EARSHOT_URI(midi_event, LV2_MIDI__MidiEvent);
EARSHOT_URI(unit, LV2_UNITS__unit);
EARSHOT_URI(units, LV2_UNITS_PREFIX);
EARSHOT_URI(preset, LV2_PRESETS__Preset);
EARSHOT_URI(minimum_size, LV2_RESIZE_PORT__minimumSize);
EARSHOT_URI(urid_map, LV2_URID__map);
EARSHOT_URI(urid_unmap, LV2_URID__unmap);
EARSHOT_URI(options, LV2_OPTIONS__options);
EARSHOT_URI(required_option, LV2_OPTIONS__requiredOption);
EARSHOT_URI(log, LV2_LOG__log);
EARSHOT_URI(bounded_block, LV2_BUF_SIZE__boundedBlockLength);
EARSHOT_URI(fixed_block, LV2_BUF_SIZE__fixedBlockLength);
EARSHOT_URI(power_of_two_block, LV2_BUF_SIZE__powerOf2BlockLength);
EARSHOT_URI(minimum_block, LV2_BUF_SIZE__minBlockLength);
EARSHOT_URI(maximum_block, LV2_BUF_SIZE__maxBlockLength);
EARSHOT_URI(nominal_block, LV2_BUF_SIZE_PREFIX "nominalBlockLength");
EARSHOT_URI(sequence_size, LV2_BUF_SIZE__sequenceSize);
EARSHOT_URI(rate_option, LV2_PARAMETERS__sampleRate);
EARSHOT_URI(atom_int, LV2_ATOM__Int);
EARSHOT_URI(atom_long, LV2_ATOM__Long);
EARSHOT_URI(atom_float, LV2_ATOM__Float);
EARSHOT_URI(atom_double, LV2_ATOM__Double);
EARSHOT_URI(atom_bool, LV2_ATOM__Bool);
EARSHOT_URI(atom_chunk, LV2_ATOM__Chunk);
EARSHOT_URI(atom_sequence, LV2_ATOM__Sequence);
#undef EARSHOT_URI

/// The last line that a plug-in logged while it was created. Later lines are dropped, since they may come from the render thread.
typedef struct {
    int isOpen;
    char text[256];
} earshot_lv2_words;

static inline int earshot_lv2_vprintf(LV2_Log_Handle handle, LV2_URID type, const char *format, va_list arguments) {
    earshot_lv2_words *words = (earshot_lv2_words *)handle;
    (void)type;
    return words->isOpen ? vsnprintf(words->text, sizeof words->text, format, arguments) : 0;
}
static inline int earshot_lv2_printf(LV2_Log_Handle handle, LV2_URID type, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int n = earshot_lv2_vprintf(handle, type, format, arguments);
    va_end(arguments);
    return n;
}
static inline LV2_Log_Log earshot_lv2_log_to(earshot_lv2_words *_Nonnull words) {
    return (LV2_Log_Log){words, earshot_lv2_printf, earshot_lv2_vprintf};
}

/// The reason that a library cannot be opened; NULL if it can be.
static inline const char *_Nullable earshot_lv2_why_closed(const char *_Nonnull path) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) return dlerror();
    dlclose(library);
    return NULL;
}

// The plug-in's author decides on the code in these calls: @_noLocks does not prove it, but RealtimeSanitizer checks it.
#define EARSHOT_NO_LOCKS __attribute__((swift_attr("@_noLocks")))

/// Renders. The plug-in reads and writes the memory that its ports are connected to.
static inline EARSHOT_NO_LOCKS void earshot_lv2_run(LilvInstance *_Nonnull instance, long frames) {
    instance->lv2_descriptor->run(instance->lv2_handle, (uint32_t)frames);
}
/// Sets the capacity of a sequence that a plug-in will write.
static inline EARSHOT_NO_LOCKS void earshot_lv2_empty(LV2_Atom_Sequence *_Nonnull sequence, uint32_t chunk, uint32_t room) {
    sequence->atom.type = chunk;
    sequence->atom.size = room;
}
static inline EARSHOT_NO_LOCKS float earshot_lv2_round(float x) { return __builtin_rintf(x); }
