// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// A direction of sound.
public enum AudioDirection: String, Hashable, Sendable {
    case input
    case output
}

extension AudioDeviceDescription {
    /// Returns true if it has channels in a direction.
    public func has(_ direction: AudioDirection) -> Bool {
        (direction == .input ? inputChannelCount : outputChannelCount) > 0
    }
}

extension Collection where Element == AudioDeviceDescription {
    /// Returns the device that a user means: by id, by name, or by a part of either that only one device has, in any case. A part
    /// matches a monitor only if it contains `monitor`.
    /// - Throws: ``AudioDeviceError/noDevice(name:near:)`` with similar names; the matching ones if there are several; ids if
    ///   these share a name.
    public func device(named name: String, _ direction: AudioDirection) throws(AudioDeviceError) -> Element {
        let able = filter { $0.has(direction) }
        if let exact = able.first(where: { $0.id == name }) { return exact }
        let named = able.filter { $0.name == name }
        if named.count == 1 { return named[0] }
        let wanted = name.lowercased()
        let isMonitorMeant = wanted.contains("monitor")
        let fitting = able.filter {
            !wanted.isEmpty && ($0.name.lowercased().contains(wanted) || $0.id.lowercased().contains(wanted))
                && (isMonitorMeant || $0.form != .monitor)
        }
        if fitting.count == 1 { return fitting[0] }
        let near = (!named.isEmpty ? named : fitting.isEmpty ? Self.nearest(able, to: wanted) : fitting).prefix(3)
        let names = near.map { device in
            able.filter { $0.name == device.name }.count == 1 ? device.name : device.id
        }
        throw .noDevice(name: name, near: names)
    }

    private static func distance(_ candidate: String, _ name: String) -> Int {
        editDistance(Array(candidate.lowercased()), Array(name))
    }

    private static func nearest(_ devices: [Element], to name: String) -> [Element] {
        devices.map { device in
            (device, Swift.min(distance(device.name, name), distance(device.id, name)))
        }
        .filter { $0.1 <= Swift.max(2, name.count / 2) }
        .sorted { $0.1 < $1.1 }.map(\.0)
    }
}
