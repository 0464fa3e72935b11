// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@testable import EarshotAudioDevices

@Suite("ALSACard") struct ALSACardTests {
    /// The names that these cards report.
    private static func card(
        _ cardName: String, _ deviceName: String, driver: String, bus: String, capture: Bool, playback: Bool
    ) -> ALSACard {
        ALSACard(
            number: 1, cardID: "X", cardName: ALSACard.shortened(cardName), device: 0, deviceName: deviceName,
            hasCapture: capture, hasPlayback: playback, driver: driver, bus: bus)
    }

    static let cards: [(ALSACard, String, AudioDeviceDescription.Transport, AudioDeviceDescription.Form)] = [
        (
            card(
                "Focusrite Scarlett 2i2 USB at usb-0000:00:14.0-1, high speed", "USB Audio", driver: "USB-Audio",
                bus: "usb", capture: true, playback: true),
            "Focusrite Scarlett 2i2 USB", .usb, .unknown
        ),
        (
            card(
                "HDA Intel PCH at 0xdf240000 irq 130", "ALC257 Analog", driver: "HDA-Intel", bus: "pci", capture: true,
                playback: true),
            "HDA Intel PCH", .builtIn, .unknown
        ),
        (
            card(
                "HDA Intel PCH at 0xdf240000 irq 130", "HDMI 0", driver: "HDA-Intel", bus: "pci", capture: false,
                playback: true),
            "HDA Intel PCH", .hdmi, .speaker
        ),
        (
            card(
                "vc4-hdmi-0", "MAI PCM i2s-hifi-0", driver: "vc4-hdmi", bus: "platform", capture: false, playback: true),
            "vc4-hdmi-0", .hdmi, .speaker
        ),
        (
            card(
                "bcm2835 Headphones", "bcm2835 Headphones", driver: "bcm2835_headpho", bus: "platform", capture: false,
                playback: true),
            "bcm2835 Headphones", .builtIn, .headphones
        ),
        (
            card(
                "Logitech USB Headset at usb-0000:01:00.0-1.2, full speed", "USB Audio", driver: "USB-Audio",
                bus: "usb",
                capture: true, playback: true),
            "Logitech USB Headset", .usb, .headset
        ),
        (
            card(
                "Blue Microphones Yeti at usb-1", "USB Audio", driver: "USB-Audio", bus: "", capture: true,
                playback: false),
            "Blue Microphones Yeti", .usb, .microphone
        ),
        (
            card("Loopback 1", "Loopback PCM", driver: "Loopback", bus: "platform", capture: true, playback: true),
            "Loopback 1", .virtual, .unknown
        ),
    ]

    @Test("a card's name, transport and form are recognized", arguments: cards)
    func description(
        _ card: ALSACard, _ name: String, _ transport: AudioDeviceDescription.Transport,
        _ form: AudioDeviceDescription.Form
    ) {
        #expect(card.name == name && card.transport == transport && card.form == form)
        #expect(card.id == (card.driver == "vc4-hdmi" ? "hdmi" : "hw") + ":CARD=X,DEV=0")
        #expect(ALSACard.cardID(of: card.id) == "X")
    }

    @Test("the name of a card with several PCMs includes the PCM's own name")
    func several() {
        var card = Self.cards[2].0
        card.cardHasSeveralPCMs = true
        #expect(card.name == "HDA Intel PCH, HDMI 0")
    }

    @Test("libasound error codes are mapped to distinct errors")
    func errors() {
        func error(_ code: CInt, _ device: String = "hw:CARD=X,DEV=0", _ call: ALSACall = .open) -> AudioDeviceError {
            .alsa(-code, call: call.name, device: device)
        }
        #expect(error(EBUSY) == .busy(device: "hw:CARD=X,DEV=0"))
        #expect(error(EACCES) == .notPermitted(device: "hw:CARD=X,DEV=0"))
        #expect(error(EPERM) == .notPermitted(device: "hw:CARD=X,DEV=0"))
        #expect(error(ENOENT) == .deviceGone(name: "hw:CARD=X,DEV=0"))
        #expect(error(ENOENT, "speeker") == .noDevice(name: "speeker", near: []))
        #expect(error(ENODEV) == .deviceGone(name: "hw:CARD=X,DEV=0"))
        #expect(error(EBADFD, "card", .read) == .deviceGone(name: "card"))
        #expect(error(EHOSTDOWN, "pipewire") == .noServer(.alsa, server: "pipewire", onPipeWire: false))
        #expect(error(ETIME, "card", .wait) == .stalled(device: "card", seconds: 1))
        #expect(error(EIO, "card", .write) == .callFailed(.alsa, call: "snd_pcm_writei", code: Int(EIO)))
    }
}

@Suite("ALSAWatcher") struct ALSAWatcherTests {
    private final class Count: @unchecked Sendable {  // the lock is around both uses
        private let lock = NSLock()
        private var count = 0
        var value: Int { lock.withLock { count } }
        func add() { lock.withLock { count += 1 } }
    }

    @Test("a card is noticed when it appears or disappears, even in a new folder")
    func events() throws {
        let parent = "\(NSTemporaryDirectory())earshot-watch-\(getpid())"
        let folder = "\(parent)/snd"
        try FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: parent) }
        let (looks, ticks) = (Count(), Count())
        let watcher = ALSAWatcher(folder: folder, tickInterval: 0.05)
        watcher.start(tick: { ticks.add() }, look: { looks.add() })
        defer { watcher.stop() }
        func file(_ name: String) { _ = FileManager.default.createFile(atPath: "\(parent)/\(name)", contents: nil) }
        file("unrelated")
        #expect(eventually { ticks.value >= 10 })
        #expect(looks.value == 0)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        #expect(eventually { looks.value == 1 })
        file("snd/pcmC0D0p")
        #expect(eventually { looks.value == 2 })
        file("snd/timer")
        unlink("\(folder)/pcmC0D0p")
        #expect(eventually { looks.value == 3 })
    }

    @Test("inotify records are parsed, even if truncated")
    func records() {
        func record(_ name: String, _ length: Int) -> [UInt8] {
            var bytes: [UInt8] = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, UInt8(length), 0, 0, 0]
            bytes += Array(name.utf8) + [UInt8](repeating: 0, count: length - name.utf8.count)
            return bytes
        }
        let bytes = record("snd", 16) + record("pcmC0D0c", 16) + record("", 0)
        #expect(ALSAWatcher.names(bytes[...]) == ["snd", "pcmC0D0c", ""])
        for count in 0..<bytes.count { #expect(ALSAWatcher.names(bytes.prefix(count)).count <= 3) }
    }
}
