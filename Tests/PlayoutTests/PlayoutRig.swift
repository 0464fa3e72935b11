import AudioBase
import AudioCodecs
import TestSupport

@testable import Playout

/// A sender, a network and a receiving device on virtual time: what the media thread and the device would do, without
/// either. Every frame of the sender is a sine, so that the ear can tell what went missing.
struct PlayoutRig {
    var configuration: PlayoutConfiguration
    var block = 128
    var seconds = 10.0
    /// Clocks against true time, in parts in a million.
    var senderPPM = 0.0
    var receiverPPM = 0.0
    /// One-way delay of a packet in seconds, or nil when it is lost.
    var delay: (_ sequence: Int, _ sent: Double) -> Double? = { _, _ in 0.001 }
    /// Frames the receiving device skips at a time of its own.
    var skip: (at: Double, frames: Int)? = nil
    /// Frames by which the sender's timeline jumps at a time.
    var senderGap: (at: Double, frames: Int)? = nil
    /// When the sender starts anew, from position and sequence far off.
    var restart: Double? = nil
    let frequency = 440.0

    struct Result {
        var output: [Float] = []
        var statistics = PlayoutStatistics()
        var history: [(time: Double, statistics: PlayoutStatistics)] = []
    }

    func run() throws -> Result {
        let playout = try Playout(configuration)
        let buffer = AudioBuffer(channelCount: configuration.channelCount, frameCapacity: 8192)
        var packets = try makePackets()
        packets.sort { $0.header.arrival < $1.header.arrival }
        var next = 0
        var result = Result()
        var sampleTime: Int64 = 0
        let deviceRate = configuration.deviceRate * (1 + receiverPPM * 1e-6)
        var skipped = false
        while true {
            let now = Double(sampleTime) / deviceRate
            if now > seconds { break }
            if let skip, !skipped, now >= skip.at {
                sampleTime += Int64(skip.frames)
                skipped = true
                continue
            }
            let host = HostTime(nanoseconds: 1_000_000_000).advanced(bySeconds: now)
            while next < packets.count, packets[next].header.arrival <= host {
                _ = packets[next].payload.withUnsafeBytes { playout.packets.push(packets[next].header, payload: $0) }
                next += 1
            }
            playout.renderer.pull(buffer.channels, frameCount: block, sampleTime: sampleTime, hostTime: host)
            result.output.append(contentsOf: UnsafeBufferPointer(start: buffer.channels[0], count: block))
            result.statistics = playout.statistics
            result.history.append((now, playout.statistics))
            sampleTime += Int64(block)
        }
        return result
    }

    private func makePackets() throws -> [(header: PacketHeader, payload: [UInt8])] {
        let frames = configuration.framesPerPacket
        let rate = configuration.streamRate * (1 + senderPPM * 1e-6)
        let encoder =
            configuration.coding == .opus
            ? try OpusEncoder(
                channelCount: configuration.channelCount, frameDuration: OpusFrameDuration(rawValue: frames)!,
                bitRate: 64_000) : nil
        let custom =
            configuration.coding == .opusCustom
            ? try OpusCustomEncoder(
                sampleRate: configuration.streamRate, channelCount: configuration.channelCount, bitRate: 160_000) : nil
        let block = AudioBuffer(channelCount: configuration.channelCount, frameCapacity: frames)
        var packets: [(header: PacketHeader, payload: [UInt8])] = []
        var shift = 0
        var jumped = false
        var restarted = 0
        for sequence in 0..<Int(seconds * rate) / frames {
            let sent = Double((sequence + 1) * frames) / rate
            if let senderGap, !jumped, sent >= senderGap.at {
                shift = senderGap.frames
                jumped = true
            }
            if let restart, restarted == 0, sent >= restart { restarted = 1_000_000 }
            for c in 0..<configuration.channelCount {
                for i in 0..<frames {
                    block.channels[c][i] = sine(
                        sequence * frames + shift + i, frequency: frequency, rate: configuration.streamRate)
                }
            }
            var payload = [UInt8](repeating: 0, count: 8192)
            let count = try payload.withUnsafeMutableBytes { bytes in
                switch configuration.coding {
                case .pcm:
                    return PCMCodec.encode(
                        block.channels, offset: 0, frameCount: frames,
                        into: bytes.baseAddress!.assumingMemoryBound(to: UInt8.self))
                case .opus: return try encoder!.encode(block.channels, offset: 0, into: bytes)
                case .opusCustom:
                    let size = custom!.frameByteCount
                    for n in 0..<frames / 64 {
                        try custom!.encode(
                            block.channels, offset: n * 64, into: bytes.baseAddress!.advanced(by: n * size))
                    }
                    return frames / 64 * size
                case .decoded:
                    for c in 0..<configuration.channelCount {
                        bytes.baseAddress!.advanced(by: c * frames * 4).copyMemory(
                            from: block.channels[c], byteCount: frames * 4)
                    }
                    return frames * 4 * configuration.channelCount
                }
            }
            guard let late = delay(sequence, sent) else { continue }
            packets.append(
                (
                    PacketHeader(
                        sequence: sequence + restarted, position: sequence * frames + shift + restarted * 10,
                        frameCount: frames, byteCount: count,
                        arrival: HostTime(nanoseconds: 1_000_000_000).advanced(bySeconds: sent + late)),
                    Array(payload[..<count])
                ))
        }
        return packets
    }
}

extension PlayoutConfiguration {
    static func pcm(rate: Double = 48_000, device: Double = 48_000, frames: Int = 128, channels: Int = 1) -> Self {
        PlayoutConfiguration(
            coding: .pcm, streamRate: rate, deviceRate: device, channelCount: channels, framesPerPacket: frames)
    }
}
