// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import TestTraits
import Testing

/// `earshot devices` with real servers.
@Suite(.serialized, .realTime, .needs("jackd", "pipewire")) struct DevicesCommandTests {
    private func devices(_ document: [String: Any], of system: String) throws -> [[String: Any]] {
        let systems = try #require(document["systems"] as? [[String: Any]])
        let one = try #require(systems.first { $0["system"] as? String == system })
        return try #require(one["devices"] as? [[String: Any]])
    }

    /// Waits until a watching program has printed an event with these fields.
    private func prints(_ program: ChildProcess, _ event: String, device: String? = nil) -> Bool {
        for _ in 0..<400 {
            let isListed = program.output.split(separator: "\n").contains { line in
                guard let object = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any],
                    object["event"] as? String == event, let time = object["time"] as? String,
                    (try? Date.ISO8601FormatStyle(includingFractionalSeconds: true).parse(time)) != nil,
                    object["system"] is String
                else { return false }
                return device == nil || (object["device"] as? [String: Any])?["name"] as? String == device
            }
            if isListed { return true }
            usleep(20_000)
        }
        return false
    }

    @Test func `a table lists the devices, without colours when the output is not a terminal`() throws {
        let program = try Earshot.start(["devices", "--device", "simulated"])
        #expect(program.wait() == .exit(0), "\(program.errors)")
        let lines = program.output.split(separator: "\n").map(String.init)
        #expect(lines.first == "simulated" && lines[1].hasPrefix("  NAME "))
        #expect(lines.contains { $0.contains("Simulated card") && $0.contains("1 ●") && $0.contains("48 kHz") })
        #expect(lines.contains("    simulated"))
        #expect(
            program.output.contains("default microphone") && !program.output.contains("\u{1B}")
                && program.errors.isEmpty)
    }

    @Test func `the JSON document has a stable set of fields`() throws {
        let program = try Earshot.start(["devices", "--device", "simulated", "--json"])
        #expect(program.wait() == .exit(0), "\(program.errors)")
        let report = try theReport(program)
        #expect(report["earshot"] is String)
        let card = try #require(try devices(report, of: "simulated").first)
        let expected: Set<String> = [
            "id", "name", "transport", "form", "inputs", "outputs", "rate", "rates", "minimumBlock", "maximumBlock",
            "isDefaultInput", "isDefaultOutput", "recordPermission",
        ]
        #expect(Set(card.keys).subtracting(["inputLatencyMs", "outputLatencyMs"]) == expected)
        #expect(card["transport"] as? String == "virtual" && card["isDefaultInput"] as? Bool == true)
    }

    @Test func `JACK's clients are listed`() throws {
        let server = try JACKServer(sampleRate: 44_100, blockFrameCount: 128, channelCount: 2)
        let table = try Earshot.start(["devices", "--jack-server", server.name])
        #expect(table.wait() == .exit(0), "\(table.errors)")
        for word in ["JACK", "system", "2 ●", "44.1 kHz", "128"] { #expect(table.output.contains(word)) }
        let program = try Earshot.start(
            ["devices", "--device", "jack", "--json"], environment: ["JACK_DEFAULT_SERVER": server.name])
        #expect(program.wait() == .exit(0), "\(program.errors)")
        let system = try #require(try devices(theReport(program), of: "jack").first)
        #expect(system["id"] as? String == "system" && system["rate"] as? Int == 44_100)
        #expect(system["minimumBlock"] as? Int == 128 && system["maximumBlock"] as? Int == 128)
        #expect((system["outputLatencyMs"] as? Double ?? 0) > 0)
    }

    @Test func `watching JACK reports clients that appear and disappear, and the end of the server`() throws {
        let server = try JACKServer()
        let program = try Earshot.start(["devices", "--jack-server", server.name, "--watch", "--json"])
        #expect(prints(program, "running") && prints(program, "added", device: "system"))
        #expect(prints(program, "defaultInput", device: "system"))
        let port = try Earshot.freePort()
        let guest = try Earshot.start([
            "host", "--port", "\(port)", "--jack-server", server.name, "--client-name", "somebody",
        ])
        #expect(prints(program, "added", device: "somebody"), "\(program.output)")
        guest.signal(SIGINT)
        #expect(prints(program, "removed", device: "somebody"), "\(program.output)")
        server.stop()
        #expect(prints(program, "gone") && prints(program, "removed", device: "system"), "\(program.output)")
        program.signal(SIGINT)
        #expect(program.wait() == .exit(0), "\(program.errors)")
        #expect(program.errors.isEmpty, "\(program.errors)")
    }

    @Test func `a JACK call with --separate-input runs as two clients that both carry audio`() throws {
        let server = try JACKServer()
        let port = try Earshot.freePort()
        let common = ["--codec", "pcm", "--ephemeral", "--json"]
        let host = try Earshot.start(
            Earshot.host(port) + [
                "--jack-server", server.name, "--client-name", "singer", "--separate-input", "--duration", "2",
            ] + common)
        #expect(host.says("Waiting for guests"), "\(host.errors)")
        let devices = try Earshot.start(["devices", "--jack-server", server.name, "--json"])
        #expect(devices.wait() == .exit(0), "\(devices.errors)")
        let clients = try self.devices(theReport(devices), of: "jack")
        for (name, inputs, outputs) in [("singer-in", 0, 1), ("singer", 2, 0)] {
            // A client that plays is an output: a device's inputs are the client's output ports.
            let client = try #require(clients.first { $0["id"] as? String == name }, "\(devices.output)")
            #expect(client["inputs"] as? Int == inputs && client["outputs"] as? Int == outputs, "\(devices.output)")
        }
        let guest = try Earshot.start(
            ["join", "127.0.0.1:\(port)", "--device", "simulated", "--speak", Earshot.speech] + common)
        #expect(host.wait() == .exit(0) && guest.wait() == .exit(0), "\(host.errors) \(guest.errors)")
        let microphone = try theReport(host)["microphoneCallback"] as? [String: Any]
        #expect(microphone?["calls"] as? Int ?? 0 > 100, "\(host.output)")
        #expect(try theReport(guest)["microphoneCallback"] == nil, "\(guest.output)")
        for process in [host, guest] {
            let peer = try thePeer(theReport(process))
            #expect((peer["sent"] as? [String: Any])?["packets"] as? Int ?? 0 > 100, "\(process.output)")
            #expect((peer["received"] as? [String: Any])?["packets"] as? Int ?? 0 > 100, "\(process.output)")
        }
    }

    private static let sink = PipeWireServer.Device.sink(
        "speakers", ["node.description": "Good Speakers", "device.form-factor": "speaker"])
    private static let microphone = PipeWireServer.Device.source("mic", ["node.description": "Good Mic"])
    private static let headset = PipeWireServer.Device.sink(
        "bluez_output.1", channelCount: 2,
        [
            "node.description": "Air Headset", "device.bus": "bluetooth", "device.form-factor": "headset",
            "device.api": "bluez5", "priority.session": "500",
        ])

    @Test func `PipeWire devices are listed with their kind, and a wireless one with advice`() throws {
        try PipeWireServer.running(devices: [Self.sink, Self.microphone, Self.headset]) { server in
            let environment = server.environment.mapValues(Optional.some)
            let table = try Earshot.start(["devices"], environment: environment)
            #expect(table.wait() == .exit(0), "\(table.errors)")
            for word in ["PipeWire", "Good Speakers", "Good Mic", "Air Headset", "Bluetooth headset", "cable"] {
                #expect(table.output.contains(word), "\(table.output)")
            }
            #expect(!table.output.contains("\nsimulated"))
            let program = try Earshot.start(["devices", "--device", "pipewire", "--json"], environment: environment)
            #expect(program.wait() == .exit(0), "\(program.errors)")
            let all = try devices(theReport(program), of: "pipewire")
            let headset = try #require(all.first { $0["id"] as? String == "bluez_output.1" }, "\(program.output)")
            #expect(headset["transport"] as? String == "bluetooth" && headset["form"] as? String == "headset")
            #expect(headset["outputs"] as? Int == 2 && headset["isDefaultOutput"] as? Bool == false)
            let microphone = try #require(all.first { $0["id"] as? String == "mic" })
            #expect(microphone["inputs"] as? Int == 1 && microphone["isDefaultInput"] as? Bool == true)
        }
    }

    @Test func `a muted microphone is reported before it is used, with its reason`() throws {
        try PipeWireServer.running(devices: [Self.sink, Self.microphone]) { server in
            let environment = server.environment.mapValues(Optional.some)
            try server.run(["pactl", "set-source-mute", "mic", "1"])
            let table = try Earshot.start(["devices", "--device", "pipewire"], environment: environment)
            #expect(table.wait() == .exit(0), "\(table.errors)")
            #expect(table.output.contains("Good Mic is muted. Unmute it"), "\(table.output)")
            let program = try Earshot.start(["devices", "--device", "pipewire", "--json"], environment: environment)
            #expect(program.wait() == .exit(0), "\(program.errors)")
            let all = try devices(theReport(program), of: "pipewire")
            let microphone = try #require(all.first { $0["id"] as? String == "mic" })
            #expect(microphone["recordPermission"] as? String == "denied")
            #expect(microphone["recordObstacle"] as? String == "muted")
            #expect(all.first { $0["id"] as? String == "speakers" }?["recordPermission"] == nil)
            let recording = try Earshot.start(
                ["loopback", "--device", "pipewire", "--duration", "0.5"], environment: environment)
            #expect(recording.wait() == .exit(0), "\(recording.errors)")
            #expect(recording.errors.contains("Good Mic is muted. Unmute it"), "\(recording.errors)")
        }
    }

    @Test func `keys on a terminal list the devices again and end the watch`() throws {
        let terminal = try PseudoTerminal()
        let program = try Earshot.start(["devices", "--device", "simulated", "--watch"], terminal: terminal)
        #expect(program.says("Watching. Keys: s status, ? help, q quit"), "\(program.errors)")
        let list = program.output
        terminal.type("?s")
        #expect(program.says("s  status"), "\(program.errors)")
        for _ in 0..<400 where program.output.count < 2 * list.count { usleep(20_000) }
        #expect(!list.isEmpty && program.output == list + list, "\(program.output)")
        terminal.type("q")
        #expect(program.wait() == .exit(0), "\(program.errors)")
        #expect(terminal.isInLineMode)
    }

    @Test func `watching PipeWire reports devices that are added, removed or made the default`() throws {
        try PipeWireServer.running(devices: [Self.sink, Self.microphone]) { server in
            let environment = server.environment.mapValues(Optional.some)
            let arguments = ["devices", "--device", "pipewire", "--watch"]
            let program = try Earshot.start(arguments + ["--json"], environment: environment)
            let people = try Earshot.start(arguments, environment: environment)
            #expect(prints(program, "added", device: "Good Speakers"), "\(program.output)")
            #expect(people.says("Watching"))
            try server.add(Self.headset)
            #expect(prints(program, "added", device: "Air Headset"), "\(program.output)")
            try server.setDefaultOutput("bluez_output.1")
            #expect(prints(program, "defaultOutput", device: "Air Headset"), "\(program.output)")
            try server.remove("bluez_output.1")
            #expect(prints(program, "removed", device: "Air Headset"), "\(program.output)")
            server.stop()
            #expect(prints(program, "gone"), "\(program.output)")
            try server.start()
            let times = { program.output.split(separator: "\n").filter { $0.contains("\"running\"") }.count }
            for _ in 0..<400 where times() < 2 { usleep(20_000) }
            #expect(times() == 2, "\(program.output)")
            for watcher in [program, people] { watcher.signal(SIGINT) }
            #expect(program.wait() == .exit(0) && people.wait() == .exit(0))
            for words in ["+ Air Headset", "default loudspeaker: Air Headset", "- Air Headset", "PipeWire runs"] {
                #expect(people.output.contains(words), "\(people.output)")
            }
        }
    }

    @Test func `control characters in a device name do not reach the terminal`() throws {
        let evil = PipeWireServer.Device.sink("evil", ["node.description": "A\\u001b[2J\\u0007B"])
        try PipeWireServer.running(devices: [evil]) { server in
            let program = try Earshot.start(["devices"], environment: server.environment.mapValues(Optional.some))
            #expect(program.wait() == .exit(0), "\(program.errors)")
            #expect(program.output.contains("A?[2J?B"), "\(program.output)")
            #expect(!program.output.contains("\u{1B}") && !program.output.contains("\u{7}"))
        }
    }

    @Test(arguments: ["jack", "pipewire"]) func `a sound server that is not running is reported with advice`(
        backend: String
    ) throws {
        let program = try Earshot.start(
            ["devices", "--device", backend],
            environment: ["JACK_DEFAULT_SERVER": "nobody-here", "PIPEWIRE_REMOTE": "/nonexistent/pipewire"])
        #expect(program.wait() == .exit(69), "\(program.errors)")
        #expect(theFailure(program).lowercased().contains("start") && program.output.isEmpty)
    }

    @Test func `a machine without audio gets advice, and its JSON document is complete`() throws {
        let environment: [String: String?] = [
            "JACK_DEFAULT_SERVER": "nobody-here", "PIPEWIRE_REMOTE": "/nonexistent/pipewire",
            "ALSA_CONFIG_PATH": "/dev/null",
        ]
        let program = try Earshot.start(["devices", "--json"], environment: environment)
        #expect(program.wait() == .exit(69), "\(program.errors)")
        #expect(theFailure(program).contains("--device simulated"))
        let systems = try #require(try theReport(program)["systems"] as? [[String: Any]])
        #expect(systems.count == 3)
        #expect(systems.allSatisfy { ($0["devices"] as? [Any])?.isEmpty == true })
    }

    @Test func `an unknown sound system is a usage error that names the known ones`() throws {
        let program = try Earshot.start(["devices", "--device", "coreaudio"])
        #expect(program.wait() == .exit(64))
        let line = theFailure(program)
        for word in ["coreaudio", "pipewire", "jack", "alsa", "simulated"] { #expect(line.contains(word)) }
    }

    @Test func `watching ends when the reader closes the pipe`() throws {
        let shell = try ChildProcess([
            "bash", "-c", "\"$0\" devices --device simulated --watch | head -n 1 >/dev/null; exit ${PIPESTATUS[0]}",
            Earshot.program,
        ])
        #expect(shell.wait() == .exit(141), "\(shell.errors)")
    }
}
