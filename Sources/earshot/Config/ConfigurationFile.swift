// SPDX-License-Identifier: Apache-2.0

import EarshotAudioFiles
import EarshotNearby
import EarshotTOMLReader
import Foundation

/// The user's settings: default values of options, in a TOML file.
struct ConfigurationFile {
    let path: String
    private(set) var values: [ConfigurationKey: String] = [:]
    /// The content of the settings file; empty if the file is missing.
    private let text: String

    /// `earshot/config.toml` in `$XDG_CONFIG_HOME`, else in `~/.config`.
    static var standardPath: String { UserFolder.configuration + "/earshot/config.toml" }

    /// Reads the settings file. A missing file has no settings.
    init(path: String = standardPath) throws {
        self.path = path
        guard access(path, F_OK) == 0 else {
            text = ""
            return
        }
        guard let bytes = FileManager.default.contents(atPath: path) else {
            throw Failure("Cannot read \(path). Check its permissions, or use --no-config.", status: Failure.noInput)
        }
        text = String(decoding: bytes, as: UTF8.self)
        let document: TOMLValue
        do throws(TOMLError) {
            document = try TOMLValue(parsing: Array(bytes))
        } catch {
            throw failure(error.problem, at: error.place)
        }
        guard case .table(let entries) = document.content else { return }
        for entry in entries { try read(entry) }
    }

    private mutating func read(_ entry: TOMLValue.Entry) throws {
        guard let key = ConfigurationKey(rawValue: entry.key) else {
            let known = ConfigurationKey.allCases.map(\.rawValue).joined(separator: ", ")
            throw failure(
                "unknown setting '\(TerminalText.sanitized(entry.key))'; settings are \(known)", at: entry.place)
        }
        let text: String
        switch entry.value.content {
        case .string(let string): text = string
        case .integer(let number): text = "\(number)"
        case .number(let number): text = "\(number)"
        default: throw failure("\(key.rawValue) needs a string or a number, not \(entry.value.kind)", at: entry.place)
        }
        if let problem = key.problem(with: text) { throw failure("\(key.rawValue) \(problem)", at: entry.place) }
        values[key] = text
    }

    private func failure(_ problem: String, at place: SourcePlace) -> Failure {
        Failure("\(path):\(place.line): \(problem). Correct the file, or use --no-config.", status: Failure.data)
    }

    /// Changes a setting, or removes it if the value is nil. Other lines of the file stay.
    static func set(_ key: ConfigurationKey, to value: String?) throws {
        if let value, let problem = key.problem(with: value) {
            throw Failure("\(key.rawValue) \(problem).", status: Failure.usage)
        }
        let folder = URL(fileURLWithPath: standardPath).deletingLastPathComponent()
        try Failure.creating { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }
        // Another process may change another setting meanwhile.
        let result = try PrivateFile.locked(folder.path) { () throws(NearbyStoreError) -> Result<Void, any Error> in
            Result {
                let file = try ConfigurationFile()
                try Failure.creating { try file.write(file.text(with: key, value)) }
            }
        }
        try result.get()
    }

    private func text(with key: ConfigurationKey, _ value: String?) -> String {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        if lines.last == "" { lines.removeLast() }
        if lines.isEmpty { lines = [Self.heading] }
        lines.removeAll { $0.prefix { $0 != "=" }.trimmingCharacters(in: .whitespaces) == key.rawValue }
        if let value { lines.append("\(key.rawValue) = \"\(Self.escaped(value))\"") }
        return lines.joined(separator: "\n") + "\n"
    }

    /// Replaces the settings file atomically. A symbolic link at its path stays a link.
    private func write(_ text: String) throws {
        let replacement = try AtomicFileReplacement(of: path)
        try Data(text.utf8).write(to: URL(fileURLWithPath: replacement.path))
        try replacement.commit()
    }

    private static let heading =
        "# Settings of Earshot. Options on the command line override them; see: earshot config --help"

    private static func escaped(_ text: String) -> String {
        text.unicodeScalars.map { scalar in
            switch scalar {
            case "\"", "\\": "\\\(scalar)"
            case _ where scalar.value < 0x20 || scalar.value == 0x7F:
                "\\u" + String(repeating: "0", count: scalar.value < 0x10 ? 3 : 2) + String(scalar.value, radix: 16)
            default: String(scalar)
            }
        }.joined()
    }

    /// Adds to the arguments each setting that is an option of the command, unless the user gave that option.
    static func apply(to arguments: inout ArgumentList, in program: CommandInfo) throws {
        let name = arguments.commandPath(in: program).first
        guard let name, name != "config", name != "completion", !arguments.contains("--no-config") else { return }
        try ConfigurationFile().apply(to: &arguments, in: program)
    }

    func apply(to arguments: inout ArgumentList, in program: CommandInfo) {
        let path = arguments.commandPath(in: program)
        let command = path.reduce(program) { $0.subcommand($1) ?? $0 }
        // The microphone and speaker of the settings file belong to the device of the settings file.
        let isOtherDevice = arguments.gives("device")
        let options = ConfigurationKey.allCases.compactMap { key -> String? in
            guard let value = values[key], command.takes(key.rawValue), !arguments.gives(key.rawValue) else {
                return nil
            }
            return isOtherDevice && (key == .microphone || key == .speaker) ? nil : "--\(key.rawValue)=\(value)"
        }
        arguments.insert(options, behind: path)
    }
}
