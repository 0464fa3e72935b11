// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioContainers
import EarshotAudioFiles
import EarshotDuet
import Glibc

/// The checks of files that are added, and their names in the folder.
extension DuetFolder {
    /// Returns the rate and the length of a song.
    static func length(_ song: DuetSound) throws(DuetFolderError) -> (rate: Double, frameCount: Int) {
        do throws(AudioFileError) { return try song.length() } catch { throw .song(error) }
    }

    /// Returns the channels of a stem.
    func checkStem(_ path: String) throws(DuetFolderError) -> Int {
        let type: AudioFileType?
        let stem: any SoundFileReader
        do throws(AudioFileError) {
            stem = try SoundFiles.open(path)
            type = try AudioFileType(contentsOf: path)
        } catch { throw .stem(error) }
        let format = stem.processingFormat
        if type != .flac { throw .stemType(path: path, type: type) }
        if format.channelCount > 2 { throw .stemChannels(path: path, count: format.channelCount) }
        if format.sampleRate != sampleRate {
            throw .stemRate(path: path, hertz: format.sampleRate, expected: sampleRate)
        }
        if stem.frameCount != frameCount {
            throw .stemLength(path: path, frameCount: stem.frameCount, expected: frameCount)
        }
        return format.channelCount
    }

    /// Returns the title of a song: its file's name without extension.
    static func title(_ path: String) -> String {
        let (name, ending) = parts(path)
        return RecordingFolder.cleaned(ending == nil ? name : String(name.dropLast((ending?.count ?? 0) + 1)))
    }

    /// Returns the extension for the copy of a song, with its dot: its own, or else that of its type.
    static func fileExtension(_ path: String) -> String {
        let ending = parts(path).ending ?? (try? AudioFileType(contentsOf: path))?.fileExtension
        return ending.map { ".\($0)" } ?? ""
    }

    /// Returns the name of a file, and its extension; nil if it has none of at most eight letters and digits.
    private static func parts(_ path: String) -> (name: String, ending: String?) {
        let name = PathText.fileName(path)
        guard let dot = name.lastIndex(of: "."), dot > name.startIndex else { return (name, nil) }
        let ending = String(name[name.index(after: dot)...])
        let isPlain = ending.utf8.allSatisfy { (48...57).contains($0) || (97...122).contains($0 | 32) }
        return (name, isPlain && (1...8).contains(ending.utf8.count) ? ending : nil)
    }

    /// Returns a name for a singer's file that no other file of the folder has.
    func newFileName(_ singer: String, of stemPath: String) -> String {
        var taken: Set<String> = [Self.songName, "mix", "recording"]
        for name in PathText.names(inFolder: path) ?? [] where !PathText.isSameFile("\(path)/\(name)", stemPath) {
            let dot = name.lastIndex(of: ".").flatMap { $0 > name.startIndex ? $0 : nil }
            taken.insert(name[..<(dot ?? name.endIndex)].lowercased())
        }
        var name = singer.unicodeScalars
        while name.reduce(0, { $0 + UTF8.width($1) }) > Self.maximumNameLength { name.removeLast() }
        return RecordingFolder.fileName(for: String(name), besides: &taken) + ".flac"
    }

    /// The maximum bytes of a singer's name in a file name, which has 255.
    private static let maximumNameLength = 200

    /// Returns gaps as a description has them: in order, within the song, without overlaps.
    static func described(_ gaps: [StemGap], _ frameCount: Int) -> [RecordingManifest.Gap] {
        var described: [RecordingManifest.Gap] = []
        var position = 0
        for gap in gaps.sorted(by: { $0.frame < $1.frame }).prefix(RecordingTrack.maximumGapCount) {
            let start = max(position, Int(gap.frame))
            let (sum, isOverflow) = gap.frame.addingReportingOverflow(max(0, gap.frameCount))
            let end = isOverflow ? frameCount : min(frameCount, Int(sum))
            guard start < end else { continue }
            described.append(.init(frame: start, frameCount: end - start, reason: .init(gap.reason)))
            position = end
        }
        return described
    }

    /// Moves a file, also to another file system. The moved file has mode 0600.
    static func move(_ source: String, to target: String) throws(AudioFileError) {
        if PathText.isSameFile(source, target) { return }
        let (from, to) = (PathText.bytes(source), PathText.bytes(target))
        let isPlain = PathText.status(source, followsLinks: false).map { $0.st_mode & S_IFMT == S_IFREG } ?? false
        if isPlain, chmod(from, 0o600) == 0, rename(from, to) == 0 { return }
        try AtomicFileReplacement(of: target, copying: ReadableFile(source), isPrivate: true).commit()
        unlink(from)
    }
}

extension RecordingManifest.Gap.Reason {
    /// Creates the reason of a gap in a stem.
    init(_ reason: SongGapReason?) {
        self =
            switch reason {
            case .stopped: .stopped
            case .underrun: .underrun
            case .device: .device
            case .unknown, nil: .away
            }
    }
}
