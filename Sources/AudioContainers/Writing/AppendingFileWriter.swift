// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioFiles
import Glibc

/// Appends to a lossless file.
///
/// The file's tags cannot be written until the sound is complete. Until then they are stored in another file beside it, which has
/// only silence and the tags. There they survive a kill, and a disk too full to write them back.
final class AppendingFileWriter: SoundFileWriter {
    private let path: String
    private let writer: any SoundFileWriter
    /// The path of the copy to which the writer writes.
    private let copyPath: String
    private let tags: AudioFileTags
    /// The names of the file's tags that will not be written.
    private let leftOut: [String]
    /// The path of the file that stores the tags; nil if there are none.
    private let sidecarPath: String?
    private var isOpen = true

    init(path: String) throws(AudioFileError) {
        self.path = path
        let info = try SoundFiles.info(path)
        let kinds: [AudioFileType: AudioFileType] = [.wav: .rf64, .rf64: .rf64, .aiff: .aiff, .caf: .caf, .flac: .flac]
        guard let type = info.type.flatMap({ kinds[$0] }), let sampleFormat = Self.sampleFormat(info) else {
            let kind = [info.type?.description ?? info.container, info.codec].joined(separator: ", ")
            throw .unsupportedFormat(
                path: path,
                detail:
                    "cannot append to \(kind), only to WAV, AIFF or CAF (16-bit, 24-bit or float) or FLAC (16-bit or 24-bit)"
            )
        }
        var tags = info.tags
        leftOut = tags.removeUnwritableFields()
        self.tags = tags
        let copy = try AtomicFileReplacement(of: path)
        copyPath = copy.path
        let writer: any SoundFileWriter
        var sidecarPath: String?
        do {
            writer = try SoundFiles.create(
                copy.path, type: type, format: info.format, settings: SoundFiles.Settings(sampleFormat: sampleFormat))
            try Self.copyFile(path, into: writer)
            sidecarPath = try Self.storeTagsBeside(tags, of: copy.target, path)
            try copy.commit()
        } catch {
            if let sidecarPath { unlink(PathText.bytes(sidecarPath)) }
            throw error.named(path, insteadOf: copy.path)
        }
        self.writer = writer
        self.sidecarPath = sidecarPath
    }

    deinit { try? close() }

    private static func sampleFormat(_ info: AudioFileInfo) -> AudioFileWriter.SampleFormat? {
        switch info.codec {
        case "16-bit", "FLAC, 16-bit": .int16
        case "24-bit", "FLAC, 24-bit": .int24
        case "32-bit float": .float32
        default: nil
        }
    }

    private static func copyFile(_ path: String, into writer: any SoundFileWriter) throws(AudioFileError) {
        let reader = try SoundFiles.open(path)
        let block = AudioBuffer(channelCount: reader.processingFormat.channelCount, frameCapacity: 16_384)
        while true {
            let count = try reader.read(into: block.channels, frameCount: block.frameCapacity)
            if count == 0 { return }
            try writer.write(block.channels, frameCount: count, offset: 0)
        }
    }

    /// Stores the tags in a new file beside the sound, `.NAME.earshot-tags.flac`, with a number if that name exists.
    private static func storeTagsBeside(
        _ tags: AudioFileTags, of original: String, _ path: String
    ) throws(AudioFileError) -> String? {
        if tags.isEmpty { return nil }
        let start = original.lastIndex(of: "/").map { original.index(after: $0) } ?? original.startIndex
        var name = original[start...]
        while name.utf8.count > 225 { name.removeLast() }  // a file's name has 255 bytes at most
        var sidecarPath = "\(original[..<start]).\(name).earshot-tags.flac"
        var number = 1
        while access(PathText.bytes(sidecarPath), F_OK) == 0 {
            number += 1
            sidecarPath = "\(original[..<start]).\(name).earshot-tags-\(number).flac"
        }
        do {
            let file = try AudioFileWriter(
                path: sidecarPath, format: AudioFormat(sampleRate: 48_000, channelCount: 1), type: .flac,
                sampleFormat: .int16
            )
            try file.writeSilence(frameCount: 4_800)
            try file.close()
            try tags.write(to: sidecarPath)
        } catch {
            unlink(PathText.bytes(sidecarPath))
            throw error.named(path, insteadOf: sidecarPath)
        }
        return sidecarPath
    }

    var format: AudioFormat { writer.format }
    var fileSampleRate: Double { writer.fileSampleRate }
    /// The number of all frames, with those that the file had before.
    var frameCount: Int { writer.frameCount }

    func write(_ channels: Channels, frameCount: Int, offset: Int) throws(AudioFileError) {
        try naming { () throws(AudioFileError) in
            try writer.write(channels, frameCount: frameCount, offset: offset)
        }
    }

    func writeSilence(frameCount: Int) throws(AudioFileError) {
        try naming { () throws(AudioFileError) in try writer.writeSilence(frameCount: frameCount) }
    }

    /// Completes the sound, then writes the tags back, even after an error of the sound.
    /// - Throws: ``AudioFileError/tagsRefused(path:detail:)`` if the tags cannot be written back. It names the file that stores
    ///   them.
    func close() throws(AudioFileError) {
        guard isOpen else { return }
        isOpen = false
        var failure: AudioFileError?
        do { try naming { () throws(AudioFileError) in try writer.close() } } catch { failure = error }
        do { try restoreTags() } catch { failure = failure ?? error }
        if let failure { throw failure }
    }

    private func restoreTags() throws(AudioFileError) {
        if let sidecarPath {
            do { try tags.write(to: path) } catch {
                let reason = error == .diskFull(path: path) ? "the disk is full" : error.description
                throw .tagsRefused(path: path, detail: "\(reason); they are in \(sidecarPath)")
            }
            unlink(PathText.bytes(sidecarPath))
        }
        if !leftOut.isEmpty { throw .tagsLeftOut(leftOut, path: path) }
    }

    private func naming(_ work: () throws(AudioFileError) -> Void) throws(AudioFileError) {
        do { try work() } catch { throw error.named(path, insteadOf: copyPath) }
    }
}
