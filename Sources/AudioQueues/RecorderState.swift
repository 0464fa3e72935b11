// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioFiles

/// Distributes the sound that an ``AudioRecorder`` captures: pre-roll, pauses, silence, files. Guarded by the recorder's lock.
struct RecorderState: ~Copyable, @unchecked Sendable {  // moves with its lock
    let files: [RecordedFile]
    private(set) var frameCount = 0
    private(set) var lost = 0
    private(set) var trimmed = 0
    private(set) var peak: Float = 0
    /// The number of frames that passed while recording.
    private(set) var elapsed = 0
    private(set) var isClosed = false
    /// True if recording will be on after all pending switches.
    private(set) var isOn = false
    /// A switch of recording on or off at a frame of one of the engine's starts. Recording ends after `frames` frames, if given.
    struct Switch {
        var start: Int
        /// The frame at the queue's rate. If `isOfEngine`, the frame at the engine's rate until that rate is known.
        var time: Int64
        var isOfEngine = false
        var isOn: Bool
        var frames: Int64?
    }
    /// The pending switches, in order.
    private var switches: [Switch] = []
    private var isWriting = false
    private var hasBegun = false
    /// The time of the next captured frame if no frame is lost; nil before the first frame.
    private var expectedTime: Int64?
    private var start = 0
    private var preRoll: RecentFrames
    private let threshold: Float?
    private var silence: RecentFrames
    /// The number of frames since the last sound above the threshold.
    private var quietFrameCount = Int.max / 2
    private let zeros: AudioBuffer
    /// The maximum seconds of sound kept in memory.
    private static let maximumKeptSeconds = 600.0

    init(files: [RecordedFile], format: AudioFormat, options: AudioRecorder.Options) {
        self.files = files
        let maximumFrames = boundedFrames(Self.maximumKeptSeconds * format.sampleRate)
        let frames = { (seconds: Double) in Int(min(maximumFrames, boundedFrames(seconds * format.sampleRate))) }
        preRoll = RecentFrames(channelCount: format.channelCount, capacity: frames(options.preRoll))
        threshold = options.silence.map { $0.gain }
        silence = RecentFrames(channelCount: format.channelCount, capacity: max(1, frames(options.silence?.kept ?? 0)))
        zeros = AudioBuffer(channelCount: format.channelCount, frameCapacity: 4_096)
    }

    /// Adds a switch, which replaces pending switches at the same frame or later.
    mutating func turn(_ next: Switch) {
        switches.removeAll { ($0.start, $0.time) >= (next.start, next.time) }
        switches.append(next)
        isOn = next.isOn
    }

    /// Handles captured frames, and adds silence for the frames lost before them.
    mutating func receiveSamples(_ samples: Channels, frameCount: Int, time: Int64, start: Int) {
        if start != self.start {
            begin(start, at: time)
        } else if let expectedTime, time > expectedTime {
            pass(zeros.channels, Int(time - expectedTime), expectedTime, isLost: true)
        }
        pass(samples, frameCount, time, isLost: false)
        expectedTime = time + Int64(frameCount)
    }

    /// Adds silence for a loss that no later buffer reveals, because nothing was captured after the loss.
    mutating func noteLoss(_ loss: AudioQueueLoss) {
        guard let expectedTime, loss.sampleTime == expectedTime else { return }  // a later buffer revealed the loss
        pass(zeros.channels, loss.frameCount, expectedTime, isLost: true)
        self.expectedTime = expectedTime + Int64(loss.frameCount)
    }

    /// Handles a new start of the engine, which counts from 0. Pending switches keep their distance to the next captured frame.
    private mutating func begin(_ start: Int, at time: Int64) {
        let (pending, isOn) = (switches, isOn)
        switches = []
        for var next in pending {
            if next.start < start {
                next.start = start
                next.time = time + (expectedTime.map { max($0, next.time) - $0 } ?? 0)
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
            } else if preRoll.capacity > 0, !hasBegun {
                _ = preRoll.append(samples, offset: offset, frameCount: count)
            }
            done += count
        }
    }

    private mutating func apply(_ isOn: Bool) {
        isWriting = isOn
        guard isOn, !hasBegun else { return }
        hasBegun = true
        var pieces: [(Channels, Int, Int)] = []
        preRoll.drain { pieces.append(($0, $1, $2)) }
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
                if quietFrameCount > silence.capacity {
                    hold(samples, i - start, start)
                    var pieces: [(Channels, Int, Int)] = []
                    silence.drain { pieces.append(($0, $1, $2)) }
                    for (pieceSamples, at, count) in pieces { append(pieceSamples, count, at) }
                    start = i
                }
                quietFrameCount = 0
            } else {
                quietFrameCount += 1
                if quietFrameCount == silence.capacity + 1 {
                    append(samples, i - start, start)
                    start = i
                }
            }
        }
        let rest = offset + frameCount - start
        if quietFrameCount > silence.capacity { hold(samples, rest, start) } else { append(samples, rest, start) }
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
