// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

extension Trait where Self == ConditionTrait {
    /// Skips a test that computes for minutes in a debug build, where code is some 190 times slower.
    public static var optimized: Self { .disabled(if: isDebugBuild, "computes: run it by \(releaseCommand)") }

    /// Skips a test if one of these programs is missing.
    public static func needs(_ programs: String...) -> Self {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        let folders: [String] = path.components(separatedBy: ":") + ["/usr/sbin"]
        let missing = programs.filter { name in !folders.contains { access("\($0)/\(name)", X_OK) == 0 } }
        return .disabled(
            if: !missing.isEmpty,
            "needs \(missing.joined(separator: " and ")): scripts/test setup installs it")
    }
}

/// True in a debug build without a sanitizer. The sanitizers' builds choose suites that are fast enough.
///
/// It checks how this module is built, which is how the product is built: the tests' own modules are never optimised.
let isDebugBuild =
    _isDebugAssertConfiguration() && dlsym(nil, "__asan_init") == nil && dlsym(nil, "__tsan_init") == nil

/// The command that runs all tests with SwiftPM alone.
let releaseCommand = "swift test -c release -Xswiftc -enable-testing"
