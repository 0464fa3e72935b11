// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// A direction of sound.
public enum AudioDirection: String, Hashable, Sendable {
    case input
    case output
}

extension AudioDeviceDescription {
    /// Returns true if the device has channels in this direction.
    public func has(_ direction: AudioDirection) -> Bool {
        (direction == .input ? inputChannelCount : outputChannelCount) > 0
    }
}

extension Collection where Element == AudioDeviceDescription {
    /// Returns the device of a direction that a user means by `name`: the device's id, its unique name, or a part of its id or
    /// name that no other device has. A part ignores case, and finds monitors only if it contains `monitor`.
    /// - Throws: ``AudioDeviceError/noDevice(name:near:)`` with similar names, or the matching names if several devices match. A
    ///   name that several devices share is replaced by their ids.
    public func device(named name: String, _ direction: AudioDirection) throws(AudioDeviceError) -> Element {
        let candidates = filter { $0.has(direction) }
        if let exact = candidates.first(where: { $0.id == name }) { return exact }
        let named = candidates.filter { $0.name == name }
        if named.count == 1 { return named[0] }
        let wanted = name.lowercased()
        let isMonitorMeant = wanted.contains("monitor")
        let matches = candidates.filter {
            !wanted.isEmpty && ($0.name.lowercased().contains(wanted) || $0.id.lowercased().contains(wanted))
                && (isMonitorMeant || $0.form != .monitor)
        }
        if matches.count == 1 { return matches[0] }
        let near = (!named.isEmpty ? named : matches.isEmpty ? Self.nearest(candidates, to: wanted) : matches).prefix(3)
        let names = near.map { device in
            candidates.filter { $0.name == device.name }.count == 1 ? device.name : device.id
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
