// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// Measures a device's rate by the least-squares line through the times of its blocks, also of silent ones. So the rate is known
/// before a song begins.
struct DeviceRate: Sendable {
    private static let interval = 0.1  // seconds between two samples
    private static let capacity = 80
    /// The samples that give a first rate, and a better one than that before an interruption: those of 1 and 4 s.
    private static let leastCounts = (first: 11, later: 41)
    /// Seconds by which a block may be early or late. A greater deviation is another counter, or another clock.
    private static let tolerance = 0.005

    private let sampleRate: Double
    private var samples: [DeviceBlock] = []
    private var isInterrupted = false
    /// The device's frames per second of host time as a part of the nominal rate, less 1; 0 while unknown.
    private(set) var deviation = 0.0

    /// - Parameter sampleRate: the nominal rate in hertz.
    init(sampleRate: Double) { self.sampleRate = sampleRate }

    /// Returns the seconds that frames of the device take.
    func seconds(_ frameCount: Int) -> Double { Double(frameCount) / (sampleRate * (1 + deviation)) }

    /// Adds a block, which may be one of the last interval.
    mutating func add(_ block: DeviceBlock) {
        guard let last = samples.last else { return samples.append(block) }
        let elapsed = block.hostTime.seconds(since: last.hostTime)
        guard abs(elapsed - seconds(Int(block.sampleTime &- last.sampleTime))) <= Self.tolerance + elapsed * 1e-3 else {
            samples = [block]
            isInterrupted = true
            return
        }
        guard elapsed >= Self.interval else { return }
        samples.append(block)
        if samples.count > Self.capacity { samples.removeFirst() }
        let isUnknown = !isInterrupted || deviation == 0
        let leastCount = isUnknown ? Self.leastCounts.first : Self.leastCounts.later
        if samples.count >= leastCount { deviation = slope(from: samples[0]) }
    }

    private func slope(from first: DeviceBlock) -> Double {
        let points = samples.map { block in
            (
                time: block.hostTime.seconds(since: first.hostTime),
                lead: Double(block.sampleTime &- first.sampleTime) / sampleRate
                    - block.hostTime.seconds(since: first.hostTime)
            )
        }
        let count = Double(points.count)
        let time = points.reduce(0) { $0 + $1.time } / count
        let lead = points.reduce(0) { $0 + $1.lead } / count
        let products = points.reduce(0) { $0 + ($1.time - time) * ($1.lead - lead) }
        let squares = points.reduce(0) { $0 + ($1.time - time) * ($1.time - time) }
        return squares > 0 ? products / squares : 0
    }
}
