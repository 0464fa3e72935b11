// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioCodecs
import EarshotAudioFiles

/// Reads M4A, MP4 and QuickTime files, also fragmented ones (AAC, Apple Lossless, MP3, FLAC, Opus or AC-3), and ADTS AAC, as
/// planar floats.
///
/// An encoder's priming and padding are removed as declared by the file's edit list or iTunSMPB comment; ADTS cannot declare
/// them. The positions of packets are kept in memory, 12 bytes for each, with at most 16 million packets in ADTS. A seek decodes
/// at most about 260 packets of AAC, and the frames after it are the same as those of a reader that began at the start.
///
/// For one thread at a time. Reading waits for the disk, so never read on a render thread.
public final class ContainerFileReader {
    /// The file's path.
    public let path: String
    /// The sample rate and channel count of the decoded sound.
    public let processingFormat: AudioFormat
    /// The number of frames of the sound.
    public let frameCount: Int
    /// The number of frames that the encoder added before the sound and that the reader removes.
    package let primingFrames: Int
    /// The number of frames that the encoder added after the sound and that the reader removes.
    package var remainderFrames: Int { packets.count * framesPerPacket - primingFrames - frameCount }
    /// The codec's name to show to the user.
    public let codec: String
    /// Bits per sample; nil if the codec has no bit depth.
    public let bitDepth: Int?
    /// The frame at which the next read begins.
    public private(set) var framePosition = 0
    /// The number of samples read so far that were decoded to NaN or infinity, as in damaged packets, and replaced by 0.
    public private(set) var faultCount = 0

    private let file: ReadableFile
    private var packets: PacketTable
    private let decoder: TrackDecoder
    private let framesPerPacket: Int
    private let isPlainAAC: Bool
    private let block: AudioBuffer  // the decoded frames of packet `blockPacket`
    private var blockPacket = -1
    private var nextPacket = 0  // the packet that the decoder expects next
    private var readableEnd: Int  // the frame at which a file that was cut off ends, once known

    /// Opens a file by its content. Throws the errors of opening: missing, not permitted, a folder, not audio of these kinds, an
    /// unsupported format.
    public convenience init(path: String) throws(AudioFileError) {
        try self.init(ReadableFile(path))
    }

    init(_ file: ReadableFile) throws(AudioFileError) {
        let track = try Self.track(file)
        guard track.packets.count > 0 else { throw .notAudio(path: file.path, reason: "it has no packet of sound") }
        do {
            decoder = try TrackDecoder(track.parameters)
        } catch { throw .notAudio(path: file.path, reason: error.description) }
        let format = try Self.probe(file, track.packets, decoder)
        isPlainAAC = decoder.isPlainAAC
        (codec, bitDepth) = decoder.codecDescription
        self.file = file
        path = file.path
        packets = track.packets
        processingFormat = format.format
        framesPerPacket = format.framesPerPacket
        let sound = track.timing.sound(
            decodedFrames: packets.count * framesPerPacket, framesPerPacket: framesPerPacket,
            sampleRate: processingFormat.sampleRate)
        primingFrames = sound.lowerBound
        frameCount = sound.count
        readableEnd = sound.count
        block = AudioBuffer(channelCount: processingFormat.channelCount, frameCapacity: framesPerPacket)
        nextPacket = -1
    }

    private static func track(_ file: ReadableFile) throws(AudioFileError) -> CodedTrack {
        switch AudioFileType(file) {
        case .m4a: return try MovieScanner.scan(file)
        case .adts: return CodedTrack(packets: try ADTSScanner.scan(file), timing: TrackTiming(), parameters: .adts())
        default: throw .notAudio(path: file.path, reason: "neither M4A nor ADTS AAC")
        }
    }

    /// Decodes packets until one gives sound, whose format is the file's.
    private static func probe(
        _ file: ReadableFile, _ packets: PacketTable, _ decoder: TrackDecoder
    ) throws(AudioFileError) -> (format: AudioFormat, framesPerPacket: Int) {
        for packet in 0..<min(8, packets.count) {
            guard let size = try fetch(packet, file, packets, decoder), decoder.decode(byteCount: size) == .sound else {
                continue
            }
            let (hertz, channels, frames) = (decoder.sampleRate, decoder.channelCount, decoder.frameCount)
            guard AudioFormat.sampleRates.contains(Double(hertz)) else {
                throw .unsupportedSampleRate(path: file.path, hertz: hertz)
            }
            guard AudioFormat.channelCounts.contains(channels) else {
                throw .unsupportedChannelCount(path: file.path, count: channels)
            }
            guard frames > 0 else { continue }
            return (AudioFormat(sampleRate: Double(hertz), channelCount: channels), frames)
        }
        throw .notAudio(path: file.path, reason: "none of its first packets can be decoded")
    }

    /// Reads a packet into the decoder's buffer and returns its length in bytes. Returns nil if the file ends inside the packet,
    /// or the packet is longer than any valid one.
    private static func fetch(
        _ packet: Int, _ file: ReadableFile, _ packets: PacketTable, _ decoder: TrackDecoder
    ) throws(AudioFileError) -> Int? {
        let (offset, size) = (packets.offsets[packet], Int(packets.sizes[packet]))
        guard offset >= 0, size >= 0, size <= PacketTable.maximumPacketByteCount, offset <= file.byteCount - size else {
            return nil
        }
        return try file.read(at: offset, into: decoder.room(for: size)) == size ? size : nil
    }

    /// Seeks to an exact frame; beyond the end, to the end.
    /// - Parameter frame: 0 or more.
    public func seek(to frame: Int) throws(AudioFileError) {
        precondition(frame >= 0)
        framePosition = min(frame, frameCount)
        readableEnd = frameCount
    }

    /// Reads the next frames. NaN and infinity are read as 0.
    /// - Parameters:
    ///   - channels: at least as many channels as the file has; further channels are left unchanged.
    ///   - offset: the index in `channels` of the first frame to fill.
    /// - Returns: the frames read: fewer than requested only at the end of the file, then 0.
    /// - Throws: ``AudioFileError/damaged(path:reason:)``. Then ``framePosition`` is the position of the fault, and the next read
    ///   continues there, with silence for the lost sound. A file that ends too early ends at this position.
    public func read(into channels: Channels, frameCount: Int, offset: Int) throws(AudioFileError) -> Int {
        let count = processingFormat.channelCount
        precondition(channels.count >= count && frameCount >= 0)
        var done = 0
        while done < frameCount, framePosition < readableEnd {
            let (packet, first) = (framePosition + primingFrames).quotientAndRemainder(dividingBy: framesPerPacket)
            if packet != blockPacket { try load(packet) }
            let frames = min(framesPerPacket - first, frameCount - done, self.frameCount - framePosition)
            for c in 0..<count {
                faultCount += copyFiniteSamples(channels[c] + offset + done, block.channels[c] + first, frames)
            }
            done += frames
            framePosition += frames
        }
        return done
    }

    // MARK: From packets to the block

    /// The number of packets that one AAC-LC decoder decodes, before a new one replaces it. An AAC decoder generates noise with a
    /// state that no flush resets; with this limit a packet decodes to the same samples after any seek.
    private static let packetsPerDecoder = 256
    /// The number of packets that a new AAC-LC decoder decodes in advance, without using their sound: one for the overlap and one
    /// in reserve.
    private static let leadPackets = 2
    /// The number of packets decoded before the goal of a seek in other codecs, which may depend on more of the earlier packets.
    private static let otherLeadPackets = 64

    private func load(_ packet: Int) throws(AudioFileError) {
        if packet != nextPacket || isPlainAAC && packet % Self.packetsPerDecoder == 0 { try approach(packet) }
        nextPacket = packet + 1
        blockPacket = packet
        guard let size = try Self.fetch(packet, file, packets, decoder) else { throw cut(packet) }
        let fault = decode(size)
        if let fault {
            for c in 0..<block.channels.count { clearSamples(block.channels[c], framesPerPacket) }
            throw .damaged(path: path, reason: "\(fault) at byte \(packets.offsets[packet])")
        }
        if let fault = packets.faults.removeValue(forKey: packet) { throw .damaged(path: path, reason: fault) }
    }

    /// Prepares the decoder so that `packet` can be decoded next.
    private func approach(_ packet: Int) throws(AudioFileError) {
        var firstPacket = packet
        if isPlainAAC {
            firstPacket = max(0, packet / Self.packetsPerDecoder * Self.packetsPerDecoder - Self.leadPackets)
            do { try decoder.renew() } catch { throw .damaged(path: path, reason: error.description) }
        } else {
            firstPacket = max(0, packet - Self.otherLeadPackets)
            decoder.flush()
        }
        for before in firstPacket..<packet {
            guard let size = try Self.fetch(before, file, packets, decoder) else { continue }
            if decoder.decode(byteCount: size) == .sound { decoder.drain() }
        }
    }

    /// Decodes the fetched packet into the block. Returns a description of the fault, or nil.
    private func decode(_ size: Int) -> String? {
        switch decoder.decode(byteCount: size) {
        case .failed(let code): return "libavcodec error \(code) in the packet"
        case .nothing:
            for c in 0..<block.channels.count { clearSamples(block.channels[c], framesPerPacket) }
            return nil
        case .sound: break
        }
        defer { decoder.drain() }
        guard decoder.sampleRate == Int(processingFormat.sampleRate),
            decoder.channelCount == processingFormat.channelCount
        else { return "a change to \(decoder.sampleRate) Hz, \(decoder.channelCount) channels" }
        return decoder.copy(to: block.channels, frameCount: framesPerPacket) ? nil : "an unknown kind of samples"
    }

    /// Ends the reading at the present frame. Returns the error for a file that ends earlier than its header declares.
    private func cut(_ packet: Int) -> AudioFileError {
        let offset = packets.offsets[packet]
        readableEnd = framePosition
        blockPacket = -1
        return .damaged(
            path: path,
            reason: "packet \(packet) at byte \(offset) has \(packets.sizes[packet]) bytes, but the file ends at byte "
                + "\(file.byteCount)")
    }
}

extension ContainerFileReader: DetailedSoundFileReader {
    package var extras: [AudioFileExtra] { MovieBoxes(file).hasChapters ? [.chapters] : [] }
}
