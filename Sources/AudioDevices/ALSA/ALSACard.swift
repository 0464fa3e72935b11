// SPDX-License-Identifier: Apache-2.0

import CEarshotALSA
import Foundation

/// A PCM of a sound card in the kernel's list.
struct ALSACard: Hashable {
    /// The kernel's number of the card, which may change when the card is replugged.
    var number: Int
    /// The card's id in ALSA, which stays the same when the card is replugged.
    var cardID: String
    /// The card's long name without ALSA's bus address.
    var cardName: String
    /// The PCM's number on the card.
    var device: Int
    /// The driver's name for the PCM.
    var deviceName: String
    var hasCapture: Bool
    var hasPlayback: Bool
    /// The name of the card's driver.
    var driver: String
    /// The card's bus: "usb", "pci", "platform", "bluetooth"; empty if the kernel does not say.
    var bus: String
    /// True if the card has several PCMs.
    var cardHasSeveralPCMs = false

    /// The PCM's name in ``AudioDeviceDescription/id`` and in libasound. A Raspberry Pi's HDMI accepts only IEC 958 frames, which
    /// libasound's PCM `hdmi` makes.
    var id: String { "\(driver.hasPrefix("vc4-hdmi") ? "hdmi" : "hw"):CARD=\(cardID),DEV=\(device)" }
    /// The PCM's name, as shown to users.
    var name: String { cardHasSeveralPCMs ? "\(cardName), \(deviceName)" : cardName }

    /// The kind of connection of the card, by its bus, driver and names.
    var transport: AudioDeviceDescription.Transport {
        let searchText = "\(deviceName) \(driver) \(cardName)".lowercased()
        if searchText.contains("hdmi") || searchText.contains("displayport") { return .hdmi }
        switch bus {
        case "usb": return .usb
        case "bluetooth": return .bluetooth
        case "": return driver == "USB-Audio" ? .usb : driver == "Loopback" || driver == "Dummy" ? .virtual : .unknown
        default: return driver == "Loopback" || driver == "Dummy" ? .virtual : .builtIn
        }
    }

    /// The PCM's physical form, guessed from the names and directions.
    var form: AudioDeviceDescription.Form {
        let searchText = "\(deviceName) \(cardName)".lowercased()
        if transport == .hdmi { return .speaker }
        if searchText.contains("headset") || searchText.contains("airpods") { return .headset }
        if searchText.contains("headphone") || searchText.contains("earphone") {
            return hasCapture ? .headset : .headphones
        }
        if searchText.contains("speaker") { return .speaker }
        if searchText.contains("mic") && !searchText.contains("micro-") || searchText.contains("webcam") {
            return .microphone
        }
        if searchText.contains("line") { return .line }
        return hasCapture && !hasPlayback ? .microphone : .unknown
    }

    /// Returns the card's id in a PCM's ``id``; nil for PCMs without a card.
    static func cardID(of id: String) -> String? {
        guard let at = id.range(of: ":CARD=") else { return nil }
        return String(id[at.upperBound...].prefix { $0 != "," })
    }

    /// Returns a card's long name without the port: "Scarlett 2i2 USB" for "Scarlett 2i2 USB at usb-0000:00:14.0-1, high speed".
    static func shortened(_ longName: String) -> String {
        guard let at = longName.range(of: " at ", options: .backwards), at.lowerBound > longName.startIndex else {
            return longName
        }
        return String(longName[..<at.lowerBound])
    }

    /// Returns all PCMs of all cards. Only the cards' control devices are opened, so busy PCMs are included.
    static func all() -> [ALSACard] {
        var cards: [ALSACard] = []
        var number: CInt = -1
        while snd_card_next(&number) >= 0, number >= 0 { cards += pcms(of: number) }
        return cards
    }

    private static func pcms(of number: CInt) -> [ALSACard] {
        var control: OpaquePointer?
        guard snd_ctl_open(&control, "hw:\(number)", 0) >= 0, let control else { return [] }
        defer { snd_ctl_close(control) }
        var card: OpaquePointer?
        guard snd_ctl_card_info_malloc(&card) >= 0, let card else { return [] }
        defer { snd_ctl_card_info_free(card) }
        var info: OpaquePointer?
        guard snd_ctl_card_info(control, card) >= 0, snd_pcm_info_malloc(&info) >= 0, let info else { return [] }
        defer { snd_pcm_info_free(info) }
        func string(_ text: UnsafePointer<CChar>?) -> String { text.map { String(cString: $0) } ?? "" }
        let bus =
            (try? FileManager.default.destinationOfSymbolicLink(
                atPath: "/sys/class/sound/card\(number)/device/subsystem")) ?? ""
        var found: [ALSACard] = []
        var device: CInt = -1
        while snd_ctl_pcm_next_device(control, &device) >= 0, device >= 0 {
            var name = ""
            func has(_ stream: snd_pcm_stream_t) -> Bool {
                snd_pcm_info_set_device(info, CUnsignedInt(device))
                snd_pcm_info_set_subdevice(info, 0)
                snd_pcm_info_set_stream(info, stream)
                guard snd_ctl_pcm_info(control, info) >= 0 else { return false }
                name = string(snd_pcm_info_get_name(info))
                return true
            }
            let (hasCapture, hasPlayback) = (has(SND_PCM_STREAM_CAPTURE), has(SND_PCM_STREAM_PLAYBACK))
            found.append(
                ALSACard(
                    number: Int(number), cardID: string(snd_ctl_card_info_get_id(card)),
                    cardName: shortened(string(snd_ctl_card_info_get_longname(card))), device: Int(device),
                    deviceName: name, hasCapture: hasCapture, hasPlayback: hasPlayback,
                    driver: string(snd_ctl_card_info_get_driver(card)),
                    bus: String(bus.split(separator: "/").last ?? "")))
        }
        if found.count > 1 { for i in found.indices { found[i].cardHasSeveralPCMs = true } }
        return found
    }
}
