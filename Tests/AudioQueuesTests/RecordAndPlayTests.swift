// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioEngine
import EarshotAudioQueues
import TestSupport
import Testing

/// Records and plays with callbacks that do not know each other, as in the source's article on audio queues.
@Suite struct RecordAndPlayTests {
    /// Moves recorded buffers to the player on request, one buffer for one, in bursts.
    private final class Courier: @unchecked Sendable {  // one thread: virtual time
        var recorded: [AudioQueueBuffer] = []
        var free: [AudioQueueBuffer] = []
        /// The first frame and the length of the recorded pieces.
        var pieces: [Range<Int>] = []

        func carry(_ input: AudioInputQueue, _ output: AudioOutputQueue) throws {
            while let from = recorded.first, let to = free.first {
                recorded.removeFirst()
                free.removeFirst()
                copySamples(to.samples[0], from.samples[0], from.frameCount)
                to.frameCount = from.frameCount
                pieces.append(Int(from.sampleTime)..<Int(from.sampleTime) + from.frameCount)
                try output.enqueue(to)
                try input.enqueue(from)
            }
        }
    }

    /// - Parameters:
    ///   - drift: how much faster the recording card runs.
    ///   - stall: the maximum number of frames by which each side's callbacks are delayed.
    private func run(
        seed: UInt64, frames: Int, drift: Double, stall: Int, buffers: Int, inStep: Bool = false
    ) throws -> (
        heard: [Float], pieces: [Range<Int>], recording: [AudioQueueLoss], playing: [AudioQueueLoss], held: Int
    ) {
        var random = SeededRandom(seed: seed)
        let (capture, playback) = (QueueRig(), QueueRig())
        let courier = Courier()
        let (lostIn, lostOut) = (Log<AudioQueueEvent>(), Log<AudioQueueEvent>())
        let input = try AudioInputQueue(.linearPCM(capture.format), on: capture.engine) { _, buffer in
            courier.recorded.append(buffer)
        }
        let output = try AudioOutputQueue(.linearPCM(playback.format), on: playback.engine) { _, buffer in
            courier.free.append(buffer)
        }
        input.setEventHandler { lostIn.add($0) }
        output.setEventHandler { lostOut.add($0) }
        for _ in 0..<buffers {
            try input.enqueue(try input.allocateBuffer(frameCount: 441))
            courier.free.append(try output.allocateBuffer(frameCount: 441))
        }
        try capture.start(inputs: 1)
        try playback.start()
        try input.start()
        try output.start()
        var heard: [Float] = []
        var held = 0
        while playback.rendered < frames {
            let burst = 1 + Int(random.next() % UInt64(stall))
            let due = Int(Double(playback.rendered + burst) * drift) - capture.rendered
            if due > 0 { try capture.render(due, blocks: [1 + Int(random.next() % 512)], input: numbered) }
            if inStep || random.next() % 3 != 0 { try courier.carry(input, output) }
            heard += try playback.render(burst, blocks: [1 + Int(random.next() % 512)])
            if inStep || random.next() % 3 != 0 { try courier.carry(input, output) }
            held = max(held, input.statistics.frameCount - output.statistics.frameCount)
        }
        input.stop()
        try capture.render(1, input: numbered)
        for _ in 0..<4 * buffers {
            try courier.carry(input, output)
            heard += try playback.render(441)
        }
        output.stop(immediately: false)
        heard += try playback.render(441)
        return (heard, courier.pieces, lostIn.losses, lostOut.losses, held)
    }

    @Test(arguments: 1...6)
    func `unsynchronised callbacks keep the order of frames and lose only those reported`(seed: UInt64) throws {
        let drift = [1.0, 1.02, 0.98][Int(seed) % 3]
        let run = try run(seed: seed, frames: 200_000, drift: drift, stall: 1_500, buffers: 4)
        // The output, minus the reported silence, is the recording, in order.
        var heard: [Float] = []
        var at = 0
        for loss in run.playing {
            #expect(loss.kind == .underrun)
            let start = Int(try #require(loss.sampleTime))
            heard += run.heard[at..<start]
            #expect(run.heard[start..<start + loss.frameCount].allSatisfy { $0 == 0 })
            #expect(heard.count == loss.position)
            at = start + loss.frameCount
        }
        heard += run.heard[at...].prefix { $0 != 0 }
        #expect(heard == run.pieces.flatMap { $0.map(numbered) })
        // The recording is the input minus the reported losses.
        var expected = 0
        var losses = run.recording[...]
        for piece in run.pieces {
            while let loss = losses.first, loss.sampleTime == Int64(expected) {
                #expect(loss.kind == .overrun)
                expected += loss.frameCount
                losses.removeFirst()
            }
            #expect(piece.lowerBound == expected)
            expected = piece.upperBound
        }
        #expect(losses.count <= 1)  // what came when all was recorded that fitted
        #expect(!run.recording.isEmpty && !run.playing.isEmpty, "the callbacks were not out of step")
    }

    @Test func `latency stays bounded while a fast input feeds a slow output`() throws {
        let run = try run(seed: 9, frames: 2_000_000, drift: 1.01, stall: 400, buffers: 4)
        #expect(run.held <= 8 * 441)
        let lost = run.recording.reduce(0) { $0 + $1.frameCount }
        #expect(abs(lost - 20_000) < 10_000 && !run.recording.isEmpty)
    }

    @Test func `synchronised callbacks lose no frame`() throws {
        let run = try run(seed: 3, frames: 100_000, drift: 1, stall: 441, buffers: 8, inStep: true)
        #expect(run.recording.isEmpty)
        let before = run.playing.filter { ($0.sampleTime ?? 0) < 100_000 }
        #expect(before.reduce(0) { $0 + $1.frameCount } <= 4 * 441)  // until there is enough ahead
    }
}
