// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import EarshotPlayout

/// A latency profile on the command line: a preset's name, or a number from 0 to 1.
enum DialArgument {
    static func profile(_ text: String) throws -> LatencyProfile {
        guard let dial = LatencyProfile(argument: text) else {
            throw ValidationError("use sing, talk, listen or a number from 0 to 1")
        }
        return dial
    }
}
