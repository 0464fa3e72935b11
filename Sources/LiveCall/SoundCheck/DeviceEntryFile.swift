// SPDX-License-Identifier: Apache-2.0

import EarshotNearby
import Foundation

/// A list of entries about devices in a file of mode 0600.
///
/// A damaged or unreadable file counts as empty. The file of a later version is not changed, and what a later version added is kept.
struct DeviceEntryFile<Entry: StoredFields>: Sendable {
    let path: String

    private struct Document: StoredFields {
        static var fieldNames: Set<String> { ["version", "devices"] }
        static var currentVersion: Int { 1 }

        var version = Self.currentVersion
        var devices: [StoredObject<Entry>] = []
    }

    /// The maximum number of entries; the oldest are forgotten.
    static var maximumCount: Int { 200 }
    private static var maximumFileSize: Int { 1 << 20 }

    /// The entries, the oldest first.
    var entries: [Entry] { read().fields.devices.map(\.fields) }

    /// Changes the first entry that matches, or a new one, and makes it the newest.
    func update(
        where matches: (Entry) -> Bool, orInsert entry: Entry, _ change: (inout Entry) -> Void
    ) throws(NearbyStoreError) {
        let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
        try PrivateFile.makeDirectory(folder)
        try PrivateFile.locked(folder + "/lock") { () throws(NearbyStoreError) -> Void in
            if try PrivateFile.isLater(path, than: Document.currentVersion, limit: Self.maximumFileSize) {
                throw .laterVersion(path)
            }
            var document = read()
            let old = document.fields.devices.firstIndex { matches($0.fields) }
            var stored = old.map { document.fields.devices.remove(at: $0) } ?? StoredObject(entry)
            change(&stored.fields)
            document.fields.devices.append(stored)
            document.fields.devices.removeFirst(max(0, document.fields.devices.count - Self.maximumCount))
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
