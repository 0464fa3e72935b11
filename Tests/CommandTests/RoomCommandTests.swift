// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport
import EarshotNearby
import EarshotRooms
import Foundation
import TestSupport
import TestTraits
import Testing

/// Tests who is admitted, with the program as users run it: on one machine, each process with its own identity.
@Suite(.serialized, .realTime) struct AdmissionCommandTests {
    private static let card = ["--device", "simulated"]

    /// A user with a folder of their own, so that the key stays the same.
    private struct Person {
        let name: String
        let folder = TestFolders.next("person")

        func start(_ arguments: [String], terminal: PseudoTerminal? = nil) throws -> ChildProcess {
            try Earshot.start(
                arguments + ["--name", name] + card, environment: ["XDG_DATA_HOME": folder], terminal: terminal)
        }

        func peers(_ arguments: [String] = ["--json"]) throws -> ChildProcess {
            let program = try Earshot.start(["peers"] + arguments, environment: ["XDG_DATA_HOME": folder])
            _ = program.wait()
            return program
        }

        func join(_ port: Int, _ more: [String] = []) throws -> ChildProcess {
            try start(["join", "127.0.0.1:\(port)"] + more)
        }
    }

    /// A host with a user at its terminal.
    private func askingHost(_ person: Person, _ port: Int, _ more: [String] = []) throws -> (
        ChildProcess, PseudoTerminal
    ) {
        let terminal = try PseudoTerminal()
        let host = try person.start(["host", "--port", "\(port)", "--no-announce"] + more, terminal: terminal)
        try #require(host.says("Waiting for guests"), "\(host.errors)")
        return (host, terminal)
    }

    @Test func `y on the terminal admits a guest, who is then remembered as known`() throws {
        let (ann, bob) = (Person(name: "Ann"), Person(name: "Bob"))
        let port = try Earshot.freePort()
        let (host, terminal) = try askingHost(ann, port)
        let guest = try bob.join(port, ["--purpose", "to sing", "--duration", "0.5"])
        #expect(host.says("Bob (key "), "\(host.errors)")
        #expect(host.says("asks to join: \"to sing\"") && host.says("not known"), "\(host.errors)")
        terminal.type("y")
        #expect(guest.says("In a call with Ann") && host.says("In a call with Bob"), "\(guest.errors) \(host.errors)")
        #expect(guest.wait() == .exit(0), "\(guest.errors)")
        terminal.type("q")
        #expect(host.wait() == .exit(0), "\(host.errors)")
        let known = try theReport(try ann.peers())["peers"] as? [[String: Any]] ?? []
        #expect(known.count == 1 && known[0]["names"] as? [String] == ["Bob"] && known[0]["accepted"] as? Bool == true)

        let again = try ann.start(["host", "--port", "\(port)", "--no-announce"])  // known, without a terminal
        #expect(again.says("Waiting for guests"))
        let friend = try bob.join(port, ["--duration", "0.5"])
        #expect(friend.wait() == .exit(0), "\(friend.errors)")
        let stranger = try Person(name: "Cleo").join(port)
        #expect(stranger.wait() == .exit(77), "\(stranger.errors)")
        #expect(theFailure(stranger).contains("admits known guests only"))
        #expect(again.says("asked to join and is not known"), "\(again.errors)")
    }

    @Test func `peers forget also removes the volume of a peer`() throws {
        let ann = Person(name: "Ann")
        let store = NearbyStore(directory: ann.folder + "/earshot")
        // The third is a guest of another host, and no known peer.
        let keys = [1, 2, 3].compactMap { KeyFingerprint(bytes: [UInt8](repeating: $0, count: 32)) }
        let names = [try PeerName("Bob"), try PeerName("Cleo")]
        try store.update { peers in
            for index in 0..<2 { peers.note(keys[index], as: names[index], isAccepted: index == 0, date: 5) }
        }
        try store.updateVolumes { volumes in for key in keys { volumes[key] = .init(volume: 0.5) } }
        #expect(try ann.peers(["forget", "--seen"]).errors.contains("Forgot 1 peer"))
        #expect(store.peerVolumes().entries.map(\.key) == [keys[0]])
        #expect(try ann.peers(["forget", "Bob"]).errors.contains("Forgot Bob"))
        #expect(store.peerVolumes() == PeerVolumes())
    }

    @Test func `n declines a guest, b blocks it permanently, and peers unblock lifts the block`() throws {
        let (ann, bob) = (Person(name: "Ann"), Person(name: "Bob"))
        let port = try Earshot.freePort()
        let (host, terminal) = try askingHost(ann, port)
        let first = try bob.join(port)
        #expect(host.says("asks to join"))
        terminal.type("n")
        #expect(first.wait() == .exit(77) && theFailure(first).contains("declined"), "\(first.errors)")
        let second = try bob.join(port)
        #expect(second.says("Found '"), "\(second.errors)")
        usleep(1_100_000)  // sooner the key might be meant for the first request
        terminal.type("b")
        #expect(second.wait() == .exit(77) && theFailure(second).contains("blocked"), "\(second.errors)")
        let third = try bob.join(port)
        #expect(third.wait() == .exit(77) && theFailure(third).contains("blocked"), "\(third.errors)")
        terminal.type("q")
        #expect(host.wait() == .exit(0))
        #expect(try ann.peers(["list"]).output.contains("blocked"))
        #expect(try ann.peers(["unblock", "bob"]).errors.contains("may ask to join again"))
        #expect(try !ann.peers(["list"]).output.contains("blocked"))
    }

    @Test func `a number selects one of several requesting guests, and the next key answers nobody else`() throws {
        let port = try Earshot.freePort()
        let (host, terminal) = try askingHost(Person(name: "Ann"), port)
        let bob = try Person(name: "Bob").join(port)
        #expect(host.says("Bob ("))
        let cleo = try Person(name: "Cleo").join(port, ["--duration", "0.5"])
        #expect(host.says("choose (1 Bob, 2 Cleo)"), "\(host.errors)")
        terminal.type("y")
        #expect(host.says("Press 1 to 2"), "\(host.errors)")
        terminal.type("2yn")
        #expect(host.says("The question changed. Press y or n again."), "\(host.errors)")
        #expect(cleo.wait() == .exit(0), "\(cleo.errors)")
        usleep(1_100_000)
        terminal.type("n")
        #expect(bob.wait() == .exit(77), "\(bob.errors)")
        terminal.type("q")
        #expect(host.wait() == .exit(0))
    }

    @Test func `the host is told when a guest cancels its request`() throws {
        let port = try Earshot.freePort()
        let (host, _) = try askingHost(Person(name: "Ann"), port)
        let guest = try Person(name: "Bob").join(port)
        #expect(host.says("asks to join"))
        guest.signal(SIGINT)
        #expect(guest.wait(seconds: 5) == .exit(130), "\(guest.errors)")
        #expect(host.says("no longer asks to join"), "\(host.errors)")
    }

    @Test func `a wrong or missing PIN is refused, and the right one admits the guest`() throws {
        let port = try Earshot.freePort()
        let host = try Person(name: "Ann").start(
            ["host", "--port", "\(port)", "--no-announce", "--accept", "all", "--pin", "sesame"])
        #expect(host.says("Waiting for guests") && !host.errors.contains("sesame"))
        let wrong = try Person(name: "Bob").join(port, ["--pin", "simsim"])
        #expect(wrong.wait() == .exit(77) && theFailure(wrong).contains("wrong PIN"), "\(wrong.errors)")
        #expect(host.says("entered a wrong PIN"), "\(host.errors)")
        let missing = try Person(name: "Cleo").join(port)
        #expect(missing.wait() == .exit(77) && theFailure(missing).contains("--pin"), "\(missing.errors)")
        let right = try Person(name: "Dan").join(port, ["--pin", "sesame", "--duration", "0.5"])
        #expect(right.wait() == .exit(0), "\(right.errors)")
        let terminal = try PseudoTerminal()
        let typed = try Person(name: "Eve").start(
            ["join", "127.0.0.1:\(port)", "--duration", "0.5"], terminal: terminal)
        #expect(typed.says("PIN of the room"), "\(typed.errors)")
        terminal.type("sesane\u{7F}\u{7F}me\n")
        #expect(typed.wait() == .exit(0), "\(typed.errors)")
        #expect(!typed.errors.contains("sesa"))
        host.signal(SIGINT)
        #expect(host.wait() == .exit(130))
        let open = try Person(name: "Ann").start(
            ["host", "--port", "\(port)", "--no-announce", "--accept", "all"])
        #expect(open.says("Waiting for guests"))
        let careful = try Person(name: "Bob").join(port, ["--pin", "sesame"])
        #expect(careful.wait() == .exit(77) && theFailure(careful).contains("asks for no PIN"), "\(careful.errors)")
    }

    @Test func `a known name with a different key is refused and reported on both sides until forgotten`() throws {
        let ann = Person(name: "Ann")
        let port = try Earshot.freePort()
        let (host, terminal) = try askingHost(ann, port)
        let bob = try Person(name: "Bob").join(port, ["--duration", "0.3"])
        #expect(host.says("asks to join"))
        terminal.type("y")
        #expect(bob.wait() == .exit(0), "\(bob.errors)")
        let other = try Person(name: "bob").join(port)
        #expect(other.wait() == .exit(77) && theFailure(other).contains("by another key"), "\(other.errors)")
        #expect(host.says("DIFFERENT KEY"), "\(host.errors)")
        terminal.type("q")
        #expect(host.wait() == .exit(0))
        let advice = try #require(host.errors.components(separatedBy: "earshot peers ").last)
        let forgetting = advice.prefix { $0.isLetter || $0.isNumber || $0 == " " }
        #expect(try ann.peers(forgetting.split(separator: " ").map(String.init)).errors.contains("Forgot"))
        #expect(try (theReport(try ann.peers())["peers"] as? [Any])?.isEmpty == true)
    }

    @Test func `a host whose name is known with a different key is not joined`() throws {
        let bob = Person(name: "Bob")
        let port = try Earshot.freePort()
        let options = ["host", "--port", "\(port)", "--no-announce", "--accept", "all"]
        let first = try Person(name: "Ann").start(options)
        #expect(first.says("Waiting for guests"))
        let guest = try bob.join(port, ["--duration", "0.3"])
        #expect(guest.wait() == .exit(0), "\(guest.errors)")
        first.signal(SIGINT)
        #expect(first.wait() == .exit(130))
        let second = try Person(name: "Ann").start(options)
        #expect(second.says("Waiting for guests"))
        let again = try bob.join(port)
        #expect(again.wait() == .exit(77) && theFailure(again).contains("HAS A DIFFERENT KEY"), "\(again.errors)")
    }

    @Test func `a full room refuses further guests`() throws {
        let port = try Earshot.freePort()
        let host = try Person(name: "Ann").start(
            ["host", "--port", "\(port)", "--no-announce", "--accept", "all", "--capacity", "2"])
        #expect(host.says("Waiting for guests"))
        let bob = try Person(name: "Bob").join(port)
        #expect(bob.says("In a call with Ann"), "\(bob.errors)")
        let cleo = try Person(name: "Cleo").join(port)
        #expect(cleo.wait() == .exit(69) && theFailure(cleo).contains("the room is full"), "\(cleo.errors)")
        #expect(host.says("the room is full"), "\(host.errors)")
        host.signal(SIGINT)
        #expect(bob.wait(seconds: 8) == .exit(0), "\(bob.errors)")
    }

    @Test func `keys remove a guest, mute the local participant and leave the room`() throws {
        let port = try Earshot.freePort()
        let (host, terminal) = try askingHost(Person(name: "Ann"), port, ["--accept", "all"])
        let bob = try Person(name: "Bob").join(port)
        #expect(bob.says("In a call with Ann"), "\(bob.errors)")
        terminal.type("m")
        #expect(bob.says("Ann is muted"), "\(bob.errors)")
        terminal.type("m")
        #expect(bob.says("Ann is no longer muted"), "\(bob.errors)")
        terminal.type("x")
        #expect(host.says("Remove which participant? 1 Bob"), "\(host.errors)")
        terminal.type("1")
        #expect(bob.wait() == .exit(77) && theFailure(bob).contains("removed you"), "\(bob.errors)")
        #expect(bob.errors.components(separatedBy: "removed you").count == 2, "\(bob.errors)")
        terminal.type("q")
        #expect(host.wait() == .exit(0), "\(host.errors)")
        #expect(terminal.isInLineMode)
    }

    @Test func `the longest-present guest takes over when the host leaves`() throws {
        let port = try Earshot.freePort()
        let host = try Person(name: "Ann").start(["host", "--port", "\(port)", "--no-announce", "--accept", "all"])
        #expect(host.says("Waiting for guests"))
        let bob = try Person(name: "Bob").join(port, ["--json"])
        #expect(bob.says("In a call with Ann"), "\(bob.errors)")
        let cleo = try Person(name: "Cleo").join(port, ["--json"])
        #expect(cleo.says("In a call with Ann") && cleo.says("In a call with Bob"), "\(cleo.errors)")
        usleep(500_000)
        host.signal(SIGINT)
        #expect(host.wait(seconds: 5) == .exit(130), "\(host.errors)")
        #expect(bob.says("You are the host now"), "\(bob.errors)")
        #expect(bob.says("Admission: known guests only"), "\(bob.errors)")
        #expect(cleo.says("Bob is the host now"), "\(cleo.errors)")
        usleep(1_500_000)
        bob.signal(SIGINT)
        #expect(bob.wait(seconds: 5) == .exit(130), "\(bob.errors)")
        #expect(cleo.wait(seconds: 8) == .exit(0), "\(cleo.errors)")
        let report = try theReport(cleo)
        #expect(report["ended"] as? String == "everybody left")
        let peers = report["peers"] as? [[String: Any]] ?? []
        #expect(peers.map { $0["name"] as? String } == ["Ann", "Bob"])
        #expect((report["room"] as? [String: Any])?["epoch"] as? Int ?? 0 >= 2)
    }

    @Test func `a guest does not connect to itself when there is no host, by address or by code`() throws {
        let (bob, port) = (Person(name: "Bob"), try Earshot.freePort())
        let key = try #require(KeyFingerprint(hex: String(repeating: "5c", count: 32)))
        let address = try #require(IPAddress("127.0.0.1"))
        let code = try JoinCode(address: address, port: UInt16(port), key: key)
        for target in ["127.0.0.1:\(port)", code.description] {
            let guest = try bob.start(["join", target, "--port", "\(port)"])
            #expect(guest.wait() == .exit(69), "\(guest.errors)")
            #expect(theFailure(guest).contains("Check that Earshot hosts a room there"), "\(guest.errors)")
        }
    }

    @Test func `a guest is told that it waits for the host, and Ctrl-C cancels`() throws {
        let port = try Earshot.freePort()
        let (host, _) = try askingHost(Person(name: "Ann"), port)
        let guest = try Person(name: "Bob").join(port)
        #expect(guest.says("Waiting for the host to answer. Ctrl-C cancels."), "\(guest.errors)")
        guest.signal(SIGINT)
        #expect(guest.wait(seconds: 5) == .exit(130), "\(guest.errors)")
        host.signal(SIGINT)
        #expect(host.says("No call took place"), "\(host.errors)")
        #expect(host.wait(seconds: 5) == .exit(130), "\(host.errors)")
    }

    @Test func `a room that fails to open is not announced as open`() throws {
        let ann = Person(name: "Ann")
        #expect(try ann.peers().wait() == .exit(0))
        let path = "\(ann.folder)/earshot/known-peers.json"
        try Data("nonsense".utf8).write(to: URL(fileURLWithPath: path))
        let host = try ann.start(["host", "--port", "\(Earshot.freePort())", "--no-announce"])
        #expect(host.wait() == .exit(65), "\(host.errors)")
        #expect(theFailure(host).contains("known-peers.json") && !host.errors.contains("Room: "))
    }

    @Test func `an ephemeral guest is admitted but not remembered, and seen peers can be forgotten`() throws {
        let (ann, bob) = (Person(name: "Ann"), Person(name: "Bob"))
        let port = try Earshot.freePort()
        let host = try ann.start(["host", "--port", "\(port)", "--no-announce", "--accept", "all"])
        #expect(host.says("Waiting for guests"))
        for guest in [
            try Person(name: "Cleo").join(port, ["--ephemeral", "--duration", "0.3"]),
            try bob.join(port, ["--duration", "0.3"]),
        ] {
            #expect(guest.wait() == .exit(0), "\(guest.errors)")
        }
        host.signal(SIGINT)
        #expect(host.wait() == .exit(130))
        let listed = try ann.peers().output
        #expect(listed.contains("Bob") && !listed.contains("Cleo"), "\(listed)")
        #expect(try ann.peers(["block", String(repeating: "a1", count: 32)]).errors.contains("is blocked"))
        #expect(try ann.peers(["forget", "--seen"]).errors.contains("Forgot 1 peer."))
        let left = try ann.peers().output
        #expect(!left.contains("Bob") && left.contains("a1a1"), "\(left)")
        #expect(try ann.peers(["forget"]).errors.contains("Name a peer, or use --seen."))
    }

    @Test(arguments: [["join"], ["send", "/etc/hostname"]])
    func `a search without discovery ends at once with advice`(command: [String]) throws {
        let terminal = try PseudoTerminal()
        let bus = ["DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/nonexistent/bus"]
        let device = command[0] == "join" ? ["--device", "simulated"] : []
        let search = try Earshot.start(command + device, environment: bus, terminal: terminal)
        #expect(search.wait() == .exit(69), "\(search.errors)")
        #expect(search.errors.contains("join by address or code: earshot join ADDRESS"), "\(search.errors)")
    }

    @Test func `the key is stored below HOME when XDG_DATA_HOME is not set`() throws {
        let scratch = try Scratch()
        let program = try Earshot.start(["peers"], environment: ["XDG_DATA_HOME": nil, "HOME": scratch.path])
        #expect(program.wait() == .exit(0), "\(program.errors)")
        #expect(FileManager.default.fileExists(atPath: scratch(".local/share/earshot/identity.pem")))
    }

    @Test func `the peers commands reject an unknown name and accept an unknown key`() throws {
        let ann = Person(name: "Ann")
        let own = try ann.peers()
        #expect((try theReport(own)["key"] as? String)?.count == 64)
        #expect(try ann.peers().output == own.output)  // it is kept
        for word in ["forget", "block", "unblock"] {
            let program = try ann.peers([word, "nobody"])
            #expect(program.wait() == .exit(65) && theFailure(program).contains("earshot peers"), "\(program.errors)")
        }
        let key = String(repeating: "a1", count: 32)
        #expect(try ann.peers(["block", key]).errors.contains("is blocked"))
        #expect(try ann.peers(["list"]).output.contains("blocked"))
        let forgotten = try ann.peers(["forget", String(key.prefix(6))]).errors
        #expect(forgotten.contains("Forgot") && forgotten.contains("no longer blocked"))
    }
}
