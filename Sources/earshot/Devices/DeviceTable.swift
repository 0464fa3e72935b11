// SPDX-License-Identifier: Apache-2.0

import EarshotAudioDevices

/// Devices as text: a table for each sound system, and advice below it.
struct DeviceTable {
    let text: String

    private static let columnTitles = ["NAME", "KIND", "IN", "OUT", "RATE", "BLOCKS", "DELAY"]

    init(_ listings: [DeviceListing], hasColour: Bool) {
        func coloured(_ text: String, _ code: Int) -> String { hasColour ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text }
        let shownListings = listings.filter { !$0.devices.isEmpty }
        let rows = shownListings.flatMap(\.devices).map(Self.cells)
        let widths = Self.columnTitles.indices.map { column in
            (rows.map { $0[column].count } + [Self.columnTitles[column].count]).max() ?? 0
        }
        func line(_ cells: [String]) -> String {
            var line = zip(cells, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }
                .joined(separator: "  ")
            while line.last == " " { line.removeLast() }
            return "  " + line
        }
        var lines: [String] = []
        for listing in shownListings {
            if !lines.isEmpty { lines.append("") }
            lines.append(coloured("\(listing.backend)", 1))
            lines.append(coloured(line(Self.columnTitles), 2))
            for device in listing.devices {
                lines.append(line(Self.cells(device)).replacing("●", with: coloured("●", 32)))
                let id = TerminalText.sanitized(device.id)
                if id != DeviceFormatting.name(device) { lines.append(coloured("    \(id)", 2)) }
            }
        }
        let all = shownListings.flatMap(\.devices)
        var notes = all.compactMap(DeviceFormatting.advice).map { coloured($0, 33) }
        for listing in shownListings {
            for device in listing.devices where device.isDefaultInput {
                let advice = listing.permissions[device.id]?.advice(for: DeviceFormatting.name(device))
                if let advice { notes.append(coloured(advice, 33)) }
            }
        }
        if all.contains(where: { $0.isDefaultInput || $0.isDefaultOutput }) {
            let first = shownListings.count > 1 ? ", and \(shownListings[0].backend) where no --device is" : ""
            notes.append("● is the default microphone or speaker\(first).")
        }
        let missing = [("microphone", AudioDirection.input), ("loudspeaker", .output)].filter { side in
            !all.isEmpty && !all.contains { $0.has(side.1) && $0.form != .monitor }
        }
        notes += missing.map { "There is no \($0.0): plug one in." }
        let absent = listings.filter { $0.failure != nil }.map { "\($0.backend)" }
        if !all.isEmpty && !absent.isEmpty { notes.append("Not running here: \(absent.joined(separator: ", ")).") }
        if !notes.isEmpty { lines += [""] + notes }
        text = lines.isEmpty ? "" : lines.joined(separator: "\n") + "\n"
    }

    private static func cells(_ device: AudioDeviceDescription) -> [String] {
        func channels(_ count: Int, _ isDefault: Bool) -> String {
            count == 0 ? "–" : isDefault ? "\(count) ●" : "\(count)"
        }
        let name = DeviceFormatting.name(device)
        return [
            name.count > 40 ? name.prefix(39) + "…" : name, DeviceFormatting.kind(device),
            channels(device.inputChannelCount, device.isDefaultInput),
            channels(device.outputChannelCount, device.isDefaultOutput), DeviceFormatting.rate(device),
            DeviceFormatting.blocks(device), DeviceFormatting.delay(device),
        ]
    }
}
