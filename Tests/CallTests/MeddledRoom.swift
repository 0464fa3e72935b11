// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport
import EarshotPlayout
import TestSupport
import Testing

@testable import EarshotCall
@testable import EarshotSimulation

/// A packet of sound as bytes, taken apart to be changed (RFC 3550, 5.1; only the fixed header).
struct WirePacket {
    var bytes: [UInt8]

    /// Nil for a report.
    init?(_ datagram: [UInt8]) {
        guard datagram.count >= 12, !(192...223).contains(datagram[1]) else { return nil }
        bytes = datagram
    }

    var payloadType: UInt8 {
        get { bytes[1] & 0x7F }
        set { bytes[1] = bytes[1] & 0x80 | newValue }
    }
    var sequence: UInt16 {
        get { UInt16(truncatingIfNeeded: number(2..<4)) }
        set { put(UInt32(newValue), 2..<4) }
    }
    var timestamp: UInt32 {
        get { number(4..<8) }
        set { put(newValue, 4..<8) }
    }
    var source: UInt32 {
        get { number(8..<12) }
        set { put(newValue, 8..<12) }
    }
    var payload: [UInt8] {
        get { Array(bytes[headerSize...]) }
        set { bytes.replaceSubrange(headerSize..., with: newValue) }
    }
    /// The bytes before the payload, with the header extension.
    private var headerSize: Int { bytes[0] & 0x10 == 0 ? 12 : 16 + 4 * Int(number(14..<16)) }

    private func number(_ range: Range<Int>) -> UInt32 { bytes[range].reduce(0) { $0 << 8 | UInt32($1) } }
    private mutating func put(_ value: UInt32, _ range: Range<Int>) {
        for (place, index) in range.reversed().enumerated() {
            bytes[index] = UInt8(truncatingIfNeeded: value >> UInt32(8 * place))
        }
    }
}

/// A room of three without packet loss, in which the second peer's packets to the first are changed. The test chooses the
/// negotiated repair.
struct MeddledRoom {
    /// Returns the replacement of a packet at a second of the call.
    typealias Meddler = (_ packet: WirePacket, _ elapsed: Double) -> [WirePacket]

    var simulation: CallSimulation
    static let level = 0.1
    /// Returns a frequency with whole periods in a tenth of a second.
    static func frequency(_ end: Int) -> Double { 300 + 110 * Double(end) }

    /// - Parameters:
    ///   - badRate: the sample rate in hertz of the second peer's card, which it announces to the first as 48,000.
    ///   - block: frames per block of each card.
    init(
        _ codec: Codec, repair: RTPRepair = RTPRepair(), badRate: Double = 48_000, block: Int = 128,
        keepsFrom: Double = 0, _ meddler: Meddler? = nil
    ) throws {
        let tables = (0..<3).map { end in
            (0..<4_800).map { sine($0, frequency: Self.frequency(end), rate: 48_000, amplitude: Self.level) }
        }
        var configuration = RoomSetup(codec: codec, block: block) { end, frame in tables[end][frame % 4_800] }
            .configuration
        configuration.keepsHistory = keepsFrom == 0
        configuration.keepsFrom = keepsFrom
        configuration.peers[1].sampleRate = badRate
        simulation = try CallSimulation(configuration)
        var random = SeededRandom(seed: 9)
        for end in 0..<3 {
            for other in 0..<3 where other != end {
                // The first and the third peer have a configuration that the second claims to use.
                let agreed = badRate == 48_000 ? simulation.negotiated[end][other] : simulation.negotiated[0][2]
                var form = try #require(agreed)
                form.repair = repair
                // One encoder serves all: redundancy for the first would also be heard by the third.
                form.takesCodecRedundancy = false
                try simulation.peers[end].add(PeerID(other), session: CallSimulation.session(form, &random), form)
            }
            simulation.isIn[end] = true
        }
        if let meddler {
            simulation.datagramFilter = { datagram, from, to, elapsed in
                guard from == 1, to == 0, let packet = WirePacket(datagram) else { return [datagram] }
                return meddler(packet, elapsed).map(\.bytes)
            }
        }
    }

    /// Returns the counts of the first peer's playout for the second or the third.
    func playout(of other: Int) throws -> PlayoutCounts {
        PlayoutCounts(try #require(simulation.peers[0].playout(of: PeerID(other))).statistics)
    }
    /// The first peer's counts for the second.
    var counted: MediaStatistics { simulation.peers[0].statistics(of: PeerID(1)) }

    /// Returns the level at which an end hears another's tone: the mean over tenths of a second.
    func level(of other: Int, at end: Int, _ seconds: Range<Double>) -> Double {
        let samples = simulation.peers[end].heard(seconds).samples
        let pieces = stride(from: 0, through: samples.count - 4_800, by: 4_800).map { samples[$0..<$0 + 4_800] }
        return pieces.reduce(0) { $0 + amplitude($1, frequency: Self.frequency(other)) } / Double(max(1, pieces.count))
    }

    /// Returns the frames that the first peer concealed for the second from a time on.
    func concealed(since seconds: Double) -> Int {
        let history = simulation.peers[0].history
        let before = history.last { $0.elapsed <= seconds }?.statistics.concealedFrames ?? 0
        return (history.last?.statistics.concealedFrames ?? 0) - before
    }
}

/// The counts of a playout that are equal if it received the same.
struct PlayoutCounts: Equatable {
    let packets, late, missing, concealed, glitches, skips, restarts: Int
    let depth, drift: Double

    init(_ statistics: PlayoutStatistics) {
        packets = statistics.packets
        late = statistics.latePackets
        missing = statistics.missingPackets
        concealed = statistics.concealedFrames
        glitches = statistics.glitches
        skips = statistics.skips
        restarts = statistics.restarts
        depth = statistics.depth
        drift = statistics.driftPPM
    }
}
