// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import TestTraits
import Testing

/// Tests the forecast of a link before a call: real processes on this machine.
@Suite(.serialized, .realTime) struct ForecastCommandTests {
    private func host(_ port: Int, _ more: [String] = []) throws -> ChildProcess {
        let host = try Earshot.start(
            Earshot.host(port) + ["--name", "Ann", "--device", "simulated", "--speak", Earshot.speech] + more)
        try #require(host.says("Waiting for guests"), "\(host.errors)")
        return host
    }

    @Test func `each latency profile is reported with its delay and glitches, and the host keeps running`() throws {
        let port = try Earshot.freePort()
        let host = try host(port)
        let forecast = try Earshot.start(
            ["forecast", "127.0.0.1:\(port)", "--name", "Bob", "--duration", "3", "--dial", "0.25", "--json"])
        #expect(forecast.wait() == .exit(0), "\(forecast.errors)")
        let report = try theReport(forecast)
        let peer = try thePeer(report)
        #expect(peer["name"] as? String == "Ann" && peer["codec"] as? String == "opus")
        #expect(peer["packetMs"] as? Double == 10 && peer["packets"] as? Int ?? 0 > 200)
        let measured = try #require(peer["forecast"] as? [String: Any])
        #expect(measured["observedSeconds"] as? Double ?? 0 >= 2.5)
        let dials = try #require(measured["dials"] as? [[String: Any]])
        #expect(dials.map { $0["dial"] as? String } == ["sing", "0.25", "talk", "listen"])
        let depths = try #require(measured["depths"] as? [[String: Any]])
        for rows in [dials, depths] {
            let rates = rows.compactMap { $0["glitchesPerMinute"] as? Double }
            let waits = rows.compactMap { $0["depthMs"] as? Double }
            #expect(rates.count == rows.count && waits.count == rows.count)
            #expect(zip(waits, waits.dropFirst()).allSatisfy { $0 <= $1 }, "\(waits)")
            #expect(zip(rates, rates.dropFirst()).allSatisfy { $0 >= $1 }, "\(rates)")
            #expect(rows.allSatisfy { ["seen", "extrapolated", "fewerThan"].contains($0["basis"] as? String ?? "") })
        }
        #expect(host.says("Bob left"), "\(host.errors)")
        host.signal(SIGINT)
        #expect(host.wait() == .exit(130), "\(host.errors)")
    }

    @Test func `the text output lists the latency profiles and the command to type next`() throws {
        let port = try Earshot.freePort()
        let host = try host(port, ["--codec", "pcm"])
        let forecast = try Earshot.start(["forecast", "127.0.0.1:\(port)", "--name", "Bob", "--duration", "2"])
        #expect(forecast.wait() == .exit(0), "\(forecast.errors)")
        for words in [
            "Ann: ", "(pcm)", "DIAL", "ADDS", "GLITCHES PER MINUTE", "sing  ", "talk  ", "listen  ",
            "predicted glitches per minute: ",
            "earshot ", " '127.0.0.1:\(port)' --",
        ] { #expect(forecast.output.contains(words), "\(words): \(forecast.output)") }
        #expect(!forecast.errors.contains("error: "), "\(forecast.errors)")
        host.signal(SIGINT)
        #expect(host.wait() == .exit(130))
    }

    @Test func `the q key ends a forecast with the measurements so far`() throws {
        let port = try Earshot.freePort()
        let host = try host(port)
        let terminal = try PseudoTerminal()
        let forecast = try Earshot.start(
            ["forecast", "127.0.0.1:\(port)", "--name", "Bob", "--duration", "60"], terminal: terminal)
        #expect(forecast.says("measuring, 2 of 60 s"), "\(forecast.errors)")
        terminal.type("?q")
        #expect(forecast.wait() == .exit(0), "\(forecast.errors)")
        #expect(forecast.output.contains("DIAL") && forecast.errors.contains("s  status"), "\(forecast.errors)")
        #expect(terminal.isInLineMode)
        #expect(host.says("Bob left"), "\(host.errors)")
    }

    @Test func `a failed forecast gives advice for no host, a refusal, a missing PIN and no audio`() throws {
        let port = try Earshot.freePort()
        let nobody = try Earshot.start(["forecast", "127.0.0.1:\(port)"])
        #expect(nobody.wait() == .exit(69) && theFailure(nobody).contains("Check that Earshot hosts a room there"))
        let unknown = try Earshot.start(["forecast", "no-such-machine.invalid"])
        #expect(unknown.wait() == .exit(68), "\(unknown.errors)")
        _ = theFailure(unknown)

        let strict = try Earshot.start([
            "host", "--port", "\(port)", "--no-announce", "--accept", "known", "--device", "simulated",
        ])
        #expect(strict.says("Waiting for guests"), "\(strict.errors)")
        let declined = try Earshot.start(["forecast", "127.0.0.1:\(port)"])
        #expect(declined.wait() == .exit(77) && theFailure(declined).contains("admits known guests only"))
        strict.signal(SIGINT)
        #expect(strict.wait() == .exit(130))

        let secret = try host(port, ["--pin", "sesame"])
        let missing = try Earshot.start(["forecast", "127.0.0.1:\(port)"])
        #expect(missing.wait() == .exit(77) && theFailure(missing).contains("--pin"), "\(missing.errors)")
        secret.signal(SIGINT)
        #expect(secret.wait() == .exit(130))

        let chat = try Earshot.start([
            "chat", "--host", "--port", "\(port)", "--no-announce", "--accept", "all", "--stay",
        ])
        #expect(chat.says("Admission: all guests"), "\(chat.errors)")
        let silent = try Earshot.start(["forecast", "127.0.0.1:\(port)"])
        #expect(silent.wait(seconds: 30) == .exit(69), "\(silent.errors)")
        #expect(theFailure(silent).contains("a forecast needs a participant who joined by"), "\(silent.errors)")
        chat.signal(SIGINT)
        #expect(chat.wait() == .exit(130))
    }

    @Test(arguments: [
        ["--duration", "1"], ["--duration", "x"], ["--dial", "2"], ["--port", "0"], ["--port", "80000"],
    ])
    func `an invalid option is a usage error`(arguments: [String]) throws {
        let program = try Earshot.start(["forecast", "127.0.0.1"] + arguments)
        #expect(program.wait() == .exit(64), "\(program.errors)")
    }

    @Test func `the call report has the losses, stretches, glitches, depth and forecast of each peer`() throws {
        let call = try SimulatedCall(["--duration", "4", "--dial", "sing"])
        #expect(call.host.wait() == .exit(0), "\(call.host.errors)")
        #expect(call.guest.wait() == .exit(0), "\(call.guest.errors)")
        let peer = try thePeer(try theReport(call.host))
        let received = try #require(peer["received"] as? [String: Any])
        for name in [
            "lost", "late", "concealedFrames", "recovered", "recoveredInTime", "stretchedFrames", "glitches",
        ] { #expect(received[name] is Int, "\(name)") }
        #expect(received["glitchesPerMinute"] is Double && received["stretchedMs"] is Double)
        let delay = try #require(peer["delay"] as? [String: Any])
        #expect(delay["dial"] as? String == "sing")
        #expect(delay["targetDepthMs"] as? Double ?? 0 >= 0.4)
        let forecast = try #require(peer["forecast"] as? [String: Any])
        #expect((forecast["depths"] as? [Any])?.count ?? 0 > 15 && (forecast["dials"] as? [Any])?.count == 3)
    }

    @Test func `the summary of a call shows the same measurements as text`() throws {
        let port = try Earshot.freePort()
        let host = try host(port)
        let guest = try Earshot.start(
            ["join", "127.0.0.1:\(port)", "--name", "Bob", "--device", "simulated", "--duration", "3"])
        #expect(guest.wait() == .exit(0), "\(guest.errors)")
        for words in [
            "Ann: ", " late, ", " recovered, ", " ms stretched, ", " per minute), clock difference ",
            " ms (dial talk); predicted glitches per minute: ",
        ] { #expect(guest.errors.contains(words), "\(words): \(guest.errors)") }
        host.signal(SIGINT)
        #expect(host.wait() == .exit(130))
    }
}
