// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioCodecs
import TestSupport

@testable import EarshotPlayout

/// A sender, a network and a receiving device on virtual time, doing the work of the media thread and the device. By default the
/// sender sends a sine, so that gaps can be detected.
struct PlayoutRig {
    var configuration: PlayoutConfiguration
    var block = 128
    var seconds = 10.0
    /// The clocks' deviation from true time in ppm.
    var senderPPM = 0.0
    var receiverPPM = 0.0
    /// The one-way delay of a packet in seconds, or nil if it is lost.
    var delay: (_ sequence: Int, _ sent: Double) -> Double? = { _, _ in 0.001 }
    /// Frames that the receiving device skips at a time.
    var skip: (at: Double, frames: Int)? = nil
    /// Frames by which the sender's timeline jumps at a time.
    var senderGap: (at: Double, frames: Int)? = nil
    /// The time at which the sender starts again, with another position and sequence number.
    var restart: Double? = nil
    var restartShift = (sequence: 1_000_000, position: 10_000_000)
    /// Frames per packet from a time on.
    var frameChange: (at: Double, frames: Int)? = nil
    /// The time in which the sender sends nothing, while its timeline continues.
    var silence: Range<Double>? = nil
    /// Another sender's packets, to which the network does not apply.
    var extra: (_ sequence: Int, _ sent: Double) -> PacketHeader? = { _, _ in nil }
    /// The sender's sound; its frames are counted from 0.
    var says: ((Int) -> Float)? = nil
    /// Called before each block.
    var before: (_ playout: Playout, _ now: Double) -> Void = { _, _ in }
    /// Returns true for packets that Opus replaces.
    var fallback: (_ sequence: Int) -> Bool = { _ in false }
    var opusBitRate = 64_000
    /// The percentage of packets whose loss the Opus encoder protects against.
    var expectedLoss = 0
    var keepsOutput = true
    /// Seconds between two entries of the history; 0 for every block.
    var historyInterval = 0.0
    let frequency = 440.0

    struct Result {
        var output: [Float] = []
        var statistics = PlayoutStatistics()
        var forecast = PlayoutForecast()
        var history: [(time: Double, statistics: PlayoutStatistics)] = []
        /// The times at which lost packets were sent.
        var lost: [Double] = []

        /// Returns the counts from a time on.
        func since(_ time: Double, _ count: KeyPath<PlayoutStatistics, Int>) -> Int {
            statistics[keyPath: count] - (history.last { $0.time <= time }?.statistics[keyPath: count] ?? 0)
        }
    }

    func run() throws -> Result {
        let playout = try Playout(configuration)
        let buffer = AudioBuffer(channelCount: configuration.channelCount, frameCapacity: 8192)
        var sender = try Sender(self)
        var result = Result()
        var sampleTime: Int64 = 0
        let deviceRate = configuration.deviceRate * (1 + receiverPPM * 1e-6)
        var skipped = false
        var nextEntry = 0.0
        while true {
            let now = Double(sampleTime) / deviceRate
            if now > seconds { break }
            if let skip, !skipped, now >= skip.at {
                sampleTime += Int64(skip.frames)
                skipped = true
                continue
            }
            let host = HostTime(nanoseconds: 1_000_000_000).advanced(bySeconds: now)
            try sender.send(until: now, arrivedBy: host, into: playout.packets)
            before(playout, now)
            playout.renderer.pull(buffer.channels, frameCount: block, sampleTime: sampleTime, hostTime: host)
            if keepsOutput {
                result.output.append(contentsOf: UnsafeBufferPointer(start: buffer.channels[0], count: block))
            }
            if now >= nextEntry {
                result.history.append((now, playout.statistics))
                nextEntry += historyInterval
            }
            sampleTime += Int64(block)
        }
        result.statistics = playout.statistics
        result.forecast = playout.forecast
        result.lost = sender.lost
        return result
    }

    /// Creates packets at their times, and holds them as long as the network does.
    private struct Sender {
        let rig: PlayoutRig
        let encoder: OpusEncoder?
        let custom: OpusCustomEncoder?
        let sound: AudioBuffer
        var payload = [UInt8](repeating: 0, count: 8192)
        var pending: [(header: PacketHeader, payload: [UInt8])] = []  // the first to arrive at the end
        var sequence = 0
        var position = 0
        var shift = 0
        var restarted = (sequence: 0, position: 0)
        var jumped = false
        var lost: [Double] = []
        let rate: Double

        init(_ rig: PlayoutRig) throws {
            self.rig = rig
            let configuration = rig.configuration
            rate = configuration.streamRate * (1 + rig.senderPPM * 1e-6)
            encoder =
                configuration.coding == .opus || configuration.fallback != nil
                ? try OpusEncoder(
                    channelCount: configuration.channelCount,
                    frameDuration: OpusFrameDuration(rawValue: configuration.framesPerPacket)!,
                    bitRate: rig.opusBitRate) : nil
            encoder?.setExpectedLoss(percent: rig.expectedLoss)
            custom =
                configuration.coding == .opusCustom
                ? try OpusCustomEncoder(
                    sampleRate: configuration.streamRate, channelCount: configuration.channelCount, bitRate: 160_000)
                : nil
            sound = AudioBuffer(channelCount: configuration.channelCount, frameCapacity: 8192)
        }

        mutating func send(until now: Double, arrivedBy host: HostTime, into queue: PacketQueue) throws {
            while true {
                var frames = rig.configuration.framesPerPacket
                if let change = rig.frameChange, Double(position) / rate >= change.at { frames = change.frames }
                let sent = Double(position + frames) / rate
                guard sent <= now, sent <= rig.seconds else { break }
                try send(frames, at: sent)
            }
            while let next = pending.last, next.header.arrival <= host {
                _ = next.payload.withUnsafeBytes { queue.push(next.header, payload: $0) }
                pending.removeLast()
            }
        }

        private mutating func send(_ frames: Int, at sent: Double) throws {
            defer {
                sequence += 1
                position += frames
            }
            if let gap = rig.senderGap, !jumped, sent >= gap.at {
                shift = gap.frames
                jumped = true
            }
            if let restart = rig.restart, restarted.sequence == 0, sent >= restart { restarted = rig.restartShift }
            if let extra = rig.extra(sequence, sent) {
                put(extra, [UInt8](repeating: 0, count: extra.byteCount))
            }
            if rig.silence?.contains(sent) == true { return }
            let count = try encode(frames)  // before it may be lost: an encoder goes on from what it coded
            guard let late = rig.delay(sequence, sent) else { return lost.append(sent) }
            var header = PacketHeader(
                sequence: sequence + restarted.sequence, position: position + shift + restarted.position,
                frameCount: frames, byteCount: count,
                arrival: HostTime(nanoseconds: 1_000_000_000).advanced(bySeconds: sent + late))
            header.isFallbackCodec = rig.fallback(sequence)
            put(header, Array(payload[..<count]))
        }

        private mutating func put(_ header: PacketHeader, _ payload: [UInt8]) {
            let at = pending.lastIndex { $0.header.arrival > header.arrival }.map { $0 + 1 } ?? 0
            pending.insert((header, payload), at: at)
        }

        private mutating func encode(_ frames: Int) throws -> Int {
            let configuration = rig.configuration
            for c in 0..<configuration.channelCount {
                for i in 0..<frames {
                    let n = position + shift + i
                    sound.channels[c][i] =
                        rig.says?(n) ?? sine(n, frequency: rig.frequency, rate: configuration.streamRate)
                }
            }
            let (sound, encoder, custom) = (sound, encoder, custom)
            let isFallback = rig.fallback(sequence)
            return try payload.withUnsafeMutableBytes { bytes in
                if isFallback { return try encoder!.encode(sound.channels, offset: 0, into: bytes) }
                if configuration.coding == .pcm {
                    return PCMCodec.encode(
                        sound.channels, offset: 0, frameCount: frames,
                        into: bytes.baseAddress!.assumingMemoryBound(to: UInt8.self))
                }
                if let encoder { return try encoder.encode(sound.channels, offset: 0, into: bytes) }
                if let custom {
                    let size = custom.frameByteCount
                    for n in 0..<frames / 64 {
                        _ = try custom.encode(
                            sound.channels, offset: n * 64,
                            into: UnsafeMutableRawBufferPointer(rebasing: bytes[(n * size)...]))
                    }
                    return frames / 64 * size
                }
                for c in 0..<configuration.channelCount {
                    bytes.baseAddress!.advanced(by: c * frames * 4).copyMemory(
                        from: sound.channels[c], byteCount: frames * 4)
                }
                return frames * 4 * configuration.channelCount
            }
        }
    }
}

extension PlayoutConfiguration {
    static func pcm(
        rate: Double = 48_000, device: Double = 48_000, frames: Int = 128, channels: Int = 1,
        latencyProfile: LatencyProfile = .talk
    ) -> Self {
        PlayoutConfiguration(
            coding: .pcm, streamRate: rate, deviceRate: device, channelCount: channels, framesPerPacket: frames,
            latencyProfile: latencyProfile)
    }

    static func decoded(frames: Int, latencyProfile: LatencyProfile = .talk) -> Self {
        PlayoutConfiguration(
            coding: .decoded, streamRate: 48_000, deviceRate: 48_000, channelCount: 1, framesPerPacket: frames,
            latencyProfile: latencyProfile)
    }
}
