// SPDX-License-Identifier: Apache-2.0

import CEarshotALSA

/// The states of a sound card's jack controls, and the ports that they tell.
///
/// A jack control belongs to the card's interface and is on while a plug is in. A control of a socket without a sensor is called
/// "Phantom Jack" and is always on. A mixer's "Jack Switch" is a switch of the driver and no jack.
struct ALSAJacks: Hashable {
    /// True for each jack control that is on, by the control's name.
    private(set) var states: [String: Bool] = [:]

    /// True if a control belongs to a built-in microphone.
    private(set) var hasInternalMicrophone = false

    /// Notes a control; ignores controls that are no jacks.
    mutating func note(_ name: String, on interface: snd_ctl_elem_iface_t, isOn: Bool) {
        if name.hasPrefix("Internal Mic") { hasInternalMicrophone = true }
        guard Self.isJack(name, on: interface) else { return }
        // Cards may have several controls of one name.
        states[name] = isOn || states[name] ?? false
    }

    static func isJack(_ name: String, on interface: snd_ctl_elem_iface_t) -> Bool {
        interface == SND_CTL_ELEM_IFACE_CARD && name.hasSuffix(" Jack") && !name.hasSuffix(" Phantom Jack")
    }

    /// The names of the ports.
    enum PortName {
        static let headphones = "headphones"
        static let speaker = "speaker"
        static let screen = "hdmi"
    }

    /// True if a plug of headphones is in; nil if the card has no such jack. One working control of several is enough: others may
    /// be stuck.
    private var hasHeadphones: Bool? {
        let jacks = states.filter {
            ($0.key.contains("Headphone") || $0.key.contains("Headset")) && !$0.key.contains("Mic")
        }
        return jacks.isEmpty ? nil : jacks.values.contains(true)
    }

    /// True if a plug of a microphone is in; nil if the card has no such jack.
    var hasMicrophone: Bool? {
        let jacks = states.filter { $0.key.contains("Mic") && !$0.key.contains("Internal") }
        return jacks.isEmpty ? nil : jacks.values.contains(true)
    }

    /// Sets the ports of a PCM's description, and its form to that of the port in use. Without a jack for the PCM the description
    /// stays as it is.
    func apply(to description: inout AudioDeviceDescription, _ card: ALSACard) {
        typealias Port = AudioDeviceDescription.Port
        guard description.has(.output) else { return }
        if card.transport == .hdmi {
            guard let isOn = states["HDMI/DP,pcm=\(card.device) Jack"] else { return }
            description.ports = [
                Port(name: PortName.screen, form: .speaker, availability: isOn ? .available : .unavailable)
            ]
            description.portName = PortName.screen
            return
        }
        // The first PCM of a card is the one with the sockets.
        guard card.device == 0, let hasHeadphones else { return }
        let form: AudioDeviceDescription.Form = hasHeadphones && hasMicrophone == true ? .headset : .headphones
        description.ports = [
            Port(name: PortName.speaker, form: .speaker),
            Port(name: PortName.headphones, form: form, availability: hasHeadphones ? .available : .unavailable),
        ]
        description.portName = hasHeadphones ? PortName.headphones : PortName.speaker
        description.form = hasHeadphones ? form : .speaker
    }
}

extension ALSAJacks {
    /// Reads the jack controls of a card; none if the card's control device cannot be opened.
    init(ofCard number: Int) {
        guard let control = ALSAControl(card: number) else { return }
        var list: OpaquePointer?
        var id: OpaquePointer?
        var value: OpaquePointer?
        guard snd_ctl_elem_list_malloc(&list) >= 0, let list else { return }
        defer { snd_ctl_elem_list_free(list) }
        guard snd_ctl_elem_id_malloc(&id) >= 0, let id else { return }
        defer { snd_ctl_elem_id_free(id) }
        guard snd_ctl_elem_value_malloc(&value) >= 0, let value else { return }
        defer { snd_ctl_elem_value_free(value) }
        guard snd_ctl_elem_list(control.handle, list) >= 0,
            snd_ctl_elem_list_alloc_space(list, snd_ctl_elem_list_get_count(list)) >= 0
        else { return }
        defer { snd_ctl_elem_list_free_space(list) }
        guard snd_ctl_elem_list(control.handle, list) >= 0 else { return }
        for i in 0..<snd_ctl_elem_list_get_used(list) {
            guard let text = snd_ctl_elem_list_get_name(list, i) else { continue }
            let name = String(cString: text)
            let interface = snd_ctl_elem_list_get_interface(list, i)
            guard interface == SND_CTL_ELEM_IFACE_CARD else { continue }
            snd_ctl_elem_list_get_id(list, i, id)
            snd_ctl_elem_value_set_id(value, id)
            guard snd_ctl_elem_read(control.handle, value) >= 0 else { continue }
            note(name, on: interface, isOn: snd_ctl_elem_value_get_boolean(value, 0) != 0)
        }
    }
}

/// A card's control device, opened for reading; closed when released.
final class ALSAControl: @unchecked Sendable {  // its handle is used by one thread at a time
    let handle: OpaquePointer

    /// Opens the control device; nil if it cannot be opened.
    init?(card number: Int) {
        var handle: OpaquePointer?
        guard snd_ctl_open(&handle, "hw:\(number)", SND_CTL_NONBLOCK | SND_CTL_READONLY) >= 0, let handle else {
            return nil
        }
        self.handle = handle
    }

    deinit { snd_ctl_close(handle) }
}
