// SPDX-License-Identifier: Apache-2.0

import CEarshotALSA
import Foundation
import Testing

@testable import EarshotAudioDevices

/// Tests the ports of a sound card with the controls of real machines, as `amixer contents` prints them.
@Suite struct ALSAJacksTests {
    /// Reads lines such as `numid=15,iface=CARD,name='Headphone Jack' : values=on`.
    private func jacks(_ text: String) -> ALSAJacks {
        var jacks = ALSAJacks()
        for line in text.split(separator: "\n") {
            guard let match = line.firstMatch(of: #/iface=(\w+),name='(.*)' *: values=(\w+)/#) else { continue }
            let interface = match.1 == "CARD" ? SND_CTL_ELEM_IFACE_CARD : SND_CTL_ELEM_IFACE_MIXER
            jacks.note(String(match.2), on: interface, isOn: match.3 == "on")
        }
        return jacks
    }

    private func device(
        _ jacks: ALSAJacks, device: Int = 0, deviceName: String = "ALC257 Analog"
    ) -> AudioDeviceDescription {
        let card = ALSACard(
            number: 0, cardID: "PCH", cardName: "HDA Intel PCH", device: device, deviceName: deviceName,
            hasCapture: true, hasPlayback: true, driver: "HDA-Intel", bus: "pci")
        var description = AudioDeviceDescription(
            id: card.id, backend: .alsa, name: card.name, transport: card.transport, form: card.form,
            inputChannelCount: 2, outputChannelCount: 2)
        jacks.apply(to: &description, card)
        return description
    }

    @Test func `a headset is headphones first and a headset when its microphone is noticed`() {
        // https://github.com/thesofproject/linux/issues/1629 has these controls; pull 3195 there has the delay of the second.
        let steps: [(String, String, AudioDeviceDescription.Form)] = [
            ("off", "off", .speaker), ("on", "off", .headphones), ("on", "on", .headset), ("off", "off", .speaker),
        ]
        for (headphones, microphone, form) in steps {
            let found = device(
                jacks(
                    """
                    numid=15,iface=CARD,name='Headphone Jack' : values=\(headphones)
                    numid=12,iface=CARD,name='Mic Jack' : values=\(microphone)
                    """))
            #expect(found.form == form)
            #expect(found.portName == (headphones == "on" ? "headphones" : "speaker"))
            #expect(found.ports[1].availability == (headphones == "on" ? .available : .unavailable))
            #expect(found.isAvailable)
        }
    }

    @Test func `phantom jacks and a mixer's jack switches are no jacks`() {
        // https://pastebin.com/Vyfm8abz and https://github.com/thesofproject/linux/issues/1410
        let states = jacks(
            """
            numid=1,iface=CARD,name='CD Phantom Jack' : values=on
            numid=2,iface=CARD,name='SPDIF Phantom Jack' : values=on
            numid=3,iface=CARD,name='Headset Mic Phantom Jack' : values=on
            numid=4,iface=MIXER,name='Headphone Jack Switch' : values=on
            numid=5,iface=MIXER,name='Headphone Jack' : values=on
            """)
        #expect(states.states.isEmpty && states.hasMicrophone == nil)
        #expect(device(states).form == .unknown && device(states).ports.isEmpty)
    }

    @Test func `one working control of several is enough`() {
        // https://github.com/omacom/omarchy/issues/8735
        let text = """
            numid=1,iface=CARD,name='Headphone Front Jack' : values=off
            numid=2,iface=CARD,name='Headphone Surround Jack' : values=on
            """
        #expect(device(jacks(text)).form == .headphones)
        // A jack for headphones or a microphone tells nothing about headphones.
        #expect(device(jacks("numid=1,iface=CARD,name='Headphone Mic Jack' : values=on")).ports.isEmpty)
    }

    @Test func `a control that appears twice is on if one of the two is`() {
        let text = """
            numid=1,iface=CARD,name='Headphone Jack' : values=on
            numid=2,iface=CARD,name='Headphone Jack' : values=off
            """
        #expect(device(jacks(text)).form == .headphones)
    }

    @Test func `only the first PCM has the sockets, and a screen is one that is connected or not`() {
        let states = jacks(
            """
            numid=15,iface=CARD,name='Headphone Jack' : values=on
            numid=16,iface=CARD,name='HDMI/DP,pcm=7 Jack' : values=off
            numid=17,iface=CARD,name='HDMI/DP,pcm=3 Jack' : values=on
            """)
        #expect(device(states, device: 2, deviceName: "ALC257 Alt Analog").ports.isEmpty)
        #expect(!device(states, device: 7, deviceName: "HDMI 1").isAvailable)
        #expect(device(states, device: 3, deviceName: "HDMI 0").isAvailable)
        #expect(device(states, device: 8, deviceName: "HDMI 2").ports.isEmpty)
    }

    @Test func `a built-in microphone is known by its control`() {
        let text = "numid=1,iface=CARD,name='Internal Mic Phantom Jack' : values=on"
        #expect(jacks(text).hasInternalMicrophone && jacks(text).hasMicrophone == nil)
        #expect(jacks("numid=1,iface=CARD,name='Rear Mic Jack' : values=off").hasMicrophone == false)
    }
}
