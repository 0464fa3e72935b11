// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Synchronization

/// A callback that plays a click on each channel every 8,192 frames, each channel 16 frames after the previous one, and records
/// the captured clicks, so that delays and channels can be identified.
final class LoopProbe: @unchecked Sendable {  // the device's thread writes, others read what `count` covers
    struct Click: Hashable, Sendable {
        /// The input, from 0.
        var channel: Int
        /// The sample time of the click in the input.
        var sampleTime: Int64
    }

    static let period: Int64 = 8_192
    static let spacing: Int64 = 16
    private static let capacity = 10_000

    private struct Memory: ~Copyable {
        let count = Atomic<Int>(0)
        let clicks = UnsafeMutablePointer<Click>.allocate(capacity: LoopProbe.capacity)
    }
    private let memory = UnsafeMutablePointer<Memory>.allocate(capacity: 1)

    init() { memory.initialize(to: Memory()) }

    deinit {
        memory.pointee.clicks.deallocate()
        memory.deinitialize(count: 1)
        memory.deallocate()
    }

    var clicks: [Click] {
        Array(UnsafeBufferPointer(start: memory.pointee.clicks, count: memory.pointee.count.load(ordering: .acquiring)))
    }

    /// Returns the delays in frames from output to input of the clicks that were played on one channel and captured on another.
    func delays(of channel: Int, playedOn output: Int) -> [Int] {
        clicks.filter { $0.channel == channel }.map {
            let offset = ($0.sampleTime - Int64(output) * Self.spacing) % Self.period
            return Int(offset < 0 ? offset + Self.period : offset)
        }
    }

    var callback: RenderCallback {
        RenderCallback(context: memory) { context, cycle in
            guard let memory = context?.assumingMemoryBound(to: Memory.self),
                let cycle = cycle?.assumingMemoryBound(to: IOCycle.self).pointee
            else { return }
            for i in 0..<cycle.frameCount {
                let time = cycle.sampleTime + Int64(i)
                for c in 0..<cycle.output.count where (time - Int64(c) * LoopProbe.spacing) % LoopProbe.period == 0 {
                    cycle.output[c][i] = 0.5
                }
                for c in 0..<cycle.input.count where cycle.input[c][i] > 0.25 {
                    let at = memory.pointee.count.load(ordering: .relaxed)
                    guard at < LoopProbe.capacity else { return }
                    (memory.pointee.clicks + at).initialize(to: Click(channel: c, sampleTime: time))
                    memory.pointee.count.store(at + 1, ordering: .releasing)
                }
            }
        }
    }
}
