// SPDX-License-Identifier: Apache-2.0

import CEarshotLibAVFormat
import EarshotAudioBase
import EarshotAudioCodecs
import EarshotAudioFiles

/// Reads files that libavformat demultiplexes as planar floats: Matroska and WebM, Windows Media, FLAC in Ogg, AC-3.
///
/// Opening reads the whole file to count its frames; where a packet's header does not tell them, as in Windows Media, it also
/// decodes. A seek reads the file from its beginning up to the target, and decodes the last ``lead`` packets; codecs that fill in
/// noise (AC-3, AAC) then make other noise than without a seek. The start of each packet is kept in memory, 8 bytes for each. For
/// one thread at a time; reads block on the disk.
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
    private let tailPacket: Int?  // stands for what the decoder holds behind the last packet
    private let primingFrames: Int
    private let block: AudioBuffer  // the sound of `blockPacket`
    private var blockPacket = -1
    private var nextPacket = -1  // that the decoder would continue with
    private var fault: (packet: Int, reason: String)?  // to be reported before this packet
    private var readableEnd: Int  // the frame at which the file turned out to end

    /// The packets that are decoded before the target of a seek.
    private static let lead = 64
    /// The maximum number of packets, since each takes memory.
    private static let maximumPacketCount = 1 << 24
    /// The maximum frames of a packet, as ``TrackDecoder`` has for a frame; Windows Media has several frames in a packet.
    private static let maximumPacketFrames = 1 << 17
    /// The seconds by which a packet's time exceeds the sound before it if sound is missing: timestamps are rounded.
    private static let minimumGap = 0.25

    init(_ file: ReadableFile, _ format: DemuxedFormat) throws(AudioFileError) {
        path = file.path
        track = try DemuxedTrack(file, format)
        do { decoder = try TrackDecoder(track.parameters) } catch {
            throw .notAudio(path: file.path, reason: error.description)
        }
        let first = try Self.probe(track, decoder, path)
        let scan = try Self.scan(track, decoder, first, path)
        processingFormat = first.format
        (codec, bitDepth) = decoder.codecDescription
        container = format.name
        isCutOff = format.isCutOff(file) || scan.endsInError
        var tags = AudioFileTags()
        tags.fields = track.texts
        self.tags = tags
        starts = scan.starts
        tailPacket = scan.tailPacket
        fault = scan.fault
        // The first packet has the number, or the track, or the decoder.
        let padding = max(0, Int(track.parameters.pointer.pointee.initial_padding))
        let priming = [scan.trim.start, padding].first { $0 > 0 } ?? first.leadingFrames
        primingFrames = min(priming, scan.starts.last ?? 0)
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
        /// The frames at its beginning that the codec added.
        var leadingFrames: Int
    }

    /// The places of all packets' sound.
    private struct Scan {
        /// The first frame of each packet, and the end.
        var starts = [0]
        /// The frames to remove from the beginning and the end.
        var trim = (start: 0, end: 0)
        /// The first packet with missing sound before it, or damaged.
        var fault: (packet: Int, reason: String)?
        /// True if libavformat stopped with an error.
        var endsInError = false
        /// The number of the packet that stands for what the decoder holds at the end; nil if it holds nothing.
        var tailPacket: Int?
    }

    private static func probe(
        _ track: DemuxedTrack, _ decoder: TrackDecoder, _ path: String
    ) throws(AudioFileError) -> FirstSound {
        for packet in 0..<16 {
            guard let bytes = try track.next() else { break }
            var (hertz, channels, leadingFrames) = (0, 0, 0)
            let frames = frameCount(bytes, decoder) { offset in
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
            return FirstSound(
                packet: packet, format: format, frameCount: frames, leadingFrames: leadingFrames)
        }
        throw .notAudio(path: path, reason: "none of its first packets can be decoded")
    }

    /// Decodes a packet, or what the decoder still holds at the end if `bytes` is nil. Calls `body` for each part of its sound, while `decoder` holds that part, with the part's first frame in the
    /// packet. Returns the number of frames; nil if the packet cannot be decoded.
    private static func frameCount(
        _ bytes: UnsafeRawBufferPointer?, _ decoder: TrackDecoder, _ body: (Int) -> Void
    ) -> Int? {
        let result: TrackDecoder.Result
        if let bytes {
            guard bytes.count <= PacketTable.maximumPacketByteCount else { return nil }
            decoder.room(for: bytes.count).copyMemory(from: bytes)
            result = decoder.decode(byteCount: bytes.count)
        } else {
            result = decoder.end()
        }
        switch result {
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
    ) throws(AudioFileError) -> Scan {
        let durations = PacketDurations(track.parameters)
        try track.rewind()
        let told = try scan(track, path, sampleRate: first.format.sampleRate) { packet, bytes in
            // A decoder that overlaps blocks gives no sound for the first one.
            if packet < first.packet { return 0 }
            let frames = durations.frameCount(bytes)
            return packet == first.packet && frames != first.frameCount ? nil : frames
        }
        if let told { return told }
        try track.rewind()
        do { try decoder.renew() } catch { throw .notAudio(path: path, reason: error.description) }
        var last = first.frameCount
        let decoded = try scan(track, path, sampleRate: first.format.sampleRate) { _, bytes in
            last = frameCount(bytes, decoder) { _ in } ?? last
            return last
        }
        guard var result = decoded, let end = result.starts.last else { return Scan() }
        // The decoder's last frames count as one more packet.
        if let count = frameCount(nil, decoder, { _ in }), count > 0 {
            result.tailPacket = result.starts.count - 1
            result.starts.append(end + count)
        }
        return result
    }

    /// Reads all packets. Returns nil if `frameCount` returns nil for one of them.
    private static func scan(
        _ track: DemuxedTrack, _ path: String, sampleRate: Double, frameCount: (Int, UnsafeRawBufferPointer) -> Int?
    ) throws(AudioFileError) -> Scan? {
        var scan = Scan()
        var firstTime: Double?
        while let bytes = try track.next() {
            guard let frames = frameCount(scan.starts.count - 1, bytes), frames <= maximumPacketFrames else {
                return nil
            }
            if scan.starts.count == 1 { scan.trim.start = track.trim.start }
            let packet = scan.starts.count - 1
            if let time = track.time {
                let missing = time - (firstTime ?? time) - Double(scan.starts[packet]) / sampleRate
                firstTime = firstTime ?? time
                if missing > minimumGap, scan.fault == nil {
                    scan.fault = (packet, "sound is missing before packet \(packet)")
                }
            }
            if track.isDamaged, scan.fault == nil { scan.fault = (packet, "packet \(packet) is damaged") }
            scan.trim.end = track.trim.end
            scan.starts.append(scan.starts[scan.starts.count - 1] + frames)
            guard scan.starts.count <= maximumPacketCount else {
                throw .notAudio(path: path, reason: "it has more than \(maximumPacketCount) packets")
            }
        }
        scan.endsInError = track.isDamaged
        return scan
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
        if let fault, packet >= fault.packet {
            self.fault = nil
            throw .damaged(path: path, reason: fault.reason)
        }
        blockPacket = -1
        var next = nextPacket
        nextPacket = -1  // until track and decoder are known to be there
        // Packets without sound of their own.
        while next >= 0, next < packet, starts[next] == starts[next + 1], let bytes = try track.next() {
            _ = Self.frameCount(bytes, decoder) { _ in }
            next += 1
        }
        if packet != next { try approach(packet) }
        let bytes = try track.next()
        if bytes != nil {
            nextPacket = packet + 1
        } else if packet != tailPacket {
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
        do { try decoder.renew() } catch { throw .damaged(path: path, reason: error.description) }
        while track.nextPacket < packet {
            guard let bytes = try track.next() else { break }
            _ = Self.frameCount(bytes, decoder) { _ in }
        }
    }
}
