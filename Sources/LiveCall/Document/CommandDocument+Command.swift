// SPDX-License-Identifier: Apache-2.0

import EarshotCall
import EarshotMediaTransport
import EarshotPlayout
import EarshotRooms
import Glibc

/// The reason that a document is not a command.
package enum CommandDocumentError: Error, Equatable, Sendable {
    case unknownCommand(String)
    /// The command needs this field.
    case missing(field: String)
    /// The value of this field is not allowed.
    case invalid(field: String)
}

extension ErrorDocument {
    init(_ error: CommandDocumentError) {
        switch error {
        case .unknownCommand(let name):
            let start = String(String.UnicodeScalarView(name.unicodeScalars.prefix(40)))
            self.init(code: "unknown-command", text: "Unknown command '\(start)'")
        case .missing(let field): self.init(code: "missing-field", text: "The command needs the field '\(field)'")
        case .invalid(let field): self.init(code: "invalid-field", text: "The field '\(field)' has a wrong value")
        }
    }
}

extension CommandDocument {
    /// Creates the document of a command; nil for a command that enters a room. Those are for the call's own terminal, so that
    /// no document has a PIN.
    package init?(_ command: LiveCallCommand) {
        self.init(command: command.kind.rawValue)
        switch command {
        case .host, .join, .providePIN: return nil
        case .admit(let id), .decline(let id), .blockRequest(let id): request = id.number
        case .remove(let id), .block(let id): participant = UInt64(id.number)
        case .setAdmission(let policy): admission = policy.rawValue
        case .setMuted(let isMuted): self.isMuted = isMuted
        case .rename(let name): self.name = name.text
        case .setVolume(let volume, let id):
            self.volume = volume
            participant = UInt64(id.number)
        case .setHeard(let isHeard, let id):
            self.isHeard = isHeard
            participant = UInt64(id.number)
        case .setOutputVolume(let volume): self.volume = volume
        case .setLatencyProfile(let profile): dial = profile.description
        case .setCodec(let codec, let frame): (self.codec, frameMs) = (codec?.rawValue, frame)
        case .setDevice(let input, let output): (self.input, self.output) = (input, output)
        case .setVoiceProcessing(let mode): self.mode = mode.rawValue
        case .setMonitor(let mode): self.mode = mode.rawValue
        case .setPushToTalk(let isOn): self.isOn = isOn
        case .setEffects(let texts): effects = texts
        case .setEffectParameter(let name, let effect, let value):
            (parameter, self.effect, self.value) = (name, effect, value)
        case .setAccompaniment(let files): self.files = files
        case .controlAccompaniment(let control): setControl(control)
        case .startRecording(let folder): self.folder = folder
        case .allowRecording(let isAllowed): self.isAllowed = isAllowed
        case .say(let text): self.text = text
        case .sendFile(let path): self.path = path
        case .stopRecording, .leave, .endRoom: break
        }
    }

    /// Returns the command, with checked arguments.
    package func liveCallCommand() throws(CommandDocumentError) -> LiveCallCommand {
        guard let kind = LiveCallCommand.Kind(rawValue: command) else { throw .unknownCommand(command) }
        switch kind {
        case .host, .join, .providePIN: throw .unknownCommand(command)
        case .admit: return .admit(try joinRequest())
        case .decline: return .decline(try joinRequest())
        case .blockRequest: return .blockRequest(try joinRequest())
        case .remove: return .remove(try member())
        case .block: return .block(try member())
        case .setAdmission:
            return .setAdmission(try requiredValue(admission, "admission") { AdmissionPolicy(rawValue: $0) })
        case .setMuted: return .setMuted(try requiredValue(isMuted, "isMuted") { $0 })
        case .rename: return .rename(try requiredValue(name, "name") { try? PeerName($0) })
        case .setVolume: return .setVolume(try gain(), of: try member())
        case .setHeard: return .setHeard(try requiredValue(isHeard, "isHeard") { $0 }, of: try member())
        case .setOutputVolume: return .setOutputVolume(try gain())
        case .setLatencyProfile: return .setLatencyProfile(try requiredValue(dial, "dial") { LatencyProfile($0) })
        case .setCodec:
            return .setCodec(
                try optionalValue(codec, "codec") { Codec(rawValue: $0) },
                frameMilliseconds: try optionalValue(frameMs, "frameMs") {
                    CallPreferences.opusPacketTimes.contains($0) ? $0 : nil
                })
        case .setDevice:
            return .setDevice(
                input: try optionalValue(input, "input") { Self.name($0) },
                output: try optionalValue(output, "output") { Self.name($0) })
        case .setVoiceProcessing:
            return .setVoiceProcessing(try requiredValue(mode, "mode") { VoiceProcessingMode(rawValue: $0) })
        case .setMonitor: return .setMonitor(try requiredValue(mode, "mode") { MonitorMode(rawValue: $0) })
        case .setPushToTalk: return .setPushToTalk(try requiredValue(isOn, "isOn") { $0 })
        case .setEffects: return .setEffects(try requiredValue(effects, "effects") { $0 })
        case .setEffectParameter:
            return .setEffectParameter(
                try requiredValue(parameter, "parameter") { $0 }, of: try requiredValue(effect, "effect") { $0 },
                to: try requiredValue(value, "value") { $0 })
        case .setAccompaniment:
            return .setAccompaniment(
                files: try requiredValue(files, "files") { $0.allSatisfy { Self.absolutePath($0) != nil } ? $0 : nil })
        case .controlAccompaniment: return .controlAccompaniment(try accompanimentControl())
        case .startRecording:
            return .startRecording(folder: try optionalValue(folder, "folder") { Self.absolutePath($0) })
        case .stopRecording: return .stopRecording
        case .allowRecording: return .allowRecording(try requiredValue(isAllowed, "isAllowed") { $0 })
        case .say: return .say(try requiredValue(text, "text") { $0 })
        case .sendFile: return .sendFile(path: try requiredValue(path, "path") { Self.absolutePath($0) })
        case .leave: return .leave
        case .endRoom: return .endRoom
        }
    }

    /// Returns the value of a field. `convert` returns nil for a wrong value.
    func requiredValue<Field, Value>(
        _ field: Field?, _ name: String, _ convert: (Field) -> Value?
    ) throws(CommandDocumentError) -> Value {
        guard let value = try optionalValue(field, name, convert) else { throw .missing(field: name) }
        return value
    }

    /// Returns the value of a field; nil without the field. `convert` returns nil for a wrong value.
    private func optionalValue<Field, Value>(
        _ field: Field?, _ name: String, _ convert: (Field) -> Value?
    ) throws(CommandDocumentError) -> Value? {
        guard let field else { return nil }
        guard let value = convert(field) else { throw .invalid(field: name) }
        return value
    }

    func member() throws(CommandDocumentError) -> MemberID {
        try requiredValue(participant, "participant") { MemberID($0) }
    }

    private func joinRequest() throws(CommandDocumentError) -> JoinRequestID {
        try requiredValue(request, "request") { JoinRequestID(number: $0) }
    }

    func gain() throws(CommandDocumentError) -> Float {
        try requiredValue(volume, "volume") { $0.isFinite ? $0 : nil }
    }

    /// Returns the path if it is absolute; otherwise nil: the call may have another current folder than the sender.
    /// Returns nil for a relative path, and for one that is longer than the kernel's paths.
    static func absolutePath(_ path: String) -> String? {
        path.hasPrefix("/") && path.utf8.count < Int(PATH_MAX) ? path : nil
    }

    /// Returns nil for a name that is longer than any device's.
    private static func name(_ name: String) -> String? { name.utf8.count <= 1_024 ? name : nil }
}
