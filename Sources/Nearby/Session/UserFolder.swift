// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The user's folders of the XDG Base Directory Specification.
package enum UserFolder {
    /// The folder for data: `$XDG_DATA_HOME`, else `~/.local/share`.
    package static var data: String { path("XDG_DATA_HOME", orInHome: ".local/share") }
    /// The folder for configuration: `$XDG_CONFIG_HOME`, else `~/.config`.
    package static var configuration: String { path("XDG_CONFIG_HOME", orInHome: ".config") }

    /// The home folder: `$HOME`, else that of the account.
    package static var home: String { absolute("HOME") ?? NSHomeDirectory() }

    /// Returns the folder that an environment variable names by an absolute path, else `folder` in the home folder.
    private static func path(_ variable: String, orInHome folder: String) -> String {
        absolute(variable) ?? "\(home)/\(folder)"
    }

    private static func absolute(_ variable: String) -> String? {
        ProcessInfo.processInfo.environment[variable].flatMap { $0.hasPrefix("/") ? $0 : nil }
    }
}
