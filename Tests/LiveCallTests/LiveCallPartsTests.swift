// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport
import EarshotNearby
import Foundation
import TestSupport
import Testing

@testable import EarshotLiveCall
@testable import EarshotRooms

/// The live part with a room, media and a device of the tests.
@Suite(.timeLimit(.minutes(10))) struct LiveCallPartsTests {
    private struct Rig {
        let room: TestRoom
        let media: TestMedia
        let device: TestDevice
        let call: LiveCall

        init(
            room: TestRoom = TestRoom(), media: TestMedia = TestMedia(), device: TestDevice = TestDevice(),
            staysAlone: Bool = true
        ) throws {
            (self.room, self.media, self.device) = (room, media, device)
            var configuration = LiveCall.Configuration()
            configuration.staysAlone = staysAlone
            call = try LiveCall(configuration, room: room, sound: (media, device))
        }

        /// Joins Ann's room as Bob.
        func join() {
            let roster = CoreRig().makeRoster([CoreRig.member(1), CoreRig.member(2)], host: 1)
            room.eventContinuation.yield(.joined(roster, as: CoreRig.id(2)))
        }
    }

    @Test func `the device stops before the room is left, and is closed last`() async throws {
        let rig = try Rig()
        try rig.call.perform(.join(CoreRig.endpoint))
        rig.join()
        #expect(await happens { if case .running = rig.call.snapshot.sound { true } else { false } })
        await rig.call.close()
        #expect(rig.media.asked == ["unmute", "start", "stop"] && rig.room.asked == ["join", "close"])
        #expect(rig.device.timesClosed == 1 && rig.call.snapshot.ending == .left)
        guard case .ended(.left)? = rig.call.pastEvents(after: 0).last?.kind else {
            Issue.record("no end")
            return
        }
    }

    @Test func `the monitor and push to talk reach media and room`() async throws {
        let rig = try Rig()
        try rig.call.perform(.join(CoreRig.endpoint))
        rig.join()
        #expect(await happens { if case .running = rig.call.snapshot.sound { true } else { false } })
        try rig.call.perform(.setMonitor(.on))
        #expect(await happens { rig.media.asked.contains("monitor on") })
        try rig.call.perform(.setPushToTalk(true))
        #expect(rig.media.asked.last == "mute")
        #expect(await happens { rig.room.asked.contains("tell muted true") })
        try rig.call.perform(.setMonitor(.off))
        #expect(await happens { rig.media.asked.last == "monitor off" })
        await rig.call.close()
    }

    @Test func `every caller of close waits until the call is closed completely`() async throws {
        let rig = try Rig(room: TestRoom(closingTime: 0.2))
        await withDiscardingTaskGroup { group in
            for _ in 0..<8 {
                group.addTask {
                    await rig.call.close()
                    #expect(rig.device.timesClosed == 1 && rig.room.asked == ["close"])
                }
            }
        }
        #expect(rig.device.timesClosed == 1)
    }

    @Test func `a call may be closed while it joins or while it waits for a PIN`() async throws {
        for asksPIN in [false, true] {
            let rig = try Rig()
            try rig.call.perform(.join(CoreRig.endpoint))
            if asksPIN {
                rig.room.eventContinuation.yield(.pinNeeded)
                #expect(await happens { rig.call.snapshot.pinRequest == .missing })
            }
            await rig.call.close()
            #expect(rig.room.asked == ["join", "close"] && rig.media.asked == ["unmute", "stop"])
        }
    }

    @Test func `a wrong PIN can be followed by another attempt`() async throws {
        let rig = try Rig()
        try rig.call.perform(.join(CoreRig.endpoint))
        rig.room.eventContinuation.yield(.ended(.refused(.wrongPIN(attemptsLeft: 2))))
        #expect(await happens { rig.call.snapshot.pinRequest == .wrong(attemptsLeft: 2) })
        try rig.call.perform(.providePIN(PIN("1234")))
        #expect(await happens { rig.room.asked == ["join", "join with PIN"] })
        await rig.call.close()
    }

    @Test func `a device that cannot be prepared or started ends the call`() async throws {
        let unprepared = try Rig(device: TestDevice(isPreparable: false))
        try unprepared.call.perform(.join(CoreRig.endpoint))
        unprepared.join()
        #expect(await happens { unprepared.call.snapshot.ending == .notPrepared })
        await unprepared.call.close()
        #expect(unprepared.media.asked == ["unmute", "stop"] && unprepared.room.asked == ["join", "close"])

        let dead = try Rig(media: TestMedia(failing: .noSystem))
        try dead.call.perform(.join(CoreRig.endpoint))
        dead.join()
        #expect(await happens { dead.call.snapshot.ending == .device(.noSystem) })
        await dead.call.close()
    }

    @Test func `room commands are executed in order`() async throws {
        let rig = try Rig()
        try rig.call.perform(.join(CoreRig.endpoint))
        try rig.call.perform(.setAdmission(.all))
        try rig.call.perform(.rename(CoreRig.name(4)))
        try rig.call.perform(.setLatencyProfile(.sing))
        try rig.call.perform(.setOutputVolume(0.5))
        #expect(await happens { rig.room.asked == ["join", "admission", "tell Dan"] })
        #expect(await happens { rig.media.asked == ["unmute", "latency profile sing", "output volume 0.5"] })
        await rig.call.close()
    }

    @Test func `a host's decisions reach the room, and a participant's volume reaches the media`() async throws {
        let rig = try Rig()
        try rig.call.perform(.host(CoreRig.opening))
        let roster = CoreRig().makeRoster([CoreRig.member(1), CoreRig.member(2), CoreRig.member(3)], host: 1)
        rig.room.eventContinuation.yield(.joined(roster, as: CoreRig.id(1)))
        let guest = AskingGuest(
            name: CoreRig.name(4), purpose: nil, key: nil, address: .loopback, isKnown: false)
        for number in 1...3 as ClosedRange<UInt64> {
            rig.room.eventContinuation.yield(.question(JoinRequestID(number: number), guest))
        }
        #expect(await happens { rig.call.snapshot.joinRequests.count == 3 })
        try rig.call.perform(.admit(JoinRequestID(number: 1)))
        try rig.call.perform(.decline(JoinRequestID(number: 2)))
        try rig.call.perform(.blockRequest(JoinRequestID(number: 3)))
        try rig.call.perform(.remove(CoreRig.id(2)))
        try rig.call.perform(.block(CoreRig.id(3)))
        try rig.call.perform(.setVolume(0.5, of: CoreRig.id(2)))
        #expect(
            await happens { rig.room.asked == ["host", "admit", "decline", "block request", "remove", "block"] })
        #expect(await happens { rig.media.asked.contains("gain 0.5 of 2") })
        await rig.call.close()
    }

    @Test func `the event history is limited by count and by bytes`() async throws {
        let rig = try Rig()
        func receive(_ count: Int, bytes: Int) {
            for _ in 0..<count {
                rig.call.handle(
                    .message(ChatMessage(sender: CoreRig.id(1), senderName: nil, text: nil, byteCount: bytes)))
            }
        }
        receive(LiveCall.historyLimit + 200, bytes: 1)
        let all = rig.call.pastEvents(after: 0)
        #expect(all.count == LiveCall.historyLimit && all.first?.number == 201)
        receive(100, bytes: 65_536)
        let kept = rig.call.pastEvents(after: UInt64(LiveCall.historyLimit + 200))
        #expect(kept.count == LiveCall.historyByteLimit / 65_536 && rig.call.pastEvents(after: 0).count == kept.count)
        receive(LiveCall.historyLimit, bytes: 0)
        #expect(rig.call.pastEvents(after: 0).count == LiveCall.historyLimit)
        await rig.call.close()
    }

    @Test func `a mute takes effect at once`() throws {
        let rig = try Rig()
        try rig.call.perform(.setMuted(true))
        #expect(rig.media.asked == ["unmute", "mute"])
        let call = rig.call
        Task { await call.close() }
    }

    @Test func `messages that arrive before the end are reported before it`() async throws {
        let rig = try Rig(staysAlone: false)
        try rig.call.perform(.join(CoreRig.endpoint))
        rig.join()
        #expect(await happens { rig.call.snapshot.isInRoom })
        for number in 0..<5 { try await rig.room.arrivals.send(.message(Array("\(number)".utf8), from: CoreRig.id(1))) }
        rig.room.eventContinuation.yield(.ended(.closed))
        #expect(await happens { rig.call.snapshot.ending == .room(.closed) })
        await rig.call.close()
        let texts = rig.call.pastEvents(after: 0).compactMap { event in
            if case .messageReceived(let message) = event.kind { message.text } else { nil }
        }
        #expect(texts == ["0", "1", "2", "3", "4"])
    }

    @Test func `a front end that polls slowly delays messages but loses none`() async throws {
        let rig = try Rig()
        try rig.call.perform(.join(CoreRig.endpoint))
        rig.join()
        #expect(await happens { rig.call.snapshot.isInRoom })
        var seen = rig.call.pastEvents(after: 0).last?.number ?? 0
        _ = rig.call.pastEvents(after: seen)
        let sent = LockedValue(0)
        let sender = Task { [room = rig.room] in
            for _ in 0..<1_500 {
                try await room.arrivals.send(.message([65], from: CoreRig.id(1)))
                sent.withLock { $0 += 1 }
            }
        }
        #expect(await happens { sent.withLock { $0 } > 90 })
        try await Task.sleep(for: .milliseconds(100))
        let held = sent.withLock { $0 }
        #expect(held < 200, "\(held) were sent to a face that does not look")
        var texts = 0
        while texts < 1_500, await happens({ !rig.call.pastEvents(after: seen).isEmpty }) {
            for event in rig.call.pastEvents(after: seen) {
                #expect(event.number == seen + 1)
                seen = event.number
                if case .messageReceived = event.kind { texts += 1 }
            }
        }
        #expect(texts == 1_500)
        try await sender.value
        await rig.call.close()
    }

    @Test func `a deallocated call ends and closes its room and device`() async throws {
        let (room, media, device) = (TestRoom(), TestMedia(), TestDevice())
        do {
            let rig = try Rig(room: room, media: media, device: device)
            try rig.call.perform(.join(CoreRig.endpoint))
            #expect(await happens { room.asked == ["join"] })
        }
        #expect(
            await happens { device.timesClosed == 1 && room.asked.last == "close" && media.asked.last == "stop" })
    }

    @Test func `a closed call does not end a second time when it is deallocated`() async throws {
        let (room, media, device) = (TestRoom(), TestMedia(), TestDevice())
        do {
            let rig = try Rig(room: room, media: media, device: device)
            await rig.call.close()
        }
        try await Task.sleep(for: .milliseconds(50))
        #expect(device.timesClosed == 1 && room.asked == ["close"] && media.asked == ["unmute", "stop"])
    }

    @Test func `front ends on several threads agree at every revision, and no event is missing`() async throws {
        let rig = try Rig()
        let call = rig.call
        try call.perform(.join(CoreRig.endpoint))
        rig.join()
        #expect(await happens { call.snapshot.isInRoom })
        let streamed = Task {
            var seen: [UInt64: LiveCallSnapshot] = [:]
            for await snapshot in call.snapshots() { seen[snapshot.revision] = snapshot }
            return seen
        }
        let numbers = Task {
            var numbers: [UInt64] = []
            for await event in call.events() { numbers.append(event.number) }
            return numbers
        }
        let polled = await withTaskGroup(of: [UInt64: LiveCallSnapshot].self) { group in
            for face in 0..<4 as Range<UInt64> {
                group.addTask {
                    var random = SeededRandom(seed: face)
                    var seen: [UInt64: LiveCallSnapshot] = [:]
                    for step in 0..<4_000 {
                        if face < 2, step % 20 == 0 {
                            try? call.perform(.setMuted(random.next() % 2 == 0))
                            try? call.perform(.setVolume(Float(random.next() % 8), of: CoreRig.id(1)))
                        }
                        if step % 50 == 0 { await Task.yield() }
                        let snapshot = call.snapshot
                        seen[snapshot.revision] = snapshot
                    }
                    return seen
                }
            }
            var all: [[UInt64: LiveCallSnapshot]] = []
            for await seen in group { all.append(seen) }
            return all
        }
        await call.close()
        var known = await streamed.value
        var compared = 0
        for seen in polled {
            for (revision, snapshot) in seen {
                if let other = known[revision] { compared += 1; #expect(other == snapshot, "revision \(revision)") }
                known[revision] = snapshot
            }
        }
        let told = await numbers.value
        let isGapless = told.elementsEqual(1...UInt64(max(1, told.count)))
        #expect(isGapless && compared > 100, "\(told.count) events, \(compared) compared")
    }
}
