// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The switches of the machine that turn its own microphone off, as the kernel reports them.
package struct MicrophoneSwitches: Sendable {
    private let root: String

    /// - Parameter root: the path of the file system; for tests.
    package init(root: String = "") { self.root = root }

    /// True if a privacy key cuts the microphone off in hardware, false if it does not; nil if the machine tells nothing.
    ///
    /// Dell's machines report it; see Documentation/ABI/testing/sysfs-platform-dell-privacy-wmi of the kernel.
    package var isMicrophoneOff: Bool? {
        let folder = "\(root)/sys/bus/wmi/devices"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        for name in names where name.hasPrefix("6932965F-1671-4CEB-B988-D3AB0A901919") {
            let text = try? String(contentsOfFile: "\(folder)/\(name)/dell_privacy_current_state", encoding: .utf8)
            for line in (text ?? "").split(separator: "\n") where line.hasPrefix("[Microphone]") {
                return line.hasSuffix("[muted]")
            }
        }
        return nil
    }

    /// True if the light of the microphone's mute key is on. Users may give the light another meaning, so it is only a hint.
    package var isMuteLightOn: Bool {
        let folder = "\(root)/sys/class/leds"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.contains { name in
            guard name.hasSuffix("micmute"),
                let text = try? String(contentsOfFile: "\(folder)/\(name)/brightness", encoding: .utf8)
            else { return false }
            return Int(text.trimmingCharacters(in: .whitespacesAndNewlines)) ?? 0 > 0
        }
    }
}

/// The sandbox of this process.
package struct AudioSandbox: Sendable {
    private let root: String

    /// - Parameter root: the path of the file system; for tests.
    package init(root: String = "") { self.root = root }

    /// True in a Flatpak that has no access to a sound server.
    package var hidesSound: Bool {
        guard let text = try? String(contentsOfFile: "\(root)/.flatpak-info", encoding: .utf8) else { return false }
        let sockets = text.split(separator: "\n").first { $0.hasPrefix("sockets=") }?.dropFirst("sockets=".count) ?? ""
        return !sockets.split(separator: ";").contains { $0 == "pulseaudio" || $0 == "pipewire" }
    }
}
