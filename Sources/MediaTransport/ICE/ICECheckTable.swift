// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// A check that awaits its answer.
struct ICECheck: Sendable {
    let id: STUNTransactionID
    let pair: ICEPair
    let sentAt: HostTime
    let role: ICERole
}

/// The checks that await their answers. Holds as many as are sent in the longest round trip that is of use; more make it
/// forget the oldest, so nothing that comes or does not come makes it grow.
struct ICECheckTable: Sendable {
    static let capacity = 256
    /// Seconds after which an answer comes too late.
    static let timeout = 3.0

    private var checks: [ICECheck] = []

    init() { checks.reserveCapacity(Self.capacity) }

    var count: Int { checks.count }

    mutating func add(_ check: ICECheck) {
        if checks.count == Self.capacity { checks.removeFirst() }
        checks.append(check)
    }

    func check(_ id: STUNTransactionID) -> ICECheck? { checks.last { $0.id == id } }

    /// Its answer has come: a second one is none.
    mutating func remove(_ id: STUNTransactionID, at: HostTime) {
        checks.removeAll { $0.id == id || at.seconds(since: $0.sentAt) > Self.timeout }
    }
}
