// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

@testable import EarshotPlayout

/// A second listener beside the user of a ``PlayoutRig``: it gets the same packets, and pulls the same cycles some time later.
final class RecordingRig {
    let playout: Playout
    /// The seconds by which it pulls cycles late; 0 to pull each at once.
    let lag: Double
    /// The device clock's deviation from true time in ppm.
    var receiverPPM = 0.0
    private(set) var output: [Float] = []
    private(set) var history: [(time: Double, statistics: PlayoutStatistics)] = []
    private let block: Int
    private let buffer: AudioBuffer
    private var cycles: [(sampleTime: Int64, hostTime: HostTime, time: Double)] = []
    private var pulledUntil = 0.0

    init(_ ears: PlayoutConfiguration, block: Int = 128, lag: Double = 0, depth: Double = 0.5) throws {
        playout = try Playout(ears.forRecording(depth: depth))
        self.lag = lag
        self.block = block
        buffer = AudioBuffer(channelCount: ears.channelCount, frameCapacity: block)
    }

    /// For ``PlayoutRig/before``: a cycle of the user's device begins.
    func follow(_ ears: Playout, _ now: Double) {
        ears.packets.second = playout.packets
        let rate = playout.configuration.deviceRate * (1 + receiverPPM * 1e-6)
        cycles.append(
            (
                Int64((now * rate).rounded()), HostTime(nanoseconds: 1_000_000_000).advanced(bySeconds: now), now
            ))
        if now - pulledUntil >= lag { pull(until: now) }
    }

    /// Pulls the waiting cycles.
    func pull(until now: Double) {
        pulledUntil = now
        for cycle in cycles {
            playout.renderer.pull(
                buffer.channels, frameCount: block, sampleTime: cycle.sampleTime, hostTime: cycle.hostTime)
            output.append(contentsOf: UnsafeBufferPointer(start: buffer.channels[0], count: block))
            history.append((cycle.time, playout.statistics))
        }
        cycles.removeAll()
    }

    var statistics: PlayoutStatistics { playout.statistics }
}
