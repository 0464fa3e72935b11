// SPDX-License-Identifier: Apache-2.0

/// The keys of a command that runs until the user ends it.
enum CommonKeys {
    enum Action: Equatable {
        case quit, help, status
    }

    static let hint = "Keys: s status, ? help, q quit"
    static let help = """
        s  status     ?  this help     q  quit
        """

    static func action(_ key: Key) -> Action? {
        switch key {
        case .character("q"), .character("Q"): .quit
        case .character("?"), .character("h"): .help
        case .character("s"), .character("S"): .status
        default: nil
        }
    }
}
