// SPDX-License-Identifier: Apache-2.0

import Dispatch
import EarshotAudioBase
import EarshotAudioEngine
import EarshotAudioQueues
import EngineMeasures
import Glibc
import TestSupport
import Testing

@Suite struct AudioOutputQueueTests {
    /// A queue that plays numbered frames in buffers of these lengths, repeated, up to a number.
    private func feed(
        _ rig: QueueRig, _ lengths: [Int], buffers: Int, upTo end: Int, log: Log<Int>? = nil
    ) throws -> AudioOutputQueue {
        let next = LockedValue((frame: 0, k: 0))
        let enqueue: AudioOutputQueueCallback = { queue, buffer in
            let (first, count) = next.withLock { next in
                let count = min(lengths[next.k % lengths.count], end - next.frame)
                next.k += 1
                next.frame += count
                return (next.frame - count, count)
            }
            guard count > 0 else { return queue.stop(immediately: false) }
            fill(buffer, count, from: first)
            do { try queue.enqueue(buffer) } catch { Issue.record(error) }
        }
        let queue = try AudioOutputQueue(.linearPCM(rig.format), on: rig.engine) { queue, buffer in
            log?.add(buffer.frameCount)
            enqueue(queue, buffer)
        }
        for _ in 0..<buffers { enqueue(queue, try queue.allocateBuffer(frameCount: lengths.max() ?? 1)) }
        return queue
    }

    @Test(arguments: [[1], [64], [256], [333, 1, 1_000]])
    func `enqueued buffers play once, completely and in order from the exact start frame`(blocks: [Int]) throws {
        let rig = QueueRig()
        let lengths = [1_000, 1, 777, 2_048]
        let log = Log<Int>()
        let queue = try feed(rig, lengths, buffers: 6, upTo: 20_000, log: log)
        try rig.start()
        try queue.start(at: .sample(1_234))
        let heard = try rig.render(24_000, blocks: blocks)
        #expect(Array(heard[..<1_234]) == [Float](repeating: 0, count: 1_234))
        #expect(Array(heard[1_234..<21_234]) == (0..<20_000).map(numbered))
        #expect(heard[21_234...].allSatisfy { $0 == 0 })
        #expect(queue.statistics.frameCount == 20_000 && queue.statistics.underrun == 0 && queue.statistics.late == 0)
        #expect(!queue.isRunning)
        // They were returned in the order in which they were enqueued.
        #expect(Array(log.all.prefix(8)) == lengths + lengths)
    }

    @Test func `queued buffers stay correct when the queue's indices wrap around`() throws {
        let rig = QueueRig()
        let queue = try feed(rig, [1, 5, 2, 37, 3, 64], buffers: 64, upTo: 60_000)
        try rig.start()
        try queue.start()
        #expect(try rig.render(60_000, blocks: [61, 17, 64]) == (0..<60_000).map(numbered))
        #expect(queue.statistics.underrun == 0)
    }

    @Test func `an underrun plays silence and is reported with its exact length`() throws {
        let rig = QueueRig()
        let events = Log<AudioQueueEvent>()
        let back = Log<AudioQueueBuffer>()
        let queue = try AudioOutputQueue(.linearPCM(rig.format), on: rig.engine) { _, buffer in back.add(buffer) }
        queue.setEventHandler { events.add($0) }
        try rig.start()
        let buffer = try queue.allocateBuffer(duration: 0.02)
        #expect(buffer.frameCapacity == 960)
        fill(buffer, 900, from: 0)
        try queue.enqueue(buffer)
        try queue.start()
        var heard = try rig.render(2_000, blocks: [250])
        #expect(back.all.count == 1)
        fill(buffer, 700, from: 900)
        try queue.enqueue(buffer)
        queue.stop(immediately: false)
        heard += try rig.render(2_000, blocks: [250])
        #expect(Array(heard[..<900]) == (0..<900).map(numbered))
        #expect(heard[900..<2_000].allSatisfy { $0 == 0 })
        #expect(Array(heard[2_000..<2_700]) == (900..<1_600).map(numbered))
        let loss = AudioQueueLoss(kind: .underrun, frameCount: 1_100, sampleTime: 900, position: 900)
        #expect(events.all == [.started(sampleTime: 0), .lost(loss), .stopped])
        #expect(queue.statistics.underrun == 1_100)
    }

    @Test func `a buffer plays at its time, and its late part is dropped and reported`() throws {
        let rig = QueueRig()
        let events = Log<AudioQueueEvent>()
        let queue = try AudioOutputQueue(.linearPCM(rig.format), on: rig.engine) { _, _ in }
        queue.setEventHandler { events.add($0) }
        try rig.start()
        for (first, time) in [(0, 500), (400, 700), (800, 2_000)] {
            let buffer = try queue.allocateBuffer(frameCount: 400)
            fill(buffer, 400, from: first)
            try queue.enqueue(buffer, at: .sample(Int64(time)))
        }
        try queue.start()
        let heard = try rig.render(2_400, blocks: [64, 7])
        #expect(heard[..<500].allSatisfy { $0 == 0 })
        #expect(Array(heard[500..<900]) == (0..<400).map(numbered))
        // The second was due at 700 and begins at 900, with its frame 200.
        #expect(Array(heard[900..<1_100]) == (600..<800).map(numbered))
        #expect(heard[1_100..<2_000].allSatisfy { $0 == 0 })
        #expect(Array(heard[2_000...]) == (800..<1_200).map(numbered))
        #expect(events.losses == [AudioQueueLoss(kind: .late, frameCount: 200, sampleTime: 700, position: 400)])
        #expect(queue.statistics.late == 200 && queue.statistics.underrun == 0)
    }

    @Test func `a queue at a different rate from the engine's keeps its own time`() throws {
        let rig = QueueRig(rate: 48_000)
        let format = AudioFormat(sampleRate: 24_000, channelCount: 1)
        let queue = try AudioOutputQueue(.linearPCM(format), on: rig.engine) { _, _ in }
        try rig.start()
        let buffer = try queue.allocateBuffer(duration: 1)
        for i in 0..<24_000 { buffer.samples[0][i] = sine(i, frequency: 1_000, rate: 24_000) }
        buffer.frameCount = 24_000
        try queue.enqueue(buffer)
        try queue.start(at: .sample(9_600))
        let heard = try rig.render(60_000)
        let first = try #require(heard.firstIndex { abs($0) > 0.05 })
        #expect(abs(first - 9_600) < 200)  // the conversion's delay
        #expect(abs(decibels(Double(heard.map(abs).max() ?? 0) / 0.5)) < 0.1)
    }

    @Test func `a pause loses no frame and does not click`() throws {
        let rig = QueueRig()
        let events = Log<AudioQueueEvent>()
        let queue = try AudioOutputQueue(.linearPCM(rig.format), on: rig.engine) { _, _ in }
        queue.setEventHandler { events.add($0) }
        try rig.start()
        let buffer = try queue.allocateBuffer(frameCount: 48_000)
        for i in 0..<48_000 { buffer.samples[0][i] = sine(i, frequency: 100, rate: 48_000) }
        buffer.frameCount = 48_000
        try queue.enqueue(buffer)
        try queue.start()
        queue.stop(immediately: false)
        var heard = try rig.render(10_000)
        queue.pause()
        heard += try rig.render(10_000)
        #expect(!queue.isRunning)
        #expect(heard[10_480..<20_000].allSatisfy { $0 == 0 })
        try queue.start()
        heard += try rig.render(10_000)
        // The fade-out took 480 frames with it; after the fade-in every frame is in its place.
        for i in 20_480..<30_000 { #expect(heard[i] == buffer.samples[0][i - 9_520]) }
        var meter = ClickMeter()
        for sample in heard { meter.add(sample) }
        #expect(meter.level < -55)
        #expect(queue.statistics.frameCount == 20_480 && queue.statistics.underrun == 0)
        #expect(events.all.contains(.paused))
    }

    @Test func `an immediate stop and a reset return all buffers in order`() throws {
        let rig = QueueRig()
        let back = Log<Int>()
        let events = Log<AudioQueueEvent>()
        let queue = try AudioOutputQueue(.linearPCM(rig.format), on: rig.engine) { _, buffer in
            back.add(buffer.frameCapacity)
        }
        queue.setEventHandler { events.add($0) }
        try rig.start()
        let buffers = try (1...5).map { try queue.allocateBuffer(frameCount: 1_000 + $0) }
        for buffer in buffers {
            fill(buffer, 1_000, from: 0)
            try queue.enqueue(buffer)
        }
        try queue.start()
        try rig.render(500)
        queue.reset()
        fill(buffers[0], 0, from: 0)
        var heard = try rig.render(1_000)
        #expect(heard[480...].allSatisfy { $0 == 0 })
        #expect(back.all == [1_001, 1_002, 1_003, 1_004, 1_005] && queue.isRunning)
        fill(buffers[2], 800, from: 5_000)
        try queue.enqueue(buffers[2])
        heard = try rig.render(400)
        #expect(heard == (5_000..<5_400).map(numbered))  // a new beginning, in full from its first frame
        queue.stop()
        try rig.render(1_000)
        #expect(back.all.last == 1_003 && !queue.isRunning && events.all.last == .stopped)
    }

    @Test func `unplayable buffers are rejected and remain the caller's`() throws {
        let rig = QueueRig()
        let queue = try AudioOutputQueue(.linearPCM(rig.format), on: rig.engine) { _, _ in }
        let other = try AudioOutputQueue(.linearPCM(rig.format), on: rig.engine) { _, _ in }
        let buffer = try queue.allocateBuffer(frameCount: 100)
        #expect(throws: AudioQueueError.emptyBuffer) { try queue.enqueue(buffer) }
        buffer.frameCount = 101
        #expect(throws: AudioQueueError.self) { try queue.enqueue(buffer) }
        buffer.frameCount = -1
        #expect(throws: AudioQueueError.self) { try queue.enqueue(buffer) }
        buffer.frameCount = 100
        #expect(throws: AudioQueueError.foreignBuffer) { try other.enqueue(buffer) }
        try queue.enqueue(buffer)
        #expect(throws: AudioQueueError.enqueuedAlready) { try queue.enqueue(buffer) }
        #expect(throws: AudioQueueError.self) { try queue.setRate(1.5) }
        for _ in 1..<AudioOutputQueue.maximumBufferCount { _ = try queue.allocateBuffer(frameCount: 1) }
        #expect(throws: AudioQueueError.tooManyBuffers(maximum: 64)) { try queue.allocateBuffer(frameCount: 1) }
        try rig.start()
        try queue.start()
        queue.stop(immediately: false)
        let free = try other.allocateBuffer(frameCount: 1)
        #expect(throws: AudioQueueError.foreignBuffer) { try queue.enqueue(free) }
    }

    @Test(arguments: [false, true])
    func `a start time set before the engine starts is kept`(ofBuffer: Bool) throws {
        let rig = QueueRig()
        let queue = try AudioOutputQueue(.linearPCM(rig.format), on: rig.engine) { _, _ in }
        let buffer = try queue.allocateBuffer(frameCount: 1_000)
        fill(buffer, 1_000, from: 0)
        try queue.enqueue(buffer, at: ofBuffer ? .sample(4_800) : .now)
        try queue.start(at: ofBuffer ? .now : .sample(4_800))
        try rig.start()
        let heard = try rig.render(5_800, blocks: [480])
        #expect(heard == [Float](repeating: 0, count: 4_800) + (0..<1_000).map(numbered))
        #expect(queue.statistics.late == 0)
    }

    @Test(arguments: [false, true])
    func `a start time set before the engine starts is kept at a different rate too`(ofBuffer: Bool) throws {
        let rig = QueueRig(rate: 48_000)
        let format = AudioFormat(sampleRate: 24_000, channelCount: 1)
        let queue = try AudioOutputQueue(.linearPCM(format), on: rig.engine) { _, _ in }
        let buffer = try queue.allocateBuffer(frameCount: 2_400)
        for i in 0..<2_400 { buffer.samples[0][i] = sine(i, frequency: 1_000, rate: 24_000) }
        buffer.frameCount = 2_400
        try queue.enqueue(buffer, at: ofBuffer ? .sample(9_600) : .now)
        try queue.start(at: ofBuffer ? .now : .sample(9_600))
        try rig.start()
        let first = try #require(try rig.render(20_000).firstIndex { abs($0) > 0.05 })
        #expect(abs(first - 9_600) < 200)  // the conversion's delay
    }

    @Test func `a running queue continues after an engine restart`() throws {
        let rig = QueueRig()
        let queue = try feed(rig, [1_000], buffers: 4, upTo: 10_000)
        try rig.start()
        try queue.start(at: .sample(20_000))
        try rig.render(22_500)
        rig.engine.stop()
        try rig.start()
        #expect(try rig.render(7_500) == (2_500..<10_000).map(numbered))
    }

    @Test func `extreme times and lengths are handled or rejected`() throws {
        let rig = QueueRig()
        let queue = try AudioOutputQueue(.linearPCM(rig.format), on: rig.engine) { _, _ in }
        let input = try AudioInputQueue(.linearPCM(rig.format), on: rig.engine) { _, _ in }
        let packets = try AudioOutputQueue(.opus(channelCount: 1), on: rig.engine) { _, _ in }
        let tooLarge = AudioQueueError.bufferTooLarge(maximum: AudioQueueBuffer.maximumFrameCapacity)
        for duration in [Double.infinity, .greatestFiniteMagnitude, 1e15, 1e4] {
            #expect(throws: tooLarge) { try queue.allocateBuffer(duration: duration) }
            #expect(throws: tooLarge) { try input.allocateBuffer(duration: duration) }
            #expect(throws: tooLarge) { try packets.allocateBuffer(duration: duration) }
        }
        for count in [AudioQueueBuffer.maximumFrameCapacity + 1, .max] {
            #expect(throws: tooLarge) { try queue.allocateBuffer(frameCount: count) }
            #expect(throws: tooLarge) { try packets.allocateBuffer(frameCount: count) }
            #expect(throws: tooLarge) { try packets.allocateBuffer(packetCount: count) }
            #expect(throws: tooLarge) { try input.allocateBuffer(packetCount: count) }
        }
        for duration in [-Double.infinity, -1, 0, .nan] {
            #expect(try queue.allocateBuffer(duration: duration).frameCapacity == 1)
            #expect(try packets.allocateBuffer(duration: duration).packetCapacity == 1)
        }
        #expect(try packets.allocateBuffer(frameCount: 961).packetCapacity == 2)
        try rig.start(inputs: 1)
        let buffers = try (0..<3).map { _ in try queue.allocateBuffer(frameCount: 100) }
        for (buffer, time) in zip(buffers, [AudioQueueTime.sample(.min), .now, .sample(.max)]) {
            fill(buffer, 100, from: 0)
            try queue.enqueue(buffer, at: time)
        }
        try input.enqueue(try input.allocateBuffer(frameCount: 100))
        try queue.start(at: .sample(.min))
        try input.start(at: .sample(.max))
        let heard = try rig.render(1_000, input: numbered)
        #expect(heard == (0..<100).map(numbered) + [Float](repeating: 0, count: 900))
        #expect(queue.statistics.late == 100 && queue.statistics.frameCount == 100)
        #expect(input.statistics.frameCount == 0)
    }

    @Test func `a queue starts at a given instant of the host clock`() throws {
        let rig = QueueRig()
        let queue = try feed(rig, [500], buffers: 4, upTo: 5_000)
        try rig.start()
        try rig.render(4_800, blocks: [480])
        // In manual rendering the clock begins with the frames.
        try queue.start(at: .host(HostTime(nanoseconds: 200_000_000)))
        let heard = try rig.render(12_000, blocks: [480])
        #expect(heard[..<4_800].allSatisfy { $0 == 0 })
        #expect(Array(heard[4_800..<9_800]) == (0..<5_000).map(numbered))
    }

    @Test func `a blocked callback does not hold up other queues`() throws {
        let engine = AudioEngine()
        let format = AudioFormat(sampleRate: 48_000, channelCount: 1)
        let callback = try engine.startRealtimeRendering(format: format, inputChannelCount: 0)
        let gate = DispatchSemaphore(value: 0)
        let (hung, free) = (Log<Int>(), Log<Int>())
        let slow = try AudioOutputQueue(.linearPCM(format), on: engine) { _, _ in
            hung.add(1)
            gate.wait()
        }
        let quick = try AudioOutputQueue(.linearPCM(format), on: engine) { queue, buffer in
            free.add(1)
            try? queue.enqueue(buffer)
        }
        for queue in [slow, quick] {
            let buffer = try queue.allocateBuffer(frameCount: 64)
            fill(buffer, 64, from: 0)
            try queue.enqueue(buffer)
            try queue.start()
        }
        let output = AudioBuffer(channelCount: 1, frameCapacity: 64)
        var time: Int64 = 0
        for _ in 0..<5_000 where hung.all.isEmpty || free.all.count < 20 {
            var cycle = IOCycle(
                frameCount: 64, sampleTime: time, hostTime: .now(), inputLatency: 0, outputLatency: 0,
                input: Channels(output.channels.pointers, count: 0), output: output.channels)
            callback(&cycle)
            time += 64
            usleep(1_000)
        }
        #expect(hung.all.count == 1 && free.all.count >= 20)
        gate.signal()
        engine.stop()
    }

    @Test func `the varispeed rate changes speed and pitch without a click`() throws {
        let rig = QueueRig()
        let queue = try AudioOutputQueue(.linearPCM(rig.format), on: rig.engine, isVarispeed: true) { _, _ in }
        try rig.start()
        let buffer = try queue.allocateBuffer(frameCount: 200_000)
        for i in 0..<200_000 { buffer.samples[0][i] = sine(i, frequency: 100, rate: 48_000) }
        buffer.frameCount = 200_000
        try queue.enqueue(buffer)
        try queue.start()
        var meter = ClickMeter()
        for rate: Float in [1, 2, 0.5, 1.25] {
            try queue.setRate(rate)
            let before = queue.statistics.frameCount
            let heard = try rig.render(24_000)
            for sample in heard { meter.add(sample) }
            let crossings = zip(heard, heard.dropFirst()).filter { $0 < 0 && $1 >= 0 }.count
            #expect(abs(Float(crossings) - 50 * rate) <= 3)
            // Changing to another rate takes 20 ms per 1.
            #expect(abs(Float(queue.statistics.frameCount - before) - 24_000 * rate) < 1_300)
        }
        // The meter shows −66 for a tone of 200 Hz at this level without a click.
        #expect(meter.level < -64, "\(meter.level) dBFS")
        #expect(throws: AudioQueueError.self) { try queue.setRate(3) }
    }

    @Test func `volume and pan take effect, and the meter follows`() throws {
        let rig = QueueRig(channels: 2)
        let queue = try AudioOutputQueue(.linearPCM(rig.format), on: rig.engine) { _, _ in }
        try rig.start()
        let buffer = try queue.allocateBuffer(frameCount: 48_000)
        for c in 0..<2 { for i in 0..<48_000 { buffer.samples[c][i] = 0.5 } }
        buffer.frameCount = 48_000
        try queue.enqueue(buffer)
        try queue.start()
        try rig.render(4_800)
        #expect(queue.level.peak == 0.5)
        queue.volume = 0.5
        let heard = try rig.render(4_800)
        #expect(abs(heard[4_799] - 0.25) < 1e-6 && abs(queue.level.peak - 0.25) < 1e-6)
        queue.pan = 1
        #expect(abs(try rig.render(4_800)[4_799]) < 1e-6)
    }

    @Test func `property changes are reported with the values in effect`() throws {
        let rig = QueueRig(channels: 2)
        let events = Log<AudioQueueEvent>()
        let queue = try AudioOutputQueue(.linearPCM(rig.format), on: rig.engine, isVarispeed: true) { _, _ in }
        queue.setEventHandler { events.add($0) }
        queue.volume = 0.5
        queue.volume = 100
        queue.pan = -3
        try queue.setRate(2)
        queue.volume = .nan
        try queue.setVolume(-1, fadeDuration: 0.5)
        let told: [AudioQueueEvent.Property] = [
            .volume(0.5), .volume(8), .pan(-1), .rate(2), .volume(8), .volume(0),
        ]
        #expect(events.all == told.map { .changed($0) })
        #expect(queue.volume == 0)
    }

    @Test func `a task can receive the buffers instead of a callback`() async throws {
        let rig = QueueRig()
        let queue = try AudioOutputQueue(.linearPCM(rig.format), on: rig.engine)
        try rig.start()
        for k in 0..<3 {
            let buffer = try queue.allocateBuffer(frameCount: 300)
            fill(buffer, 300, from: 300 * k)
            try queue.enqueue(buffer)
        }
        try queue.start()
        var iterator = queue.buffers.makeAsyncIterator()
        var heard: [Float] = []
        for k in 3..<60 {
            heard += try rig.render(300)
            let buffer = try #require(await iterator.next())
            fill(buffer, 300, from: 300 * k)
            try queue.enqueue(buffer)
        }
        #expect(heard == (0..<57 * 300).map(numbered))
    }
}
