// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDevices
import Foundation
import Synchronization

/// A callback that records each cycle and copies input to output; without input it plays its own sample times, as 1 to 65,536.
final class CycleProbe: @unchecked Sendable {  // the device's thread writes, others read what `count` covers
    struct Note: Sendable {
        var frameCount: Int
        var sampleTime: Int64
        var hostTime: HostTime
        var lateness: Double
        var inputCount: Int
        var outputCount: Int
        var outputWasSilent: Bool
        var firstInput: Float
        var arrival = HostTime.now()
    }

    private struct Memory: ~Copyable {
        let count = Atomic<Int>(0)
        let notes = UnsafeMutablePointer<Note>.allocate(capacity: CycleProbe.capacity)
    }

    static func ramp(_ sampleTime: Int64) -> Float { Float(sampleTime & 0xFFFF) + 1 }

    static let capacity = 100_000
    private let memory = UnsafeMutablePointer<Memory>.allocate(capacity: 1)

    init() { memory.initialize(to: Memory()) }

    deinit {
        memory.pointee.notes.deallocate()
        memory.deinitialize(count: 1)
        memory.deallocate()
    }

    var count: Int { memory.pointee.count.load(ordering: .acquiring) }
    var notes: [Note] { Array(UnsafeBufferPointer(start: memory.pointee.notes, count: count)) }

    var callback: RenderCallback {
        RenderCallback(context: memory) { context, cycle in
            guard let memory = context?.assumingMemoryBound(to: Memory.self),
                let cycle = cycle?.assumingMemoryBound(to: IOCycle.self).pointee
            else { return }
            var isSilent = true
            for c in 0..<cycle.output.count {
                for i in 0..<cycle.frameCount where cycle.output[c][i] != 0 { isSilent = false }
            }
            for c in 0..<min(cycle.input.count, cycle.output.count) {
                copySamples(cycle.output[c], cycle.input[c], cycle.frameCount)
            }
            if cycle.input.count == 0 {
                for c in 0..<cycle.output.count {
                    for i in 0..<cycle.frameCount { cycle.output[c][i] = CycleProbe.ramp(cycle.sampleTime + Int64(i)) }
                }
            }
            let at = memory.pointee.count.load(ordering: .relaxed)
            guard at < CycleProbe.capacity else { return }
            (memory.pointee.notes + at).initialize(
                to: Note(
                    frameCount: cycle.frameCount, sampleTime: cycle.sampleTime, hostTime: cycle.hostTime,
                    lateness: cycle.lateness, inputCount: cycle.input.count, outputCount: cycle.output.count,
                    outputWasSilent: isSilent,
                    firstInput: cycle.input.count > 0 ? cycle.input[0][0] : 0))
            memory.pointee.count.store(at + 1, ordering: .releasing)
        }
    }
}
