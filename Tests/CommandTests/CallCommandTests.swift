// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import TestTraits
import Testing

/// Calls between two processes on simulated cards, and every way in which one can end.
@Suite(.serialized, .realTime) struct CallCommandTests {
    @Test func `a call that reaches its duration writes one JSON report on each side`() throws {
        let call = try SimulatedCall(["--codec", "opus"], host: ["--duration", "3"])
        #expect(call.host.wait() == .exit(0), "\(call.host.errors)")
        #expect(call.guest.wait() == .exit(0), "\(call.guest.errors)")
        for (process, file) in [(call.host, "host.wav"), (call.guest, "guest.wav")] {
            let report = try theReport(process)
            let peer = try thePeer(report)
            #expect(peer["codec"] as? String == "opus" && (peer["key"] as? String)?.count == 64)
            #expect((peer["sent"] as? [String: Any])?["packets"] as? Int ?? 0 > 100)
            #expect((report["memoryAnonymousKiB"] as? Int ?? .max) < 60 * 1024)
            let frames = try playableFrames(call.scratch(file))
            #expect(frames > 2 * 48_000 && frames < 8 * 48_000)
            #expect((report["heard"] as? [String: Any])?["frames"] as? Int == frames)
        }
        #expect(try theReport(call.host)["ended"] as? String == "duration")
        #expect(try theReport(call.guest)["ended"] as? String == "everybody left")
    }

    @Test func `without --json the summary goes to standard error and standard output stays empty`() throws {
        let port = try Earshot.freePort()
        let common = ["--device", "simulated", "--speak", Earshot.speech]
        let host = try Earshot.start(Earshot.host(port) + ["--duration", "1"] + common)
        #expect(host.says("Waiting for guests"))
        let guest = try Earshot.start(["join", "127.0.0.1:\(port)"] + common)
        #expect(host.wait() == .exit(0) && guest.wait() == .exit(0))
        for process in [host, guest] {
            #expect(process.output.isEmpty && process.errors.contains("Call ended after"))
        }
    }

    @Test func `a killed guest is reported as out of contact, and the room stays open`() throws {
        let call = try SimulatedCall(["--codec", "opus"])
        usleep(1_500_000)
        call.guest.signal(SIGKILL)
        #expect(call.host.says("Lost contact with", seconds: 12), "\(call.host.errors)")
        let other = try Earshot.start([
            "join", "127.0.0.1:\(call.port)", "--device", "simulated", "--duration", "1", "--name", "Second",
        ])
        #expect(other.wait() == .exit(0), "\(other.errors)")
        call.host.signal(SIGINT)
        #expect(call.host.wait(seconds: 8) == .exit(130), "\(call.host.errors)")
        let peers = try theReport(call.host)["peers"] as? [[String: Any]] ?? []
        #expect(peers.count == 2 && peers[1]["name"] as? String == "Second")
        #expect(peers[1]["leftAfterSeconds"] as? Double != nil)
        #expect(try playableFrames(call.scratch("host.wav")) > 48_000)
    }

    @Test func `a guest that is suspended for six seconds keeps its place when it resumes`() throws {
        let call = try SimulatedCall(["--codec", "pcm"])
        usleep(800_000)
        call.guest.signal(SIGSTOP)
        #expect(call.host.says("Lost contact with", seconds: 12), "\(call.host.errors)")
        call.guest.signal(SIGCONT)
        #expect(call.host.says("is back", seconds: 12), "\(call.host.errors)")
        usleep(1_500_000)  // until it listens again, it would not hear the goodbye
        call.host.signal(SIGINT)
        #expect(call.host.wait(seconds: 8) == .exit(130), "\(call.host.errors)")
        #expect(call.guest.wait(seconds: 8) == .exit(0), "\(call.guest.errors)")
        #expect(try (theReport(call.host)["peers"] as? [Any])?.count == 1)
        #expect(try playableFrames(call.scratch("host.wav")) > 5 * 48_000)
    }

    @Test(arguments: [SIGINT, SIGTERM]) func `a signal at the host ends the call cleanly on both sides`(signal: Int32)
        throws
    {
        let call = try SimulatedCall(["--codec", "aac"])
        usleep(1_200_000)
        call.host.signal(signal)
        #expect(call.host.wait(seconds: 4) == .exit(128 + signal), "\(call.host.errors)")
        #expect(call.guest.wait(seconds: 4) == .exit(0), "\(call.guest.errors)")
        #expect(try theReport(call.host)["ended"] as? String == "interrupted")
        #expect(try theReport(call.guest)["ended"] as? String == "everybody left")
        #expect(try playableFrames(call.scratch("host.wav")) > 22_050)
        #expect(try playableFrames(call.scratch("guest.wav")) > 22_050)
    }

    @Test func `Ctrl-C ends a host that is waiting for guests`() throws {
        let host = try Earshot.start(Earshot.host(try Earshot.freePort()) + ["--device", "simulated"])
        #expect(host.says("Waiting for guests"))
        host.signal(SIGINT)
        #expect(host.wait(seconds: 3) == .exit(130))
    }

    @Test func `a full disk is reported, and the file keeps the audio that fitted`() throws {
        let disk = try Scratch()
        let mount = try ChildProcess(["mount", "-t", "tmpfs", "-o", "size=600k", "earshot-test", disk.path])
        try #require(mount.wait() == .exit(0), "needs root: \(mount.errors)")
        defer {
            let unmount = try? ChildProcess(["umount", "-l", disk.path])
            _ = unmount?.wait()
        }
        let call = try SimulatedCall(["--codec", "pcm"], guest: ["--hear", disk("heard.wav")])
        #expect(call.guest.wait(seconds: 10) == .exit(73), "\(call.guest.errors)")
        #expect(theFailure(call.guest).contains("heard.wav"))
        call.host.signal(SIGINT)
        #expect(call.host.wait(seconds: 4) == .exit(130), "\(call.host.errors)")
        #expect(try playableFrames(disk("heard.wav")) > 10_000)
    }

    @Test func `a host with --address listens on that address only, for TCP and UDP`() throws {
        let port = try Earshot.freePort()
        let host = try Earshot.start(Earshot.host(port) + ["--address", "127.0.0.1", "--device", "simulated"])
        #expect(host.says("Waiting for guests"))
        var listening: [String] = []
        for table in ["tcp", "tcp6", "udp", "udp6"] {
            let text = (try? String(contentsOfFile: "/proc/net/\(table)", encoding: .utf8)) ?? ""
            for line in text.split(separator: "\n").dropFirst() {
                let fields = line.split(separator: " ")
                // A padded port: 0BEEF is written as BEEF with leading zeros.
                guard fields.count > 1, let colon = fields[1].lastIndex(of: ":"),
                    Int(fields[1][fields[1].index(after: colon)...], radix: 16) == port
                else { continue }
                listening.append("\(table.prefix(3)) \(fields[1][..<colon].suffix(8))")
            }
        }
        #expect(Set(listening) == ["tcp 0100007F", "udp 0100007F"], "port \(port)")
    }
}

/// Calls with the extreme values of the options.
@Suite(.serialized, .realTime) struct CallFormTests {
    @Test(arguments: [
        ["--rate", "8000", "--block", "4096", "--codec", "opus"],
        ["--rate", "16000", "--block", "4096", "--codec", "aac"],
        ["--rate", "192000", "--block", "16", "--codec", "pcm"], ["--bitrate", "8"],
    ]) func `a call works with option values at the edge of their range`(options: [String]) throws {
        let call = try SimulatedCall(options, host: ["--duration", "1.5"])
        #expect(call.host.wait() == .exit(0), "\(call.host.errors)")
        #expect(call.guest.wait() == .exit(0), "\(call.guest.errors)")
        let peer = try thePeer(try theReport(call.host))
        let received = try #require(peer["received"] as? [String: Any])
        #expect(received["packets"] as? Int ?? 0 > 0)
    }
}
