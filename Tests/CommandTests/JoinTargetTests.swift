// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport
import Foundation
import Testing

@testable import EarshotRooms
@testable import earshot

@Suite struct JoinTargetTests {
    private static let key = KeyFingerprint(hex: String(repeating: "5c", count: 32))

    @Test(arguments: [
        ("192.168.1.20", "192.168.1.20:47400"), ("192.168.1.20:5000", "192.168.1.20:5000"), ("::1", "[::1]:47400"),
        ("[::1]", "[::1]:47400"), ("[2001:db8::7]:9", "[2001:db8::7]:9"), (" 10.0.0.1 ", "10.0.0.1:47400"),
    ]) func `a numeric target is parsed as an address`(text: String, address: String) throws {
        guard case .address(let found) = try JoinTarget(text) else {
            Issue.record("\(text)")
            return
        }
        #expect(found.description == address)
    }

    @Test(arguments: [
        ("studio.local", "studio.local", 47_400), ("localhost", "localhost", 47_400), ("studio:5000", "studio", 5_000),
        ("a.example.org:80", "a.example.org", 80), ("no-such-host.invalid", "no-such-host.invalid", 47_400),
    ]) func `a dot, a port or localhost makes a target a host name`(text: String, host: String, port: UInt16) throws {
        #expect(try JoinTarget(text) == .host(host, port: port))
    }

    @Test(arguments: [
        "Choir", "Blue Room", "studio", "Ann on studio", "7", "Take: 5", "Bühne 3", "🎻", "ROOM-2024", "1.2.3 go",
        "a:b:c", "Probe-2024-im-Saal", "1.2.3", "10:30",
    ]) func `any other target is a room name`(text: String) throws {
        #expect(try JoinTarget(text) == .name(PeerName(text)))
    }

    @Test func `a join code is recognised in any case and without its hyphens`() throws {
        let key = try #require(Self.key)
        for (address, port) in [("192.168.1.20", 47_400), ("2001:db8::7", 47_400), ("10.1.2.3", 5_000)]
            as [(String, UInt16)]
        {
            let code = try JoinCode(address: try #require(IPAddress(address)), port: port, key: key)
            for text in [code.description, code.description.lowercased(), code.description.replacing("-", with: " ")] {
                #expect(try JoinTarget(text) == .code(code))
            }
            #expect(try JoinTarget(code.description.replacing("-", with: "")) == .code(code))
            #expect(try JoinTarget(code.description, as: .name) == .name(PeerName(code.description)))
            let wrong = code.description.dropLast() + (code.description.last == "0" ? "1" : "0")
            #expect(throws: Failure.self) { try JoinTarget(String(wrong)) }
        }
    }

    @Test func `an invalid target is reported with the next step`() throws {
        func line(_ text: String, _ form: JoinTarget.Form? = nil) -> String {
            do throws(Failure) {
                let target = try JoinTarget(text, as: form)
                return "\(target)"
            } catch {
                return error.status == Failure.usage ? error.line : "status"
            }
        }
        #expect(line("1F4A-9Z3Q-7K2M-0000").contains("--by name"))
        for text in ["127.0.0.1:99999", "127.0.0.1:0", "[::1]:65536", "studio:70000", "studio.local:9999999999999"] {
            #expect(line(text).contains("port must be 1 to 65535"), "\(text)")
        }
        for text in ["999.1.1.1", "1.2.3.256", "999.1.1.1:80"] {
            #expect(line(text).contains("is not an address"), "\(text)")
        }
        #expect(line("127.0.0.1:99999", .address).contains("65535"))
        #expect(line("1F4A-9Z3Q-7K2M").contains("codes have 16"))
        #expect(line("[::1").contains("[IPv6]:PORT") && line("studio", .code).contains("join code"))
        #expect(line("Blue Room", .address).contains("HOST:PORT") && line("").contains("empty"))
        #expect(
            line(String(repeating: "x", count: 64)).contains("limit is 63") && line("a\u{1B}[2J").contains("U+001B"))
    }

    @Test func `the default name consists of account and machine, and is always valid`() throws {
        #expect(DefaultName.make(user: "Ann", machine: "studio").text == "Ann on studio")
        #expect(DefaultName.make(user: "Ann", machine: "").text == "Ann")
        let long = DefaultName.make(user: String(repeating: "é", count: 50), machine: "studio")
        #expect(long.text.utf8.count <= 63 && long.text.hasSuffix(" on studio"))
        #expect(DefaultName.make(user: "a\u{7}", machine: "studio").text == "studio")
        #expect(DefaultName.make(user: "", machine: "").text == "somebody")
        #expect(DefaultName.room(of: "Ann").text == "Ann's room")
        #expect(DefaultName.room(of: String(repeating: "é", count: 31)).text.hasSuffix("'s room"))
        #expect(!DefaultName.standard.text.isEmpty)
    }

    @Test func `an argument is quoted for the shell`() {
        #expect(HostCommand.quoted("Choir") == "Choir" && HostCommand.quoted("Blue Room") == "'Blue Room'")
        #expect(HostCommand.quoted("Ann's") == "'Ann'\\''s'" && HostCommand.quoted("-x") == "'-x'")
    }

    @Test(arguments: [
        ("Choir", "Choir"), ("Blue Room", "'Blue Room'"), ("take.5", "take.5"), ("take.v5", "--by name take.v5"),
        ("localhost", "--by name localhost"), ("10.0.0.1", "--by name 10.0.0.1"), ("-x", "-- '-x'"),
        ("-x.y", "-- '-x.y'"), ("x:5", "--by name 'x:5'"), ("20.11.2026.1", "--by name 20.11.2026.1"),
    ]) func `the suggested join argument makes a room name parse as a name`(name: String, words: String) throws {
        #expect(HostCommand.argument(for: try PeerName(name)) == words)
    }
}

@Suite struct RoomLineTests {
    private let others = [
        RoomStatusLine.Other(
            name: "Bob", peak: 0.5, isSpeaking: true, delay: 0.0234, glitches: 2, depth: 0.004, isConnected: true),
        RoomStatusLine.Other(name: "Cleo with a very long name indeed", isMuted: true, lost: 3, isConnected: true),
        RoomStatusLine.Other(name: "Dan", isAway: true), RoomStatusLine.Other(name: "E\u{1B}[2Jve"),
    ]

    @Test func `the status line shows every participant and their state`() {
        let line = RoomStatusLine(elapsed: 12, peak: 0.1, others: others, questionCount: 1).plain
        for words in [
            " 12 s", "me [######----]", "Bob [########--] delay 23 ms (buffer 4 ms) glitches 2",
            "indeed (muted) lost 3",
            "Dan away", "connecting", "1 request",
        ] { #expect(line.contains(words), "\(line)") }
        #expect(!line.unicodeScalars.contains("\u{1B}"))
    }

    @Test(arguments: [20, 40, 80, 200]) func `the status line fits the width of the terminal`(width: Int) {
        let line = RoomStatusLine(elapsed: 12, duration: 30, peak: 0.1, isMuted: true, others: others)
        #expect(line.text(width: width, hasColour: false).count < width)
        #expect(line.text(width: 200, hasColour: true).contains("\u{1B}[32mBob\u{1B}[0m"))
    }

    @Test(arguments: [40, 60, 80]) func `wide characters count as two columns`(width: Int) {
        let other = RoomStatusLine.Other(name: "山田太郎山田太郎", delay: 0.018, isConnected: true)
        let duet = "♪ 上を向いて歩こう 0:01/0:12"
        let line = RoomStatusLine(elapsed: 12, peak: 0.1, duet: duet, others: [other])
        let text = line.text(width: width, hasColour: false)
        #expect(PlayLine.columns(text) < width, "\(text)")
        #expect(PlayLine.columns("山a") == 3)
    }

    @Test func `at 40 columns the status line keeps delay and losses and drops the meters`() {
        var other = others[0]
        (other.name, other.lost) = ("Bartholomew", 17)
        let line = RoomStatusLine(elapsed: 12, peak: 0.1, others: [other]).text(width: 40, hasColour: false)
        #expect(
            line == " 12 s  Bartholomew 23 ms lost 17 glitches 2" || line == " 12 s  Barth… 23 ms lost 17 glitches 2",
            "\(line)")
        #expect(line.count < 40)
        let many = RoomStatusLine(elapsed: 12, others: Array(repeating: other, count: 7)).text(
            width: 50, hasColour: false)
        #expect(many.hasSuffix("  +6") && many.contains("lost 17 glitches 2"), "\(many)")
    }

    @Test func `the status in sentences has no meters`() {
        var line = RoomStatusLine(elapsed: 12, isMuted: true, others: others, questionCount: 2)
        #expect(
            line.sentences
                == "Bob: delay 23 ms, 0 lost, 2 glitches. Cleo with a very long name indeed (muted): 3 lost, 0 glitches. "
                + "Dan is away. E?[2Jve is connecting. Requests: 2. You are muted.")
        line = RoomStatusLine()
        #expect(line.sentences == "Waiting for guests.")
    }

    @Test func `the status line marks a recording, and the status in sentences says who records`() {
        var line = RoomStatusLine(elapsed: 12, others: [others[0]])
        let plain = line.plain
        line.isRecording = true
        #expect(line.plain == plain.replacing(" 12 s  ", with: " 12 s  rec  "))
        #expect(line.sentences == "Bob: delay 23 ms, 0 lost, 2 glitches. You are recording.")
        line.isRecording = false
        (line.others[0].name, line.others[0].isRecording) = ("rec\u{1B}", true)
        #expect(line.plain.hasPrefix(" 12 s  rec  me "))
        #expect(line.sentences.hasSuffix(". rec? is recording."))
        #expect(line.text(width: 200, hasColour: true).hasPrefix(" 12 s  \u{1B}[31mrec\u{1B}[0m  me "))
        #expect(line.text(width: 40, hasColour: false).hasPrefix(" 12 s  rec  "))
    }

    @Test func `the status line marks the selected participant and shows changed volumes`() {
        var line = RoomStatusLine(elapsed: 12, peak: 0.1, others: [others[0], others[1]])
        let plain = line.plain
        (line.others[0].isSelected, line.others[0].volume, line.outputVolume) = (true, 0.5, 2)
        line.others[1].isHeard = false
        for words in ["playback +6 dB  >Bob [########--] -6 dB delay 23 ms", "indeed (muted) not heard lost 3"] {
            #expect(line.plain.contains(words), "\(line.plain)")
        }
        #expect(!plain.contains("dB") && !plain.contains(">"))
        #expect(line.text(width: 200, hasColour: true).contains(">\u{1B}[32mBob\u{1B}[0m ["))
        #expect(
            line.sentences
                == "Bob: delay 23 ms, 0 lost, 2 glitches, -6 dB. Cleo with a very long name indeed (muted): 3 lost, "
                + "0 glitches, not heard. Playback: +6 dB.")
    }

    @Test func `the status line shows the volume of a participant who is away or connecting`() {
        var line = RoomStatusLine(elapsed: 12, others: [others[2], RoomStatusLine.Other(name: "Eva")])
        (line.others[0].isHeard, line.others[1].volume, line.others[1].isSelected) = (false, 2, true)
        #expect(line.plain.hasSuffix("  Dan away not heard  >Eva connecting +6 dB"), "\(line.plain)")
        #expect(line.sentences == "Dan is away, not heard. Eva is connecting, +6 dB.")
    }

    @Test func `a narrow status line keeps the selected participant`() {
        var many = RoomStatusLine(
            elapsed: 12, others: (1...7).map { RoomStatusLine.Other(name: "Peer\($0)", isConnected: true) })
        #expect(many.text(width: 30, hasColour: false) == " 12 s  Peer1  Peer2  +5")
        many.others[5].isSelected = true
        #expect(many.text(width: 30, hasColour: false) == " 12 s  Peer1  >Peer6  +5")
    }

    @Test func `a narrow status line drops the buffer depth before names`() {
        let line = RoomStatusLine(peak: 0.1, others: [others[0]])
        #expect(line.text(width: 80, hasColour: false).contains("delay 23 ms (buffer 4 ms) glitches 2"))
        let narrow = line.text(width: 60, hasColour: false)
        #expect(narrow.contains("Bob [########--] delay 23 ms glitches 2"), "\(narrow)")
    }

    @Test func `joined emoji are kept, and characters that reverse text direction are replaced`() {
        #expect(TerminalText.sanitized("👩‍👧 Ann\u{202E}\u{200B}") == "👩‍👧 Ann??")
    }

    @Test func `the status line of an empty room says that it waits for guests`() {
        #expect(RoomStatusLine().plain.contains("waiting for guests"))
    }
}
