// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotNearby
import EarshotPlayout
import Foundation
import TestSupport
import TestTraits
import Testing

@testable import EarshotLiveCall
@testable import EarshotRooms

/// The socket of a call, with a room, media and a device of the tests.
@Suite(.serialized, .realTime(leastStandstill: 1)) struct CallSocketServerTests {
    /// A call of Bob in Ann's room with its socket.
    private struct Rig {
        let folder: SocketFolder
        let room = TestRoom()
        let call: LiveCall
        let server: CallSocketServer

        /// - Parameter isHost: true if Bob is the host, otherwise Ann.
        init(hasSound: Bool = true, isHost: Bool = false) throws {
            folder = try SocketFolder()
            var configuration = LiveCall.Configuration()
            configuration.staysAlone = true
            if hasSound {
                call = try LiveCall(configuration, room: room, sound: (TestMedia(), TestDevice()))
            } else {
                call = try LiveCall(configuration, room: room)
            }
            server = try CallSocketServer(call, program: "0.1.0", folder: folder.sockets)
            try call.perform(.join(CoreRig.endpoint))
            let roster = CoreRig().makeRoster([CoreRig.member(1), CoreRig.member(2)], host: isHost ? 2 : 1)
            room.eventContinuation.yield(.joined(roster, as: CoreRig.id(2)))
            let call = call
            let isReady = eventually {
                if case .running = call.snapshot.sound { true } else { !hasSound && call.snapshot.isInRoom }
            }
            try #require(isReady)
        }

        func client() throws -> CallSocketClient { try CallSocketClient(path: server.path) }

        func end() async {
            await call.close()
            server.close()
        }
    }

    /// Returns the next event with a name; nil if the call ends first.
    private static func event(_ name: EventDocument.Name, of client: CallSocketClient) -> EventDocument? {
        for _ in 0..<1_000 {
            guard let line = try? client.nextEvent(within: 10) else { return nil }
            let event = CallJSON.decoded(EventDocument.self, from: line)
            if event?.event == name.rawValue { return event }
        }
        return nil
    }

    @Test(.timeLimit(.minutes(2)))
    func `clients see the state of the call, and each sees the commands of the others`() async throws {
        let rig = try Rig()
        let (one, two) = (try rig.client(), try rig.client())
        #expect(one.hello == CallSocketHello(earshot: "0.1.0", pid: getpid(), room: "Ann"))
        let status = try one.status()
        #expect(status.participants.map(\.name) == ["Ann"] && status.localParticipant?.name == "Bob")
        #expect(status == rig.call.status(program: "0.1.0").with(seconds: status.sound.seconds))

        try two.watch(after: status.lastEvent)
        try one.perform(.setMuted(true))
        #expect(Self.event(.muted, of: two)?.isMuted == true && rig.call.snapshot.isMuted)
        try two.perform(.setVolume(0.5, of: CoreRig.id(1)))
        #expect(try one.status().participants.first?.volume == 0.5)
        #expect(try one.status().isMuted)
        #expect(throws: CallSocketError.refused(ErrorDocument(CommandRefusal.notRecording))) {
            try one.perform(.stopRecording)
        }
        await rig.end()
    }

    @Test(.timeLimit(.minutes(2)))
    func `each command reaches the call by the socket as from another user interface`() async throws {
        for kind in LiveCallCommand.Kind.allCases where ![.host, .join, .providePIN].contains(kind) {
            // Without sound nothing is recorded to the user's music.
            let rig = try Rig(hasSound: kind != .startRecording)
            let client = try rig.client()
            for command in try DocumentExamples.command(kind) {
                let expected = rig.call.snapshot.availability(of: kind)
                do throws(CallSocketError) {
                    try client.perform(command)
                    #expect(expected == .available, "\(command)")
                } catch {
                    guard case .refused(let refusal) = error else {
                        Issue.record("\(command): \(error)")
                        break
                    }
                    // Some commands are refused by their arguments, such as an unknown participant.
                    let codes = [
                        "no-participant", "empty-message", "not-in-room", "no-effect", "no-accompaniment",
                    ]
                    if case .unavailable(let reason) = expected {
                        #expect(refusal == ErrorDocument(reason), "\(command)")
                    } else {
                        #expect(codes.contains(refusal.code), "\(command): \(refusal)")
                    }
                }
                if rig.call.snapshot.ending != nil { break }
            }
            await rig.end()
        }
    }

    @Test(.timeLimit(.minutes(2)), arguments: 1...3 as ClosedRange<UInt64>)
    func `the call's own interface and other terminals agree after random commands of all of them`(
        seed: UInt64
    ) async throws {
        let rig = try Rig()
        let (clients, watcher) = ([try rig.client(), try rig.client()], try rig.client())
        try watcher.watch(after: 0)
        var random = SeededRandom(seed: seed)
        for _ in 0..<40 {
            let gain = Float(random.below(9))
            let commands: [LiveCallCommand] = [
                .setMuted(gain > 4), .setVolume(gain, of: CoreRig.id(1)), .setVolume(gain, of: CoreRig.id(9)),
                .setOutputVolume(gain), .setLatencyProfile(gain > 4 ? .sing : .listen), .setAdmission(.known),
                .allowRecording(gain > 4), .setVoiceProcessing(.off), .admit(JoinRequestID(number: 1)),
            ]
            let command = commands[random.below(commands.count)]
            switch random.below(3) {
            case 0: try? rig.call.perform(command)
            case let number: try? clients[number - 1].perform(command)
            }
        }
        let snapshot = rig.call.snapshot
        for client in clients {
            let status = try client.status()
            #expect(status.isMuted == snapshot.isMuted && status.outputVolume == snapshot.outputVolume)
            #expect(status.participants.map(\.volume) == snapshot.participants.map(\.volume))
            #expect(status.dial == snapshot.latencyProfile?.description)
            #expect(status.allowsRecording == snapshot.allowsRecording)
            #expect(status.admission == snapshot.admission.rawValue)
        }
        await rig.end()
        let expected = rig.call.pastEvents(after: 0).map { EventDocument($0).event }
        var names: [String] = []
        while let line = try? watcher.nextEvent(within: 10) {
            names.append(CallJSON.decoded(EventDocument.self, from: line)?.event ?? "")
        }
        #expect(names == expected && names.last == "ended")
    }

    @Test(.timeLimit(.minutes(2)))
    func `of two terminals that answer a guest at once, one is refused, and all see one answer`() async throws {
        let rig = try Rig(isHost: true)
        let clients = [try rig.client(), try rig.client()]
        let count = 20
        for number in 1...count {
            let guest = AskingGuest(
                name: CoreRig.name(3), purpose: nil, key: nil, address: .loopback, isKnown: false)
            rig.room.eventContinuation.yield(.question(JoinRequestID(number: UInt64(number)), guest))
        }
        try #require(eventually { rig.call.snapshot.joinRequests.count == count })
        // Each client gives its commands on a thread of its own.
        let answers = await withTaskGroup(of: [String].self) { group in
            for client in clients.map({ UncheckedClient($0) }) {
                group.addTask {
                    (1...count).map { number in
                        do throws(CallSocketError) {
                            try client.value.perform(.decline(JoinRequestID(number: UInt64(number))))
                            return "declined"
                        } catch {
                            guard case .refused(let refusal) = error else { return "\(error)" }
                            return refusal.code
                        }
                    }
                }
            }
            var answers: [[String]] = []
            for await answer in group { answers.append(answer) }
            return answers
        }
        for number in 0..<count {
            #expect(answers.map { $0[number] }.sorted() == ["declined", "no-join-request"], "\(number)")
        }
        let events = rig.call.pastEvents(after: 0).filter {
            if case .joinRequestWithdrawn(_, .declined) = $0.kind { true } else { false }
        }
        #expect(events.count == count && rig.call.snapshot.joinRequests.isEmpty)
        #expect(try clients.map { try $0.status().joinRequests.count } == [0, 0])
        await rig.end()
    }

    @Test(.timeLimit(.minutes(2)))
    func `an answer of another version that cannot be read is no answer, and names the version`() throws {
        let folder = try SocketFolder()
        try folder.sockets.make()
        let path = folder.sockets.path(of: getpid())
        let lines = #"{"earshot":"0.9.0","protocol":1}"# + "\n" + #"{"ok":true,"status":{"protocol":1}}"#
        let call = try FalseCall(path: path, line: lines)
        defer { withExtendedLifetime(call) {} }
        let client = try CallSocketClient(path: path)
        #expect(throws: CallSocketError.unreadableAnswer(program: "0.9.0")) { try client.status() }
    }

    @Test(.timeLimit(.minutes(2)))
    func `a watcher gets past events on request, and all up to the end, then the socket is removed`() async throws {
        let rig = try Rig()
        let client = try rig.client()
        try client.watch(after: 0)
        #expect(Self.event(.roomJoined, of: client)?.number == 1)
        await rig.end()
        let ending = Self.event(.ended, of: client)
        #expect(ending?.error?.code == "left" && ending?.number == rig.call.lastEventNumber)
        #expect(throws: CallSocketError.closed) { try client.nextEvent(within: 10) }
        #expect(!FileManager.default.fileExists(atPath: rig.server.path))
        #expect(throws: CallSocketError.notRunning) { try rig.client() }
    }

    @Test(.timeLimit(.minutes(2)))
    func `of a hundred clients eight are served, and a place becomes free when one disconnects`() async throws {
        let rig = try Rig()
        var clients: [CallSocketClient] = []
        for _ in 0..<100 {
            do throws(CallSocketError) {
                clients.append(try CallSocketClient(path: rig.server.path))
            } catch {
                #expect(error == .refused(.tooManyClients))
            }
        }
        #expect(clients.count == CallSocket.clientLimit && rig.server.clientCount == CallSocket.clientLimit)
        clients.removeLast()
        #expect(eventually { rig.server.clientCount == CallSocket.clientLimit - 1 })
        let another = try rig.client()
        #expect(try another.status().phase == "inRoom" && clients[0].status().phase == "inRoom")
        await rig.end()
    }

    @Test(.timeLimit(.minutes(2)))
    func `faulty and hostile lines are answered, and the call goes on`() async throws {
        let rig = try Rig()
        let client = try RawSocketClient(path: rig.server.path)
        _ = client.line()
        client.send("{\n\r\n\n{\"command\":\"dance\"}\n{\"command\":\"remove\",\"participant\":9}\n")
        #expect(client.errorCode() == "malformed" && client.errorCode() == "unknown-command")
        #expect(client.errorCode() == "not-host")
        client.send("{\"command\":\"watch\"}\n{\"command\":\"watch\"}\n")
        #expect(client.errorCode() == nil && client.errorCode() == "already-watching")

        let long = try RawSocketClient(path: rig.server.path)
        _ = long.line()
        long.send(String(repeating: "x", count: 2 * CallSocket.requestByteLimit))
        #expect(long.errorCode() == "line-too-long" && long.line() == nil && long.isClosed)

        let fast = try RawSocketClient(path: rig.server.path)
        _ = fast.line()
        fast.send(String(repeating: "{\"command\":\"status\"}\n", count: 10 * CallSocket.requestLimit))
        var codes: [String?] = []
        while let line = fast.line() {
            codes.append(CallJSON.decoded(CallSocketAnswer.self, from: Array(line.utf8))?.error)
        }
        #expect(codes.last == "too-many-requests" && codes.count <= 10 * CallSocket.requestLimit && fast.isClosed)

        let other = try RawSocketClient(path: rig.server.path)
        _ = other.line()
        other.send("{\"command\":\"setMuted\",\"isMuted\":true,\"protocol\":2}\n")
        #expect(other.errorCode() == "protocol" && other.line() == nil && other.isClosed)
        #expect(!rig.call.snapshot.isMuted)

        // A number that no event has yet counts as the last one.
        let early = try RawSocketClient(path: rig.server.path)
        _ = early.line()
        early.send("{\"command\":\"watch\",\"after\":1000000}\n")
        let answer = early.line().flatMap { CallJSON.decoded(CallSocketAnswer.self, from: Array($0.utf8)) }
        #expect(answer?.lastEvent == rig.call.lastEventNumber)
        #expect(try rig.client().status().phase == "inRoom")
        await rig.end()
    }

    @Test(.timeLimit(.minutes(2)))
    func `another user is disconnected without an answer, even if the folder lets it in`() async throws {
        let rig = try Rig()
        let path = rig.server.path
        let folders = [rig.folder.path, rig.folder.sockets.path]
        #expect(folders.allSatisfy { chmod($0, 0o755) == 0 } && chmod(path, 0o666) == 0)
        let script =
            "$s = IO::Socket::UNIX->new(Peer => $ARGV[0]) or die $!; sysread $s, $b, 9; print length $b, qq(\\n)"
        let client = ["perl", "-MIO::Socket::UNIX", "-e", script, path]
        #expect(try ChildProcess.run(client).output == "9\n")
        // Only root can be another user.
        let isRoot = geteuid() == 0
        let other = try ChildProcess.run((isRoot ? ["setpriv", "--reuid=65534"] : []) + client)
        #expect(other.output == (isRoot ? "0\n" : "9\n"), "\(other.errors)")
        await rig.end()
    }

    @Test(.timeLimit(.minutes(2)))
    func `a client that sends its commands and stops sending gets the answers`() async throws {
        let rig = try Rig()
        let client = try RawSocketClient(path: rig.server.path)
        client.send("{\"command\":\"setMuted\",\"isMuted\":true}\n{\"command\":\"setMuted\",\"isMuted\":true}\n")
        client.endInput()
        #expect(client.line()?.contains("\"protocol\":1") == true)
        #expect(client.line() == "{\"ok\":true}" && client.line() == "{\"ok\":true}")
        #expect(client.line() == nil && client.isClosed && rig.call.snapshot.isMuted)
        await rig.end()
    }

    @Test(.timeLimit(.minutes(2)))
    func `a watcher that does not read is disconnected, and neither the call nor other clients wait`() async throws {
        let rig = try Rig()
        let (slow, other) = (try rig.client(), try rig.client())
        try slow.watch()
        #expect(rig.server.clientCount == 2)
        let text = String(repeating: "la", count: 10_000)
        var count = 0
        while rig.server.clientCount == 2, count < 2_000 {
            count += 1
            let message = ChatMessage(sender: CoreRig.id(1), senderName: CoreRig.name(1), text: text, byteCount: 20_000)
            rig.call.handle(.message(message))
            if count % 50 == 0 { usleep(20_000) }
        }
        #expect(eventually { rig.server.clientCount == 1 })
        // The socket of the system and the output of the call were full.
        #expect(count * text.utf8.count > CallSocket.outputByteLimit)
        #expect(try other.status().phase == "inRoom")
        await rig.end()
    }

    @Test(.timeLimit(.minutes(2)))
    func `the end of a call waits shortly for a client that does not read`() async throws {
        let rig = try Rig()
        let slow = try rig.client()
        try slow.watch()
        for _ in 0..<60 {
            let message = ChatMessage(
                sender: CoreRig.id(1), senderName: nil, text: String(repeating: "x", count: 20_000), byteCount: 20_000)
            rig.call.handle(.message(message))
        }
        await rig.end()
        #expect(rig.server.clientCount == 0 && !FileManager.default.fileExists(atPath: rig.server.path))
        rig.server.close()
    }
}

/// A client that is used on one other thread.
private struct UncheckedClient: @unchecked Sendable {
    let value: CallSocketClient

    init(_ value: CallSocketClient) { self.value = value }
}

extension StatusDocument {
    /// Returns the status with this time of sound.
    fileprivate func with(seconds: Double?) -> StatusDocument {
        var status = self
        status.sound.seconds = seconds
        return status
    }
}
