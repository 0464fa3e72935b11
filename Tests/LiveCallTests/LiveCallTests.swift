// SPDX-License-Identifier: Apache-2.0

import EarshotAudioDevices
import EarshotAudioSession
import EarshotMediaTransport
import EarshotNearby
import EarshotRooms
import Foundation
import TestSupport
import TestTraits
import Testing

@testable import EarshotLiveCall

/// The live part: two real rooms on loopback.
@Suite(.realTime(leastStandstill: 1)) struct LiveCallTests {
    private static func session(_ name: String) throws -> NearbySession.Configuration {
        var configuration = NearbySession.Configuration(name: try PeerName(name), store: .inMemory())
        configuration.address = .loopback
        configuration.port = 0
        return configuration
    }

    private static func room(
        _ name: String, _ configure: (inout LiveCall.Configuration) -> Void = { _ in }
    ) async throws -> LiveCall {
        var configuration = LiveCall.Configuration()
        configuration.staysAlone = true
        configure(&configuration)
        return try LiveCall(configuration, room: try await NearbySession(try session(name)))
    }

    private static func open(_ call: LiveCall) throws {
        var opening = RoomOpening(name: try PeerName("Studio"))
        opening.isAnnounced = false
        try call.perform(.host(opening))
    }

    private static func endpoint(of host: LiveCall) -> Endpoint {
        Endpoint(addresses: [SocketAddress(.loopback, port: host.port)], key: .exactly(host.fingerprint))
    }

    /// Waits for an event; nil if the call ends first.
    private static func first<Result>(
        in call: LiveCall, after number: UInt64 = 0, _ pick: (LiveCallEvent.Kind) -> Result?
    ) async -> Result? {
        for await event in call.events(after: number) {
            if let result = pick(event.kind) { return result }
        }
        return nil
    }

    @Test(.timeLimit(.minutes(2)))
    func `two calls exchange messages and files, and two front ends of one see the same events`()
        async throws
    {
        let folder = FileManager.default.temporaryDirectory.appending(path: "live-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let song = folder + "/song.txt"
        try "la la la".write(toFile: song, atomically: true, encoding: .utf8)

        let host = try await Self.room("Hanna")
        let guest = try await Self.room("Gustav") { $0.receivedFilesFolder = folder }
        try Self.open(host)
        let second = Task { await Self.eventNames(of: guest) }
        _ = await Self.first(in: host) { if case .roomOpened = $0 { true } else { nil } }
        try guest.perform(.join(Self.endpoint(of: host)))
        let request = await Self.first(in: host) { if case .joinRequested(let request) = $0 { request } else { nil } }
        try host.perform(.admit(try #require(request).id))
        _ = await Self.first(in: guest) { if case .roomJoined = $0 { true } else { nil } }
        #expect(guest.snapshot.participants.map(\.name.text) == ["Hanna"] && guest.snapshot.room?.name.text == "Studio")

        try host.perform(.say("hello"))
        let message = await Self.first(in: guest) {
            if case .messageReceived(let message) = $0 { message } else { nil }
        }
        #expect(message?.text == "hello" && message?.senderName?.text == "Hanna")
        try host.perform(.sendFile(path: song))
        let path = await Self.first(in: guest) { event -> String? in
            guard case .transfer(let transfer) = event, case .received(let path) = transfer.state else { return nil }
            return path
        }
        #expect(try path.map { try String(contentsOfFile: $0, encoding: .utf8) } == "la la la")
        let isSent = await Self.first(in: host) { event -> Bool? in
            guard case .transfer(let transfer) = event, transfer.isOver else { return nil }
            return transfer.state == .sent
        }
        #expect(isSent == true && host.snapshot.transfers.isEmpty && host.snapshot.unsentMessageCount == 0)

        try host.perform(.endRoom)
        _ = await Self.first(in: guest) { if case .ended = $0 { true } else { nil } }
        let (live, late) = (await second.value, await Self.eventNames(of: guest))
        let isSame = live == late
        #expect(isSame && live.last == "ended" && guest.snapshot.ending == .room(.closed))
        await guest.close()
        await host.close()
        await host.close()
        #expect(host.snapshot.ending == .left)
    }

    private static func eventNames(of call: LiveCall) async -> [String] {
        var names: [String] = []
        for await event in call.events() {
            names.append(String("\(event.kind)".prefix { $0 != "(" }))
        }
        return names
    }

    @Test(.timeLimit(.minutes(2)))
    func `a missing file fails, and a file that is not accepted is reported as undelivered`() async throws {
        let host = try await Self.room("Hanna") { $0.admission = .all }
        let guest = try await Self.room("Gustav")
        try Self.open(host)
        _ = await Self.first(in: host) { if case .roomOpened = $0 { true } else { nil } }
        try guest.perform(.join(Self.endpoint(of: host)))
        _ = await Self.first(in: guest) { if case .roomJoined = $0 { true } else { nil } }
        try guest.perform(.sendFile(path: "/proc/self/no such file"))
        let failure = await Self.first(in: guest) { event -> FileTransfer.State? in
            if case .transfer(let transfer) = event, transfer.isOver { transfer.state } else { nil }
        }
        guard case .failed? = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        let path = FileManager.default.temporaryDirectory.appending(path: "live-\(UUID().uuidString)").path
        try "x".write(toFile: path, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(atPath: path) }
        try guest.perform(.sendFile(path: path))
        let last = await Self.first(in: guest) { event -> [FileTransfer.Undelivered]? in
            if case .transfer(let transfer) = event, case .undelivered(let who) = transfer.state { who } else { nil }
        }
        #expect(last?.map(\.name.text) == ["Hanna"])
        await guest.close()
        await host.close()
    }

    @Test(.timeLimit(.minutes(2))) func `sound starts with the first participant, and the device stops with the call`()
        async throws
    {
        let host = try await LiveCall.open(
            try Self.session("Hanna"), on: AudioSession(SimulatedSystem.standard()), .host)
        let guest = try await LiveCall.open(try Self.session("Gustav"), on: AudioSession(SimulatedSystem.standard()))
        try Self.open(host)
        _ = await Self.first(in: host) { if case .roomOpened = $0 { true } else { nil } }
        #expect(host.snapshot.sound == .waiting && host.snapshot.device == nil)
        try guest.perform(.join(Self.endpoint(of: host)))
        let format = await Self.first(in: guest) { if case .callBegan(_, let format) = $0 { format } else { nil } }
        #expect(format?.codec == .opus)
        _ = await Self.first(in: host) { if case .callBegan(_, let format) = $0 { format } else { nil } }
        let id = try #require(host.snapshot.participants.first).id
        try host.perform(.setVolume(0.5, of: id))
        try host.perform(.setMuted(true))
        let isMuted = await Self.first(in: guest) { event -> Bool? in
            if case .participantMuted(let participant) = event { participant.isMuted } else { nil }
        }
        #expect(isMuted == true && host.snapshot[id]?.volume == 0.5)
        let hasStatistics = await eventually { host.levels.participants[id] != nil && host.records.count == 1 }
        #expect(hasStatistics)
        try host.perform(.leave)
        let ending = await Self.first(in: guest) { if case .ended(let ending) = $0 { ending } else { nil } }
        #expect(ending == .alone && guest.records.first?.leftAfter != nil)
        await host.close()
        await guest.close()
        guard case .stopped = host.snapshot.sound, case .stopped = guest.snapshot.sound else {
            Issue.record("a device runs on")
            return
        }
        #expect(host.records.first?.participant.name.text == "Gustav" && host.refusal(of: .say("x")) == .ended)
    }

    private func eventually(_ condition: () -> Bool) async -> Bool {
        for _ in 0..<400 {
            if condition() { return true }
            try? await Task.sleep(for: .milliseconds(25))
        }
        return condition()
    }
}

extension LiveCall {
    fileprivate func refusal(of command: LiveCallCommand) -> CommandRefusal? {
        do throws(CommandRefusal) {
            try perform(command)
            return nil
        } catch {
            return error
        }
    }
}

extension LiveCall.Configuration {
    fileprivate static var host: LiveCall.Configuration {
        var configuration = LiveCall.Configuration()
        (configuration.staysAlone, configuration.admission) = (true, .all)
        return configuration
    }
}
