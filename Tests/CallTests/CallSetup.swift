// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime
import EarshotAudioBase
import EarshotCall
import EarshotMediaTransport
import EarshotSimulation
import TestSupport

/// A call of two that keeps all received sound; by default mono, with 48 kHz cards and without packet loss.
struct CallSetup {
    /// The sound at a microphone: a sample for a frame and a channel, counted at the card's sample rate.
    typealias Sound = (_ frame: Int, _ channel: Int) -> Float
    typealias VoiceMaker = (CallConfiguration) throws -> CallVoice?

    var codec = Codec.pcm
    var repair = CallSimulation.Repair.all
    var channelCount = 1
    var opusFrameMilliseconds: Double?
    /// Sample rate in hertz, frames per block and drift in ppm of the host's card and of the guest's.
    var rates = (48_000.0, 48_000.0)
    var blocks = (256, 256)
    var drifts = (0.0, 0.0)
    var seed: UInt64 = 1
    /// Seconds at the start of the call whose received sound is not kept.
    var keepsFrom = 0.0
    /// The longest time in seconds that a card may skip.
    var longestSkip = 0.0
    var says: Sound = { frame, channel in sine(frame, frequency: channel == 0 ? 440 : 660, rate: 48_000) }
    /// The same for the guest; nil for the host's.
    var guestSays: Sound?
    /// The voice processing of host and guest.
    var voices: (VoiceMaker, VoiceMaker) = ({ _ in nil }, { _ in nil })

    var configuration: CallSimulation.Configuration {
        var configuration = CallSimulation.Configuration()
        configuration.codec = codec
        configuration.repair = repair
        configuration.channelCount = channelCount
        configuration.opusFrameMilliseconds = opusFrameMilliseconds
        configuration.network = NetworkProfile()
        configuration.seed = seed
        configuration.keepsFrom = keepsFrom
        configuration.keepsHistory = true
        configuration.longestSkip = longestSkip
        configuration.peers = [
            peer(rates.0, blocks.0, drifts.0, says, voices.0),
            peer(rates.1, blocks.1, drifts.1, guestSays ?? says, voices.1),
        ]
        return configuration
    }

    private func peer(
        _ rate: Double, _ block: Int, _ drift: Double, _ says: @escaping Sound, _ voice: @escaping VoiceMaker
    ) -> CallSimulation.Configuration.Peer {
        var peer = CallSimulation.Configuration.Peer()
        peer.sampleRate = rate
        peer.blockFrameCount = block
        peer.driftPPM = drift
        peer.sound = SimulatedSound(says)
        peer.voice = voice
        return peer
    }
}

/// A call of several that keeps all received sound. At first it has no members.
struct RoomSetup {
    var codec = Codec.pcm
    var count = 3
    var block = 128
    /// The drift of each end's card in ppm.
    var drifts: [Double] = []
    var seed: UInt64 = 1
    var says: (_ end: Int, _ frame: Int) -> Float

    var configuration: CallSimulation.Configuration {
        var configuration = CallSimulation.Configuration()
        configuration.codec = codec
        configuration.opusFrameMilliseconds = 5
        configuration.network = NetworkProfile()
        configuration.seed = seed
        configuration.keepsFrom = 0
        configuration.startsEmpty = true
        configuration.peers = (0..<count).map { end in
            var peer = CallSimulation.Configuration.Peer()
            peer.blockFrameCount = block
            peer.driftPPM = drifts.isEmpty ? 0 : drifts[end]
            peer.sound = SimulatedSound { [says] frame, _ in says(end, frame) }
            return peer
        }
        return configuration
    }
}

extension CallSimulation {
    init(_ setup: CallSetup) throws { try self.init(setup.configuration) }
    init(_ setup: RoomSetup) throws { try self.init(setup.configuration) }

    /// Returns the negotiated configurations.
    static func negotiate(_ setup: CallSetup) throws -> (host: CallConfiguration, guest: CallConfiguration) {
        let simulation = try CallSimulation(setup)
        return (simulation.peers[0].configuration, simulation.peers[1].configuration)
    }
}

/// Returns the level of a tone among others, at 48 kHz.
func amplitude(_ samples: ArraySlice<Float>, frequency: Double) -> Double {
    var (a, b) = (0.0, 0.0)
    for (n, x) in samples.enumerated() {
        let angle = 2 * Double.pi * frequency / 48_000 * Double(n)
        a += Double(x) * earshot_cos(angle)
        b += Double(x) * earshot_sin(angle)
    }
    return 2 * (a * a + b * b).squareRoot() / Double(max(1, samples.count))
}
