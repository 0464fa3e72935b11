// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioFiles

/// The places of all sound in a demultiplexed track, found by one reading of the whole file.
///
/// The packets' headers tell their lengths. Where they do not, as in Windows Media, or disagree with the first sound, the packets
/// are decoded. Each packet takes 8 bytes of memory.
struct DemuxedScan {
    /// The format of the first sound.
    let format: AudioFormat
    /// The first frame of each packet, and the end.
    private(set) var starts = [0]
    /// The frames before the sound, added by the encoder.
    private(set) var primingFrames = 0
    /// The first packet that is damaged or has missing sound before it.
    private(set) var fault: (packet: Int, reason: String)?
    /// True if libavformat stopped with an error.
    private(set) var endsInError = false
    /// The number of the packet that stands for the frames left in the decoder at the end; nil if none are.
    private(set) var tailPacket: Int?
    private var trim = (start: 0, end: 0)
    private var firstTime: Double?

    /// The frames of the sound.
    var frameCount: Int { max(0, end - primingFrames - trim.end) }
    /// The frames of the longest packet, at least 1.
    var longestPacketFrames: Int { zip(starts, starts.dropFirst()).reduce(1) { max($0, $1.1 - $1.0) } }
    private var end: Int { starts[starts.count - 1] }

    /// The maximum number of packets, since each takes memory.
    private static let maximumPacketCount = 1 << 24
    /// The packets among which the first sound is sought.
    private static let probedPacketCount = 16
    /// The minimum seconds between a packet's time and the end of the sound before it that count as missing sound: containers
    /// round times.
    private static let minimumGap = 0.25

    /// Reads the whole track.
    /// - Parameter path: the path in errors.
    init(_ track: DemuxedTrack, _ decoder: TrackDecoder, path: String) throws(AudioFileError) {
        let first = try Self.firstSound(track, decoder, path)
        format = first.format
        let durations = PacketDurations(track.parameters)
        try track.rewind()
        let isTold = try addPackets(of: track, path) { packet, bytes in
            // A decoder that overlaps blocks returns nothing for the first packet.
            if packet < first.packet { return 0 }
            let frames = durations.frameCount(bytes)
            return packet == first.packet && frames != first.frameCount ? nil : frames
        }
        if !isTold { try decodePackets(of: track, decoder, path, damagedFrameCount: first.frameCount) }
        // The first packet has the number, or the track, or the decoder.
        let padding = Int(track.parameters.pointer.pointee.initial_padding)
        primingFrames = min([trim.start, padding].first { $0 > 0 } ?? first.leadingFrames, end)
    }

    private static func firstSound(
        _ track: DemuxedTrack, _ decoder: TrackDecoder, _ path: String
    ) throws(AudioFileError) -> (packet: Int, format: AudioFormat, frameCount: Int, leadingFrames: Int) {
        for packet in 0..<probedPacketCount {
            guard let bytes = try track.next() else { break }
            var (hertz, channels, leadingFrames) = (0, 0, 0)
            let frames = decoder.decodeAll(bytes) { offset in
                if offset == 0 { leadingFrames = decoder.leadingFrames }
                (hertz, channels) = (decoder.sampleRate, decoder.channelCount)
            }
            guard let frames, frames > 0 else { continue }
            guard AudioFormat.sampleRates.contains(Double(hertz)) else {
                throw .unsupportedSampleRate(path: path, hertz: hertz)
            }
            guard AudioFormat.channelCounts.contains(channels) else {
                throw .unsupportedChannelCount(path: path, count: channels)
            }
            let format = AudioFormat(sampleRate: Double(hertz), channelCount: channels)
            return (packet, format, frames, leadingFrames)
        }
        throw .notAudio(path: path, reason: "none of its first packets can be decoded")
    }

    /// Adds all packets, with the length that decoding finds.
    /// - Parameter damagedFrameCount: the length of a packet that cannot be decoded, until one can.
    private mutating func decodePackets(
        of track: DemuxedTrack, _ decoder: TrackDecoder, _ path: String, damagedFrameCount: Int
    ) throws(AudioFileError) {
        try track.rewind()
        do { try decoder.renew() } catch { throw .notAudio(path: path, reason: error.description) }
        var lastFrameCount = damagedFrameCount
        _ = try addPackets(of: track, path) { _, bytes in
            lastFrameCount = decoder.decodeAll(bytes) ?? lastFrameCount
            return lastFrameCount
        }
        if let count = decoder.decodeAll(nil), count > 0 {
            tailPacket = starts.count - 1
            starts.append(end + count)
        }
    }

    /// Reads all packets in place of those added before. Returns false if `frameCount` returns nil for one of them.
    private mutating func addPackets(
        of track: DemuxedTrack, _ path: String, frameCount: (Int, UnsafeRawBufferPointer) -> Int?
    ) throws(AudioFileError) -> Bool {
        (starts, trim, fault, firstTime) = ([0], (0, 0), nil, nil)
        while let bytes = try track.next() {
            let packet = starts.count - 1
            guard let frames = frameCount(packet, bytes), frames <= TrackDecoder.maximumPacketFrames else {
                return false
            }
            guard packet < Self.maximumPacketCount else {
                throw .notAudio(path: path, reason: "it has more than \(Self.maximumPacketCount) packets")
            }
            if packet == 0 { trim.start = track.trim.start }
            trim.end = track.trim.end
            fault = fault ?? fault(of: packet, track)
            starts.append(end + frames)
        }
        endsInError = track.isDamaged
        return true
    }

    private mutating func fault(of packet: Int, _ track: DemuxedTrack) -> (packet: Int, reason: String)? {
        if track.isDamaged { return (packet, "packet \(packet) is damaged") }
        guard let time = track.time else { return nil }
        let start = firstTime ?? time
        firstTime = start
        let missing = time - start - Double(end) / format.sampleRate
        return missing > Self.minimumGap ? (packet, "sound is missing before packet \(packet)") : nil
    }
}
