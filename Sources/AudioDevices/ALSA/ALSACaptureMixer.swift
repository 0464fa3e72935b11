// SPDX-License-Identifier: Apache-2.0

import CEarshotALSA

/// The capture switches and volumes of a sound card's mixer.
struct ALSACaptureMixer: Hashable {
    /// True for each switch that lets sound through.
    var switches: [Bool] = []
    /// True for each volume above its minimum.
    var volumes: [Bool] = []

    /// The reason for which the card captures silence; nil if there is none. Cards have a switch for each converter, of which one
    /// is enough.
    var obstacle: RecordPermission.Reason? {
        if !switches.isEmpty, !switches.contains(true) { return .muted }
        return !volumes.isEmpty && !volumes.contains(true) ? .zeroVolume : nil
    }
}

extension ALSACaptureMixer {
    /// Reads the mixer of a card; empty if it cannot be opened.
    init(ofCard number: Int) {
        var mixer: OpaquePointer?
        guard snd_mixer_open(&mixer, 0) >= 0, let mixer else { return }
        defer { snd_mixer_close(mixer) }
        guard snd_mixer_attach(mixer, "hw:\(number)") >= 0, snd_mixer_selem_register(mixer, nil, nil) >= 0,
            snd_mixer_load(mixer) >= 0
        else { return }
        var next = snd_mixer_first_elem(mixer)
        while let element = next {
            next = snd_mixer_elem_next(element)
            let name = String(cString: snd_mixer_selem_get_name(element))
            let isCapture = name.hasPrefix("Capture") || name.hasPrefix("Mic") && !name.contains("Boost")
            if isCapture, snd_mixer_selem_has_capture_switch(element) != 0 {
                var isOn: CInt = 0
                if snd_mixer_selem_get_capture_switch(element, SND_MIXER_SCHN_FRONT_LEFT, &isOn) >= 0 {
                    switches.append(isOn != 0)
                }
            }
            if isCapture, snd_mixer_selem_has_capture_volume(element) != 0 {
                var (value, low, high) = (0, 0, 0)
                if snd_mixer_selem_get_capture_volume_range(element, &low, &high) >= 0,
                    snd_mixer_selem_get_capture_volume(element, SND_MIXER_SCHN_FRONT_LEFT, &value) >= 0
                {
                    volumes.append(value > low)
                }
            }
        }
    }
}
