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
/// The worst result of a damaged file is a further check.
package struct SoundCheckStore: Sendable {
    /// The path of the file.
    package let path: String

    struct Entry: StoredFields {
        static let fieldNames: Set = ["device", "finding", "date"]

        var device: StoredObject<CheckedDevice>
        /// The name of the finding. An entry without one is not an answer.
        var finding: String?
        var date: Date
    }

    /// The maximum number of devices; the oldest are forgotten.
    static let maximumDeviceCount = DeviceEntryFile<Entry>.maximumCount

    /// Creates a store in a file, which is created when needed.
    package init(path: String) { self.path = path }

    /// The user's store: `earshot/sound-checks.json` in `$XDG_DATA_HOME`, else in `~/.local/share`.
    package static var standard: SoundCheckStore {
        SoundCheckStore(path: UserFolder.data + "/earshot/sound-checks.json")
    }

    /// Returns true if the user has accepted these devices.
    package func contains(_ device: CheckedDevice) -> Bool {
        file.entries.contains { $0.device.fields == device && $0.finding != nil }
    }

    /// Stores that the user has accepted these devices after the judgement of the microphone.
    /// - Parameter date: the current date.
    package func insert(_ device: CheckedDevice, finding: SoundCheck.Finding, date: Date) throws(NearbyStoreError) {
        let new = Entry(device: StoredObject(device), date: date)
        try file.update(where: { $0.device.fields == device }, orInsert: new) { entry in
            (entry.finding, entry.date) = (finding.name, date)
        }
    }

    private var file: DeviceEntryFile<Entry> { DeviceEntryFile(path: path) }
}
