// SPDX-License-Identifier: Apache-2.0

/// The send and arrival times of packets that a peer reports to their sender, in an application packet of RTCP (RFC 3550 §6.7).
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

    /// Creates a report.
    package init(fastest: Pair, typical: Pair) {
        self.fastest = fastest
        self.typical = typical
    }

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

    func write(from ssrc: UInt32, into bytes: inout MutableRawSpan, at offset: Int) {
        bytes.put(ssrc, at: offset)
        bytes.put(Self.name, at: offset + 4)
        fastest.write(into: &bytes, at: offset + 8)
        typical.write(into: &bytes, at: offset + 20)
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
        return start + size
    }

    mutating func takeApplication(_ datagram: RawSpan, _ packet: RTCPCompound.Packet, from sender: UInt32) {
        guard sendTimeID != nil, packet.count == 0 else { return }
        if let report = TimeReport.read(from: sender, datagram, packet.body) { timeReport = report }
    }

    /// Returns the peer's newest report on local send times since the last call; nil for none.
    package mutating func takeTimeReport() -> TimeReport? {
        defer { timeReport = nil }
        return timeReport
    }
}
