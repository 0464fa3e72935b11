// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// A port on the command line: 1 to 65535.
enum PortArgument {
    static func number(_ text: String) throws -> UInt16 {
        guard let port = UInt16(text), port > 0 else { throw ValidationError("use 1 to 65535") }
        return port
    }
}
