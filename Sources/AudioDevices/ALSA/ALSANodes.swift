// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The kernel's list of PCMs, which every user may read, and the access to their device nodes.
struct ALSANodes {
    /// A PCM in one direction.
    struct PCM: Hashable {
        var card: Int
        var device: Int
        var direction: AudioDirection

        /// The path of the device node.
        var path: String { "/dev/snd/pcmC\(card)D\(device)\(direction == .input ? "c" : "p")" }
    }

    let pcms: [PCM]
    private let isAccessible: (String) -> Bool

    /// - Parameters:
    ///   - text: the kernel's list, `/proc/asound/pcm`.
    ///   - isAccessible: returns true if the user may read and write a device node. An access control list counts.
    init(
        _ text: String? = try? String(contentsOfFile: "/proc/asound/pcm", encoding: .utf8),
        isAccessible: @escaping (String) -> Bool = { access($0, R_OK | W_OK) == 0 }
    ) {
        self.isAccessible = isAccessible
        // For example "00-03: HDMI 0 : HDMI 0 : playback 1".
        pcms = (text ?? "").split(separator: "\n").flatMap { line -> [PCM] in
            let parts = line.split(separator: ":").map { $0.trimmingCharacters(in: .whitespaces) }
            let numbers = (parts.first ?? "").split(separator: "-").compactMap { Int($0) }
            guard numbers.count == 2 else { return [] }
            return [("capture ", AudioDirection.input), ("playback ", .output)].compactMap { word, direction in
                parts.dropFirst().contains { $0.hasPrefix(word) }
                    ? PCM(card: numbers[0], device: numbers[1], direction: direction) : nil
            }
        }
    }

    /// Returns the path of the first device node in a direction that the user may not open; nil if there is none.
    /// - Parameter card: the card's number; nil for all cards.
    func forbiddenPath(_ direction: AudioDirection?, card: Int? = nil, device: Int? = nil) -> String? {
        pcms.first { pcm in
            (direction == nil || pcm.direction == direction) && (card == nil || pcm.card == card)
                && (device == nil || pcm.device == device) && !isAccessible(pcm.path)
        }?.path
    }
}
