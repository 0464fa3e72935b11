// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDevices
import EarshotCall
import EarshotMediaTransport
import EarshotPlayout

extension CallSimulation {
    /// The repair of lost packets.
    package enum Repair: String, CaseIterable, Sendable {
        /// The native peers' repair: copies in later packets, packets of their own, and requested ones.
        case all
        /// By what Opus packets carry of the one before (in-band FEC) alone, as with a browser.
        case codec
        /// Not at all: what is lost is concealed.
        case none
    }

    /// The configuration of a simulated call.
    package struct Configuration {
        /// One of the peers: its sound card, and what its microphone hears.
        package struct Peer {
            /// Hertz, nominal; 8,000 to 384,000.
            package var sampleRate = 48_000.0
            /// Frames that the card hands over at a time.
            package var blockFrameCount = 128
            /// The speed of its crystal, in parts per million; −10,000 to 10,000.
            package var driftPPM = 0.0
            /// The card's events; steps of its drift among them.
            package var cardEvents: [SimulatedCard.Event] = []
            /// The sound at its microphone; nil for a murmur of its own.
            package var sound: SimulatedSound?
            /// The processing of its voice.
            package var voice: (CallConfiguration) throws -> CallVoice? = { _ in nil }

            /// A card of 48 kHz and 128 frames with a perfect crystal, unless said otherwise.
            package init() {}
        }

        /// Two to eight.
        package var peers = [Peer(), Peer()]
        /// The only codec to use; nil for what a call agrees on by itself.
        package var codec: Codec?
        /// Channels to send, 1 or 2.
        package var channelCount = 1
        /// The repair of lost packets, both ways.
        package var repair = Repair.all
        /// Milliseconds of an Opus packet: 2.5, 5, 10 or 20; nil for what a call agrees on by itself.
        package var opusFrameMilliseconds: Double?
        /// Bits a second for AAC and Opus; nil for what a call uses by itself.
        package var bitRate: Int?
        /// True if peers adapt their bit rate to a slow link.
        package var changesRate = true
        /// Each way between any two.
        package var network = NetworkProfile.lan
        /// The dial of playout.
        package var dial = PlayoutDial.talk
        /// True if packets are protected (SRTP, AES-128-GCM) as in a real call; it costs time and is not heard.
        package var isEncrypted = false
        /// Second of the call from which on the report counts.
        package var measuresFrom = 0.0
        /// An existing folder for what each peer said and heard, `peer-1-mic.wav`, `peer-1-heard.wav` and so on; nil for
        /// none.
        package var outputFolder: String?
        /// The same seed gives the same bytes.
        package var seed: UInt64 = 1

        /// Second of the call from which on ``SimulatedPeer/heard`` is kept; nil for never.
        package var keepsFrom: Double?
        /// True if ``SimulatedPeer/history`` is kept.
        package var keepsHistory = false
        /// Seconds that a card may skip at a time.
        package var longestSkip = 0.0
        /// True if the call begins without peers.
        package var startsEmpty = false

        /// Two peers on a wired network, unless said otherwise.
        package init() {}

        func preferences(_ peer: Peer) -> CallPreferences {
            var preferences = CallPreferences(
                codec: codec, channelCount: channelCount, opusFrameMilliseconds: opusFrameMilliseconds,
                bitRate: bitRate, deviceRate: peer.sampleRate, deviceBlock: peer.blockFrameCount)
            preferences.dial = dial
            preferences.allowsRepair = repair == .all
            preferences.changesRate = changesRate
            return preferences
        }
    }
}
