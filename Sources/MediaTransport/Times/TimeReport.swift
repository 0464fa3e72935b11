// SPDX-License-Identifier: Apache-2.0

/// The send and arrival times of packets that a peer reports to their sender, in an application packet of RTCP (RFC 3550 §6.7), and
/// their transit times in another one.
package struct TimeReport: Hashable, Sendable {
    /// The times of a packet, or the mean of several.
    package struct Pair: Hashable, Sendable {
        /// The send time as the packet has it, in microseconds of the sender's clock.
        package var sent: UInt32
        /// The nanoseconds of the receiver's clock at the arrival.
        package var arrived: Int64

        /// Creates a pair of times.
        package init(sent: UInt32, arrived: Int64) {
            self.sent = sent
            self.arrived = arrived
        }

        fileprivate init(_ bytes: RawSpan, at offset: Int) {
            sent = bytes.bigEndian32(offset)
            let high = Int64(bytes.bigEndian32(offset + 4))
            arrived = high << 32 | Int64(bytes.bigEndian32(offset + 8))
        }

        fileprivate func write(into bytes: inout MutableRawSpan, at offset: Int) {
            bytes.put(sent, at: offset)
            bytes.put(UInt32(truncatingIfNeeded: arrived >> 32), at: offset + 4)
            bytes.put(UInt32(truncatingIfNeeded: arrived), at: offset + 8)
        }
    }

    /// The packet with the shortest transit time.
    package var fastest: Pair
    /// The same send time, and the arrival after the typical transit time.
    package var typical: Pair
    /// The transit times of packets (docs/wire.md); empty if unknown.
    package var transits: [UInt16]

    /// Creates a report.
    /// - Parameter transits: at most ``maximumTransitCount``.
    package init(fastest: Pair, typical: Pair, transits: [UInt16] = []) {
        self.fastest = fastest
        self.typical = typical
        self.transits = transits
    }

    /// The most transit times in a report.
    package static let maximumTransitCount = 96
    /// A transit time that says nothing. It fills the last four bytes.
    private static let padding: UInt16 = 0xFFFF

    /// The name of the application packet: "ECLK".
    static let name: UInt32 = 0x4543_4C4B
    /// The bytes of the packet's source, its name and both pairs.
    static let bodySize = 32

    /// Reads the body of an application packet; nil if it is no time report, or its source is not `sender`.
    static func read(from sender: UInt32, _ bytes: RawSpan, _ body: Range<Int>) -> TimeReport? {
        guard body.count == bodySize, bytes.bigEndian32(body.lowerBound) == sender,
            bytes.bigEndian32(body.lowerBound + 4) == name
        else { return nil }
        return TimeReport(
            fastest: Pair(bytes, at: body.lowerBound + 8), typical: Pair(bytes, at: body.lowerBound + 20))
    }

    /// Takes the transit times from the body of another application packet, unless its source is not `sender` or they are too many.
    fileprivate mutating func readTransits(from sender: UInt32, _ bytes: RawSpan, _ body: Range<Int>) {
        let count = (body.count - 8) / 2
        guard body.count >= 8, count <= Self.maximumTransitCount, bytes.bigEndian32(body.lowerBound) == sender,
            bytes.bigEndian32(body.lowerBound + 4) == Self.name
        else { return }
        transits = (0..<count).map { bytes.bigEndian16(body.lowerBound + 8 + 2 * $0) }
        if transits.last == Self.padding { transits.removeLast() }
    }

    func write(from ssrc: UInt32, into bytes: inout MutableRawSpan, at offset: Int) {
        bytes.put(ssrc, at: offset)
        bytes.put(Self.name, at: offset + 4)
        fastest.write(into: &bytes, at: offset + 8)
        typical.write(into: &bytes, at: offset + 20)
    }

    /// Writes the transit times. Returns the body's size in bytes.
    fileprivate func writeTransits(from ssrc: UInt32, into bytes: inout MutableRawSpan, at offset: Int) -> Int {
        bytes.put(ssrc, at: offset)
        bytes.put(Self.name, at: offset + 4)
        let used = transits.prefix(Self.maximumTransitCount)
        for (index, transit) in (used.count % 2 == 0 ? Array(used) : used + [Self.padding]).enumerated() {
            bytes.put(transit, at: offset + 8 + 2 * index)
        }
        return 8 + 4 * ((used.count + 1) / 2)
    }
}

extension RTPSession {
    /// Writes a report about the peer's send times, in the smallest compound that RTCP allows.
    /// - Parameter datagram: has room for ``maximumReportSize`` bytes.
    /// - Returns: the datagram's size in bytes; 0 if send times were not negotiated.
    package func writeTimeReport(_ report: TimeReport, into datagram: inout MutableRawSpan) -> Int {
        precondition(datagram.byteCount >= Self.maximumReportSize)
        guard sendTimeID != nil else { return 0 }
        datagram.putReportHeader(RTCPCompound.Kind.receiverReport, count: 0, size: 8, at: 0)
        datagram.put(ssrc, at: 4)
        let start = writeDescription(into: &datagram, at: 8)
        let size = 4 + TimeReport.bodySize
        datagram.putReportHeader(RTCPCompound.Kind.application, count: 0, size: size, at: start)
        report.write(from: ssrc, into: &datagram, at: start + 4)
        let end = start + size
        guard !report.transits.isEmpty else { return end }
        let transitsSize = 4 + report.writeTransits(from: ssrc, into: &datagram, at: end + 4)
        datagram.putReportHeader(RTCPCompound.Kind.application, count: 1, size: transitsSize, at: end)
        return end + transitsSize
    }

    mutating func takeApplication(_ datagram: RawSpan, _ packet: RTCPCompound.Packet, from sender: UInt32) {
        guard sendTimeID != nil else { return }
        if packet.count == 1 {
            timeReport?.readTransits(from: sender, datagram, packet.body)
        } else if packet.count == 0, let report = TimeReport.read(from: sender, datagram, packet.body) {
            timeReport = report
        }
    }

    /// Returns the peer's newest report on local send times since the last call; nil for none.
    package mutating func takeTimeReport() -> TimeReport? {
        defer { timeReport = nil }
        return timeReport
    }
}
