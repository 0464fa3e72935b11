// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioFiles

/// Reads a damaged file as far as it can be decoded. Reading continues after a damage if the reader can, and ends otherwise.
final class DamageTolerantReader: SoundFileReader {
    /// The first damage; nil if there was none.
    private(set) var damage: AudioFileError?

    private let source: any SoundFileReader
    private var lastDamagePosition = -1

    init(_ source: any SoundFileReader) { self.source = source }

    /// The reader of a file of a kind that is only read; nil for other kinds.
    var demuxed: DemuxedFileReader? { source as? DemuxedFileReader }
    /// The loudspeakers of the channels; nil if the file does not tell them.
    var channelMap: ChannelMap? { (source as? AudioFileReader)?.channelMap }
    var path: String { source.path }
    var processingFormat: AudioFormat { source.processingFormat }
    var frameCount: Int { source.frameCount }
    var framePosition: Int { source.framePosition }
    var faultCount: Int { source.faultCount }
    /// True if the file shows that its end is missing. A ``ContainerFileReader`` throws there.
    private var isCutOff: Bool {
        (source as? AudioFileReader)?.isCutOff ?? demuxed?.isCutOff ?? false
    }

    /// The file's content besides sound, tags and pictures; empty if the file cannot be opened again.
    var extras: [AudioFileExtra] {
        if let demuxed { return demuxed.hasChapters ? [.chapters] : [] }
        guard let file = try? ReadableFile(path) else { return [] }
        guard AudioFileType(file) == .m4a else { return AudioFileExtra.all(in: file) }
        return MovieBoxes(file).hasChapters ? [.chapters] : []
    }

    func seek(to frame: Int) throws(AudioFileError) {
        try source.seek(to: frame)
        lastDamagePosition = -1
    }

    func read(into channels: Channels, frameCount: Int, offset: Int) throws(AudioFileError) -> Int {
        var done = 0
        while done < frameCount {
            let start = source.framePosition
            do {
                let wanted = frameCount - done
                let got = try source.read(into: channels, frameCount: wanted, offset: offset + done)
                if got < wanted, isCutOff {
                    damage = damage ?? .damaged(path: path, reason: "its end is missing")
                }
                return done + got
            } catch {
                guard case .damaged = error else { throw error }
                damage = damage ?? error
                done += source.framePosition - start
                // A second damage at one place: the reader cannot continue.
                if source.framePosition == lastDamagePosition { break }
                lastDamagePosition = source.framePosition
            }
        }
        return done
    }
}
