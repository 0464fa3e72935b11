// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDevices
import EarshotAudioSession
import Testing

@testable import EarshotLiveCall

/// The logic of a sound check, on virtual time.
@Suite struct SoundCheckTests {
    private static func device(_ id: String, inputs: Int = 0, outputs: Int = 0) -> AudioDeviceDescription {
        AudioDeviceDescription(
            id: id, backend: .pipewire, name: id, inputChannelCount: inputs, outputChannelCount: outputs)
    }

    private static let microphone = device("mic", inputs: 1)
    private static let headphones = device("phones", outputs: 2)
    private static let route = AudioRoute(input: microphone, output: headphones)

    /// A check on virtual time, with a microphone that delivers a voice in blocks.
    private struct Rig {
        static let rate = 8_000.0
        /// Seconds between two updates.
        static let interval = 0.05

        var check: SoundCheck
        var now = HostTime(nanoseconds: 1_000_000_000)
        /// All actions so far, with the seconds from the first beginning.
        var actions: [(time: Double, action: SoundCheck.Action)] = []
        var frame = 0
        /// The first recorded frame.
        var firstRecordedFrame = 0
        let voice: [Float]
        /// Frames that the microphone delivers in a second; 0 for a device that stands still.
        var capturedRate = Rig.rate
        let start: HostTime

        init(_ route: AudioRoute = SoundCheckTests.route, seed: UInt64 = 1, gain: Float = 0.2) {
            check = SoundCheck(route, sampleRate: Self.rate)
            var random = SeededRandom(seed: seed)
            voice = (0..<120_000).map { _ in Float(2 * random.unit() - 1) * gain }
            start = now
            note(check.begin(at: now))
        }

        mutating func note(_ new: [SoundCheck.Action]) {
            let time = now.seconds(since: start)
            actions += new.map { (time: time, action: $0) }
        }

        /// Advances the time; the microphone delivers its sound in one block per update.
        mutating func run(_ seconds: Double) {
            for _ in 0..<Int((seconds / Self.interval).rounded()) {
                now = HostTime(nanoseconds: now.nanoseconds + 50_000_000)
                let count = Int(capturedRate * Self.interval)
                if count > 0 { note(check.capture(Array(voice[frame..<frame + count]), at: now)) }
                frame += count
                let isRecording = check.step == .recording
                note(check.advance(to: now))
                if check.step == .recording, !isRecording { firstRecordedFrame = frame }
            }
        }

        var notices: [SoundCheck.Notice] {
            actions.compactMap { if case .notify(let notice) = $0.action { notice } else { nil } }
        }

        var played: [(time: Double, samples: [Float])] {
            actions.compactMap { if case .play(let samples) = $0.action { ($0.time, samples) } else { nil } }
        }
    }

    @Test func `two ticks are played, then the recording, and then a decision is awaited`() throws {
        var rig = Rig()
        rig.run(6)
        let finding = try #require(rig.check.finding)
        #expect(finding.isFine)
        #expect(
            rig.notices == [
                .began(Self.route), .ticks(count: 2), .recording(seconds: 2), .judged(finding), .playback,
                .decision(finding, hasOutput: true),
            ])
        #expect(rig.check.step == .decision)
        let played = rig.played
        try #require(played.count == 3)
        for (index, time) in [0.1, 0.6].enumerated() {
            #expect(played[index].samples == SoundCheck.tick(sampleRate: Rig.rate))
            #expect(played[index].time > time - 0.01 && played[index].time < time + 0.06, "\(played[index].time)")
        }
        let first = rig.firstRecordedFrame
        #expect(played[2].samples == Array(rig.voice[first..<first + 16_000]))
        #expect(played[2].time > 2.95 && played[2].time < 3.15, "\(played[2].time)")
    }

    @Test(arguments: [0.3, 1.5, 3.5, 6]) func `the user goes on or leaves at any time, and nothing happens afterwards`(
        seconds: Double
    ) {
        for command in [SoundCheck.Command.accept, .cancel] {
            var rig = Rig()
            rig.run(seconds)
            #expect(rig.check.perform(command, at: rig.now) == [.stopPlaying])
            // Two ticks of a second and two seconds of recording precede the judgement.
            let ending: SoundCheck.Ending = command == .cancel ? .cancelled : seconds < 3 ? .skipped : .accepted
            #expect(rig.check.step == .ended(ending))
            let count = rig.actions.count
            rig.run(5)
            #expect(rig.actions.count == count)
            #expect(rig.check.perform(.restart, at: rig.now).isEmpty)
            #expect(rig.check.changeRoute(AudioRoute(), at: rig.now).isEmpty)
            #expect(rig.check.step == .ended(ending))
        }
    }

    @Test func `going on is an answer only after a judgement, which a restart and another device take back`() {
        for route in [nil, AudioRoute(input: Self.microphone, output: Self.device("other", outputs: 2))] {
            var rig = Rig()
            rig.run(3.5)
            #expect(rig.check.finding != nil)
            rig.note(route.map { rig.check.changeRoute($0, at: rig.now) } ?? rig.check.perform(.restart, at: rig.now))
            rig.run(1.5)
            rig.note(rig.check.perform(.accept, at: rig.now))
            #expect(rig.check.step == .ended(.skipped))
        }
        // Without a microphone the judgement comes after the ticks.
        var rig = Rig(AudioRoute(output: Self.headphones))
        rig.run(1.5)
        rig.note(rig.check.perform(.accept, at: rig.now))
        #expect(rig.check.step == .ended(.accepted))
    }

    @Test(arguments: [0.3, 1.5, 3.5, 6]) func `a restart stops the playback and records anew`(seconds: Double) throws {
        var rig = Rig()
        rig.run(seconds)
        let count = rig.actions.count
        rig.note(rig.check.perform(.restart, at: rig.now))
        #expect(rig.check.finding == nil && rig.check.step == .ticks)
        let expected: [SoundCheck.Action] = [.stopPlaying, .notify(.began(Self.route)), .notify(.ticks(count: 2))]
        #expect(rig.actions[count...].map(\.action) == expected)
        rig.run(6)
        let last = try #require(rig.played.last)
        let first = rig.firstRecordedFrame
        #expect(last.samples == Array(rig.voice[first..<first + 16_000]))
    }

    @Test func `another device begins the check again, and the same one does not`() {
        var rig = Rig()
        rig.run(6)
        var same = Self.route
        same.input?.name = "renamed"
        #expect(rig.check.changeRoute(same, at: rig.now).isEmpty)
        let other = AudioRoute(input: Self.microphone, output: Self.device("other", outputs: 2))
        #expect(rig.check.changeRoute(other, at: rig.now).contains(.notify(.began(other))))
        #expect(rig.check.step == .ticks && rig.check.finding == nil)
        #expect(rig.check.changeRoute(other, at: rig.now).isEmpty)
    }

    @Test func `without a loudspeaker nothing is played, and the microphone is still judged`() throws {
        var rig = Rig(AudioRoute(input: Self.microphone))
        rig.run(3)
        let finding = try #require(rig.check.finding)
        #expect(finding.isFine && rig.played.isEmpty)
        #expect(rig.notices.last == .decision(finding, hasOutput: false))
    }

    @Test func `without a microphone the check says so after the ticks, and records nothing`() {
        var rig = Rig(AudioRoute(output: Self.headphones))
        rig.run(3)
        #expect(rig.played.count == 2)
        #expect(
            rig.notices == [
                .began(AudioRoute(output: Self.headphones)), .ticks(count: 2), .judged(.noMicrophone),
                .decision(.noMicrophone, hasOutput: true),
            ])
    }

    @Test func `a silent microphone is reported, and its silence is not played`() {
        var rig = Rig(gain: 0)
        rig.run(6)
        #expect(rig.check.finding == .digitalSilence && rig.played.count == 2 && rig.check.step == .decision)
    }

    @Test(arguments: [0, 2_000.0]) func `a device that delivers no sound or too little is reported`(rate: Double) {
        var rig = Rig()
        rig.capturedRate = rate
        rig.run(4.5)
        #expect(rig.check.step == .recording && rig.check.finding == nil)
        rig.run(1)
        guard case .stalled(let seconds)? = rig.check.finding else {
            Issue.record("\(String(describing: rig.check.finding))")
            return
        }
        #expect(abs(seconds - 4 * rate / Rig.rate) < 0.05, "\(seconds)")
        #expect(rig.check.step == .decision && rig.played.count == 2)
    }

    @Test(arguments: [1, 37, 400, 16_001]) func `the recording does not depend on the blocks`(block: Int) throws {
        var rig = Rig()
        rig.capturedRate = 0
        rig.run(2)
        try #require(rig.check.step == .recording)
        var frame = 0
        while rig.check.step == .recording, frame < 32_000 {
            rig.note(rig.check.capture(Array(rig.voice[frame..<frame + block]), at: rig.now))
            frame += block
        }
        let last = try #require(rig.played.last)
        #expect(last.samples == Array(rig.voice[..<16_000]))
    }

    @Test func `the level falls by 20 dB per second`() {
        var rig = Rig(gain: 0)
        _ = rig.check.capture([0.1, -0.8, 0.2], at: rig.now)
        #expect(rig.check.inputPeak == 0.8)
        for _ in 0..<40 { _ = rig.check.capture([Float](repeating: 0, count: 200), at: rig.now) }
        #expect(abs(rig.check.inputPeak - 0.08) < 0.01, "\(rig.check.inputPeak)")
    }

    @Test(arguments: [8_000, 44_100, 192_000.0]) func `a tick begins and ends softly, below full scale`(rate: Double) {
        let tick = SoundCheck.tick(sampleRate: rate)
        let peak = tick.map(abs).max() ?? 0
        #expect(peak > 0.15 && peak <= 0.25, "\(peak)")
        #expect(tick.first == 0 && abs(tick.last ?? 1) < 0.001)
        #expect(abs(Double(tick.count) / rate - 0.06) < 0.001)
    }
}
