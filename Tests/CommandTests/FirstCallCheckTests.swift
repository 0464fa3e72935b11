// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import TestTraits
import Testing

/// The sound check before the first call on a device, with the program as users run it.
@Suite(.serialized, .realTime, .needs("pipewire")) struct FirstCallCheckTests {
    /// A user with a terminal on a PipeWire server.
    private struct Person {
        let server: PipeWireServer
        let folder = TestFolders.next("person")

        var store: String { "\(folder)/earshot/sound-checks.json" }

        func start(_ arguments: [String], terminal: PseudoTerminal?) throws -> ChildProcess {
            var environment = server.environment.mapValues(Optional.some)
            environment["XDG_DATA_HOME"] = folder
            return try Earshot.start(
                arguments + ["--device", "pipewire"], environment: environment, terminal: terminal)
        }

        /// Starts a host. With `accepts` it must begin with a check, and Enter is typed after the words; otherwise it must not.
        func host(
            _ more: [String] = [], accepts: Bool, after words: String, terminal: PseudoTerminal
        ) throws -> ChildProcess {
            let host = try start(
                ["host", "--port", "\(try Earshot.freePort())", "--no-announce"] + more, terminal: terminal)
            if accepts {
                try #require(host.says("Sound check. Keys: Enter go on"), "\(host.errors)")
                try #require(host.says(words, seconds: 20), "\(host.errors)")
                terminal.type("\n")
            }
            try #require(host.says("Waiting for guests."), "\(host.errors)")
            #expect(host.errors.contains("Sound check.") == accepts, "\(host.errors)")
            return host
        }

        /// Starts a host, and ends it once it waits for guests.
        func hostsOnce(
            _ more: [String] = [], accepts: Bool, after words: String = "Did you hear the ticks?"
        ) throws -> String {
            let terminal = try PseudoTerminal()
            let host = try host(more, accepts: accepts, after: words, terminal: terminal)
            terminal.type("q")
            #expect(host.wait() == .exit(0), "\(host.errors)")
            return host.errors
        }
    }

    private static let devices: [PipeWireServer.Device] = [
        .sink("speakers"), .source("mic", ["priority.session": "2500"]), .source("second"),
    ]

    @Test func `the first call on a device begins with a check, and the next one does not`() throws {
        try PipeWireServer.running(devices: Self.devices) { server in
            let ann = Person(server: server)
            let skipped = try ann.hostsOnce(accepts: true, after: "You hear 2 ticks.")
            #expect(skipped.contains("The next call begins with a check."), "\(skipped)")
            let first = try ann.hostsOnce(accepts: true)
            for words in ["Microphone: mic", "Headphones or loudspeaker: speakers"] {
                #expect(first.contains(words), "\(first)")
            }
            #expect(first.contains("The next call on these devices begins without a check."), "\(first)")
            #expect(try !ann.hostsOnce(accepts: false).contains("Microphone: mic"))
            // Another microphone is another device, and another user has another answer.
            #expect(try ann.hostsOnce(["--microphone", "second"], accepts: true).contains("Microphone: second"))
            _ = try ann.hostsOnce(["--microphone", "second"], accepts: false)
            _ = try ann.hostsOnce(accepts: false)
            _ = try Person(server: server).hostsOnce(accepts: true)
        }
    }

    @Test func `--no-check, a pipe and a simulated card skip the check, and --ephemeral stores no answer`() throws {
        try PipeWireServer.running(devices: Self.devices) { server in
            let ann = Person(server: server)
            _ = try ann.hostsOnce(["--no-check"], accepts: false)
            let port = try Earshot.freePort()
            let piped = try ann.start(["host", "--port", "\(port)", "--no-announce"], terminal: nil)
            #expect(piped.says("Waiting for guests."), "\(piped.errors)")
            #expect(!piped.errors.contains("Sound check."), "\(piped.errors)")
            piped.signal(SIGINT)
            #expect(piped.wait() == .exit(130), "\(piped.errors)")
            let terminal = try PseudoTerminal()
            let simulated = try Earshot.start(
                Earshot.host(port) + ["--device", "simulated"], terminal: terminal)
            #expect(simulated.says("Waiting for guests."), "\(simulated.errors)")
            #expect(!simulated.errors.contains("Sound check."), "\(simulated.errors)")
            terminal.type("q")
            #expect(simulated.wait() == .exit(0), "\(simulated.errors)")
            _ = try ann.hostsOnce(["--ephemeral"], accepts: true)
            #expect(!FileManager.default.fileExists(atPath: ann.store))
        }
    }

    @Test func `a damaged answer is asked again, and one that cannot be stored does not keep anybody from the call`()
        throws
    {
        try PipeWireServer.running(devices: Self.devices) { server in
            let ann = Person(server: server)
            try FileManager.default.createDirectory(
                atPath: "\(ann.folder)/earshot", withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700])
            try Data("{\"version\":".utf8).write(to: URL(fileURLWithPath: ann.store))
            _ = try ann.hostsOnce(accepts: true)
            _ = try ann.hostsOnce(accepts: false)
            try FileManager.default.removeItem(atPath: ann.store)
            try FileManager.default.createDirectory(atPath: ann.store, withIntermediateDirectories: false)
            #expect(try ann.hostsOnce(accepts: true).contains("Cannot store the sound check: "))
        }
    }

    @Test func `a guest hears a silent microphone reported, goes on with Enter and is in the call`() throws {
        try PipeWireServer.running(devices: Self.devices) { server in
            let port = try Earshot.freePort()
            let host = try Earshot.start(Earshot.host(port) + ["--device", "simulated", "--speak", Earshot.speech])
            try #require(host.says("Waiting for guests"), "\(host.errors)")
            let terminal = try PseudoTerminal()
            let guest = try Person(server: server).start(
                ["join", "127.0.0.1:\(port)", "--name", "Bob"], terminal: terminal)
            #expect(guest.says("completely silent (all zeros)", seconds: 20), "\(guest.errors)")
            #expect(guest.says("Did you hear the ticks?"), "\(guest.errors)")
            #expect(!host.errors.contains("Bob"), "\(host.errors)")
            terminal.type("\n")
            #expect(guest.says("In a call with") && host.says("In a call with Bob"), "\(guest.errors)")
            terminal.type("q")
            #expect(guest.wait() == .exit(0), "\(guest.errors)")
            host.signal(SIGINT)
            #expect(host.wait() == .exit(130), "\(host.errors)")
        }
    }

    @Test func `Ctrl-C and q in the check open no room, and the next call checks again`() throws {
        try PipeWireServer.running(devices: Self.devices) { server in
            let ann = Person(server: server)
            for key in ["\u{3}", "q"] {
                let terminal = try PseudoTerminal()
                let host = try ann.start(
                    ["host", "--port", "\(try Earshot.freePort())", "--no-announce"], terminal: terminal)
                #expect(host.says("You hear 2 ticks."), "\(host.errors)")
                terminal.type(key)
                #expect(host.wait() == .exit(130), "\(host.errors)")
                #expect(!host.errors.contains("Room:") && !host.errors.contains("error:"), "\(host.errors)")
                #expect(host.errors.contains("To call without it: --no-check") == (key == "q"), "\(host.errors)")
                #expect(terminal.isInLineMode)
            }
            _ = try ann.hostsOnce(accepts: true)
        }
    }

    @Test func `a headset that is plugged in during the check begins it again`() throws {
        try PipeWireServer.running(devices: Self.devices) { server in
            let terminal = try PseudoTerminal()
            let program = try Person(server: server).start(["check"], terminal: terminal)
            #expect(program.says("Headphones or loudspeaker: speakers"), "\(program.errors)")
            try server.add(
                .sink("phones", ["device.form-factor": "headphone", "device.bus": "usb", "priority.session": "3000"]))
            #expect(program.says("Headphones: phones ("), "\(program.errors)")
            terminal.type("q")
            #expect(program.wait() == .exit(130), "\(program.errors)")
        }
    }
}
