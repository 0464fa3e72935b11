// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Glibc

@testable import EarshotMediaTransport

/// Returns a few inputs that reach into each parser, so that libFuzzer need not discover the formats.
func seeds(of target: Target) -> [[UInt8]] {
    switch target {
    case .session: [call()]
    case .aac: [[0, 16, 0, 16, 1, 2], [0, 32, 0, 16, 0, 8, 1, 2, 3]]
    case .opus: [[0xF8, 1], [0xF9, 1, 2], [0xFA, 1, 9, 8], [0xE3, 0xC2, 1, 1, 9, 8, 0]]
    case .red: [[0x85, 5, 0, 4, 0x85, 2, 0x80, 3, 5, 1, 2, 3, 4, 5, 6, 7, 8, 9], [97, 1]]
    case .opusCustom: opusCustomSeeds()
    case .stun: stunSeeds()
    case .description:
        [
            Array(offer.description.utf8),
            Array("v=0\nc=IN IP6 ::1/3\na=x:y\nm=audio 9 RTP/AVP 10 0\na=maxptime:20\na=recvonly\nb=AS:6\n".utf8),
            Array(
                ("v=0\na=ice-lite\na=ice-options:ice2\nc=IN IP4 1.2.3.4\nm=audio 9 RTP/AVP 10\na=ice-ufrag:8hhY\n"
                    + "a=ice-pwd:asd88fgpdd777uzjYhagZg\na=candidate:1 1 udp 5 fe80::1 9 typ host generation 0\n"
                    + "a=candidate:2 1 tcp 5 a.local 9 typ host\na=end-of-candidates\n").utf8),
            Array(
                ("v=0\na=group:BUNDLE 0 1\nm=video 9 A 1\na=mid:0\nm=audio 9 UDP/TLS/RTP/SAVPF 111\nc=IN IP4 0.0.0.0\na=mid:1\n"
                    + "a=rtpmap:111 opus/48000/2\na=fmtp:111 minptime=10;useinbandfec=1\na=rtcp-mux\na=setup:actpass\n"
                    + "a=ssrc:1 cname:a\nm=application 9 UDP/DTLS/SCTP webrtc-datachannel\na=mid:2\n").utf8),
        ]
    case .container: containers()
    case .file: soundFiles()
    case .stream: [mpegAudio, adts, wave, opus, vorbis, Array("ID3".utf8) + [4, 0, 0, 0, 0, 0, 2, 0, 0] + mpegAudio]
    case .titles: [[4, 1, 2, 3, 4, 2] + Array("StreamTitle='a';".utf8) + [UInt8](repeating: 0, count: 16) + [5, 6]]
    case .playlist:
        [
            Array("#EXTM3U\n#EXTINF:-1,a\nhttp://a.example/1\n../2.mp3\n".utf8),
            Array("[playlist]\nFile1=https://a.example/1?b=c\nTitle1=a\n".utf8),
        ]
    case .tags: tagSeeds()
    case .dtls: dtlsSeeds()
    case .tls: tlsSeeds()
    case .srtp: srtpSeeds()
    case .announcement: announcementSeeds()
    case .netlink: netlinkSeeds()
    case .rules:
        [
            "table inet a {\n chain b {\n type filter hook input priority 0; policy drop;\n tcp dport { 22, 8-9 } accept\n }\n}\n",
            "table c { set d { elements = { 1 } }\nchain e { type filter hook input priority 0\n th dport 5 accept; counter drop } }",
        ].map { Array($0.utf8) }
    case .rooms: roomSeeds().rooms
    case .events:
        roomSeeds().events
            + ["\u{FEFF}: x\nid: 7\nevent: roster\ndata: {}\ndata\n\n", "data:a\r\ndata: b\r\r\n:\n\n"].map {
                Array($0.utf8)
            }
    case .target: [Array("/room/members/a%2Fb?epoch=2&a=%C3%A9".utf8)]
    case .transfer: ["../.Übung (2).tar.gz", "9007199254740991-17"].map { Array($0.utf8) }
    case .commands: commandSeeds()
    case .duet: duetSeeds()
    case .toml:
        [
            "[nodes.'a b']\ntype = \"player\" # é\nx.y = [ 1, 0x1F, -2.5e3, +inf, true ]\n[[a]]\nb = { c = {}, d = [] }\n",
            "a = \"\"\"\n\\u00e9\\\n \\t\"\"\"\r\nb = '''x'''\nc = 1979-05-27 07:32:00.5Z\n[d.e]\n[d]\nf = 07:32:00\n[[d.g]]\n",
        ].map { Array($0.utf8) }
    }
}

private let offer = SessionDescription.offer(
    formats: [.aac(configuration: [0x12, 0x08]), .opus(bitRate: 48_000), .pcm(sampleRate: 48_000)],
    address: .loopback, port: 5_004, packetTime: 2.5, sessionID: 1)

/// Returns a peer's packets, a report and its goodbye, in the format of ``fuzzSession``.
private func call() -> [UInt8] {
    var peer = RTPSession(
        ssrc: 2, cname: "peer", payloadType: 96, clockRate: 48_000, firstSequenceNumber: 65_534, firstTimestamp: .max)
    peer.repair.redundant = 99
    peer.repair.repeated = 100
    (peer.repair.takesNACK, peer.repair.takesReports) = (true, true)
    peer.hold = PlayoutHold(seconds: 0.02, limit: 0.08)
    var datagrams: [[UInt8]] = []
    for n in 0..<5 {
        datagrams.append(
            written { packet in
                peer.packetize(
                    [UInt8](repeating: 7, count: 20).span.bytes, position: n * 480, marker: n == 0,
                    at: HostTime(nanoseconds: Int64(n) * 10_000_000), into: &packet)
            })
    }
    // A report about us, so that the report's block names our source.
    let ours: [UInt8] = [0x80, 96, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 5]
    _ = ours.withUnsafeBytes { peer.receive($0.bytes, at: HostTime(nanoseconds: 0)) }
    datagrams.append(written { peer.writeReport(at: HostTime(nanoseconds: 500_000_000), into: &$0) })
    datagrams.append(written { peer.writeNACK(of: [2, 3, 30], into: &$0) })
    datagrams.append(
        written { packet in
            peer.packetizeAgain([7, 7, 7 as UInt8].span.bytes, sequence: 65_535, position: 480, into: &packet)
        })
    peer.sendTimeID = 1
    datagrams.append(
        written { packet in
            peer.packetize(
                [7, 7, 7 as UInt8].span.bytes, position: 2_400, marker: false, isRedundant: false,
                isFallbackCodec: false, sendTime: 7, at: HostTime(nanoseconds: 550_000_000), into: &packet)
        })
    let times = TimeReport(
        fastest: .init(sent: 1, arrived: 2), typical: .init(sent: 3, arrived: 4), transits: [0, 0x807D, 250])
    datagrams.append(written { peer.writeTimeReport(times, into: &$0) })
    datagrams.append(written { peer.writeBye(at: HostTime(nanoseconds: 600_000_000), into: &$0) })
    return datagrams.flatMap { [UInt8($0.count >> 8), UInt8($0.count & 255), 200] + $0 }
}

private func written(_ body: (inout MutableRawSpan) -> Int) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: 1_500)
    let count = bytes.withUnsafeMutableBytes {
        var bytes = $0.mutableBytes
        return body(&bytes)
    }
    return Array(bytes.prefix(count))
}

/// Writes a target's seeds to `directory/target/seed-N`.
func writeSeeds(of target: Target, below directory: String) -> Bool {
    mkdir(directory, 0o755)
    mkdir("\(directory)/\(target.rawValue)", 0o755)
    for (n, seed) in seeds(of: target).enumerated() {
        guard let file = fopen("\(directory)/\(target.rawValue)/seed-\(n)", "w") else { return false }
        let written = fwrite(seed, 1, seed.count, file)
        guard fclose(file) == 0, written == seed.count else { return false }
    }
    return true
}
