// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDevices
import EarshotCall
import EarshotMediaTransport
import EarshotPlayout

extension CallSimulation {
    /// The repair of lost packets.
    package enum Repair: String, CaseIterable, Sendable {
        /// Redundant copies in later packets, repeated packets, and packets resent on request, as between native peers.
        case all
        /// Opus's in-band FEC only, as with a browser.
        case codec
        /// No repair: lost packets are concealed.
        case none
    }

    /// The configuration of a simulated call.
    package struct Configuration {
        /// A peer's sound card, microphone sound and voice processing.
        package struct Peer {
            /// The nominal rate in hertz; 8,000 to 384,000.
            package var sampleRate = 48_000.0
            /// The frames in a block of the card.
            package var blockFrameCount = 128
            /// The deviation of the card's true rate from the nominal rate in parts per million; −10,000 to 10,000.
            package var driftPPM = 0.0
            /// The host clock, to which the card's and the media's times belong. The report compares times of different peers,
            /// so its delays are those of peers with equal clocks only.
            package var hostClock = PeerHostClock()
            /// The card's events, including steps of its drift.
            package var cardEvents: [SimulatedCard.Event] = []
            /// The microphone's sound; nil for different speech-like noise for each peer.
            package var sound: SimulatedSound?
            /// Creates the processing of the peer's voice, from the negotiated configuration; nil for none.
            package var voice: (CallConfiguration) throws -> CallVoice? = { _ in nil }

            /// Creates a peer; by default with a card of 48 kHz and 128 frames and a perfect crystal.
            package init() {}
        }

        /// The peers, two to eight.
        package var peers = [Peer(), Peer()]
        /// The only codec to use; nil for the call's choice.
        package var codec: Codec?
        /// The channels to send, 1 or 2.
        package var channelCount = 1
        /// The repair of lost packets, both ways.
        package var repair = Repair.all
        /// The milliseconds of an Opus packet: 2.5, 5, 10 or 20; nil for the call's choice.
        package var opusFrameMilliseconds: Double?
        /// The bits a second of AAC and Opus; nil for the call's choice.
        package var bitRate: Int?
        /// True if peers adapt their bit rate to a slow link.
        package var changesRate = true
        /// The network of each path.
        package var network = NetworkProfile.lan
        /// The latency profile of playout.
        package var latencyProfile = LatencyProfile.talk
        /// True to protect packets (SRTP, AES-128-GCM) as in a real call. This takes computing time and does not change the
        /// sound.
        package var isEncrypted = false
        /// The second of the call at which the measurements for the report begin.
        package var measuresFrom = 0.0
        /// An existing folder for the sound of each peer, `peer-1-mic.wav`, `peer-1-heard.wav` and so on; nil for none.
        package var outputFolder: String?
        /// The seed: the same seed gives the same bytes.
        package var seed: UInt64 = 1

        /// The second of the call from which the loudspeaker's sound is kept in ``SimulatedPeer/heard``; nil for never.
        package var keepsFrom: Double?
        /// True to keep ``SimulatedPeer/history``.
        package var keepsHistory = false
        /// The maximum seconds that a card may skip at a time.
        package var longestSkip = 0.0
        /// True if the call begins without peers.
        package var startsEmpty = false

        /// Creates a configuration; by default of two peers on a wired network.
        package init() {}

        func preferences(_ peer: Peer) -> CallPreferences {
            var preferences = CallPreferences(
                codec: codec, channelCount: channelCount, opusFrameMilliseconds: opusFrameMilliseconds,
                bitRate: bitRate, deviceRate: peer.sampleRate, deviceBlock: peer.blockFrameCount)
            preferences.latencyProfile = latencyProfile
            preferences.allowsRepair = repair == .all
            preferences.changesRate = changesRate
            return preferences
        }
    }
}
