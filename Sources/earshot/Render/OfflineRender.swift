// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP
import EarshotAudioEngine
import EarshotAudioFiles
import Foundation

/// Renders a graph to a file, block by block, until its inputs have ended and the tail has decayed.
struct OfflineRender {
    /// The greatest magnitude of a sample that counts as silence: −100 dBFS.
    static let silence: Float = 1e-5
    /// The seconds of silence after which the tail counts as decayed; more than the delay unit's longest delay.
    static let silenceTimeout = 3.0
    /// The maximum seconds of a tail whose length the user did not request.
    static let longestTail = 60.0

    /// The length, level and faults of a rendering.
    struct Result {
        var frameCount = 0
        /// The number of frames before the tail, up to the end of the last input.
        var inputFrameCount = 0
        /// The seconds that the rendering took.
        var elapsed = 0.0
        /// The highest sample in dBFS.
        var peak = -Double.infinity
        /// The integrated loudness in LUFS.
        var loudness = -Double.infinity
        /// The samples above full scale.
        var clippedSamples = 0
        /// True if the rendering stopped after ``longestTail``, before ``silenceTimeout`` seconds of silence.
        var isTailCut = false
        /// The number of parameter changes due after the end of the file; ``firstLateChange`` is the earliest.
        var lateChanges = 0
        var firstLateChange: GraphFile.Change?
    }

    private let graph: GraphBuilder
    private let changes: [GraphFile.Change]
    private let output: any SoundFileWriter
    private let blockFrameCount: Int
    private let tail: Double?
    private let rendered: AudioBuffer
    private let heldSilence: AudioBuffer
    private var heldFrameCount = 0
    private var nextChange = 0
    private let meter: LoudnessMeter
    private var result = Result()

    /// - Parameters:
    ///   - tail: the seconds to render after the last input; nil to stop when the sound has decayed.
    init(_ graph: GraphBuilder, changes: [GraphFile.Change], to output: any SoundFileWriter, block: Int, tail: Double?)
    {
        self.graph = graph
        self.changes = changes
        self.output = output
        blockFrameCount = block
        self.tail = tail
        let format = graph.format
        rendered = AudioBuffer(channelCount: format.channelCount, frameCapacity: block)
        heldSilence = AudioBuffer(
            channelCount: format.channelCount, frameCapacity: Self.frames(Self.silenceTimeout, format) + block)
        meter = LoudnessMeter(
            sampleRate: format.sampleRate, channelCount: format.channelCount, measuresTruePeak: false)
    }

    private static func frames(_ seconds: Double, _ format: AudioFormat) -> Int {
        Int((seconds * format.sampleRate).rounded(.up))
    }

    /// - Parameter progress: called after each block with the seconds rendered so far and the expected total seconds. The total
    ///   leaves out a tail of unknown length.
    mutating func run(progress: (Double, Double) -> Void) throws -> Result {
        let clock = ContinuousClock()
        let start = clock.now
        let format = graph.format
        let inputFrameCount = Self.frames(graph.sources.compactMap(\.end).max() ?? 0, format)
        let totalFrameCount = inputFrameCount + Self.frames(tail ?? (graph.isEndless ? 0 : Self.longestTail), format)
        let endsWithDecay = tail == nil && !graph.isEndless
        let expectedSeconds = Double(tail == nil ? inputFrameCount : totalFrameCount) / format.sampleRate
        var position = 0
        while position < totalFrameCount {
            if Interrupt.isRequested { throw ExitCodes.interrupted }
            let count = min(
                blockBeforeChanges(position),
                (position < inputFrameCount ? inputFrameCount : totalFrameCount) - position)
            try schedule(before: position + count)
            try graph.engine.renderOffline(rendered.channels, frameCount: count)
            for source in graph.sources { if let error = source.player.error { throw error } }
            if position < inputFrameCount || !endsWithDecay {
                try write(rendered.channels, count)
            } else {
                try hold(count)
            }
            position += count
            progress(Double(position) / format.sampleRate, expectedSeconds)
            if position > inputFrameCount, endsWithDecay, isOver { break }
        }
        result.isTailCut = endsWithDecay && !isOver
        let late = changes.drop { frame(of: $0) < result.frameCount }
        (result.lateChanges, result.firstLateChange) = (late.count, late.first)
        result.inputFrameCount = inputFrameCount
        (result.peak, result.loudness) = (meter.measurement.peak, meter.measurement.integrated)
        result.elapsed = (clock.now - start) / .seconds(1)
        return result
    }

    private var isOver: Bool {
        heldFrameCount >= Self.frames(Self.silenceTimeout, graph.format)
            && graph.sources.allSatisfy { $0.end == nil || $0.player.isFinished }
    }

    private func frame(of change: GraphFile.Change) -> Int {
        Int((change.time * graph.format.sampleRate).rounded())
    }

    /// Returns the frame count of the next block. The block ends early if one node would have too many pending changes.
    private func blockBeforeChanges(_ position: Int) -> Int {
        var pending = ChangeCount()
        let windowFrameCount = ChangeCount.windowFrameCount(graph.format)
        // Changes that a slower part of the graph has not reached yet are pending too.
        for change in changes[..<nextChange].reversed() {
            guard frame(of: change) > position - windowFrameCount else { break }
            _ = pending.add(change)
        }
        for change in changes[nextChange...] {
            let frame = frame(of: change)
            guard frame < position + blockFrameCount else { break }
            if !pending.add(change), frame > position { return frame - position }
        }
        return blockFrameCount
    }

    /// Passes the parameter changes that are due before the frame `end` to the engine.
    private mutating func schedule(before end: Int) throws {
        while nextChange < changes.count {
            let change = changes[nextChange]
            guard frame(of: change) < end else { return }
            for parameter in graph.parameters(of: change) {
                try graph.placed(change.place) {
                    try parameter.setValue(change.value, ramp: change.ramp, at: Int64(frame(of: change)))
                }
            }
            nextChange += 1
        }
    }

    /// Writes the rendered block. Holds its trailing silence back until sound follows, so that the file does not end in silence.
    private mutating func hold(_ count: Int) throws {
        let soundFrameCount = lastSound(count)
        if soundFrameCount > 0 {
            if heldFrameCount > 0 { try write(heldSilence.channels, heldFrameCount) }
            heldFrameCount = 0
            try write(rendered.channels, soundFrameCount)
        }
        let freeFrameCount = heldSilence.frameCapacity - heldFrameCount
        let keptFrameCount = min(freeFrameCount, count - soundFrameCount)
        for c in 0..<heldSilence.channels.count {
            copySamples(
                heldSilence.channels[c] + heldFrameCount, rendered.channels[c] + soundFrameCount, keptFrameCount)
        }
        heldFrameCount += keptFrameCount
    }

    /// Returns the index after the rendered block's last frame that is louder than ``silence``; 0 if all frames are silent.
    private func lastSound(_ count: Int) -> Int {
        var last = 0
        for c in 0..<rendered.channels.count {
            let samples = rendered.channels[c]
            var i = count
            while i > last, abs(samples[i - 1]) <= Self.silence { i -= 1 }
            last = max(last, i)
        }
        return last
    }

    private mutating func write(_ channels: Channels, _ count: Int) throws {
        try output.write(channels, frameCount: count)
        meter.add(channels, frameCount: count)
        for c in 0..<channels.count {
            let samples = channels[c]
            for i in 0..<count where abs(samples[i]) > 1 { result.clippedSamples += 1 }
        }
        result.frameCount += count
    }
}

/// Counts the pending changes of each node, and of each input of a mixer or environment.
private struct ChangeCount {
    private struct Target: Hashable {
        var node: String
        /// The input bus of a mixer or environment; nil for the node itself.
        var bus: Int?
    }

    /// The maximum number of pending changes of one node or one input.
    static let limit = 256
    /// The seconds for which a change counts as pending, from its time on.
    static let span = 0.001
    private var counts: [Target: Int] = [:]

    /// Returns ``span`` as a number of frames.
    static func windowFrameCount(_ format: AudioFormat) -> Int { Int(span * format.sampleRate) }

    private static func targets(_ change: GraphFile.Change) -> [Target] {
        let buses: [Int?] = change.buses.isEmpty ? [nil] : change.buses
        return buses.map { Target(node: change.node, bus: $0) }
    }

    /// Adds a change. Returns false if the node or input then has more than ``limit`` pending changes.
    mutating func add(_ change: GraphFile.Change) -> Bool {
        var fits = true
        for target in Self.targets(change) {
            counts[target, default: 0] += 1
            if counts[target, default: 0] > Self.limit { fits = false }
        }
        return fits
    }

    mutating func remove(_ change: GraphFile.Change) {
        for target in Self.targets(change) { counts[target, default: 0] -= 1 }
    }
}

extension GraphFile {
    /// Throws if more changes of a node or input are due within a millisecond than it can store. Call this before writing output.
    func checkChanges() throws(GraphFileError) {
        var pending = ChangeCount()
        var firstPending = 0
        for change in changes {
            while changes[firstPending].time < change.time - ChangeCount.span {
                pending.remove(changes[firstPending])
                firstPending += 1
            }
            guard pending.add(change) else {
                throw GraphFileError(
                    file: path, place: change.place,
                    problem: "'\(change.node)' has more than \(ChangeCount.limit) changes within a millisecond; "
                        + "leave some of them out")
            }
        }
    }
}
