// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import TestTraits
import Testing

/// `earshot loopback` on real servers, with and without a loop.
@Suite(.serialized, .realTime, .needs("jackd", "pipewire")) struct LoopbackCommandTests {
    private func measured(_ report: [String: Any]) throws -> [String: Any] {
        try #require(report["measured"] as? [String: Any], "\(report)")
    }

    @Test func `the measured loop of the simulated card matches the reported one to a tenth of a frame`() throws {
        let program = try Earshot.start([
            "loopback", "--device", "simulated", "--block", "470", "--rate", "44100", "--delay", "20", "--measure", "2",
            "--json",
        ])
        #expect(program.wait() == .exit(0), "\(program.errors)")
        let report = try theReport(program)
        let found = try measured(report)
        #expect(abs((found["roundTripFrames"] as? Double ?? 0) - 940) < 0.1)
        #expect(abs(found["differenceMs"] as? Double ?? 1) < 0.1 / 44.1)
        #expect(abs((found["totalMs"] as? Double ?? 0) - (20 + 940 / 44.1)) < 0.01)
        #expect(found["found"] as? Int == 2 && found["inverted"] as? Bool == false)
        let stated = try #require(report["stated"] as? [String: Any])
        #expect(abs((stated["totalMs"] as? Double ?? 0) - (20 + 940 / 44.1)) < 0.01)
        #expect(report["ended"] as? String == "measured")
        for words in ["Simulated card", "44.1 kHz", "Reported delay: 41.32 ms", "Measured: 21.315 ms", "41.315 ms"] {
            #expect(program.errors.contains(words), "\(program.errors)")
        }
    }

    @Test func `without --measure the reported delay is shown, and the command ends on time or on Ctrl-C`() throws {
        let program = try Earshot.start(["loopback", "--device", "simulated", "--duration", "0.8"])
        #expect(program.wait() == .exit(0), "\(program.errors)")
        #expect(program.output.isEmpty && program.errors.contains("Reported delay: 10.67 ms mouth to ear"))
        let other = try Earshot.start(["loopback", "--device", "simulated", "--json"])
        #expect(other.says("Reported delay:"))
        other.signal(SIGINT)
        #expect(other.wait(seconds: 4) == .exit(0), "\(other.errors)")
        #expect(try theReport(other)["ended"] as? String == "interrupted")
    }

    @Test func `a JACK cable is measured, and an open loop gives no measurement`() throws {
        let server = try JACKServer(blockFrameCount: 256)
        defer { server.stop() }
        let arguments = ["loopback", "--jack-server", server.name, "--measure", "2", "--json"]
        let open = try Earshot.start(arguments)
        #expect(open.wait() == .exit(69), "\(open.errors)")
        #expect(theFailure(open).contains("jack_connect earshot:output_1 earshot:input_1"))
        let nothing = try theReport(open)
        #expect(nothing["measured"] == nil && (nothing["notMeasured"] as? String ?? "").contains("no loop"))

        let program = try Earshot.start(arguments)
        #expect(program.says("Reported delay:"), "\(program.errors)")
        let cable = try ChildProcess(
            ["jack_connect", "earshot:output_1", "earshot:input_1"], environment: ["JACK_DEFAULT_SERVER": server.name])
        #expect(cable.wait() == .exit(0), "\(cable.errors)")
        #expect(program.wait() == .exit(0), "\(program.errors)")
        let found = try measured(theReport(program))
        // A client gets its own sound in the next cycle.
        #expect(abs((found["roundTripFrames"] as? Double ?? 0) - 256) < 0.1, "\(found)")
        #expect(abs(found["levelDb"] as? Double ?? 9) < 0.1 && found["confidence"] as? Double ?? 0 > 0.9)
    }

    @Test func `a PipeWire loop through a sink's monitor is measured within a block of the reported delay`() throws {
        try PipeWireServer.running(devices: [.sink("speakers"), .source("mic")]) { server in
            let environment = server.environment.mapValues(Optional.some)
            let arguments = ["loopback", "--device", "pipewire", "--block", "256", "--measure", "2", "--json"]
            let open = try Earshot.start(arguments, environment: environment)
            #expect(open.wait() == .exit(69), "\(open.errors)")
            #expect(theFailure(open).contains("pw-link 'speakers:monitor_FL' 'earshot:input_1'"))

            let program = try Earshot.start(arguments, environment: environment)
            #expect(program.says("Reported delay:"), "\(program.errors)")
            try server.link("speakers:monitor_FL", "earshot:input_1")
            #expect(program.wait() == .exit(0), "\(program.errors)")
            let report = try theReport(program)
            let found = try measured(report)
            let device = try #require(report["device"] as? [String: Any])
            let block = Double(device["block"] as? Int ?? 0) / (device["rate"] as? Double ?? 1) * 1e3
            #expect(abs(found["differenceMs"] as? Double ?? .infinity) < 1.1 * block, "\(report)")
            #expect(abs(found["levelDb"] as? Double ?? 9) < 0.5)
        }
    }

    @Test func `feedback on PipeWire lowers the output, and a route change is reported`() throws {
        try PipeWireServer.running(devices: [.sink("speakers"), .source("mic")]) { server in
            let environment = server.environment.mapValues(Optional.some)
            let program = try Earshot.start(
                ["loopback", "--device", "pipewire", "--gain", "12", "--json"], environment: environment)
            #expect(program.says("Reported delay:"), "\(program.errors)")
            try server.link("speakers:monitor_FL", "earshot:input_1")
            let voice = try ChildProcess(["pw-play", "--target", "speakers", Earshot.speech], environment: environment)
            #expect(program.says("Feedback: output lowered"), "\(program.errors)")
            voice.stop()
            try server.add(.sink("headset", ["node.description": "My Headset", "priority.session": "3000"]))
            try server.setDefaultOutput("headset")
            #expect(program.says("sound moved to"), "\(program.errors)")
            program.signal(SIGINT)
            #expect(program.wait(seconds: 5) == .exit(0), "\(program.errors)")
            let report = try theReport(program)
            #expect((report["howls"] as? Int ?? 0) > 0 && (report["routeChanges"] as? [Any])?.count ?? 0 > 0)
        }
    }

    @Test func `a missing microphone and a missing sound server are reported`() throws {
        try PipeWireServer.running(devices: [.sink("speakers")]) { server in
            let program = try Earshot.start(
                ["loopback", "--device", "pipewire"], environment: server.environment.mapValues(Optional.some))
            #expect(program.wait() == .exit(69), "\(program.errors)")
            #expect(theFailure(program).contains("microphone"))
        }
        let program = try Earshot.start(
            ["loopback", "--device", "jack"], environment: ["JACK_DEFAULT_SERVER": "nobody-here"])
        #expect(program.wait() == .exit(69), "\(program.errors)")
        #expect(theFailure(program).contains("JACK"))
    }

    @Test(arguments: [
        ["--delay", "2001"], ["--delay", "-1"], ["--delay", "nan"], ["--gain", "25"], ["--gain", "nan"],
        ["--channels", "0"], ["--channels", "33"], ["--measure", "0"], ["--measure", "101"], ["--duration", "0"],
        ["--block", "15"], ["--device", "coreaudio"],
    ]) func `options out of range are usage errors that name the range`(options: [String]) throws {
        let program = try Earshot.start(["loopback"] + options)
        #expect(program.wait() == .exit(64), "\(program.errors)")
        #expect(theFailure(program).contains(options[0]))
    }
}
