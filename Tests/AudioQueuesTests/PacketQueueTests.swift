// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioCodecs
import EarshotAudioEngine
import EarshotAudioFiles
import EarshotAudioQueues
import TestSupport
import Testing

@Suite struct PacketQueueTests {
    private final class Store: @unchecked Sendable {  // one thread: virtual time
        var packets: [[UInt8]] = []
        var buffers: [AudioQueueBuffer] = []
    }

    private func tone(_ frame: Int) -> Float { sine(frame, frequency: 440, rate: 48_000) }

    /// Records a tone as packets, in this many buffers.
    private func record(
        _ encoding: AudioQueueEncoding, packets: Int, frames: Int
    ) throws -> (format: AudioQueueFormat, packets: [[UInt8]], priming: Int) {
        let rig = QueueRig()
        let store = Store()
        let queue = try AudioInputQueue(encoding, on: rig.engine) { queue, buffer in
            for k in buffer.packetDescriptions.indices { store.packets.append(Array(buffer.packet(k))) }
            try? queue.enqueue(buffer)
        }
        for _ in 0..<4 { try queue.enqueue(try queue.allocateBuffer(packetCount: packets)) }
        try rig.start(inputs: 1)
        try queue.start()
        try rig.render(frames, blocks: [480], input: tone)
        queue.stop()
        for _ in 0..<2 { try rig.render(16, input: tone) }  // a frame, at the least rate of a queue
        #expect(queue.error == nil && queue.statistics.overrun == 0)
        return (queue.format, store.packets, queue.primingFrames)
    }

    /// Plays packets, in this many buffers.
    private func play(_ format: AudioQueueFormat, _ packets: [[UInt8]], each: Int, frames: Int) throws -> (
        heard: [Float], losses: [AudioQueueLoss]
    ) {
        let rig = QueueRig()
        let store = Store()
        let events = Log<AudioQueueEvent>()
        store.packets = packets
        let refill: AudioOutputQueueCallback = { queue, buffer in
            buffer.removeAll()
            while !store.packets.isEmpty, buffer.packetDescriptions.count < each {
                guard store.packets[0].withUnsafeBytes({ buffer.append($0) }) else {
                    Issue.record("no room for a packet")
                    return
                }
                store.packets.removeFirst()
            }
            guard !buffer.packetDescriptions.isEmpty else { return queue.stop(immediately: false) }
            do { try queue.enqueue(buffer) } catch { Issue.record(error) }
        }
        let queue = try AudioOutputQueue(format, on: rig.engine, callback: refill)
        queue.setEventHandler { events.add($0) }
        for _ in 0..<3 { refill(queue, try queue.allocateBuffer(packetCount: each)) }
        try rig.start()
        #expect(queue.prime() == 3 * each * format.framesPerPacket)
        try queue.start()
        return (try rig.render(frames, blocks: [256]), events.losses)
    }

    @Test(arguments: [1, 3, 8])
    func `AAC passes from the input to the output queue completely`(each: Int) throws {
        let recorded = try record(
            .aac(sampleRate: 48_000, channelCount: 1, bitRate: 128_000), packets: each, frames: 48_000)
        #expect(recorded.packets.count * 1_024 >= 48_000 + recorded.priming)
        let played = try play(recorded.format, recorded.packets, each: each, frames: 48_000)
        #expect(played.losses.isEmpty)
        let wanted = (4_096..<40_000).map(tone)
        #expect(errorDecibels(wanted, Array(played.heard[recorded.priming + 4_096..<recorded.priming + 40_000])) < -25)
        // The queue's output equals the decoder's exactly.
        let encoder = try AACEncoder(sampleRate: 48_000, channelCount: 1, bitRate: 128_000)
        let plain = try AACDecoder(audioSpecificConfig: encoder.audioSpecificConfig)
        let block = AudioBuffer(channelCount: 1, frameCapacity: 1_024)
        var direct: [Float] = []
        for packet in recorded.packets {
            let count = try packet.withUnsafeBytes { bytes throws(CodecError) in
                try plain.decode(bytes, into: block.channels, offset: 0)
            }
            direct += UnsafeBufferPointer(start: block.channels[0], count: count)
        }
        #expect(Array(direct.prefix(48_000)) == played.heard)
    }

    @Test(arguments: [OpusFrameDuration.microseconds2500, .milliseconds20])
    func `Opus passes from the input to the output queue completely`(duration: OpusFrameDuration) throws {
        let recorded = try record(
            .opus(channelCount: 1, frameDuration: duration, bitRate: 96_000), packets: 4, frames: 48_000)
        // And one more for the encoder's look-ahead.
        #expect(recorded.packets.count == 48_000 / duration.frameCount + 1)
        let played = try play(recorded.format, recorded.packets, each: 4, frames: 47_000)
        #expect(played.losses.isEmpty)
        let wanted = (4_096..<40_000).map(tone)
        #expect(errorDecibels(wanted, Array(played.heard[recorded.priming + 4_096..<recorded.priming + 40_000])) < -20)
    }

    @Test(arguments: [
        (MP3Encoder.BitRate.constant(320), 48_000.0), (.constant(128), 48_000), (.variable(2), 48_000),
        (.constant(128), 16_000), (.variable(2), 16_000),
    ])
    func `MP3 passes from the input to the output queue completely and without a shift`(
        bitRate: MP3Encoder.BitRate, rate: Double
    ) throws {
        let recorded = try record(
            .mp3(sampleRate: rate, channelCount: 1, bitRate: bitRate), packets: 3, frames: 48_000)
        let (inside, packet) = (Int(rate) + recorded.priming, recorded.format.framesPerPacket)
        #expect((0...2).contains(recorded.packets.count - (inside + packet - 1) / packet))
        let played = try play(recorded.format, recorded.packets, each: 3, frames: 48_000)
        #expect(played.losses.isEmpty)
        if rate != 48_000 { return }  // elsewhere the converters' delays are heard too
        let wanted = (4_096..<40_000).map(tone)
        let heard = Array(played.heard[recorded.priming + 4_096..<recorded.priming + 40_000])
        #expect(errorDecibels(wanted, heard) < -20)
    }

    @Test func `a buffer holds eight AAC packets of maximum size and rejects any that does not fit`() throws {
        let rig = QueueRig()
        let config = try AACEncoder(sampleRate: 44_100, channelCount: 2, bitRate: 128_000).audioSpecificConfig
        let queue = try AudioOutputQueue(try .aac(configuration: config), on: rig.engine) { _, _ in }
        let buffer = try queue.allocateBuffer(packetCount: 8)
        let largest = [UInt8](repeating: 7, count: 1_536)  // 6,144 bits a channel
        for _ in 0..<8 { #expect(largest.withUnsafeBytes { buffer.append($0) }) }
        #expect(buffer.byteCount == 8 * 1_536)
        #expect(!largest.withUnsafeBytes { buffer.append($0) })
        #expect(buffer.byteCount == 8 * 1_536 && buffer.packetDescriptions.count == 8)
        buffer.removeAll()
        let huge = [UInt8](repeating: 7, count: buffer.bytes.count + 1)
        #expect(!huge.withUnsafeBytes { buffer.append($0) } && buffer.byteCount == 0)
        let outside: [(Int, Int)] = [(0, 101), (-1, 5), (100, 1), (99, .max), (.max, 1), (0, 0)]
        for (start, count) in outside {
            #expect(throws: AudioQueueError.self) {
                try buffer.setPackets(
                    byteCount: 100, descriptions: [AudioStreamPacketDescription(startOffset: start, byteCount: count)])
            }
        }
        #expect(throws: AudioQueueError.self) { try buffer.setPackets(byteCount: .max, descriptions: []) }
        #expect(throws: AudioQueueError.emptyBuffer) { try queue.enqueue(buffer) }
    }

    @Test(arguments: [
        AudioQueueEncoding.aac(sampleRate: 48_000, channelCount: 1, bitRate: 64_000),
        .opus(channelCount: 1, frameDuration: .milliseconds20, bitRate: 64_000),
        .mp3(sampleRate: 48_000, channelCount: 1, bitRate: .constant(128)),
    ])
    func `the encoder's last packets arrive exactly once before the end is reported, also at a pause`(
        encoding: AudioQueueEncoding
    ) throws {
        let rig = QueueRig()
        let packets = Log<[UInt8]>()
        let (takes, pauses) = (Log<[[UInt8]]>(), Log<Int>())
        let queue = try AudioInputQueue(encoding, on: rig.engine) { queue, buffer in
            for k in buffer.packetDescriptions.indices { packets.add(Array(buffer.packet(k))) }
            do { try queue.enqueue(buffer) } catch { Issue.record(error) }
        }
        queue.setEventHandler { event in
            if event == .paused { pauses.add(takes.all.count) }
            if event == .stopped { takes.add(Array(packets.all[takes.all.reduce(0) { $0 + $1.count }...])) }
        }
        for _ in 0..<4 { try queue.enqueue(try queue.allocateBuffer(packetCount: 3)) }
        try rig.start(inputs: 1)
        // The same sound each time.
        func render(_ frames: Int) throws { try rig.render(frames, blocks: [480]) { tone($0 % 12_000) } }
        try queue.start()
        try render(10_000)
        queue.stop()
        try render(2_000)
        #expect(takes.all.count == 1 && takes.all[0].count > 8)
        try queue.start()
        try render(10_000)
        queue.pause()
        try render(2_000)
        queue.stop()
        try queue.start()  // without a block between
        try render(10_000)
        queue.pause()
        queue.stop()
        queue.stop()
        queue.pause()
        try render(2_000)
        try queue.start()
        try render(10_000)
        queue.pause()
        try render(1_000)
        queue.stop()
        try render(1)
        #expect(takes.all == [[[UInt8]]](repeating: takes.all[0], count: 4))
        #expect(pauses.all == [1, 3] && queue.error == nil)
        queue.stop()
        #expect(takes.all.count == 5 && takes.all[4].isEmpty)  // again tells that it is over
    }

    @Test func `repeated stops create no more buffers, and reused buffers keep their requested size`() throws {
        let rig = QueueRig()
        let store = Store()
        let queue = try AudioInputQueue(
            .aac(sampleRate: 48_000, channelCount: 1, bitRate: 64_000), on: rig.engine
        ) { queue, buffer in
            store.buffers.append(buffer)
            do { try queue.enqueue(buffer) } catch { Issue.record(error) }
        }
        for _ in 0..<3 { try queue.enqueue(try queue.allocateBuffer(packetCount: 2)) }
        try rig.start(inputs: 1)
        var tails: [AudioQueueBuffer] = []
        for _ in 0..<70 {
            try queue.start()
            try rig.render(5_000, blocks: [1_000], input: tone)
            queue.stop()
            try rig.render(10, input: tone)
            // Two blocks each, then the encoder's remaining packets.
            #expect(store.buffers.prefix(2).allSatisfy { $0.packetCapacity == 2 } && store.buffers.count == 3)
            if let tail = store.buffers.last, !tails.contains(where: { $0 === tail }) { tails.append(tail) }
            store.buffers = []
        }
        #expect(tails.count == 1)
        for _ in 3..<AudioInputQueue.maximumBufferCount { _ = try queue.allocateBuffer(packetCount: 1) }
        #expect(throws: AudioQueueError.tooManyBuffers(maximum: 64)) { try queue.allocateBuffer(packetCount: 1) }
    }

    @Test func `a failing encoder is reported with all losses, and the next start creates a new one`() throws {
        let rig = QueueRig()
        let store = Store()
        let events = Log<AudioQueueEvent>()
        let queue = try AudioInputQueue(
            .aac(sampleRate: 48_000, channelCount: 1, bitRate: 64_000), on: rig.engine
        ) { queue, buffer in
            for k in buffer.packetDescriptions.indices { store.packets.append(Array(buffer.packet(k))) }
            try? queue.enqueue(buffer)
        }
        queue.setEventHandler { events.add($0) }
        for _ in 0..<3 {
            store.buffers.append(try queue.allocateBuffer(packetCount: 2))
            try queue.enqueue(store.buffers[store.buffers.count - 1])
        }
        try rig.start(inputs: 1)
        try queue.start()
        try rig.render(5_000, blocks: [500], input: tone)
        #expect(store.packets.count == 3)
        // A client that fills a buffer of the queue itself leaves the encoder no room.
        for buffer in store.buffers { try buffer.setPackets(byteCount: buffer.bytes.count, descriptions: []) }
        try rig.render(5_000, blocks: [500], input: tone)
        queue.stop()
        try rig.render(1, input: tone)
        #expect(store.packets.count == 3)
        let failure = try #require(queue.error)
        let losses = [(4_096, 2_048), (6_144, 2_048), (8_192, 1_808)].map { at, count in
            AudioQueueEvent.lost(
                AudioQueueLoss(kind: .unencodable, frameCount: count, sampleTime: Int64(at), position: at))
        }
        #expect(events.all == [.started(sampleTime: 0), .failed(failure)] + losses + [.stopped])
        #expect(queue.statistics.frameCount == 4_096 && queue.statistics.unencodable == 5_904)
        for buffer in store.buffers { buffer.removeAll() }
        try queue.start()
        try rig.render(5_000, blocks: [500], input: tone)
        #expect(store.packets.count == 6 && queue.error == nil)
        #expect(queue.statistics.unencodable == 5_904)
    }

    @Test func `an undecodable packet becomes silence of its length and is reported`() throws {
        var recorded = try record(
            .aac(sampleRate: 48_000, channelCount: 1, bitRate: 64_000), packets: 4, frames: 48_000)
        let whole = try play(recorded.format, recorded.packets, each: 4, frames: 40_000)
        recorded.packets[9] = [UInt8](repeating: 0xFF, count: 40)
        let played = try play(recorded.format, recorded.packets, each: 4, frames: 40_000)
        let loss = AudioQueueLoss(kind: .undecodable, frameCount: 1_024, sampleTime: nil, position: 9_216)
        #expect(played.losses == [loss])
        #expect(played.heard[9_216..<10_240].allSatisfy { $0 == 0 })
        #expect(errorDecibels(Array(whole.heard[14_000...]), Array(played.heard[14_000...])) < -40)
    }
}
