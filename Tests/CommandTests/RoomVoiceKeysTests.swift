// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDevices
import EarshotAudioSession
import EarshotCall
import Testing

@testable import EarshotLiveCall
@testable import earshot

/// The keys for the user's own voice in a room: mute, push to talk and monitor.
@Suite struct RoomVoiceKeysTests {
    private static func room(_ change: (inout LiveCallSnapshot) -> Void = { _ in }) -> LiveCallSnapshot {
        var snapshot = LiveCallSnapshot(admission: .ask, sound: .waiting)
        snapshot.phase = .inRoom
        change(&snapshot)
        return snapshot
    }

    private static func time(_ seconds: Double) -> HostTime { HostTime(nanoseconds: 0).advanced(bySeconds: seconds) }

    /// Presses a key at a time in seconds.
    private static func press(
        _ character: Character, _ keys: inout RoomKeyBindings, _ snapshot: LiveCallSnapshot, at seconds: Double = 0
    ) -> RoomKeyBindings.Action? {
        keys.take(.character(character), snapshot, at: time(seconds))
    }

    @Test func `t begins and ends push to talk`() {
        var keys = RoomKeyBindings()
        for key in "tT" {
            #expect(Self.press(key, &keys, Self.room()) == .perform(.setPushToTalk(true)))
            #expect(Self.press(key, &keys, Self.room { $0.isPushToTalk = true }) == .perform(.setPushToTalk(false)))
        }
    }

    @Test func `without push to talk the space bar mutes and unmutes`() {
        var keys = RoomKeyBindings()
        #expect(Self.press(" ", &keys, Self.room()) == .perform(.setMuted(true)))
        #expect(Self.press(" ", &keys, Self.room { $0.isMuted = true }) == .perform(.setMuted(false)))
        #expect(keys.releaseTalkKey(Self.room(), at: Self.time(5)) == nil)
    }

    @Test func `during push to talk the space bar talks while it is held`() {
        var keys = RoomKeyBindings()
        let silent = Self.room { ($0.isPushToTalk, $0.isMuted) = (true, true) }
        let talking = Self.room { $0.isPushToTalk = true }
        #expect(Self.press(" ", &keys, silent, at: 10) == .perform(.setMuted(false)))
        for step in 0..<20 {
            let now = 10.5 + 0.04 * Double(step)
            #expect(Self.press(" ", &keys, talking, at: now) == nil)
            #expect(keys.releaseTalkKey(talking, at: Self.time(now)) == nil)
        }
        #expect(keys.releaseTalkKey(talking, at: Self.time(12)) == .perform(.setMuted(true)))
        #expect(keys.releaseTalkKey(silent, at: Self.time(12.1)) == nil)
        #expect(Self.press(" ", &keys, silent, at: 13) == .perform(.setMuted(false)))
    }

    @Test func `the repeats of a space bar that is held do not unmute after push to talk has ended`() {
        var keys = RoomKeyBindings()
        _ = Self.press(" ", &keys, Self.room { ($0.isPushToTalk, $0.isMuted) = (true, true) }, at: 10)
        let ended = Self.room { $0.isMuted = true }
        for step in 0..<20 { #expect(Self.press(" ", &keys, ended, at: 10.5 + 0.04 * Double(step)) == nil) }
        #expect(keys.releaseTalkKey(ended, at: Self.time(12)) == nil)
        #expect(Self.press(" ", &keys, ended, at: 13) == .perform(.setMuted(false)))
    }

    @Test func `m mutes and unmutes also during push to talk`() {
        var keys = RoomKeyBindings()
        #expect(Self.press("m", &keys, Self.room { $0.isPushToTalk = true }) == .perform(.setMuted(true)))
    }

    @Test(
        arguments: [
            (.auto, nil, .on), (.auto, false, .on), (.auto, true, .off), (.on, true, .off), (.off, false, .auto),
            (.equal, true, .off),
        ] as [(MonitorMode, Bool?, MonitorMode)])
    func `o turns the monitor on or off, and after off gives it back to auto`(
        mode: MonitorMode, isOn: Bool?, next: MonitorMode
    ) {
        let snapshot = Self.room {
            $0.monitorMode = mode
            $0.monitor = isOn.map {
                VoiceProcessingChoice(
                    monitor: $0 ? .on : .off, input: nil, output: nil, hasSeparateInput: false, roundTrip: 0)
            }
        }
        var keys = RoomKeyBindings()
        for key in "oO" { #expect(Self.press(key, &keys, snapshot) == .perform(.setMonitor(next))) }
    }

    @Test func `with a separate microphone o says that the monitor is unavailable`() throws {
        let session = AudioSession(SimulatedSystem.standard())
        var device = CallDevice(session, try session.activate())
        session.deactivate()
        device.hasSeparateInput = true
        var keys = RoomKeyBindings()
        #expect(Self.press("o", &keys, Self.room { $0.device = device }) == .say(MonitorSentences.unavailable))
        device.hasSeparateInput = false
        #expect(Self.press("o", &keys, Self.room { $0.device = device }) == .perform(.setMonitor(.on)))
    }

    @Test(arguments: [true, false]) func `the help has the keys of the voice`(isHost: Bool) {
        let help = RoomKeyBindings.help(isHost: isHost)
        #expect(help.contains("o  hear yourself") && help.contains("t  push to talk"))
    }

    @Test func `a monitor on a loudspeaker is warned of, by the key or the command that ends it`() {
        func route(_ form: AudioDeviceDescription.Form) -> AudioRoute {
            AudioRoute(
                output: AudioDeviceDescription(
                    id: "x", backend: .simulated, name: "x", form: form, inputChannelCount: 0, outputChannelCount: 2))
        }
        #expect(MonitorSentences.warning(on: route(.speaker), hasKeys: true)?.hasSuffix(": o") == true)
        #expect(MonitorSentences.warning(on: route(.speaker), hasKeys: false)?.hasSuffix("monitor off") == true)
        for form in [AudioDeviceDescription.Form.headphones, .headset, .unknown] {
            #expect(MonitorSentences.warning(on: route(form), hasKeys: true) == nil)
        }
        #expect(MonitorSentences.warning(on: nil, hasKeys: true) == nil)
    }

    @Test func `the status line shows push to talk instead of muted`() {
        var line = RoomStatusLine(elapsed: 12, isMuted: true, isPushToTalk: true)
        #expect(line.plain.contains("me [hold Space]") && line.sentences.contains("hold Space to talk"))
        #expect(line.text(width: 100, hasColour: true).contains("\u{1B}[33m[hold Space]\u{1B}[0m"))
        line.isMuted = false
        #expect(!line.plain.contains("hold Space"))
        line.isPushToTalk = false
        line.isMuted = true
        #expect(line.plain.contains("[  muted   ]") && line.sentences.contains("You are muted."))
    }
}
