// SPDX-License-Identifier: Apache-2.0

import EarshotNearby
import Foundation

/// The microphone and the loudspeaker that a user has accepted in a sound check.
package struct CheckedDevice: Codable, Hashable, Sendable {
    /// The sound system.
    package var system: String
    /// The microphone's id; nil without a microphone.
    package var microphone: String?
    /// The loudspeaker's id; nil without a loudspeaker.
    package var output: String?
}

extension CheckedDevice {
    /// Creates the devices of a call.
    package init(_ device: CallDevice) {
        self.init(
            system: device.backend.rawValue, microphone: device.route.input?.id, output: device.route.output?.id)
    }
}

/// The devices that the user has accepted in sound checks, in a file of mode 0600.
///
/// A damaged or unreadable file counts as empty: the worst result is a further check.
package struct SoundCheckStore: Sendable {
    /// The path of the file.
    package let path: String

    private struct Document: Codable {
        var version = Self.currentVersion
        var devices: [Entry] = []

        static let currentVersion = 1
    }

    private struct Entry: Codable {
        var device: CheckedDevice
        /// The name of the finding; nil if the user accepted the devices before.
        var finding: String?
        var date: Date
    }

    /// The maximum number of devices; the oldest are forgotten.
    static let maximumDeviceCount = 200
    private static let maximumFileSize = 1 << 20

    /// Creates a store in a file, which is created when needed.
    package init(path: String) { self.path = path }

    /// The user's store: `earshot/sound-checks.json` in `$XDG_DATA_HOME`, else in `~/.local/share`.
    package static var standard: SoundCheckStore {
        SoundCheckStore(path: UserFolder.data + "/earshot/sound-checks.json")
    }

    /// Returns true if the user has accepted these devices.
    package func contains(_ device: CheckedDevice) -> Bool { read().devices.contains { $0.device == device } }

    /// Stores that the user has accepted these devices.
    /// - Parameters:
    ///   - finding: the judgement of the microphone; nil if the user accepted the devices before.
    ///   - date: the current date.
    package func insert(
        _ device: CheckedDevice, finding: SoundCheck.Finding?, date: Date
    ) throws(NearbyStoreError) {
        var document = read()
        document.devices.removeAll { $0.device == device }
        document.devices.append(Entry(device: device, finding: finding?.name, date: date))
        document.devices.removeFirst(max(0, document.devices.count - Self.maximumDeviceCount))
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(document) else { preconditionFailure("texts and dates can be encoded") }
        let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
        try PrivateFile.makeDirectory(folder)
        try PrivateFile.write(Array(data), to: path)
    }

    private func read() -> Document {
        guard let bytes = try? PrivateFile.read(path, limit: Self.maximumFileSize) else { return Document() }
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        guard let document = try? decoder.decode(Document.self, from: Data(bytes)),
            document.version == Document.currentVersion
        else { return Document() }
        return document
    }
}
