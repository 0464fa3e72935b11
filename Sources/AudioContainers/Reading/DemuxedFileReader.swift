// SPDX-License-Identifier: Apache-2.0

import CEarshotLibAVFormat
import EarshotAudioBase
import EarshotAudioCodecs
import EarshotAudioFiles

/// Reads files that libavformat demultiplexes as planar floats: Matroska and WebM, Windows Media, FLAC in Ogg, AC-3.
///
/// Opening reads the whole file to count its frames; where a packet's header does not tell them, as in Windows Media, it also
/// decodes. A seek reads the file from its beginning up to the target, and decodes the last ``lead`` packets. The start of each
/// packet is kept in memory, 8 bytes for each. For one thread at a time; reads block on the disk.
final class DemuxedFileReader: SoundFileReader {
    let path: String
    let processingFormat: AudioFormat
    let frameCount: Int
    private(set) var framePosition = 0
    private(set) var faultCount = 0
    /// The container's and the codec's name to show to the user.
    let container: String
    let codec: String
    /// Bits per sample; nil if the codec has no bit depth.
    let bitDepth: Int?
    /// The file's text fields.
    let tags: AudioFileTags
    /// True if the file shows that its end is missing.
    let isCutOff: Bool
    var hasChapters: Bool { track.hasChapters }

    private let track: DemuxedTrack
    private let decoder: TrackDecoder
    private let starts: [Int]  // the first frame of each packet, and the end
    private let primingFrames: Int
    private let block: AudioBuffer  // the sound of `blockPacket`
    private var blockPacket = -1
    private var readableEnd: Int  // the frame at which the file turned out to end

    /// The packets that are decoded before the target of a seek.
    private static let lead = 64
    /// The maximum number of packets, since each takes memory.
    private static let maximumPacketCount = 1 << 24
    /// The maximum frames of a packet, as ``TrackDecoder`` has for a frame; Windows Media has several frames in a packet.
    private static let maximumPacketFrames = 1 << 17

    init(_ file: ReadableFile, _ format: DemuxedFormat) throws(AudioFileError) {
        path = file.path
        track = try DemuxedTrack(file, format)
        do { decoder = try TrackDecoder(track.parameters) } catch {
            throw .notAudio(path: file.path, reason: error.description)
        }
        let first = try Self.probe(track, decoder, path)
        processingFormat = first.format
        (codec, bitDepth) = decoder.codecDescription
        container = format.name
        isCutOff = format == .oggFLAC && file.isCutOff
        var tags = AudioFileTags()
        tags.fields = track.texts
        self.tags = tags
        let scan = try Self.scan(track, decoder, first, path)
        starts = scan.starts
        primingFrames = min(scan.trim.start, scan.starts.last ?? 0)
        frameCount = max(0, (scan.starts.last ?? 0) - primingFrames - scan.trim.end)
        readableEnd = frameCount
        let longest = zip(starts, starts.dropFirst()).reduce(1) { max($0, $1.1 - $1.0) }
        block = AudioBuffer(channelCount: processingFormat.channelCount, frameCapacity: longest)
    }

    // MARK: Opening

    /// The first packet with sound.
    private struct FirstSound {
        var packet: Int
        var format: AudioFormat
        var frameCount: Int
    }

    private static func probe(
        _ track: DemuxedTrack, _ decoder: TrackDecoder, _ path: String
    ) throws(AudioFileError) -> FirstSound {
        for packet in 0..<16 {
            guard let bytes = try track.next() else { break }
            let frames = frameCount(bytes, decoder) { _ in }
            guard let frames, frames > 0 else { continue }
            let (hertz, channels) = (decoder.sampleRate, decoder.channelCount)
            guard AudioFormat.sampleRates.contains(Double(hertz)) else {
                throw .unsupportedSampleRate(path: path, hertz: hertz)
            }
            guard AudioFormat.channelCounts.contains(channels) else {
                throw .unsupportedChannelCount(path: path, count: channels)
            }
            let format = AudioFormat(sampleRate: Double(hertz), channelCount: channels)
            return FirstSound(packet: packet, format: format, frameCount: frames)
        }
        throw .notAudio(path: path, reason: "none of its first packets can be decoded")
    }

    /// Decodes a packet and calls `body` with each of its frames' first frame within the packet. Returns the number of frames;
    /// nil if the packet cannot be decoded.
    private static func frameCount(
        _ bytes: UnsafeRawBufferPointer, _ decoder: TrackDecoder, _ body: (Int) -> Void
    ) -> Int? {
        guard bytes.count <= PacketTable.maximumPacketByteCount else { return nil }
        decoder.room(for: bytes.count).copyMemory(from: bytes)
        switch decoder.decode(byteCount: bytes.count) {
        case .failed: return nil
        case .nothing: return 0
        case .sound: break
        }
        var count = 0
        repeat {
            guard count + decoder.frameCount <= maximumPacketFrames else {
                decoder.drain()
                return nil
            }
            body(count)
            count += decoder.frameCount
        } while decoder.nextFrame()
        return count
    }

    /// Finds the start of each packet, from the packets' headers if they tell it and agree with the first sound, otherwise by
    /// decoding.
    private static func scan(
        _ track: DemuxedTrack, _ decoder: TrackDecoder, _ first: FirstSound, _ path: String
    ) throws(AudioFileError) -> (starts: [Int], trim: (start: Int, end: Int)) {
        let durations = PacketDurations(track.parameters)
        try track.rewind()
        let told = try scan(track, path) { packet, bytes in
            // A decoder that overlaps blocks gives no sound for the first one.
            if packet < first.packet { return 0 }
            let frames = durations.frameCount(bytes)
            return packet == first.packet && frames != first.frameCount ? nil : frames
        }
        if let told { return told }
        try track.rewind()
        decoder.flush()
        var last = first.frameCount
        let decoded = try scan(track, path) { _, bytes in
            last = frameCount(bytes, decoder) { _ in } ?? last
            return last
        }
        return decoded ?? ([0], (0, 0))
    }

    /// Reads all packets. Returns nil if `frameCount` returns nil for one of them.
    private static func scan(
        _ track: DemuxedTrack, _ path: String, frameCount: (Int, UnsafeRawBufferPointer) -> Int?
    ) throws(AudioFileError) -> (starts: [Int], trim: (start: Int, end: Int))? {
        var starts = [0]
        var trim = (start: 0, end: 0)
        while let bytes = try track.next() {
            guard let frames = frameCount(starts.count - 1, bytes), frames <= maximumPacketFrames else { return nil }
            if starts.count == 1 { trim.start = track.trim.start }
            trim.end = track.trim.end
            starts.append(starts[starts.count - 1] + frames)
            guard starts.count <= maximumPacketCount else {
                throw .notAudio(path: path, reason: "it has more than \(maximumPacketCount) packets")
            }
        }
        return (starts, trim)
    }

    // MARK: Reading

    func seek(to frame: Int) throws(AudioFileError) {
        precondition(frame >= 0)
        framePosition = min(frame, frameCount)
        readableEnd = frameCount
    }

    func read(into channels: Channels, frameCount: Int, offset: Int) throws(AudioFileError) -> Int {
        let count = processingFormat.channelCount
        precondition(channels.count >= count && frameCount >= 0)
        var done = 0
        while done < frameCount, framePosition < readableEnd {
            let position = framePosition + primingFrames
            if blockPacket < 0 || !(starts[blockPacket]..<starts[blockPacket + 1]).contains(position) {
                try load(packet(at: position))
            }
            let frames = min(
                starts[blockPacket + 1] - position, frameCount - done, self.frameCount - framePosition)
            for c in 0..<count {
                faultCount += copyFiniteSamples(
                    channels[c] + offset + done, block.channels[c] + position - starts[blockPacket], frames)
            }
            done += frames
            framePosition += frames
        }
        return done
    }

    /// Returns the packet that contains a frame.
    private func packet(at position: Int) -> Int {
        var (low, high) = (0, starts.count - 1)
        while high - low > 1 {
            let middle = (low + high) / 2
            if starts[middle] <= position { low = middle } else { high = middle }
        }
        return low
    }

    /// Decodes a packet into the block; silence replaces what cannot be decoded.
    private func load(_ packet: Int) throws(AudioFileError) {
        blockPacket = -1
        if packet != track.nextPacket { try approach(packet) }
        guard let bytes = try track.next() else {
            readableEnd = framePosition
            throw .damaged(path: path, reason: "packet \(packet) is missing")
        }
        for c in 0..<block.channels.count { clearSamples(block.channels[c], block.frameCapacity) }
        var fault: String?
        let frames = Self.frameCount(bytes, decoder) { first in
            guard first < block.frameCapacity else { return }
            let frames = min(decoder.frameCount, block.frameCapacity - first)
            if decoder.sampleRate != Int(processingFormat.sampleRate)
                || decoder.channelCount != processingFormat.channelCount
            {
                fault = "a change to \(decoder.sampleRate) Hz, \(decoder.channelCount) channels"
            } else if !decoder.copy(to: block.channels, offset: first, frameCount: frames) {
                fault = "an unknown kind of samples"
            }
        }
        blockPacket = packet
        if frames == nil { fault = "a packet that cannot be decoded" }
        if let fault { throw .damaged(path: path, reason: "\(fault), packet \(packet)") }
    }

    /// Prepares track and decoder so that this packet is next.
    private func approach(_ packet: Int) throws(AudioFileError) {
        let first = max(0, packet - Self.lead)
        if track.nextPacket > first { try track.rewind() }
        while track.nextPacket < first { guard try track.next() != nil else { break } }
        decoder.flush()
        while track.nextPacket < packet {
            guard let bytes = try track.next() else { break }
            _ = Self.frameCount(bytes, decoder) { _ in }
        }
    }
}
