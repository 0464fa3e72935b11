// SPDX-License-Identifier: Apache-2.0

/// Validates and extends the sequence numbers of one source (RFC 3550 appendix A.1) and counts losses (A.3).
///
/// There is no probation: the source was negotiated and the transport authenticated, so its first packet counts. A window of 128
/// packets, which A.1 lacks, distinguishes late packets from duplicates.
struct SequenceTracker: Sendable {
    enum Verdict: Equatable {
        case next(Int)  // the extended number, higher than all before
        case late(Int)
        case restart
        case duplicate
        case jump
    }

    static let maximumDropout = 3_000
    static let maximumMisorder = 100

    private var base: Int  // extended; the lowest received, so that a packet overtaken by the first is expected too
    private(set) var highest: Int  // extended
    private var seen: UInt128 = 1  // bit n: highest - n was received
    private var badSequence: UInt16?
    private(set) var received = 1
    private(set) var duplicates = 0
    private(set) var reordered = 0
    private var expectedBefore = 0
    private var receivedBefore = 0

    init(first: UInt16) {
        base = Int(first)
        highest = base
    }

    var expected: Int { highest &- base &+ 1 }
    /// The expected packets minus the received ones, including duplicates and late ones; may be negative.
    var lost: Int { expected &- received &- duplicates }

    mutating func update(_ sequence: UInt16) -> Verdict {
        let ahead = sequence &- UInt16(truncatingIfNeeded: highest)
        if ahead != 0 && ahead < UInt16(Self.maximumDropout) {
            badSequence = nil
            highest &+= Int(ahead)
            seen = (seen << UInt128(ahead)) | 1
            received &+= 1
            return .next(highest)
        }
        let behind = 0 &- Int(Int16(bitPattern: ahead))
        if behind >= 0 && behind <= Self.maximumMisorder {
            badSequence = nil
            let bit: UInt128 = 1 << UInt128(behind)
            if seen & bit != 0 {
                duplicates &+= 1
                return .duplicate
            }
            seen |= bit
            received &+= 1
            reordered &+= 1
            base = min(base, highest &- behind)
            return .late(highest &- behind)
        }
        if sequence == badSequence { return .restart }
        badSequence = sequence &+ 1
        return .jump
    }

    /// Returns the share of packets lost since the last call, in 256ths; 0 if more packets came than were expected.
    mutating func takeFractionLost() -> UInt8 {
        let all = received &+ duplicates
        let expectedNow = expected &- expectedBefore
        let lostNow = expectedNow &- (all &- receivedBefore)
        expectedBefore = expected
        receivedBefore = all
        guard expectedNow > 0, lostNow > 0 else { return 0 }
        return UInt8(min(255, lostNow * 256 / expectedNow))
    }
}
