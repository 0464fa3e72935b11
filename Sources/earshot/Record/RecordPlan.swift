// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioContainers
import EarshotAudioFiles
import EarshotAudioQueues
import Foundation

/// The files to record into, all checked before any file is created or changed.
struct RecordPlan {
    struct Item {
        /// The name on the command line.
        var name: String
        var type: AudioFileType
        var path: String
        /// The number of frames in the existing file to append to; nil for a new file.
        var existingFrames: Int?

        var isStream: Bool { name == StandardStream.name }
        var keepsTags: Bool { !isStream && type != .caf && type != .adts }
    }

    private(set) var items: [Item] = []
    /// The number of the first part, with `--split`.
    private(set) var firstPart = 1
    /// The common format of the files to append to; nil if all files are new.
    private(set) var format: AudioFormat?
    private let settings: SoundFiles.Settings

    /// - Throws: ``Failure`` if nothing can be recorded.
    init(_ command: RecordCommand) throws {
        settings = command.encoding.settings(orAs: .int24)
        let kind = command.to.flatMap { FileKinds.all[$0.lowercased()] }
        for name in command.files {
            guard let type = (name == StandardStream.name ? nil : AudioFileType(fileName: name)) ?? kind else {
                throw Failure(
                    FileKinds.unknown(name),
                    status: Failure.usage)
            }
            // The path is absolute, since the report may be read in another folder.
            let path = name == StandardStream.name ? "standard output" : URL(fileURLWithPath: name).path
            if items.contains(where: { $0.path == path }) {
                throw Failure("\(name) is named twice. Name each file once.", status: Failure.usage)
            }
            items.append(Item(name: name, type: type, path: path))
        }
        try checkStream()
        if command.split != nil {
            try numberParts(isAppending: command.append, mayReplace: command.overwrite)
        } else {
            try checkFiles(isAppending: command.append, mayReplace: command.overwrite)
        }
    }

    private func checkStream() throws {
        guard let stream = items.first(where: \.isStream) else { return }
        try StandardStream.checkOutput("earshot record - --to wav > take.wav")
        if [.aiff, .caf].contains(stream.type) {
            throw Failure(
                "Standard output cannot be \(stream.type), which stores its length at the beginning. Use wav, flac, ogg, opus, mp3, aac or m4a.",
                status: Failure.usage)
        }
    }

    private mutating func checkFiles(isAppending: Bool, mayReplace: Bool) throws {
        for index in items.indices where !items[index].isStream && ExistingFile.isFile(items[index].path) {
            if isAppending {
                try proceed(with: index)
            } else if !mayReplace {
                throw Self.alreadyExists(items[index].name)
            }
        }
    }

    private static func alreadyExists(_ name: String) -> Failure {
        ExistingFile.failure(name, choices: "--overwrite, --append")
    }

    private mutating func proceed(with index: Int) throws {
        let info: AudioFileInfo
        do {
            info = try SoundFiles.info(items[index].path)
        } catch { throw Failure(error) }
        let existingFormat = info.format
        if let format, format != existingFormat {
            throw Failure(
                "\(items[index].name) has \(FileFormatting.format(rate: existingFormat.sampleRate, channels: existingFormat.channelCount)), another file \(FileFormatting.format(rate: format.sampleRate, channels: format.channelCount)). Append to one of them.",
                status: Failure.usage)
        }
        format = existingFormat
        items[index].existingFrames = info.frameCount
    }

    /// Numbers new parts after the existing ones when appending. Otherwise throws if a part exists and may not be replaced.
    private mutating func numberParts(isAppending: Bool, mayReplace: Bool) throws {
        for item in items {
            let file = AudioRecorderFile(path: item.path)
            let (folder, name) = ((item.path as NSString).deletingLastPathComponent, item.path as NSString)
            let stem = (name.lastPathComponent as NSString).deletingPathExtension + "-"
            let names = PathText.names(inFolder: folder) ?? []
            let numbers = names.compactMap { other -> Int? in
                guard other.hasPrefix(stem) else { return nil }
                let number = Int(other.dropFirst(stem.count).prefix { $0.isASCII && $0.isNumber })
                return number.flatMap { file.path(ofPart: $0) == "\(folder)/\(other)" ? $0 : nil }
            }
            guard let last = numbers.max() else { continue }
            if isAppending {
                firstPart = max(firstPart, last + 1)
            } else if !mayReplace {
                throw Self.alreadyExists(
                    ((item.name as NSString).deletingLastPathComponent as NSString).appendingPathComponent(
                        (file.path(ofPart: numbers.min() ?? last) as NSString).lastPathComponent))
            }
        }
    }

    var files: [AudioRecorderFile] {
        items.map { item in
            if item.isStream {
                return AudioRecorderFile(
                    stream: STDOUT_FILENO, name: item.path, type: item.type, settings: settings)
            }
            return item.existingFrames != nil
                ? AudioRecorderFile(appendingTo: item.path)
                : AudioRecorderFile(path: item.path, type: item.type, settings: settings)
        }
    }
}
