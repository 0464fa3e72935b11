// SPDX-License-Identifier: Apache-2.0

import EarshotNearby
import Foundation

/// The configuration of a device to which a measured delay belongs.
package struct CalibratedDevice: StoredFields {
    package static let fieldNames: Set = ["system", "microphone", "output", "sampleRate", "blockFrameCount"]

    /// The sound system.
    package var system: String
    /// The microphone's id; nil without a microphone.
    package var microphone: String?
    /// The loudspeaker's id; nil without a loudspeaker.
    package var output: String?
    /// Frames per second.
    package var sampleRate: Double
    /// Frames per block.
    package var blockFrameCount: Int

    /// Returns true if both are the same microphone and loudspeaker.
    func isSameHardware(as other: CalibratedDevice) -> Bool {
        (system, microphone, output) == (other.system, other.microphone, other.output)
    }
}

extension CalibratedDevice {
    /// Creates the configuration of a call's device.
    package init(_ device: CallDevice) {
        self.init(
            system: device.backend.rawValue, microphone: device.route.input?.id, output: device.route.output?.id,
            sampleRate: device.sampleRate, blockFrameCount: device.blockFrameCount)
    }
}

/// The measured delay of a device: its round trip, output and input together.
package struct CalibratedDelay: Hashable, Sendable {
    /// The seconds by which the round trip is longer than the device reports.
    package var correction: Double
    /// The seconds by which the correction may be wrong.
    package var uncertainty: Double

    package init(correction: Double, uncertainty: Double) {
        (self.correction, self.uncertainty) = (correction, uncertainty)
    }
}

/// The knowledge of a device's delay.
package enum DelayKnowledge: Hashable, Sendable {
    /// Only the device's own report.
    case reported
    /// It was measured in this configuration.
    case measured(CalibratedDelay)
    /// It was measured with the same microphone and loudspeaker, in another configuration.
    case stale(CalibratedDevice)

    /// The measured delay; nil if it is unknown or stale.
    package var delay: CalibratedDelay? {
        if case .measured(let delay) = self { delay } else { nil }
    }
}

/// The measured delays of devices, in a file of mode 0600. Each belongs to one sample rate and block size of a device.
package struct CalibrationStore: Sendable {
    /// The path of the file.
    package let path: String

    struct Entry: StoredFields {
        static let fieldNames: Set = ["device", "correction", "uncertainty", "roundTrip", "path", "date"]

        var device: StoredObject<CalibratedDevice>
        /// In seconds.
        var correction: Double
        /// In seconds.
        var uncertainty: Double
        /// The measured round trip in seconds.
        var roundTrip: Double
        /// `cable` or `air`.
        var path: String
        var date: Date
    }

    /// Seconds beyond which a stored number is no delay.
    private static let limit = 10.0

    /// Creates a store in a file, which is created when needed.
    package init(path: String) { self.path = path }

    /// The user's store: `earshot/calibrations.json` in `$XDG_DATA_HOME`, else in `~/.local/share`.
    package static var standard: CalibrationStore {
        CalibrationStore(path: UserFolder.data + "/earshot/calibrations.json")
    }

    /// Stores a measured delay, in place of an earlier one of the same configuration.
    /// - Parameters:
    ///   - roundTrip: the measured round trip in seconds.
    ///   - path: `cable` or `air`.
    ///   - date: the current date.
    package func insert(
        _ delay: CalibratedDelay, roundTrip: Double, through path: String, of device: CalibratedDevice, date: Date
    ) throws(NearbyStoreError) {
        let new = Entry(
            device: StoredObject(device), correction: delay.correction, uncertainty: delay.uncertainty,
            roundTrip: roundTrip, path: path, date: date)
        try file.update(where: { $0.device.fields == device }, orInsert: new) { entry in
            let stored = entry.device
            entry = new
            entry.device = stored
        }
    }

    /// Reads the delays of all devices, to look up several.
    package func read() -> Calibrations {
        Calibrations(
            entries: file.entries.filter { entry in
                abs(entry.correction) < Self.limit && (0..<Self.limit).contains(entry.uncertainty)
            })
    }

    private var file: DeviceEntryFile<Entry> { DeviceEntryFile(path: path) }
}

/// The measured delays of devices, as ``CalibrationStore/read()`` returned them.
package struct Calibrations: Sendable {
    fileprivate var entries: [CalibrationStore.Entry] = []

    /// No device was measured.
    package static var none: Calibrations { Calibrations() }

    /// Returns what is known about a device. The newest entry of the same hardware is stale if no entry fits.
    package func knowledge(of device: CalibratedDevice) -> DelayKnowledge {
        let known = entries.filter { $0.device.fields.isSameHardware(as: device) }
        if let entry = known.last(where: { $0.device.fields == device }) {
            return .measured(CalibratedDelay(correction: entry.correction, uncertainty: entry.uncertainty))
        }
        return known.last.map { .stale($0.device.fields) } ?? .reported
    }
}
