// SPDX-License-Identifier: Apache-2.0

import EarshotCall
import EarshotMediaTransport
import EarshotPlayout
import EarshotRooms

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
            self.init(code: "unknown-command", text: "unknown command '\(start)'")
        case .missing(let field): self.init(code: "missing-field", text: "the command needs the field '\(field)'")
        case .invalid(let field): self.init(code: "invalid-field", text: "the field '\(field)' has a wrong value")
        }
    }
}

extension CommandDocument {
    /// Creates the document of a command. The document of a command with a PIN contains the PIN.
    package init(_ command: LiveCallCommand) {
        self.init(command: command.kind.rawValue)
        switch command {
        case .host(let opening):
            name = opening.name.text
            pin = opening.pin?.text
            capacity = opening.capacity
            isAnnounced = opening.isAnnounced
        case .join(let endpoint, let pin, let purpose):
            describe(endpoint)
            self.pin = pin?.text
            self.purpose = purpose?.text
        case .providePIN(let pin): self.pin = pin.text
        case .admit(let id), .decline(let id), .blockRequest(let id): request = id.number
        case .remove(let id), .block(let id): participant = UInt64(id.number)
        case .setAdmission(let policy): admission = policy.rawValue
        case .setMuted(let isMuted): self.isMuted = isMuted
        case .rename(let name): self.name = name.text
        case .setVolume(let volume, let id):
            self.volume = volume
            participant = UInt64(id.number)
        case .setOutputVolume(let volume): self.volume = volume
        case .setLatencyProfile(let profile): dial = profile.description
        case .setVoiceProcessing(let mode): self.mode = mode.rawValue
        case .startRecording(let folder): self.folder = folder
        case .allowRecording(let isAllowed): self.isAllowed = isAllowed
        case .say(let text): self.text = text
        case .sendFile(let path): self.path = path
        case .stopRecording, .leave, .endRoom: break
        }
    }

    private mutating func describe(_ endpoint: Endpoint) {
        addresses = endpoint.addresses.map { Address(address: $0.address.description, port: $0.port) }
        switch endpoint.key {
        case .any: break
        case .matching(let code): joinCode = code.description
        case .exactly(let fingerprint): key = fingerprint.hex
        }
    }

    /// Returns the command, with checked arguments.
    package func liveCallCommand() throws(CommandDocumentError) -> LiveCallCommand {
        guard let kind = LiveCallCommand.Kind(rawValue: command) else { throw .unknownCommand(command) }
        switch kind {
        case .host: return .host(try opening())
        case .join:
            return .join(
                try endpoint(), pin: try optionalValue(pin, "pin") { try? PIN($0) },
                purpose: try optionalValue(purpose, "purpose") { try? Purpose($0) })
        case .providePIN: return .providePIN(try requiredValue(pin, "pin") { try? PIN($0) })
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
        case .setOutputVolume: return .setOutputVolume(try gain())
        case .setLatencyProfile: return .setLatencyProfile(try requiredValue(dial, "dial") { LatencyProfile($0) })
        case .setVoiceProcessing:
            return .setVoiceProcessing(try requiredValue(mode, "mode") { VoiceProcessingMode(rawValue: $0) })
        case .startRecording:
            return .startRecording(folder: try optionalValue(folder, "folder") { $0.isEmpty ? nil : $0 })
        case .stopRecording: return .stopRecording
        case .allowRecording: return .allowRecording(try requiredValue(isAllowed, "isAllowed") { $0 })
        case .say: return .say(try requiredValue(text, "text") { $0 })
        case .sendFile: return .sendFile(path: try requiredValue(path, "path") { $0.isEmpty ? nil : $0 })
        case .leave: return .leave
        case .endRoom: return .endRoom
        }
    }

    /// Returns the value of a field. `convert` returns nil for a wrong value.
    private func requiredValue<Field, Value>(
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

    private func member() throws(CommandDocumentError) -> MemberID {
        try requiredValue(participant, "participant") { MemberID($0) }
    }

    private func joinRequest() throws(CommandDocumentError) -> JoinRequestID {
        try requiredValue(request, "request") { JoinRequestID(number: $0) }
    }

    private func gain() throws(CommandDocumentError) -> Float {
        try requiredValue(volume, "volume") { $0.isFinite ? $0 : nil }
    }

    private func opening() throws(CommandDocumentError) -> RoomOpening {
        var opening = RoomOpening(name: try requiredValue(name, "name") { try? PeerName($0) })
        opening.pin = try optionalValue(pin, "pin") { try? PIN($0) }
        opening.capacity = capacity ?? opening.capacity
        opening.isAnnounced = isAnnounced ?? opening.isAnnounced
        return opening
    }

    private func endpoint() throws(CommandDocumentError) -> Endpoint {
        let socketAddresses = try requiredValue(addresses, "addresses") { (list: [Address]) -> [SocketAddress]? in
            guard list.count <= Member.maximumAddressCount else { return nil }
            let parsed = list.compactMap { item in
                IPAddress(item.address).map { SocketAddress($0, port: item.port) }
            }
            return parsed.count == list.count ? parsed : nil
        }
        if let code = try optionalValue(joinCode, "joinCode", { try? JoinCode($0) }) {
            return Endpoint(addresses: socketAddresses, key: .matching(code))
        }
        if let fingerprint = try optionalValue(key, "key", { KeyFingerprint(hex: $0) }) {
            return Endpoint(addresses: socketAddresses, key: .exactly(fingerprint))
        }
        return Endpoint(addresses: socketAddresses, key: .any)
    }
}
