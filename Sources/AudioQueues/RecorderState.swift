// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioFiles

/// Distributes the sound that an ``AudioRecorder`` captures: pre-roll, pauses, silence, files. Under its lock.
struct RecorderState: ~Copyable, @unchecked Sendable {  // moves with its lock
    let files: [RecordedFile]
    private(set) var frameCount = 0
    private(set) var lost = 0
    private(set) var trimmed = 0
    private(set) var peak: Float = 0
    /// The frames that passed while recording.
    private(set) var elapsed = 0
    private(set) var isClosed = false
    /// True if recording is on after all pending switches.
    private(set) var isOn = false
    /// A switch of recording on or off, at a frame of one of the engine's starts; it is reversed after `frames`.
    struct Switch {
        var start: Int
        /// The frame at the queue's rate; for `isOfEngine` at the engine's rate until that is known.
        var time: Int64
        var isOfEngine = false
        var isOn: Bool
        var frames: Int64?
    }
    /// The pending switches, in order.
    private var switches: [Switch] = []
    private var isWriting = false
    private var hasBegun = false
    /// The expected next captured frame, and the number of its engine start.
    private var expected: Int64?
    private var start = 0
    private var before: RecentFrames
    private let threshold: Float?
    private var silence: RecentFrames
    /// The frames since the last sound above the threshold.
    private var quiet = Int.max / 2
    private let zeros: AudioBuffer
    /// The maximum seconds kept in memory.
    private static let longestHeld = 600.0

    init(files: [RecordedFile], format: AudioFormat, options: AudioRecorder.Options) {
        self.files = files
        let longest = boundedFrames(Self.longestHeld * format.sampleRate)
        let held = { (seconds: Double) in Int(min(longest, boundedFrames(seconds * format.sampleRate))) }
        before = RecentFrames(channelCount: format.channelCount, capacity: held(options.preRoll))
        threshold = options.silence.map { $0.gain }
        silence = RecentFrames(channelCount: format.channelCount, capacity: max(1, held(options.silence?.kept ?? 0)))
        zeros = AudioBuffer(channelCount: format.channelCount, frameCapacity: 4_096)
    }

    /// Adds a switch. Each call is for a later frame.
    mutating func turn(_ next: Switch) {
        switches.removeAll { ($0.start, $0.time) >= (next.start, next.time) }
        switches.append(next)
        isOn = next.isOn
    }

    /// Handles captured frames.
    mutating func receiveSamples(_ samples: Channels, frameCount: Int, time: Int64, start: Int) {
        if start != self.start {
            begin(start, at: time)
        } else if let expected, time > expected {
            pass(zeros.channels, Int(time - expected), expected, isLost: true)
        }
        pass(samples, frameCount, time, isLost: false)
        expected = time + Int64(frameCount)
    }

    /// Counts a loss that no later buffer reveals, because it was the last event.
    mutating func noteLoss(_ loss: AudioQueueLoss) {
        guard let expected, loss.sampleTime == expected else { return }  // else a buffer behind it has been here
        pass(zeros.channels, loss.frameCount, expected, isLost: true)
        self.expected = expected + Int64(loss.frameCount)
    }

    /// Handles a new start of the engine, which counts from 0: pending switches keep their distance.
    private mutating func begin(_ start: Int, at time: Int64) {
        let (pending, isOn) = (switches, isOn)
        switches = []
        for var next in pending {
            if next.start < start {
                next.start = start
                next.time = time + (expected.map { max($0, next.time) - $0 } ?? 0)
            }
            turn(next)
        }
        self.isOn = isOn
        self.start = start
    }

    private mutating func pass(_ samples: Channels, _ frameCount: Int, _ time: Int64, isLost: Bool) {
        var done = 0
        while done < frameCount {
            let now = time + Int64(done)
            while let next = switches.first, (next.start, next.time) <= (start, now) {
                apply(next.isOn)
                switches.removeFirst()
                if let frames = next.frames {
                    switches.insert(Switch(start: start, time: now + frames, isOn: false, frames: nil), at: 0)
                }
                if switches.isEmpty { isOn = isWriting }
            }
            var count = frameCount - done
            if let next = switches.first, next.start == start { count = Int(min(Int64(count), next.time - now)) }
            if isLost { count = min(count, zeros.frameCapacity) }
            let offset = isLost ? 0 : done
            if isWriting {
                elapsed += count
                if isLost { lost += count }
                write(samples, count, offset)
            } else if before.capacity > 0, !hasBegun {
                _ = before.append(samples, offset: offset, frameCount: count)
            }
            done += count
        }
    }

    private mutating func apply(_ isOn: Bool) {
        isWriting = isOn
        guard isOn, !hasBegun else { return }
        hasBegun = true
        var pieces: [(Channels, Int, Int)] = []
        before.drain { pieces.append(($0, $1, $2)) }
        for (samples, offset, count) in pieces { write(samples, count, offset) }
    }

    /// Writes frames without the silence, except for the kept seconds around each sound.
    private mutating func write(_ samples: Channels, _ frameCount: Int, _ offset: Int) {
        guard let threshold else { return append(samples, frameCount, offset) }
        var start = offset
        for i in offset..<offset + frameCount {
            var isSound = false
            for c in 0..<samples.count where abs(samples[c][i]) > threshold { isSound = true }
            if isSound {
                if quiet > silence.capacity {
                    hold(samples, i - start, start)
                    var pieces: [(Channels, Int, Int)] = []
                    silence.drain { pieces.append(($0, $1, $2)) }
                    for (held, at, count) in pieces { append(held, count, at) }
                    start = i
                }
                quiet = 0
            } else {
                quiet += 1
                if quiet == silence.capacity + 1 {
                    append(samples, i - start, start)
                    start = i
                }
            }
        }
        let rest = offset + frameCount - start
        if quiet > silence.capacity { hold(samples, rest, start) } else { append(samples, rest, start) }
    }

    private mutating func hold(_ samples: Channels, _ count: Int, _ offset: Int) {
        trimmed += silence.append(samples, offset: offset, frameCount: count)
    }

    private mutating func append(_ samples: Channels, _ count: Int, _ offset: Int) {
        guard count > 0 else { return }
        frameCount += count
        for c in 0..<samples.count { peak = max(peak, peakAndEnergyOfSamples(samples[c] + offset, count).peak) }
        for file in files { file.write(samples, frameCount: count, offset: offset) }
    }

    /// Finishes the files.
    mutating func close() {
        guard !isClosed else { return }
        isClosed = true
        trimmed += silence.held
        for file in files { file.close() }
    }
}
