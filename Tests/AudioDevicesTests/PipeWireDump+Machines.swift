// SPDX-License-Identifier: Apache-2.0

extension PipeWireDump {
    /// A laptop's HDA card: one sink, whose route in use changes with the plug. The names and the availability groups are from
    /// https://github.com/Nobara-Project/nobara-core-packages/issues/102.
    static let laptop = #"""
        [{"id": 40, "info": {
            "props": {"device.api": "alsa", "device.bus": "pci", "device.form-factor": "internal"},
            "params": {
              "Profile": [{"index": 1, "name": "output:analog-stereo+input:analog-stereo", "available": "yes"}],
              "EnumRoute": [
                {"index": 0, "direction": "Input", "name": "analog-input-internal-mic", "available": "unknown",
                 "info": [2, "port.type", "mic", "device.icon_name", "audio-input-microphone"], "devices": [0]},
                {"index": 1, "direction": "Input", "name": "analog-input-headset-mic", "available": "no",
                 "info": [3, "port.type", "headset", "port.availability-group", "Legacy 1"], "devices": [0]},
                {"index": 2, "direction": "Output", "name": "analog-output-speaker", "available": "unknown",
                 "info": [2, "port.type", "speaker", "device.icon_name", "audio-speakers"], "devices": [8]},
                {"index": 3, "direction": "Output", "name": "analog-output-headphones", "available": "no",
                 "info": [3, "port.type", "headphones", "port.availability-group", "Legacy 1"], "devices": [8]}],
              "Route": [
                {"index": 0, "direction": "Input", "name": "analog-input-internal-mic", "device": 0},
                {"index": 2, "direction": "Output", "name": "analog-output-speaker", "device": 8}]}}},
         {"id": 50, "info": {"props": {"media.class": "Audio/Sink", "node.name": "analog-out", "device.id": 40,
            "card.profile.device": 8}}},
         {"id": 51, "info": {"props": {"media.class": "Audio/Source", "node.name": "analog-in", "device.id": 40,
            "card.profile.device": 0}}},
         {"id": 30, "metadata": [{"key": "default.audio.sink", "value": {"name": "analog-out"}},
            {"key": "default.audio.source", "value": {"name": "analog-in"}}]}]
        """#

    /// Headphones are plugged into the laptop: the availability is reported twice and the route up to four times, as
    /// `spa/plugins/alsa/alsa-acp-device.c` and the log in https://github.com/wwmm/easyeffects/issues/3747 show.
    static let plugging = #"""
        [{"t": 0, "id": 40, "params": {
            "EnumRoute": ["@internal-mic", "@headset-mic", "@speaker", {"@": "headphones", "available": "yes"}],
            "Route": ["@internal-mic", "@speaker"]}},
         {"t": 1, "id": 40, "params": {
            "EnumRoute": ["@internal-mic", "@headset-mic", {"@": "speaker", "available": "no"}, "@headphones"],
            "Route": ["@internal-mic", {"@": "speaker", "available": "no"}]}},
         {"t": 20, "id": 40, "params": {"Route": ["@internal-mic",
            {"index": 3, "direction": "Output", "name": "analog-output-headphones", "device": 8, "available": "yes",
             "props": {"mute": false, "channelVolumes": [1.0, 1.0]}}]}},
         {"t": 21, "id": 40, "params": {"Route": ["@internal-mic",
            {"@": "headphones", "props": {"mute": false, "channelVolumes": [0.3, 0.3]}}]}}]
        """#

    /// The headphones are pulled out of the laptop again.
    static let pulling = #"""
        [{"t": 1000, "id": 40, "params": {
            "EnumRoute": ["@internal-mic", "@headset-mic", {"@": "speaker", "available": "unknown"}, "@headphones"],
            "Route": ["@internal-mic", "@headphones"]}},
         {"t": 1001, "id": 40, "params": {
            "EnumRoute": ["@internal-mic", "@headset-mic", "@speaker", {"@": "headphones", "available": "no"}],
            "Route": ["@internal-mic", {"@": "headphones", "available": "no"}]}},
         {"t": 1020, "id": 40, "params": {"Route": ["@internal-mic", {"@": "speaker", "available": "unknown"}]}}]
        """#

    /// A laptop whose profiles exclude each other, so that a plug removes and adds nodes, even microphones. The names, the
    /// numbers and the order are from https://github.com/wwmm/easyeffects/issues/3266.
    static let exclusiveProfiles = #"""
        [{"id": 48, "info": {
            "props": {"device.api": "alsa", "device.bus": "pci", "device.form-factor": "internal"},
            "params": {
              "Profile": [{"index": 1, "name": "HiFi (Mic1, Mic2, Speaker)", "available": "yes"}],
              "EnumRoute": [
                {"index": 0, "direction": "Output", "name": "[Out] Speaker", "available": "unknown",
                 "info": [1, "port.type", "speaker"], "devices": [0]},
                {"index": 1, "direction": "Output", "name": "[Out] Headphones", "available": "no",
                 "info": [1, "port.type", "headphones"], "devices": [1]},
                {"index": 2, "direction": "Input", "name": "[In] Mic1", "available": "unknown",
                 "info": [1, "port.type", "mic"], "devices": [5]}],
              "Route": [{"index": 0, "direction": "Output", "name": "[Out] Speaker", "device": 0},
                {"index": 2, "direction": "Input", "name": "[In] Mic1", "device": 5}]}}},
         {"id": 100, "info": {"props": {"media.class": "Audio/Sink", "node.name": "HiFi__Speaker__sink",
            "device.id": 48, "card.profile.device": 0}}},
         {"id": 56, "info": {"props": {"media.class": "Audio/Source", "node.name": "HiFi__Mic1__source",
            "device.id": 48, "card.profile.device": 5}}},
         {"id": 30, "metadata": [{"key": "default.audio.sink", "value": {"name": "HiFi__Speaker__sink"}},
            {"key": "default.audio.source", "value": {"name": "HiFi__Mic1__source"}}]}]
        """#

    /// Headphones are plugged into that laptop: number 56 was a microphone and is a sink in the same millisecond.
    static let exchangingProfiles = #"""
        [{"t": 0, "id": 48, "params": {"EnumRoute": ["@Speaker", {"@": "Headphones", "available": "yes"}, "@Mic1"]}},
         {"t": 1, "id": 100, "info": null}, {"t": 1, "id": 56, "info": null},
         {"t": 1, "id": 56, "info": {"props": {"media.class": "Audio/Sink", "node.name": "HiFi__Headphones__sink",
            "device.id": 48, "card.profile.device": 1}}},
         {"t": 2, "id": 101, "info": {"props": {"media.class": "Audio/Source", "node.name": "HiFi__Mic1__source",
            "device.id": 48, "card.profile.device": 5}}},
         {"t": 5, "id": 48, "params": {"Profile": [{"index": 2, "name": "HiFi (Headphones, Mic1, Mic2)"}]}},
         {"t": 28, "id": 48, "params": {"Route": ["@Mic1",
            {"index": 1, "direction": "Output", "name": "[Out] Headphones", "device": 1, "available": "yes"}]}},
         {"t": 53, "id": 30, "metadata": [{"key": "default.audio.sink", "value": {"name": "HiFi__Headphones__sink"}}]}]
        """#

    /// A laptop that has a sink for each socket at all times, and no form factor. From
    /// https://github.com/cynak/galdeck-daemon, `crates/galdeck-daemon/src/testdata/pw-dump.json` at 1e544610.
    static let allSinks = #"""
        [{"id": 80, "info": {
            "props": {"api.acp.auto-port": false, "device.api": "alsa", "device.bus": "pci"},
            "params": {
              "Profile": [{"index": 1, "name": "HiFi", "priority": 10400, "available": "yes"}],
              "EnumRoute": [
                {"index": 0, "direction": "Output", "name": "[Out] Speaker", "priority": 100, "available": "unknown",
                 "info": [3, "port.type", "speaker", "card.profile.port", "0"], "profiles": [1], "devices": [0]},
                {"index": 1, "direction": "Output", "name": "[Out] Headphones", "priority": 200, "available": "yes",
                 "info": [4, "port.type", "headphones", "port.availability-group", "Headphone"], "devices": [1]},
                {"index": 2, "direction": "Output", "name": "[Out] HDMI1", "priority": 500, "available": "no",
                 "info": [3, "port.type", "hdmi", "port.availability-group", "HDMI/DP,pcm=5"], "devices": [2]}],
              "Route": [{"index": 1, "direction": "Output", "name": "[Out] Headphones", "device": 1}]}}},
         {"id": 46, "info": {"props": {"media.class": "Audio/Sink", "node.name": "HiFi__Speaker__sink", "device.id": 80,
            "card.profile.device": 0, "device.routes": 1}}},
         {"id": 47, "info": {"props": {"media.class": "Audio/Sink", "node.name": "HiFi__Headphones__sink",
            "device.id": 80, "card.profile.device": 1}}},
         {"id": 45, "info": {"props": {"media.class": "Audio/Sink", "node.name": "HiFi__HDMI1__sink", "device.id": 80,
            "card.profile.device": 2}}},
         {"id": 30, "metadata": [{"key": "default.audio.sink", "value": {"name": "HiFi__Headphones__sink"}}]}]
        """#

    /// The headphones are pulled out of that laptop. Only the availability changes, and then the default.
    static let losingAvailability = #"""
        [{"t": 0, "id": 80, "params": {"EnumRoute": ["@Speaker", {"@": "Headphones", "available": "no"}, "@HDMI1"]}},
         {"t": 25, "id": 30, "metadata": [{"key": "default.audio.sink", "value": {"name": "HiFi__Speaker__sink"}}]}]
        """#

    /// A Bluetooth headset that plays music. The profiles, nodes and routes are from
    /// https://github.com/luisbocanegra/linux-guide-split-audio-ports/issues/15 and
    /// https://github.com/saivert/pwvucontrol/issues/9; its icon's key has a hyphen.
    static let bluetoothHeadset = #"""
        [{"id": 70, "info": {
            "props": {"device.api": "bluez5", "device.bus": "bluetooth", "device.form-factor": "headset"},
            "params": {
              "EnumProfile": [{"index": 0, "name": "off", "available": "yes"},
                {"index": 131076, "name": "a2dp-sink", "priority": 134, "available": "yes"},
                {"index": 196865, "name": "headset-head-unit-msbc", "priority": 6, "available": "yes"},
                {"index": 196866, "name": "headset-head-unit", "priority": 7, "available": "yes"}],
              "Profile": [{"index": 131076, "name": "a2dp-sink"}],
              "Route": [{"index": 0, "direction": "Output", "name": "headset-output", "device": 1, "available": "yes",
                "info": [1, "device.icon-name", "audio-headset"]}]}}},
         {"id": 81, "info": {"props": {"media.class": "Audio/Sink", "node.name": "bluez_output.1", "device.id": 70,
            "device.api": "bluez5", "card.profile.device": 1, "api.bluez5.profile": "a2dp-sink",
            "api.bluez5.codec": "aac"}}},
         {"id": 30, "metadata": [{"key": "default.audio.sink", "value": {"name": "bluez_output.1"}}]}]
        """#

    /// The headset changes to its profile for calls. There are no nodes meanwhile (`bluez5-device.c`, `set_profile`).
    static let callProfile = #"""
        [{"t": 0, "id": 81, "info": null}, {"t": 2, "id": 70, "params": {"Route": []}},
         {"t": 800, "id": 82, "info": {"props": {"media.class": "Audio/Source", "node.name": "bluez_input.0",
            "device.id": 70, "device.api": "bluez5", "card.profile.device": 0,
            "api.bluez5.profile": "headset-head-unit", "api.bluez5.codec": "msbc"}}},
         {"t": 800, "id": 83, "info": {"props": {"media.class": "Audio/Sink", "node.name": "bluez_output.1",
            "device.id": 70, "device.api": "bluez5", "card.profile.device": 1,
            "api.bluez5.profile": "headset-head-unit", "api.bluez5.codec": "msbc"}}},
         {"t": 801, "id": 70, "params": {
            "Profile": [{"index": 196865, "name": "headset-head-unit-msbc"}],
            "Route": [{"index": 1, "direction": "Input", "name": "headset-input", "device": 0, "available": "yes"},
              {"index": 2, "direction": "Output", "name": "headset-hf-output", "device": 1, "available": "yes"}]}},
         {"t": 840, "id": 30, "metadata": [{"key": "default.audio.source", "value": {"name": "bluez_input.0"}}]}]
        """#
}
