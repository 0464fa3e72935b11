// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import TestSupport

@testable import EarshotMediaTransport

extension HostTime {
    static func seconds(_ seconds: Double) -> HostTime { HostTime(nanoseconds: Int64(seconds * 1e9)) }
}

func session(
    ssrc: UInt32 = 1, payloadType: UInt8 = 96, clockRate: Int = 48_000, sequence: UInt16 = 100,
    timestamp: UInt32 = 5_000
) -> RTPSession {
    RTPSession(
        ssrc: ssrc, cname: "name\(ssrc)", payloadType: payloadType, clockRate: clockRate,
        firstSequenceNumber: sequence, firstTimestamp: timestamp)
}

extension RTPSession {
    mutating func packet(_ payload: [UInt8] = [1, 2, 3], position: Int, marker: Bool = false, at: HostTime) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: payload.count + RTPPacket.headerSize)
        let count = payload.withUnsafeBytes { payload in
            bytes.withMutableRawSpan {
                packetize(payload.bytes, position: position, marker: marker, at: at, into: &$0)
            }
        }
        return Array(bytes.prefix(count))
    }

    mutating func take(_ bytes: [UInt8], at: HostTime = .seconds(0)) -> Received {
        bytes.withUnsafeBytes { receive($0.bytes, at: at) }
    }

    mutating func report(at: HostTime) -> [UInt8] {
        var bytes = [UInt8](repeating: 0xAA, count: Self.maximumReportSize)
        let count = bytes.withMutableRawSpan { writeReport(at: at, into: &$0) }
        return Array(bytes.prefix(count))
    }

    mutating func bye(at: HostTime) -> [UInt8] {
        var bytes = [UInt8](repeating: 0xAA, count: Self.maximumReportSize)
        let count = bytes.withMutableRawSpan { writeBye(at: at, into: &$0) }
        return Array(bytes.prefix(count))
    }
}

extension Received {
    var media: ReceivedMedia? {
        if case .media(let media) = self { media } else { nil }
    }
}

/// A media packet as another implementation would write it.
func rawPacket(
    sequence: UInt16, timestamp: UInt32 = 0, ssrc: UInt32 = 2, payloadType: UInt8 = 96, payload: [UInt8] = [9]
) -> [UInt8] {
    let stamp = (0..<4).map { UInt8(truncatingIfNeeded: timestamp >> (24 - 8 * UInt32($0))) }
    let source = (0..<4).map { UInt8(truncatingIfNeeded: ssrc >> (24 - 8 * UInt32($0))) }
    return [0x80, payloadType, UInt8(sequence >> 8), UInt8(sequence & 255)] + stamp + source + payload
}

/// Noise, or `base` with some bytes changed, removed or added.
func mutated(_ base: [UInt8], _ random: inout SeededRandom) -> [UInt8] {
    if UInt8.random(in: 0..<4, using: &random) == 0 {
        return (0..<Int.random(in: 0..<64, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
    }
    var bytes = base
    for _ in 0..<Int.random(in: 0..<5, using: &random) where !bytes.isEmpty {
        bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
    }
    if Bool.random(using: &random) { bytes = Array(bytes.prefix(Int.random(in: 0...bytes.count, using: &random))) }
    if UInt8.random(in: 0..<8, using: &random) == 0 { bytes += [UInt8.random(in: 0...255, using: &random)] }
    return bytes
}

extension RTPRepair {
    /// Returns true if nothing repairs lost packets.
    var isNone: Bool { redundant == nil && repeated == nil && !takesNACK && !takesReports }
}
