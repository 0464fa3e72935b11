// SPDX-License-Identifier: Apache-2.0

import EarshotNearby
import Foundation

/// The microphone and the loudspeaker that a user has accepted in a sound check.
package struct CheckedDevice: StoredFields {
    package static let fieldNames: Set = ["system", "microphone", "output"]

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
/// A damaged or unreadable file counts as empty: the worst result is a further check. The file of a later version is not changed,
/// and what a later version added is kept.
package struct SoundCheckStore: Sendable {
    /// The path of the file.
    package let path: String

    private struct Document: StoredFields {
        static let fieldNames: Set = ["version", "devices"]
        static let currentVersion = 1

        var version = Self.currentVersion
        var devices: [StoredObject<Entry>] = []
    }

    private struct Entry: StoredFields {
        static let fieldNames: Set = ["device", "finding", "date"]

        var device: StoredObject<CheckedDevice>
        /// The name of the finding. An entry without one is not an answer.
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
    package func contains(_ device: CheckedDevice) -> Bool {
        read().fields.devices.contains { $0.fields.device.fields == device && $0.fields.finding != nil }
    }

    /// Stores that the user has accepted these devices after the judgement of the microphone.
    /// - Parameter date: the current date.
    package func insert(_ device: CheckedDevice, finding: SoundCheck.Finding, date: Date) throws(NearbyStoreError) {
        let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
        try PrivateFile.makeDirectory(folder)
        try PrivateFile.locked(folder + "/lock") { () throws(NearbyStoreError) -> Void in
            if try PrivateFile.isLater(path, than: Document.currentVersion, limit: Self.maximumFileSize) {
                throw .laterVersion(path)
            }
            var document = read()
            let old = document.fields.devices.firstIndex { $0.fields.device.fields == device }
            var entry =
                old.map { document.fields.devices.remove(at: $0) }
                ?? StoredObject(Entry(device: StoredObject(device), date: date))
            (entry.fields.finding, entry.fields.date) = (finding.name, date)
            document.fields.devices.append(entry)
            document.fields.devices.removeFirst(max(0, document.fields.devices.count - Self.maximumDeviceCount))
            try write(document)
        }
    }

    private func write(_ document: StoredObject<Document>) throws(NearbyStoreError) {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(document) else { preconditionFailure("texts and dates can be encoded") }
        try PrivateFile.write(Array(data), to: path)
    }

    private func read() -> StoredObject<Document> {
        let empty = StoredObject(Document())
        guard let bytes = try? PrivateFile.read(path, limit: Self.maximumFileSize) else { return empty }
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        guard let document = try? decoder.decode(StoredObject<Document>.self, from: Data(bytes)),
            document.fields.version == Document.currentVersion
        else { return empty }
        return document
    }
}
