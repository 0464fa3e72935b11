// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioEngine
import EarshotAudioQueues
import Glibc
import TestSupport
import Testing

@Suite struct AudioInputQueueTests {
    private final class Take: @unchecked Sendable {  // one thread: virtual time
        var samples: [Float] = []
        var times: [Int] = []
        var counts: [Int] = []
    }

    private func recording(
        _ rig: QueueRig, _ take: Take, buffers: Int = 4, frames: Int = 500, enqueues: Bool = true
    ) throws -> AudioInputQueue {
        let queue = try AudioInputQueue(.linearPCM(rig.format), on: rig.engine) { queue, buffer in
            take.samples += UnsafeBufferPointer(start: buffer.samples[0], count: buffer.frameCount)
            take.times.append(Int(buffer.sampleTime))
            take.counts.append(buffer.frameCount)
            if enqueues { try? queue.enqueue(buffer) }
        }
        for _ in 0..<buffers { try queue.enqueue(try queue.allocateBuffer(frameCount: frames)) }
        return queue
    }

    @Test(arguments: [[1], [64], [256, 3], [1_000]])
    func `buffers hold the captured frames from the exact start frame on`(blocks: [Int]) throws {
        let rig = QueueRig()
        let take = Take()
        let queue = try recording(rig, take)
        try rig.start(inputs: 1)
        try queue.start(at: .sample(777))
        try rig.render(10_000, blocks: blocks, input: numbered)
        queue.stop()
        try rig.render(1, input: numbered)
        #expect(take.samples == (777..<10_000).map(numbered))
        #expect(take.times == Array(stride(from: 777, to: 10_000, by: 500)))
        #expect(take.counts.last == 223)  // what was begun at the stop
        #expect(queue.statistics.frameCount == 9_223 && queue.statistics.overrun == 0 && queue.statistics.skipped == 0)
        #expect(!queue.isRunning)
    }

    @Test func `frames without a buffer are reported as lost, and the next buffer starts after them`() throws {
        let rig = QueueRig()
        let take = Take()
        let events = Log<AudioQueueEvent>()
        let queue = try recording(rig, take, buffers: 2, enqueues: false)
        queue.setEventHandler { events.add($0) }
        try rig.start(inputs: 1)
        try queue.start()
        try rig.render(1_300, blocks: [130], input: numbered)
        let more = try queue.allocateBuffer(frameCount: 500)
        try queue.enqueue(more)
        try rig.render(700, blocks: [70], input: numbered)
        #expect(take.times == [0, 500, 1_300])
        #expect(take.samples == ((0..<1_000).map { $0 } + (1_300..<1_800).map { $0 }).map(numbered))
        #expect(events.losses == [AudioQueueLoss(kind: .overrun, frameCount: 300, sampleTime: 1_000, position: 1_000)])
        queue.stop()
        try rig.render(1, input: numbered)
        #expect(events.losses.count == 2 && queue.statistics.overrun == 500)
        #expect(events.all.last == .stopped)
    }

    @Test func `frames skipped by the device are reported, and no buffer spans them`() throws {
        let engine = AudioEngine()
        let format = AudioFormat(sampleRate: 48_000, channelCount: 1)
        let pieces = Log<Range<Int64>>()
        let events = Log<AudioQueueEvent>()
        let queue = try AudioInputQueue(.linearPCM(format), on: engine) { queue, buffer in
            pieces.add(buffer.sampleTime..<buffer.sampleTime + Int64(buffer.frameCount))
            try? queue.enqueue(buffer)
        }
        queue.setEventHandler { events.add($0) }
        for _ in 0..<8 { try queue.enqueue(try queue.allocateBuffer(frameCount: 400)) }
        let callback = try engine.startRealtimeRendering(format: format, inputChannelCount: 1)
        try queue.start()
        let block = AudioBuffer(channelCount: 1, frameCapacity: 100)
        let output = AudioBuffer(channelCount: 1, frameCapacity: 100)
        var time: Int64 = 0
        for k in 0..<20 {
            if k == 10 { time += 1_000 }
            var cycle = IOCycle(
                frameCount: 100, sampleTime: time, hostTime: HostTime(nanoseconds: time), inputLatency: 0,
                outputLatency: 0, input: block.channels, output: output.channels)
            callback(&cycle)
            time += 100
        }
        engine.stop()
        // They arrive on the queue's own thread.
        for _ in 0..<500 where pieces.all.count < 5 || events.losses.isEmpty { usleep(10_000) }
        #expect(pieces.all == [0..<400, 400..<800, 800..<1_000, 2_000..<2_400, 2_400..<2_800])
        let loss = AudioQueueLoss(kind: .skipped, frameCount: 1_000, sampleTime: 1_000, position: 1_000)
        #expect(events.losses == [loss])
    }

    @Test func `a pause delivers the partial buffer, and sample time continues`() throws {
        let rig = QueueRig()
        let take = Take()
        let events = Log<AudioQueueEvent>()
        let queue = try recording(rig, take)
        queue.setEventHandler { events.add($0) }
        try rig.start(inputs: 1)
        try queue.start()
        try rig.render(700, blocks: [100], input: numbered)
        queue.pause()
        try rig.render(300, blocks: [100], input: numbered)
        try queue.start()
        try rig.render(500, blocks: [100], input: numbered)
        #expect(take.times == [0, 500, 1_000] && take.counts == [500, 200, 500])
        #expect(events.losses.isEmpty && events.all.contains(.paused))
    }

    @Test(arguments: [48_000.0, 24_000])
    func `a start time set before the engine starts is kept`(rate: Double) throws {
        let rig = QueueRig()
        let times = Log<Int64>()
        let format = AudioFormat(sampleRate: rate, channelCount: 1)
        let queue = try AudioInputQueue(.linearPCM(format), on: rig.engine) { queue, buffer in
            times.add(buffer.sampleTime)
            try? queue.enqueue(buffer)
        }
        try queue.enqueue(try queue.allocateBuffer(frameCount: 100))
        try queue.start(at: .sample(7_778))
        try rig.start(inputs: 1)
        try rig.render(10_000, input: numbered)
        #expect(times.all.first == (rate == 48_000 ? 7_778 : 3_889))
    }

    @Test func `no buffer spans an engine restart, and a running queue does not wait again`() throws {
        let rig = QueueRig()
        let take = Take()
        let queue = try recording(rig, take)
        try rig.start(inputs: 1)
        try queue.start(at: .sample(1_000))
        try rig.render(1_700, blocks: [100], input: numbered)
        rig.engine.stop()
        try rig.start(inputs: 1)
        try rig.render(500, blocks: [100], input: numbered)
        #expect(take.times == [1_000, 1_500, 0] && take.counts == [500, 200, 500])
        #expect(take.samples == (1_000..<2_200).map(numbered))
        #expect(queue.statistics.skipped == 0)
    }

    @Test func `any node can be recorded at the queue's own rate, with its level`() throws {
        let rig = QueueRig()
        let format = AudioFormat(sampleRate: 24_000, channelCount: 1)
        let source = AudioSourceNode(format: rig.format) { time, count, output in
            for i in 0..<count { output[0][i] = sine(Int(time) + i, frequency: 1_000, rate: 48_000) }
            return count
        }
        try rig.engine.attach(source)
        let take = Take()
        let queue = try AudioInputQueue(.linearPCM(format), on: rig.engine, from: source) { queue, buffer in
            take.samples += UnsafeBufferPointer(start: buffer.samples[0], count: buffer.frameCount)
            try? queue.enqueue(buffer)
        }
        for _ in 0..<3 { try queue.enqueue(try queue.allocateBuffer(duration: 0.02)) }
        try rig.start()
        try queue.start()
        try rig.render(48_000)
        #expect(take.samples.count > 23_000)
        #expect(sineDefect(Array(take.samples[2_000..<20_000]), frequency: 1_000, rate: 24_000) < -80)
        #expect(abs(queue.level.peak - 0.5) < 0.01)
    }

    @Test func `a task can receive the buffers instead of a callback`() async throws {
        let rig = QueueRig()
        let queue = try AudioInputQueue(.linearPCM(rig.format), on: rig.engine)
        for _ in 0..<3 { try queue.enqueue(try queue.allocateBuffer(frameCount: 300)) }
        try rig.start(inputs: 1)
        try queue.start()
        var iterator = queue.buffers.makeAsyncIterator()
        var taken: [Float] = []
        for _ in 0..<50 {
            try rig.render(300, input: numbered)
            let buffer = try #require(await iterator.next())
            taken += UnsafeBufferPointer(start: buffer.samples[0], count: buffer.frameCount)
            try queue.enqueue(buffer)
        }
        #expect(taken == (0..<15_000).map(numbered))
    }
}
