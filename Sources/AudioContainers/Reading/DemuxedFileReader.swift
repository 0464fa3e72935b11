// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioCodecs
import EarshotAudioFiles

/// Reads files that libavformat demultiplexes as planar floats: Matroska and WebM, Windows Media, FLAC in Ogg, AC-3.
///
/// Opening reads the whole file (``DemuxedScan``). A seek reads the file from its beginning up to the target, and decodes the last
/// ``leadPackets`` packets before it. AC-3 and AAC decoders fill in noise, which is different after a seek. For one thread at a
/// time; reads block on the disk.
final class DemuxedFileReader: DetailedSoundFileReader {
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
    let isCutOff: Bool
    var extras: [AudioFileExtra] { track.hasChapters ? [.chapters] : [] }

    private let track: DemuxedTrack
    private let decoder: TrackDecoder
    private let starts: [Int]  // the first frame of each packet, and the end
    private let tailPacket: Int?  // stands for what the decoder holds behind the last packet
    private let primingFrames: Int
    private let block: AudioBuffer  // the sound of `blockPacket`
    private var blockPacket = -1
    private var nextPacket = -1  // the next that the decoder can decode without `approach`
    private var fault: (packet: Int, reason: String)?  // to be reported before this packet
    private var readableEnd: Int  // the frame at which the file turned out to end

    /// The packets that are decoded before the target of a seek.
    private static let leadPackets = 64

    init(_ file: ReadableFile, _ format: DemuxedFormat) throws(AudioFileError) {
        path = file.path
        track = try DemuxedTrack(file, format)
        do { decoder = try TrackDecoder(track.parameters) } catch {
            throw .notAudio(path: file.path, reason: error.description)
        }
        let scan = try DemuxedScan(track, decoder, path: path)
        processingFormat = scan.format
        (codec, bitDepth) = decoder.codecDescription
        container = format.name
        isCutOff = format.isCutOff(file) || scan.endsInError
        starts = scan.starts
        tailPacket = scan.tailPacket
        fault = scan.fault
        primingFrames = scan.primingFrames
        frameCount = scan.frameCount
        readableEnd = frameCount
        block = AudioBuffer(channelCount: processingFormat.channelCount, frameCapacity: scan.longestPacketFrames)
    }

    /// Returns the file's text fields.
    func readTags() -> AudioFileTags {
        var tags = AudioFileTags()
        tags.fields = track.texts
        return tags
    }

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
        nextPacket = -1  // unknown if an error follows
        // Decodes the packets without sound between the last block and this one.
        while next >= 0, next < packet, starts[next] == starts[next + 1], let bytes = try track.next() {
            _ = decoder.decodeAll(bytes)
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
        let frames = decoder.decodeAll(bytes) { first in
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
        let first = max(0, packet - Self.leadPackets)
        if track.nextPacket > first { try track.rewind() }
        while track.nextPacket < first { guard try track.next() != nil else { break } }
        do { try decoder.renew() } catch { throw .damaged(path: path, reason: error.description) }
        while track.nextPacket < packet {
            guard let bytes = try track.next() else { break }
            _ = decoder.decodeAll(bytes)
        }
    }
}
