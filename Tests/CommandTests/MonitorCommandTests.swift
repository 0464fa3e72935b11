// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioFiles
import Foundation
import TestSupport
import TestTraits
import Testing

/// `earshot monitor` on real servers: a tone enters at the microphone and leaves at the loudspeaker and in the file.
@Suite(.serialized, .realTime, .needs("jackd", "pipewire")) struct MonitorCommandTests {
    /// A file with a sine of 1 kHz at −18.06 dBFS.
    private func tone(_ scratch: Scratch) throws -> String {
        let path = scratch("tone.wav")
        let maker = try ChildProcess([
            "ffmpeg", "-v", "error", "-f", "lavfi", "-i", "sine=frequency=1000:sample_rate=48000:duration=30", "-af",
            "pan=stereo|c0=c0|c1=c0", path,
        ])
        #expect(maker.wait() == .exit(0), "\(maker.errors)")
        return path
    }

    /// Returns the tone's level in the middle of a file as ffmpeg decodes it, in dBFS.
    private func level(_ path: String, _ scratch: Scratch, at frequency: Double = 1_000) throws -> Double {
        let decoded = scratch("decoded-\(UInt32.random(in: 0 ... .max)).wav")
        let decoder = try ChildProcess([
            "ffmpeg", "-v", "error", "-i", path, "-c:a", "pcm_f32le", "-ar", "48000", decoded,
        ])
        #expect(decoder.wait() == .exit(0) && decoder.errors.isEmpty, "\(decoder.errors)")
        let reader = try AudioFileReader(path: decoded)
        let count = reader.frameCount
        let buffer = AudioBuffer(channelCount: reader.processingFormat.channelCount, frameCapacity: max(1, count))
        let got = try reader.read(into: buffer.channels, frameCount: count)
        // Half a second before the last one: the tone began some time after the file.
        let length = 24_000
        let from = got - 2 * length
        try #require(from > 0, "\(got) frames")
        var (x, y) = (0.0, 0.0)
        for n in 0..<length {
            let window = 1 - cos(2 * .pi * Double(n) / Double(length))
            let angle = 2 * .pi * frequency * Double(n) / 48_000
            x += Double(buffer.channels[0][from + n]) * window * cos(angle)
            y += Double(buffer.channels[0][from + n]) * window * sin(angle)
        }
        return decibels(2 * (x * x + y * y).squareRoot() / Double(length))
    }

    private func number(_ report: [String: Any], _ path: String...) -> Double {
        var value: Any? = report
        for key in path { value = (value as? [String: Any])?[key] }
        return value as? Double ?? -1
    }

    /// Tries for five seconds until `work` succeeds.
    private func waits(_ work: () throws -> Void) throws -> Bool {
        for _ in 0..<50 {
            if (try? work()) != nil { return true }
            usleep(100_000)
        }
        return false
    }

    @Test func `on PipeWire a 6 dB gain reduction applies to the loudspeaker and to the MP3`() throws {
        let scratch = try Scratch()
        let tone = try tone(scratch)
        try PipeWireServer.running(devices: [.sink("speakers"), .sink("voice"), .source("mic")]) { server in
            try server.setDefaultOutput("speakers")
            let environment = server.environment.mapValues(Optional.some)
            let program = try Earshot.start(
                [
                    "monitor", "--device", "pipewire", "--block", "256", "--speaker", "speakers", "--effect",
                    "gain,gain=-6", "--effect", "limiter", "--record", scratch("voice.mp3"), "--json",
                ], environment: environment)
            #expect(program.says("mouth to ear"), "\(program.errors)")
            try server.link("voice:monitor_FL", "earshot:input_1")
            let player = try ChildProcess(["pw-play", "--target", "voice", tone], environment: environment)
            defer { player.stop() }
            usleep(500_000)
            let heard = try ChildProcess(
                [
                    "pw-record", "-P", "{ stream.capture.sink=true }", "--target", "speakers", "--rate", "48000",
                    scratch("heard.wav"),
                ], environment: environment)
            usleep(3_000_000)
            heard.signal(SIGINT)
            #expect(heard.wait(seconds: 5) != nil)
            program.signal(SIGINT)
            #expect(program.wait(seconds: 5) == .exit(0), "\(program.errors)")
            let report = try theReport(program)
            let levels = (try level(scratch("voice.mp3"), scratch), try level(scratch("heard.wav"), scratch))
            #expect(abs(levels.0 + 24.06) < 0.5 && abs(levels.1 + 24.06) < 0.5, "\(levels) dB")
            #expect(report["effects"] as? [String] == ["Gain", "Limiter"])
            #expect(number(report, "delay", "effectsMs") > 0.5)
            let sum = number(report, "delay", "inputMs") + number(report, "delay", "outputMs")
            #expect(abs(number(report, "delay", "totalMs") - sum - number(report, "delay", "effectsMs")) < 1e-6)
            #expect(number(report, "recorded", "frames") > 3 * 48_000, "\(report)")
            #expect(number(report, "recorded", "lostFrames") >= 0 && number(report, "callback", "p99Microseconds") > 0)
            #expect(report["ended"] as? String == "interrupted")
        }
    }

    @Test(arguments: ["wav", "flac"]) func `on JACK a tone is played and recorded`(kind: String) throws {
        let scratch = try Scratch()
        let server = try JACKServer(blockFrameCount: 256)
        defer { server.stop() }
        let environment = ["JACK_DEFAULT_SERVER": Optional(server.name)]
        // Beeps of 100 ms, 600 per minute: always the same loudness, 1 kHz.
        let metronome = try ChildProcess(
            ["jack_metro", "-b", "600", "-D", "99", "-a", "0", "-d", "0", "-f", "1000", "-A", "0.25"],
            environment: environment)
        defer { metronome.stop() }
        let program = try Earshot.start([
            "monitor", "--jack-server", server.name, "--volume", "-12", "--record", scratch("voice.\(kind)"),
        ])
        #expect(program.says("mouth to ear") && program.says("Recording: "), "\(program.errors)")
        #expect(try waits { try server.connect("metro:600_bpm", "earshot:input_1") })
        let heard = try ChildProcess(
            ["jack_rec", "-f", scratch("heard.wav"), "-d", "3", "-b", "32", "earshot:output_1"],
            environment: environment)
        usleep(3_500_000)
        heard.stop()
        program.signal(SIGINT)
        #expect(program.wait(seconds: 5) == .exit(0), "\(program.errors)")
        let recorded = try level(scratch("voice.\(kind)"), scratch)
        #expect(recorded > -30 && recorded < -6, "\(recorded) dB")
        for words in ["xruns", "callback p99", "frames, ", "of them lost"] {
            #expect(program.errors.contains(words), "\(program.errors)")
        }
    }

    @Test func `a monitor without effects and recording ends after --duration and reports its delay`() throws {
        let program = try Earshot.start(["monitor", "--device", "simulated", "--duration", "0.8"])
        #expect(program.wait() == .exit(0), "\(program.errors)")
        #expect(program.output.isEmpty)
        for words in ["10.7 ms mouth to ear", "effects 0.0", "Monitor ended after 0 s (duration).", "0 xruns"] {
            #expect(program.errors.contains(words), "\(program.errors)")
        }
    }

    @Test func `a microphone channel that the card does not have causes a warning`() throws {
        let program = try Earshot.start([
            "monitor", "--device", "simulated", "--duration", "0.2", "--microphone-channels", "5",
        ])
        #expect(program.wait() == .exit(0), "\(program.errors)")
        #expect(program.errors.contains("--microphone-channels 5") && program.errors.contains("has 1 channel"))
    }

    @Test func `an open loudspeaker causes a warning, headphones do not`() throws {
        try PipeWireServer.running(devices: [
            .sink("speakers", ["device.form-factor": "speaker", "device.bus": "usb"]), .source("mic"),
        ]) { server in
            let environment = server.environment.mapValues(Optional.some)
            let program = try Earshot.start(
                ["monitor", "--device", "pipewire", "--duration", "4"], environment: environment)
            #expect(program.says("Use headphones"), "\(program.errors)")
            try server.add(
                .sink(
                    "phones",
                    ["device.form-factor": "headphone", "device.bus": "usb", "priority.session": "3000"]))
            #expect(program.says("sound moved to"), "\(program.errors)")
            #expect(program.wait() == .exit(0), "\(program.errors)")
            #expect(program.errors.components(separatedBy: "Use headphones").count == 2, "\(program.errors)")
        }
    }

    @Test(arguments: [
        (["--effect", "revreb"], "Did you mean 'reverb'"), (["--effect", "xyzzy"], "earshot effects"),
        (["--effect", "reverb:larg-hall"], "large-hall"), (["--effect", "reverb,mix=150"], "mix must be 0 to 100 %"),
        (["--effect", "reverb,mixx=15"], "'mix'"), (["--effect", "reverb,mix"], "parameter=value"),
        (["--effect", "reverb,mix=nan"], "0 to 100"), (["--effect", "voiceChanger,robot=2"], "on or off"),
        (["--effect", "lv2:urn:nobody"], "'lv2:urn:nobody'"), (["--effect", ""], "no unit ''"),
        (["--record", "a.xyz"], "flac"),
        (["--volume", "19"], "-60 to 18"), (["--volume", "nan"], "-60 to 18"), (["--duration", "0"], "--duration"),
        (["--channels", "3"], "--channels"),
    ]) func `invalid options are usage errors that name valid values`(options: [String], words: String) throws {
        let program = try Earshot.start(["monitor"] + options)
        #expect(program.wait() == .exit(64), "\(program.errors)")
        #expect(theFailure(program).contains(words), "\(program.errors)")
        if options[0] == "--effect" {
            let host = try Earshot.start(["host"] + options)
            #expect(host.wait() == .exit(64) && theFailure(host).contains(words), "\(host.errors)")
        }
    }

    @Test func `a file is the simulated microphone`() throws {
        let scratch = try Scratch()
        let program = try Earshot.start([
            "monitor", "--device", "simulated", "--speak", try tone(scratch), "--record", scratch("heard.wav"),
            "--duration", "2",
        ])
        #expect(program.wait() == .exit(0), "\(program.errors)")
        #expect(abs(try level(scratch("heard.wav"), scratch) + 18.06) < 0.5)
        let other = try Earshot.start(["monitor", "--device", "jack", "--speak", Earshot.speech])
        #expect(other.wait() == .exit(64) && theFailure(other).contains("--speak needs --device simulated"))
    }

    @Test func `a recording that cannot be created is reported`() throws {
        let program = try Earshot.start([
            "monitor", "--device", "simulated", "--record", "/nowhere/at/all.mp3",
        ])
        #expect(program.wait() == .exit(73), "\(program.errors)")
        #expect(theFailure(program).contains("/nowhere/at/all.mp3"))
    }
}

/// Effects and voice processing in calls of two processes.
@Suite(.serialized, .realTime, .needs("jackd", "pipewire")) struct VoiceInCallTests {
    private func voice(_ program: ChildProcess) throws -> [String: Any] {
        try #require(try theReport(program)["voice"] as? [String: Any], "\(program.errors)")
    }

    @Test func `effects are listed with their delay in the summary and in the report`() throws {
        let call = try SimulatedCall(
            ["--codec", "pcm"], host: ["--duration", "2"],
            guest: ["--effect", "voiceChanger:deep", "--effect", "reverb:large-hall,mix=20"])
        #expect(call.guest.wait() == .exit(0) && call.host.wait() == .exit(0), "\(call.guest.errors)")
        #expect(call.guest.errors.contains("Effects: Voice changer, Reverb, delay "))
        let voice = try voice(call.guest)
        #expect(voice["effects"] as? [String] == ["Voice changer", "Reverb"])
        #expect(voice["effectsMs"] as? Double ?? 0 > 5 && voice["processing"] as? String == "off")
        #expect(try self.voice(call.host)["effectsMs"] as? Double == 0)
    }

    @Test func `voice processing is off on an unknown card, on when requested, and absent when disabled`() throws {
        let call = try SimulatedCall(
            ["--codec", "pcm"], host: ["--duration", "2", "--voice-processing", "on"])
        #expect(call.guest.wait() == .exit(0) && call.host.wait() == .exit(0), "\(call.guest.errors)")
        #expect(!call.guest.errors.contains("Voice processing:"), "\(call.guest.errors)")
        #expect(call.host.errors.contains("Voice processing: on (as asked), delay "), "\(call.host.errors)")
        let voice = try voice(call.host)
        #expect(voice["processing"] as? String == "on" && voice["processingMs"] as? Double ?? 0 > 20, "\(voice)")
        #expect(voice["costPer10Ms"] as? Double ?? 0 > 0)
        let plain = try SimulatedCall(["--voice-processing", "off"], host: ["--duration", "1"])
        #expect(plain.host.wait() == .exit(0))
        #expect(try theReport(plain.host)["voice"] == nil && !plain.host.errors.contains("voice processing"))
    }

    @Test func `voice processing turns off when a headset is added and on again when it is removed`() throws {
        try PipeWireServer.running(devices: [
            .sink("speakers", ["device.form-factor": "speaker"]), .source("mic"),
        ]) { server in
            let environment = server.environment.mapValues(Optional.some)
            let port = try Earshot.freePort()
            let host = try Earshot.start(
                Earshot.host(port) + ["--device", "pipewire", "--block", "256", "--codec", "pcm", "--json"],
                environment: environment)
            #expect(host.says("Waiting for guests"), "\(host.errors)")
            let guest = try Earshot.start([
                "join", "127.0.0.1:\(port)", "--device", "simulated", "--speak", Earshot.speech, "--json",
            ])
            #expect(host.says("Voice processing: on (a loudspeaker and an open microphone)"), "\(host.errors)")
            try server.add(
                .sink("headset", ["device.form-factor": "headset", "device.bus": "usb", "priority.session": "3000"]))
            #expect(host.says("Voice processing: off (headset"), "\(host.errors)")
            try server.remove("headset")
            for _ in 0..<500
            where host.errors.components(separatedBy: "Voice processing: on").count < 3 { usleep(20_000) }
            #expect(host.errors.components(separatedBy: "Voice processing: on").count == 3, "\(host.errors)")
            host.signal(SIGINT)
            #expect(host.wait(seconds: 8) == .exit(130), "\(host.errors)")
            #expect(guest.wait(seconds: 8) == .exit(0), "\(guest.errors)")
            #expect(try voice(host)["processing"] as? String == "on")
        }
    }

    @Test func `an unknown voice processing mode is a usage error`() throws {
        let program = try Earshot.start(["join", "localhost", "--voice-processing", "maybe"])
        #expect(program.wait() == .exit(64) && theFailure(program).contains("--voice-processing"))
    }
}
