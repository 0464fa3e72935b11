// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import TestTraits
import Testing

/// A running call whose sound cards come, go, hang and sleep, with the real program on real servers. Once each, or
/// EARSHOT_REPEATS times; `scripts/bench routes` runs it 20 times and records the figures.
@Suite(.serialized, .realTime, .needs("jackd", "pipewire")) struct RouteTests {
    static let repeats = ProcessInfo.processInfo.environment["EARSHOT_REPEATS"].flatMap { Int($0) } ?? 1

    /// A call with the host on the card under test and the guest on a simulated one.
    private struct Call {
        let host: ChildProcess
        let guest: ChildProcess

        init(_ options: [String], environment: [String: String] = [:]) throws {
            let port = try Earshot.freePort()
            host = try Earshot.start(
                Earshot.host(port) + ["--codec", "pcm", "--json"] + options,
                environment: environment.mapValues(Optional.some))
            try #require(host.says("Waiting for guests"), "\(host.errors)")
            guest = try Earshot.start(
                ["join", "127.0.0.1:\(port)", "--device", "simulated", "--speak", Earshot.speech, "--json"])
            try #require(host.says("In a call with"), "\(host.errors)")
            try #require(guest.says("In a call with"), "\(guest.errors)")
            usleep(500_000)
        }

        /// Waits until the host has printed something this many times.
        func hostSays(_ words: String, times: Int, seconds: Double = 15) -> Bool {
            for _ in 0..<Int(seconds * 50) {
                if host.errors.components(separatedBy: words).count > times { return true }
                if host.processID == nil { return false }
                usleep(20_000)
            }
            return false
        }

        /// Ends the call from the host's side. Returns both reports.
        func end() throws -> (host: [String: Any], guest: [String: Any]) {
            usleep(500_000)
            host.signal(SIGINT)
            #expect(host.wait(seconds: 8) == .exit(130), "\(host.errors)")
            #expect(guest.wait(seconds: 8) == .exit(0), "\(guest.errors)")
            return (try theReport(host), try theReport(guest))
        }
    }

    /// Returns the milliseconds without a callback at each change of route.
    private func gaps(_ report: [String: Any], reason: String? = nil) -> [Double] {
        let changes = report["routeChanges"] as? [[String: Any]] ?? []
        return changes.filter { reason == nil || $0["reason"] as? String == reason }.compactMap {
            $0["gapMs"] as? Double
        }
    }

    private func number(_ report: [String: Any], _ path: String...) -> Double {
        var value: Any? = report
        for key in path { value = (value as? [String: Any])?[key] }
        return value as? Double ?? -1
    }

    private func print(_ what: String, _ milliseconds: [Double], _ note: String = "") {
        let sorted = milliseconds.sorted()
        guard let last = sorted.last else { return }
        let p95 = sorted[min(sorted.count - 1, Int((0.95 * Double(sorted.count)).rounded(.up)) - 1)]
        Swift.print(
            String(
                format: "scenario route: %@, %d times: gap median %.0f, p95 %.0f, max %.0f ms%@", what, sorted.count,
                sorted[sorted.count / 2], p95, last, note))
    }

    /// Expects sound in both directions for all the time with a route.
    private func expectSound(_ reports: (host: [String: Any], guest: [String: Any]), without lost: Double) throws {
        let (host, guest) = (try thePeer(reports.host), try thePeer(reports.guest))
        for peer in [host, guest] { #expect(number(peer, "received", "packets") > 0) }
        let seconds = number(reports.guest, "seconds") - lost
        #expect(seconds > 0 && number(guest, "packetFrames") > 0 && number(host, "rate") > 0)
        let perSecond = number(host, "rate") / number(guest, "packetFrames")
        #expect(number(guest, "received", "packets") > 0.7 * seconds * perSecond, "\(seconds) s")
        #expect(number(host, "received", "packets") > 0.7 * seconds * perSecond)
        #expect(number(guest, "received", "lost") == 0)
    }

    @Test func `a call survives a headset that is unplugged and plugged in again on PipeWire`() throws {
        let server = try PipeWireServer(devices: [.sink("speakers"), .source("mic")])
        defer { server.stop() }
        let call = try Call(["--device", "pipewire", "--block", "256"], environment: server.environment)
        for turn in 0..<Self.repeats {
            try server.add(
                .sink(
                    "headset",
                    [
                        "node.description": "Air Headset", "device.bus": "usb", "device.form-factor": "headset",
                        "priority.session": "1500",
                    ]))
            #expect(call.hostSays("sound moved to mic → Air Headset", times: turn + 1), "\(call.host.errors)")
            usleep(300_000)
            try server.remove("headset")
            #expect(call.hostSays("Air Headset is gone", times: turn + 1), "\(call.host.errors)")
            usleep(300_000)
        }
        let reports = try call.end()
        let away = gaps(reports.host, reason: "oldDeviceUnavailable")
        let back = gaps(reports.host, reason: "newDeviceAvailable")
        #expect(away.count == Self.repeats && back.count == Self.repeats, "\(call.host.errors)")
        #expect((away + back).allSatisfy { $0 <= 300 }, "\(away) \(back)")
        try expectSound(reports, without: (away + back).reduce(0, +) / 1e3)
        print("PipeWire, the device in use removed", away)
        print("PipeWire, a headset put on", back)
    }

    /// Expects the call to continue each time its server was killed and started again.
    private func survives(_ call: Call, _ what: String, kill: () -> Void, start: () throws -> Void) throws {
        for turn in 0..<Self.repeats {
            kill()
            #expect(call.hostSays("sound interrupted", times: turn + 1), "\(call.host.errors)")
            try start()
            #expect(call.hostSays("the sound system is back", times: turn + 1), "\(call.host.errors)")
            usleep(300_000)
        }
        let reports = try call.end()
        let gaps = gaps(reports.host, reason: "serverRestarted")
        #expect(gaps.count == Self.repeats, "\(call.host.errors)")
        try expectSound(reports, without: gaps.reduce(0, +) / 1e3)
        print(what, gaps, ", the server's own start included")
    }

    @Test func `a call survives a PipeWire restart`() throws {
        let server = try PipeWireServer(devices: [.sink("speakers"), .source("mic")])
        defer { server.stop() }
        let call = try Call(["--device", "pipewire", "--block", "256"], environment: server.environment)
        try survives(
            call, "PipeWire killed and started again", kill: { server.stop() }, start: { try server.start() })
    }

    @Test func `a call survives a JACK restart`() throws {
        let server = try JACKServer(blockFrameCount: 256)
        defer { server.stop() }
        let call = try Call(["--jack-server", server.name])
        try survives(call, "JACK killed and started again", kill: { server.kill() }, start: { try server.start() })
    }

    @Test func `a call on ALSA uses the named devices and reports the granted settings`() throws {
        let server = try PipeWireServer(devices: [.sink("speakers"), .source("mic")])
        defer { server.stop() }
        let call = try Call(
            [
                "--device", "alsa", "--microphone", "default", "--speaker", "default", "--block", "256", "--rate",
                "48000",
            ],
            environment: server.environment)
        usleep(1_500_000)
        let reports = try call.end()
        try expectSound(reports, without: 0)
        let device = try #require(reports.host["device"] as? [String: Any])
        #expect(device["kind"] as? String == "alsa")
        #expect(device["askedBlock"] as? Double == 256 && device["rate"] as? Double == 48_000)
        #expect(device["sampleType"] as? String != nil && device["scheduling"] as? String != nil)
        #expect(((device["input"] as? [String: Any])?["id"] as? String) == "default")
    }

    @Test func `an unknown device name is rejected with the nearest existing name`() throws {
        let server = try PipeWireServer(
            devices: [.sink("headset", ["node.description": "Air Headset"]), .source("mic")])
        defer { server.stop() }
        for (option, name) in [("--speaker", "Air Hedset"), ("--microphone", "microphone 7")] {
            let program = try Earshot.start(
                ["join", "127.0.0.1", "--device", "pipewire", option, name],
                environment: server.environment.mapValues(Optional.some))
            #expect(program.wait() == .exit(69), "\(program.errors)")
            let line = theFailure(program)
            #expect(line.contains(name) && line.contains("earshot devices"))
            #expect(option == "--microphone" || line.contains("Did you mean 'Air Headset'"), "\(line)")
        }
    }

    @Test func `a call survives a card that stalls for two seconds`() throws {
        let script = (0..<Self.repeats).map { "stall@\(2 + 4 * $0):2" }.joined(separator: ",")
        let call = try Call(["--device", "simulated", "--card-script", script])
        #expect(
            call.hostSays("sound continues after", times: Self.repeats, seconds: Double(8 + 5 * Self.repeats)),
            "\(call.host.errors)")
        let reports = try call.end()
        let interruptions = reports.host["interruptions"] as? [[String: Any]] ?? []
        let seconds = interruptions.compactMap { $0["seconds"] as? Double }
        #expect(seconds.count == Self.repeats, "\(interruptions)")
        try expectSound(reports, without: 2 * Double(Self.repeats))
        print("a card that hangs for 2 s", seconds.map { $0 * 1e3 }, ", the 2 s included")
    }

    @Test func `a program suspended for five seconds rejoins the audio, and its recording is complete`() throws {
        let call = try SimulatedCall(["--codec", "opus"])
        usleep(1_000_000)
        call.host.signal(SIGSTOP)
        usleep(5_000_000)
        call.host.signal(SIGCONT)
        #expect(call.host.says("sound continues after 5"), "\(call.host.errors)")
        usleep(1_500_000)
        #expect(call.guest.processID != nil, "\(call.guest.errors)")
        call.host.signal(SIGINT)
        #expect(call.host.wait(seconds: 8) == .exit(130), "\(call.host.errors)")
        #expect(call.guest.wait(seconds: 8) == .exit(0), "\(call.guest.errors)")
        let report = try theReport(call.host)
        let interruptions = report["interruptions"] as? [[String: Any]] ?? []
        #expect(interruptions.contains { ($0["why"] as? String ?? "").contains("slept") }, "\(interruptions)")
        #expect(try playableFrames(call.scratch("host.wav")) > 6 * 48_000)
        let delay = number(try thePeer(try theReport(call.guest)), "delay", "mouthToEarEstimateMs")
        #expect(delay > 0 && delay < 120, "\(delay) ms")
    }

    @Test(.enabled(if: repeats > 1))
    func `a guest suspended for 90 seconds loses its place, and its recording is complete`() throws {
        let call = try SimulatedCall(["--codec", "opus"])
        usleep(1_000_000)
        call.guest.signal(SIGSTOP)
        #expect(call.host.says("did not return", seconds: 80), "\(call.host.errors)")
        usleep(25_000_000)
        call.guest.signal(SIGCONT)
        #expect(call.guest.wait(seconds: 15) == .exit(75), "\(call.guest.errors)")
        _ = try theReport(call.guest)
        #expect(try playableFrames(call.scratch("guest.wav")) > 48_000)
        call.host.signal(SIGINT)
        #expect(call.host.wait(seconds: 8) == .exit(130), "\(call.host.errors)")
        Swift.print("scenario route: a guest stopped for 90 s: its recording is whole, its place is gone after 60 s")
    }
}
