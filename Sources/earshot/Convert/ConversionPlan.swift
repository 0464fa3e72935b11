// SPDX-License-Identifier: Apache-2.0

import EarshotAudioContainers
import EarshotAudioFiles
import Foundation

/// The input and output files of a conversion.
struct ConversionPlan {
    struct Item {
        var source: FileSources.Source
        var type: AudioFileType
        var output: String
        /// Retains the copy of standard output.
        var spool: StandardStream.Spool?

        /// Replaces temporary names in a line by those of the command line.
        func named(_ line: String) -> String {
            var line = line
            if source.spool != nil { line = line.replacing(source.path, with: "standard input") }
            return spool == nil ? line : line.replacing(output, with: "standard output")
        }
    }

    private(set) var items: [Item] = []
    /// The files that are not converted, because an existing file or another source's output would be replaced.
    private(set) var refusals: [Failure] = []

    /// - Throws: ``Failure`` if nothing can be converted, before anything is written.
    init(_ sources: FileSources, kind: AudioFileType?, output: String?, overwrite: Bool) throws {
        let isFolder = try Self.isFolder(output, sources)
        if output == StandardStream.name, sources.all.count != 1 {
            throw Failure("Standard output takes one file, not \(sources.all.count).", status: Failure.usage)
        }
        var makers: [[CChar]: String] = [:]  // by the bytes of the output's path, since Swift compares letters
        // An input is never replaced, not even with --overwrite: it may be the only copy.
        let inputs = Set(
            sources.all.filter { $0.spool == nil }.map {
                PathText.bytes(AtomicFileReplacement.destination(of: $0.path))
            })
        for source in sources.all {
            guard let type = kind ?? (isFolder ? nil : output.flatMap { AudioFileType(fileName: $0) }) else {
                throw Failure(Self.noFormat(output, isFolder), status: Failure.usage)
            }
            if output == StandardStream.name {
                let spool = try StandardStream.Spool()
                items.append(Item(source: source, type: type, output: spool.path, spool: spool))
                continue
            }
            let path = Self.path(source, type, output, isFolder)
            // By the resolved path: no file is written twice.
            let destination = PathText.bytes(AtomicFileReplacement.destination(of: path))
            if let other = makers[destination] {
                refusals.append(
                    Failure(
                        "\(source.name) was not converted: \(path) is already the output of \(other). Convert it separately, and name its output.",
                        status: Failure.cannotCreate))
                continue
            }
            if sources.all.count > 1, inputs.contains(destination) {
                refusals.append(
                    Failure(
                        "\(source.name) was not converted: its output \(path) is also an input. Use another --output.",
                        status: Failure.cannotCreate))
                continue
            }
            makers[destination] = source.name
            if !overwrite, PathText.status(path) != nil {
                refusals.append(ExistingFile.failure(path))
                continue
            }
            items.append(Item(source: source, type: type, output: path))
        }
        if items.isEmpty, let refusal = refusals.first { throw refusal }
        if isFolder { try makeFolders() }
    }

    private static func noFormat(_ output: String?, _ isFolder: Bool) -> String {
        guard let output else { return "No output format. Use --to mp3, or name the output: -o FILE.mp3" }
        if isFolder, AudioFileType(fileName: output) != nil {
            return
                "Several files need an output folder, but \(output) looks like a file name. Use --to mp3 --output FOLDER."
        }
        return isFolder ? "No output format for the folder \(output). Use --to mp3." : FileKinds.unknown(output)
    }

    private static func isFolder(_ output: String?, _ sources: FileSources) throws -> Bool {
        guard let output, output != StandardStream.name else { return output == nil }
        let status = PathText.status(output)
        let exists = status != nil
        let isFolder = status.map { $0.st_mode & S_IFMT == S_IFDIR } ?? false
        if exists, isFolder || (sources.all.count == 1 && sources.all[0].folder == nil) { return isFolder }
        if sources.all.count > 1 || sources.all[0].folder != nil {
            if exists {
                throw Failure(
                    "\(output) is a file. \(sources.all.count) files need a folder as --output.",
                    status: Failure.cannotCreate)
            }
            return true
        }
        return output.hasSuffix("/")
    }

    private static func path(
        _ source: FileSources.Source, _ type: AudioFileType, _ output: String?, _ isFolder: Bool
    ) -> String {
        if let output, !isFolder { return output }
        let name = output == nil ? (source.spool == nil ? source.path : source.relative) : source.relative
        let stem = (name as NSString).deletingPathExtension
        let file = "\(stem).\(FileKinds.ending(type))"
        return output.map { ($0 as NSString).appendingPathComponent(file) } ?? file
    }

    private func makeFolders() throws {
        for folder in items.map({ ($0.output as NSString).deletingLastPathComponent }) where !folder.isEmpty {
            guard let code = PathText.makeFolder(folder) else { continue }
            throw Failure(
                "Cannot create \(folder): \(String(cString: strerror(code))). Choose another --output.",
                status: Failure.cannotCreate)
        }
    }
}
