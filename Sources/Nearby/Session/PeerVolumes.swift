// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport
import Foundation

/// The volumes that the user set for persons, by their keys, for the next call.
///
/// A value; its owner reads and writes the file. A person without an entry has the default volume.
package struct PeerVolumes: Hashable, Sendable {
    /// The maximum number of entries. A further one replaces the one that was set longest ago.
    package static let capacity = 256
    /// The maximum bytes of a file.
    package static let maximumFileSize = 1 << 20

    /// The volume of a person.
    package struct Setting: Hashable, Sendable {
        /// The playback gain, a factor from 0 to 8.
        package var volume: Float
        /// False if the user does not hear the person, at any volume.
        package var isHeard: Bool

        /// Creates the default, or another setting.
        package init(volume: Float = 1, isHeard: Bool = true) {
            self.volume = volume
            self.isHeard = isHeard
        }

        /// The gain of the person's voice: the volume, or 0 if the user does not hear the person.
        package var gain: Float { isHeard ? volume : 0 }
    }

    /// The setting of a person.
    package struct Entry: Hashable, Sendable {
        package var key: KeyFingerprint
        package var setting: Setting

        package init(key: KeyFingerprint, setting: Setting) {
            self.key = key
            self.setting = setting
        }
    }

    /// The entries, in the order in which they were set.
    package private(set) var entries: [Entry] = []
    /// The fields of the file that this version does not know.
    private var otherFields: [String: JSONValue] = [:]
    /// The fields of persons that this version does not know.
    private var otherPeerFields: [KeyFingerprint: [String: JSONValue]] = [:]

    /// Creates an empty list.
    package init() {}

    /// Returns the setting of a person; nil for the default. The default removes the entry.
    package subscript(key: KeyFingerprint) -> Setting? {
        get { entries.first { $0.key == key }?.setting }
        set {
            entries.removeAll { $0.key == key }
            guard let newValue, newValue != Setting() else { return }
            entries.append(Entry(key: key, setting: newValue))
            if entries.count > Self.capacity { otherPeerFields[entries.removeFirst().key] = nil }
        }
    }

    /// Sets the settings of persons, in order.
    package mutating func apply(_ changes: [Entry]) {
        for change in changes { self[change.key] = change.setting }
    }
}

/// The file: a JSON object `{"version": 1, "peers": [{"key", "volume", "heard"}]}`. Fields of later versions are kept.
extension PeerVolumes {
    private struct File: StoredFields {
        static let fieldNames: Set = ["version", "peers"]

        var version: Int
        var peers: [StoredObject<FileEntry>]
    }

    private struct FileEntry: StoredFields {
        static let fieldNames: Set = ["key", "volume", "heard"]

        var key: KeyFingerprint
        var volume: Float
        var heard: Bool
    }

    static let version = 1

    /// Reads a file; nil if the file is damaged, too large, or of another version. Volumes are clamped to 0…8.
    package init?(parsing file: [UInt8]) {
        guard file.count <= Self.maximumFileSize,
            let content = try? JSONDecoder().decode(StoredObject<File>.self, from: Data(file)),
            content.fields.version == Self.version
        else { return nil }
        self.init()
        otherFields = content.otherFields
        for peer in content.fields.peers {
            let entry = peer.fields
            if !peer.otherFields.isEmpty { otherPeerFields[entry.key] = peer.otherFields }
            self[entry.key] = Setting(volume: max(0, min(8, entry.volume)), isHeard: entry.heard)
        }
    }

    /// The file's bytes: indented JSON, the entry that was set last at the end.
    package var file: [UInt8] {
        // A person may have the default volume, and fields of a later version.
        let others = otherPeerFields.keys.filter { self[$0] == nil }.sorted { $0.hex < $1.hex }
        let all = others.map { Entry(key: $0, setting: Setting()) } + entries
        let peers = all.map {
            StoredObject(
                FileEntry(key: $0.key, volume: $0.setting.volume, heard: $0.setting.isHeard),
                otherFields: otherPeerFields[$0.key] ?? [:])
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted]
        do {
            let document = StoredObject(File(version: Self.version, peers: peers), otherFields: otherFields)
            return Array(try encoder.encode(document)) + [0x0A]
        } catch {
            preconditionFailure("JSON encoding failed: \(error)")
        }
    }
}
