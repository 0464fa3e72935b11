// SPDX-License-Identifier: Apache-2.0

import ExportedCard
import TestSupport
import TestTraits
import Testing

@testable import EarshotAudioDevices

/// Tests requests for the microphone of a headset whose card is in a real server. Wireplumber changes the profile if the card has
/// a route for the microphone.
@Suite(.serialized, .realTime, .needs("pipewire")) struct ExportedHeadsetTests {
    private func callNodes(_ card: ExportedCard, _ server: PipeWireServer) throws {
        let properties = ["api.bluez5.profile": "headset-head-unit", "api.bluez5.codec": "msbc"]
        try server.add(.sink("bluez_output.1", card.node(0, properties)))
        try server.add(.source("bluez_input.0", card.node(1, properties)))
    }

    private func addMusicNode(_ card: ExportedCard, _ server: PipeWireServer, _ system: PipeWireSystem) throws {
        try server.add(.sink("bluez_output.1", card.node(0, ["api.bluez5.profile": "a2dp-sink"])))
        #expect(
            eventually { system["bluez_output.1"]?.headsetProfile == .music(hasCallProfile: true) })
        #expect(eventually { system["bluez_output.1"]?.isDefaultOutput == true })
        #expect(eventually { system[card]?.profiles.first?.index == 1 })
        #expect(eventually { profiles(card) == [1] }, "wireplumber's choice for a new card")
    }

    /// The profiles that were requested so far.
    private func profiles(_ card: ExportedCard) -> [Int] {
        card.requests.filter { $0.list == .profiles }.map(\.index)
    }

    @Test func `a request for a headset's microphone changes its profile, which is noticed, and its end restores it`()
        throws
    {
        let card = ExportedCard.headset(hasMicrophoneRoute: true)
        try card.running { server, system in
            try addMusicNode(card, server, system)
            let request = system.requestMicrophone(ofHeadset: "bluez_output.1")
            #expect(eventually { profiles(card) == [1, 2] })
            try server.remove("bluez_output.1")
            card.obey()
            #expect(eventually { system.registry.contents.reconfigured == ["bluez_output.1"] })
            try callNodes(card, server)
            let call = AudioDeviceDescription.HeadsetProfile.call(codec: "msbc", sampleRate: 16_000)
            #expect(eventually { system["bluez_input.0"]?.headsetProfile == call })
            #expect(system["bluez_output.1"]?.headsetProfile == call)
            #expect(system.registry.contents.reconfigured.isEmpty)
            request.end()
            #expect(eventually { profiles(card) == [1, 2, 1] }, "wireplumber's, after two seconds")
        }
    }

    @Test func `a headset that the session manager leaves alone is set, and restored`() throws {
        let card = ExportedCard.headset(hasMicrophoneRoute: false)
        try card.running { server, system in
            try addMusicNode(card, server, system)
            let request = system.requestMicrophone(ofHeadset: "bluez_output.1")
            request.force()
            #expect(eventually { profiles(card) == [1, 2] })
            card.obey()
            #expect(eventually { system[card]?.profiles.first?.name == "headset-head-unit" })
            request.end()
            #expect(eventually { profiles(card) == [1, 2, 1] })
        }
    }

    @Test func `a profile that the user chose after it was set is left alone`() throws {
        let card = ExportedCard.headset(hasMicrophoneRoute: false)
        try card.running { server, system in
            try addMusicNode(card, server, system)
            let request = system.requestMicrophone(ofHeadset: "bluez_output.1")
            request.force()
            #expect(eventually { profiles(card) == [1, 2] })
            card.profiles = [card.possibleProfiles[0]]
            card.announce(.profiles)
            #expect(eventually { system[card]?.profiles.first?.name == "off" })
            request.end()
            // The server gets the requests in order: after this one, all have come.
            let next = system.requestMicrophone(ofHeadset: "bluez_output.1")
            next.force()
            #expect(eventually { profiles(card).count > 2 })
            #expect(profiles(card) == [1, 2, 2])
        }
    }

    @Test func `the end of a request for a headset that is gone changes no other card of its number`() throws {
        let card = ExportedCard.headset(hasMicrophoneRoute: false)
        try card.running { server, system in
            try addMusicNode(card, server, system)
            let number = card.number
            let request = system.requestMicrophone(ofHeadset: "bluez_output.1")
            request.force()
            #expect(eventually { profiles(card) == [1, 2] })
            card.remove()
            #expect(eventually { system["bluez_output.1"]?.headsetProfile == nil })
            // The server gives free numbers to new cards, in an order of its own.
            var cards: [ExportedCard] = []
            while cards.last?.number != number, cards.count < 200 {
                let other = ExportedCard.headset(hasMicrophoneRoute: false)
                other.possibleProfiles[1].index = 7
                other.profiles = [other.possibleProfiles[1]]
                try other.export(to: server)
                cards.append(other)
            }
            let other = try #require(cards.last)
            try #require(other.number == number)
            #expect(eventually { system[other]?.profiles.first?.index == 7 })
            request.end()
            let next = system.requestMicrophone(ofHeadset: "bluez_output.1")
            next.force()
            #expect(eventually { profiles(other).contains(2) })
            #expect(!profiles(other).contains(1), "\(profiles(other))")
        }
    }
}
