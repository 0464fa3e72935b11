// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// A local check that awaits its answer.
struct ICECheck: Sendable {
    let id: STUNTransactionID
    let pair: ICEPair
    let sentAt: HostTime
    let role: ICERole
}

/// The local checks that await their answers, at most as many as are sent in the longest useful round trip. Further checks
/// replace the oldest, so the table never grows.
struct ICECheckTable: Sendable {
    static let capacity = 256
    /// The seconds after which the answer to a check is too late.
    static let timeout = 3.0

    private var checks: [ICECheck] = []

    init() { checks.reserveCapacity(Self.capacity) }

    var count: Int { checks.count }

    mutating func add(_ check: ICECheck) {
        if checks.count == Self.capacity { checks.removeFirst() }
        checks.append(check)
    }

    func check(_ id: STUNTransactionID) -> ICECheck? { checks.last { $0.id == id } }

    /// Removes an answered check, so that a second answer is ignored, and all checks that have timed out.
    mutating func remove(_ id: STUNTransactionID, at: HostTime) {
        checks.removeAll { $0.id == id || at.seconds(since: $0.sentAt) > Self.timeout }
    }
}
