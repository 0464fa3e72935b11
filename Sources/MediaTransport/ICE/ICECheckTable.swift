// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// A check that awaits its answer.
struct ICECheck: Sendable {
    let id: STUNTransactionID
    let pair: ICEPair
    let sentAt: HostTime
    let role: ICERole
}

/// The checks that await their answers, as many as are sent in the longest useful round trip. More replace the oldest, so it
/// never grows.
struct ICECheckTable: Sendable {
    static let capacity = 256
    /// The seconds after which an answer is too late.
    static let timeout = 3.0

    private var checks: [ICECheck] = []

    init() { checks.reserveCapacity(Self.capacity) }

    var count: Int { checks.count }

    mutating func add(_ check: ICECheck) {
        if checks.count == Self.capacity { checks.removeFirst() }
        checks.append(check)
    }

    func check(_ id: STUNTransactionID) -> ICECheck? { checks.last { $0.id == id } }

    /// Removes an answered check, so that a second answer is ignored.
    mutating func remove(_ id: STUNTransactionID, at: HostTime) {
        checks.removeAll { $0.id == id || at.seconds(since: $0.sentAt) > Self.timeout }
    }
}
