// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioFiles
import EarshotTOMLReader

@testable import EarshotMediaTransport
@testable import HTTPParsing
@testable import PacketRules
@testable import TransferParsing

/// The targets of fuzzing. Each is a parser with its invariants; a violation traps.
enum Target: String, CaseIterable {
    case session, aac, opus, opusCustom, red, stun, description, rules, rooms, toml, container, file, stream, titles,
        playlist, tags
    case dtls, tls, srtp, announcement, netlink, events, target, transfer, commands, duet
}

/// Passes datagrams, each after two bytes of length and one of milliseconds since the last, to one session.
func fuzzSession(_ input: UnsafeRawBufferPointer) -> CInt {
    var session = RTPSession(
        ssrc: 1, cname: "fuzz", payloadType: 96, clockRate: 48_000, firstSequenceNumber: 0, firstTimestamp: 0)
    session.repair.redundant = 99
    session.repair.repeated = 100
    session.repair.takesReports = true
    session.repair.takesRateRequests = true
    session.repair.reserve = 103
    session.sendTimeID = 1
    session.hold = PlayoutHold(seconds: 0.02, limit: 0.08)
    var time = HostTime(nanoseconds: 1_000_000_000)
    var rest = input[...]
    withUnsafeTemporaryAllocation(byteCount: RTPSession.maximumReportSize, alignment: 8) { memory in
        var report = memory.mutableBytes
        while rest.count >= 3 {
            let start = rest.startIndex
            time.nanoseconds += Int64(rest[start + 2]) * 1_000_000
            let size = Int(rest[start]) << 8 | Int(rest[start + 1])
            let datagram = UnsafeRawBufferPointer(rebasing: rest.dropFirst(3).prefix(size))
            rest = rest.dropFirst(3 + size)
            switch session.receive(datagram.bytes, at: time) {
            case .media(let media), .repeated(let media):
                precondition(media.payload.lowerBound >= 12 && media.payload.upperBound <= datagram.count)
            default: break
            }
            if let pattern = session.takeLossPattern() {
                precondition(pattern.bursts <= pattern.lost && pattern.lost <= pattern.expected)
            }
            precondition(session.takeRequestedNumbers().reduce(0) { count, _ in count + 1 } <= 64)
            _ = session.takeTimeReport()
            if let request = session.takeRateRequest() {
                precondition(request.bitRate >= 0 && request.bitRate.isFinite && (0...511).contains(request.overhead))
            }
            if let due = session.nextReportTime, due <= time {
                precondition(session.writeReport(at: time, into: &report) % 4 == 0)
            }
        }
        let statistics = session.statistics
        precondition(statistics.packetsReceived <= statistics.packetsExpected && statistics.packetsMissing >= 0)
        precondition(statistics.jitter >= 0 && session.peerCanonicalName.utf8.count <= 255 * 3)
        precondition(session.writeBye(at: time, into: &report) <= report.byteCount)
    }
    return 0
}

func fuzzAAC(_ input: UnsafeRawBufferPointer) -> CInt {
    guard let payload = try? AACPayload(parsing: input.bytes) else { return 0 }
    var end = 2 + 2 * payload.unitCount
    payload.forEach { unit in
        precondition(unit.bytes.lowerBound == end && !unit.bytes.isEmpty)
        end = unit.bytes.upperBound
    }
    precondition(end == input.count)
    return 0
}

/// Blocks must be adjacent and fill the payload; they must be the same when written again.
func fuzzRED(_ input: UnsafeRawBufferPointer) -> CInt {
    guard let payload = try? REDPayload(parsing: input.bytes) else { return 0 }
    var end = payload.earlierCount * REDPayload.headerSize + REDPayload.ownHeaderSize
    var earlier: [REDPayload.RedundantBlock] = []
    var types: Set<UInt8> = []
    payload.forEachEarlier { block in
        precondition(block.bytes.lowerBound == end && (0...REDPayload.maximumAge).contains(block.age))
        end = block.bytes.upperBound
        types.insert(block.payloadType)
        earlier.append(
            REDPayload.RedundantBlock(age: block.age, bytes: UnsafeRawBufferPointer(rebasing: input[block.bytes])))
    }
    let own = payload.own
    precondition(own.bytes == end..<input.count && own.age == 0 && earlier.count == payload.earlierCount)
    guard types.allSatisfy({ $0 == own.payloadType }) else { return 0 }
    withUnsafeTemporaryAllocation(byteCount: input.count, alignment: 1) { written in
        var bytes = written.mutableBytes
        let count = try? REDPayload.write(
            earlier, own: input.bytes.extracting(own.bytes), payloadType: own.payloadType, into: &bytes)
        precondition(count == input.count && written.elementsEqual(input))
    }
    return 0
}

func fuzzOpus(_ input: UnsafeRawBufferPointer) -> CInt {
    guard let payload = try? OpusPayload(parsing: input.bytes) else { return 0 }
    precondition((120...5_760).contains(payload.ticks) && payload.ticks % 120 == 0)
    return 0
}

/// A description must be the same after writing and reading, and answering it must not trap.
func fuzzDescription(_ input: UnsafeRawBufferPointer) -> CInt {
    guard let description = try? SessionDescription(parsing: Array(input)) else { return 0 }
    precondition((try? SessionDescription(parsing: description.description)) == description)
    let answer = try? SessionDescription.answer(
        to: description, supporting: [.opus(), .pcm(sampleRate: 48_000), .aac(configuration: [0x12, 0x08])],
        address: .loopback, port: 1, sessionID: 1)
    if var answer {
        precondition((try? description.format(chosenBy: answer)) == answer.formats.first)
        answer.answerRepair(to: description)
        answer.answerRateRequests(to: description)
        precondition((try? SessionDescription(parsing: answer.description))?.formats == answer.formats)
        _ = SessionDescription.repair(of: answer.formats[0].payloadType, mine: answer, theirs: description)
    }
    return 0
}

/// Parses rules of a packet filter. A closed chain must have a name and filter incoming packets, and its ports must be readable.
func fuzzRules(_ input: UnsafeRawBufferPointer) -> CInt {
    let rules = PacketRules(String(decoding: input, as: UTF8.self))
    let closed = rules.chains.filter(\.isClosed)
    precondition(closed.allSatisfy { $0.hook == "input" && !$0.place.name.isEmpty })
    precondition((PacketRules.commonOpenings(closed) == nil) == (closed.count != 1))
    for ports in PacketRules.openings(rules.chains).values { _ = ports.contains(47_400) }
    return 0
}

/// A path must equal its components when escaped again, and nothing escaped may be read as something else.
func fuzzTarget(_ input: UnsafeRawBufferPointer) -> CInt {
    let text = String(decoding: input, as: UTF8.self)
    precondition(HTTPTarget("/" + HTTPTarget.escape(text))?.components == (text.isEmpty ? [] : [text]))
    guard let target = HTTPTarget(text) else { return 0 }
    let path = "/" + target.components.map(HTTPTarget.escape).joined(separator: "/")
    precondition(HTTPTarget(path)?.components == target.components)
    return 0
}

/// A file's name must be safe in any folder and stable; a number must be written as it was read.
func fuzzTransfer(_ input: UnsafeRawBufferPointer) -> CInt {
    let text = String(decoding: input, as: UTF8.self)
    let name = FileName.safe(text)
    precondition((1...FileName.maximumSize).contains(name.utf8.count) && !name.hasPrefix("."))
    precondition(!name.utf8.contains { $0 < 0x20 || $0 == 0x7F || $0 == UInt8(ascii: "/") })
    precondition(FileName.safe(name) == name)
    let (stem, ending) = FileName.parts(name)
    precondition(stem + ending == name && FileName.numbered(name, 9_999).utf8.count <= 255)
    if let number = TransferNumber(text) { precondition(TransferNumber("\(number)") == number) }
    return 0
}

/// A document's positions must be within it, and a comment after it must change nothing.
func fuzzTOML(_ input: UnsafeRawBufferPointer) -> CInt {
    let bytes = Array(input)
    let lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: false)
    func check(_ place: SourcePlace) {
        precondition(lines.indices.contains(place.line - 1))
        precondition((1...lines[place.line - 1].count + 1).contains(place.column))
    }
    /// Returns the number of values.
    func check(_ value: TOMLValue) -> Int {
        check(value.place)
        switch value.content {
        case .table(let entries):
            return entries.reduce(1) {
                check($1.place); return $0 + check($1.value)
            }
        case .array(let values): return values.reduce(1) { $0 + check($1) }
        default: return 1
        }
    }
    do throws(TOMLError) {
        let count = check(try TOMLValue(parsing: bytes))
        guard let again = try? TOMLValue(parsing: bytes + Array("\n# é".utf8)) else { preconditionFailure("refused") }
        precondition(check(again) == count)
    } catch { check(error.place) }
    return 0
}
