// SPDX-License-Identifier: Apache-2.0

import Testing

/// The entry point of test bundles that are built without an index: SwiftPM's own reads one to find XCTest's tests.
@main struct TestMain {
    static func main() async {
        await Testing.__swiftPMEntryPoint() as Never
    }
}
