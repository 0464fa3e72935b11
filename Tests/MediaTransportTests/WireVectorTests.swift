// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import TestSupport
import Testing

@testable import EarshotMediaTransport

/// The media vectors in docs/wire.md, which another program computed.
@Suite struct WireVectorTests {
    /// Returns the lines of the description with this number.
    private func description(_ number: Int) throws -> String {
        let lines = try document("wire.md").split(separator: "\n", omittingEmptySubsequences: false)
        let starts = lines.indices.filter { lines[$0] == "    v=0" }
        return lines[starts[number]...].prefix { $0.hasPrefix("    ") }.map { $0.dropFirst(4) + "\r\n" }.joined()
    }

    private let fragments = (offerer: "AbCdEfGh", answerer: "IjKlMnOp")
    private let key = Array("ZYXWVUTSRQPONMLKJIHGFEDC".utf8)
    private let id = STUNTransactionID(high: 0x0001_0203, low: 0x0405_0607_0809_0A0B)
    private let offerer = SocketAddress(IPAddress("192.168.1.9")!, port: 47_400)

    @Test func `a connectivity check matches the documented bytes`() throws {
        let check = stun(.request, id: id) { writer in
            writer.addUsername("\(fragments.answerer):\(fragments.offerer)")
            writer.addPriority(ICECandidate.priority(.peerReflexive, rank: 0))
            writer.addControlling(tieBreaker: 0x0102_0304_0506_0708)
            writer.addUseCandidate()
            writer.addMessageIntegrity(key: key.span.bytes)
            writer.addFingerprint()
        }
        #expect(try check == wireVector("check"))
    }

    /// An agent with the answerer's credentials gives the documented answer to the documented check.
    @Test func `the response to the documented check matches the documented bytes`() throws {
        let (check, answer) = (try wireVector("check"), try wireVector("answer"))
        let now = HostTime.seconds(1)
        let local = try #require(IPAddress("192.168.1.7"))
        let credentials = try #require(
            ICECredentials(usernameFragment: fragments.answerer, password: String(decoding: key, as: UTF8.self)))
        var random = SystemRandomNumberGenerator()
        var agent = ICEAgent(.lite, role: .controlled, credentials: credentials, at: now, using: &random)
        agent.setLocalAddresses([local], at: now)
        var sent: [[UInt8]] = []
        let received = check.withUnsafeBytes {
            agent.receive($0, from: offerer, to: local, at: now) { bytes, _, _ in sent.append(Array(bytes)) }
        }
        #expect(received == .check && sent == [answer])
        #expect(try STUNContents(answer).xorMapped == offerer)
    }

    @Test func `protected packets match the documented bytes`() throws {
        let pair = try SRTPPair(clientKey: Array(0..<16), clientSalt: Array(16..<28))
        #expect(try pair.client.protect(wireVector("rtp")) == wireVector("srtp"))
        #expect(try pair.server.unprotect(wireVector("srtp")) == wireVector("rtp"))
        #expect(try pair.client.protect(wireVector("rtcp")) == wireVector("srtcp"))
        #expect(try pair.server.unprotect(wireVector("srtcp")) == wireVector("rtcp"))
    }

    @Test func `the documented Opus Custom packet is parsed`() throws {
        let payload = try wireVector("custom").withUnsafeBytes { try OpusCustomPayload(parsing: $0.bytes) }
        #expect(payload.frameCount == 4 && payload.frameSize == 27 && payload.ticks == 256)
    }

    @Test func `redundant, retransmitted, NACK and report packets match the documented bytes`() throws {
        var (a, b) = (session(ssrc: 0x1234_5678, payloadType: 97, sequence: 1, timestamp: 480), session(ssrc: 1))
        a.repair = .init()
        (a.repair.redundant, a.repair.repeated) = (99, 100)
        _ = a.packet(Array("Ear".utf8), position: 0, at: .seconds(0))
        var (red, again) = ([UInt8](repeating: 0, count: 64), [UInt8](repeating: 0, count: 64))
        Array("Ear".utf8).withUnsafeBytes { ear in
            var payload = [UInt8](repeating: 0, count: 32)
            payload.withMutableRawSpan { payload in
                let size = Array("shot".utf8).withUnsafeBytes {
                    try? REDPayload.write([.init(age: 480, bytes: ear)], own: $0.bytes, payloadType: 97, into: &payload)
                }
                let body = payload.bytes.extracting(..<(size ?? 0))
                let count = red.withMutableRawSpan {
                    a.packetize(body, position: 480, marker: false, isRedundant: true, at: .seconds(0), into: &$0)
                }
                red.removeLast(64 - count)
            }
            a.nextRepeatNumber = 0
            let count = again.withMutableRawSpan {
                a.packetizeAgain(ear.bytes, sequence: 1, position: 0, into: &$0)
            }
            again.removeLast(64 - count)
        }
        #expect(try red == wireVector("red"))
        #expect(try again == wireVector("rtx"))

        b = RTPSession(
            ssrc: 0x8765_4321, cname: "ear", payloadType: 97, clockRate: 48_000, firstSequenceNumber: 1,
            firstTimestamp: 0)
        (b.repair.takesNACK, b.repair.takesReports) = (true, true)
        for n in 0..<21 where n != 5 && n != 6 {
            let packet = rawPacket(sequence: UInt16(n), ssrc: 0x1234_5678, payloadType: 97)
            _ = b.take(packet)
        }
        var nack = [UInt8](repeating: 0, count: RTPSession.maximumNACKSize)
        nack.removeLast(nack.count - nack.withMutableRawSpan { b.writeNACK(of: [1, 2, 17], into: &$0) })
        #expect(try nack == wireVector("nack"))
        b.hold = PlayoutHold(seconds: 0.021, limit: 0.08)
        #expect(try b.report(at: .seconds(1)).suffix(40) == wireVector("xr")[...])
    }

    @Test func `a request for a lower bit rate matches the documented bytes`() throws {
        var b = RTPSession(
            ssrc: 0x8765_4321, cname: "ear", payloadType: 97, clockRate: 48_000, firstSequenceNumber: 1,
            firstTimestamp: 0)
        b.repair.takesRateRequests = true
        _ = b.take(rawPacket(sequence: 0, ssrc: 0x1234_5678, payloadType: 97))
        var bytes = [UInt8](repeating: 0, count: RTPSession.maximumRateRequestSize)
        let request = RateRequest(bitRate: 57_600, overhead: 40)
        bytes.removeLast(bytes.count - bytes.withMutableRawSpan { b.writeRateRequest(request, into: &$0) })
        #expect(try bytes == wireVector("tmmbr"))
    }

    @Test func `a packet with its send time and a report on times match the documented bytes`() throws {
        var a = session(ssrc: 0x1234_5678, payloadType: 97, sequence: 3, timestamp: 1_440)
        a.sendTimeID = 1
        #expect(try a.timed(Array("Ear".utf8), sendTime: 0x0102_0304) == wireVector("timed"))
        var b = RTPSession(
            ssrc: 0x8765_4321, cname: "ear", payloadType: 97, clockRate: 48_000, firstSequenceNumber: 1,
            firstTimestamp: 0)
        b.sendTimeID = 1
        let report = TimeReport(
            fastest: .init(sent: 0x0102_0304, arrived: 1_000_000_000_000),
            typical: .init(sent: 0x0102_0400, arrived: 1_000_000_300_000))
        #expect(try b.times(report) == wireVector("clock"))
        var longer = report
        longer.transits = [0, 0x807D, 250]
        #expect(try b.times(longer) == wireVector("transits"))
        #expect(try a.take(wireVector("transits")) == .report && a.takeTimeReport() == longer)
        #expect(try a.take(wireVector("clock")) == .report && a.takeTimeReport() == report)
    }

    @Test func `the documented descriptions are a valid offer and answer`() throws {
        let offer = try SessionDescription(parsing: description(0))
        let answer = try SessionDescription(parsing: description(1))
        #expect(try offer.description == description(0) && answer.description == description(1))
        #expect(try offer.format(chosenBy: answer).codec == .opus && offer.profile.isSecure && answer.profile.isSecure)
        let ours = try #require(offer.setup)
        let theirs = try #require(answer.setup)
        #expect(DTLSRole(ofOffererOf: ours, answeredBy: theirs) == .server)
        #expect(
            offer.ice?.credentials.usernameFragment == fragments.offerer
                && answer.ice?.credentials.password.utf8.elementsEqual(key) == true)
        let addresses = try ["192.168.1.9", "fd00::9"].map { try #require(IPAddress($0)) }
        #expect(offer.ice?.candidates == ICECandidate.hosts(addresses, port: 47_400))
        #expect(offer.ice?.hasAllCandidates == true && offer.multiplexesRTCP && offer.direction == .sendReceive)
    }

    @Test func `the documented fingerprints are correct`() throws {
        for (number, who) in ["guest", "host"].enumerated() {
            let digest = SHA256Digest(of: Array("\(who) certificate".utf8)).bytes
            let expected = try #require(CertificateFingerprint(bytes: digest))
            #expect(try description(number).contains("a=fingerprint:\(expected.attribute)\r\n"))
        }
    }
}
