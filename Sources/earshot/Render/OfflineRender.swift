// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP
import EarshotAudioEngine
import EarshotAudioFiles
import Foundation

/// Renders a graph to a file, block by block, until its inputs have ended and the tail has decayed.
struct OfflineRender {
    /// The magnitude of −100 dBFS, below which the end counts as silence.
    static let silence: Float = 1e-5
    /// The seconds of silence after which no more sound is expected; longer than the delay unit's longest time.
    static let patience = 3.0
    /// The maximum seconds of a tail without a requested length.
    static let longestTail = 60.0

    /// The result.
    struct Result {
        var frameCount = 0
        /// The frames before the tail.
        var inputFrameCount = 0
        /// The elapsed seconds.
        var elapsed = 0.0
        /// The peak in dBFS.
        var peak = -Double.infinity
        /// The integrated loudness in LUFS.
        var loudness = -Double.infinity
        /// The samples above full scale.
        var clippedSamples = 0
        /// True if the tail was cut off while it sounded.
        var isTailCut = false
        /// The number of changes after the end, and the first of them.
        var lateChanges = 0
        var firstLateChange: GraphFile.Change?
    }

    private let graph: GraphBuilder
    private let changes: [GraphFile.Change]
    private let output: any SoundFileWriter
    private let block: Int
    private let tail: Double?
    private let rendered: AudioBuffer
    private let held: AudioBuffer
    private var heldCount = 0
    private var nextChange = 0
    private let meter: LoudnessMeter
    private var result = Result()

    /// - Parameters:
    ///   - tail: the seconds after the inputs; nil for as long as it sounds.
    init(_ graph: GraphBuilder, changes: [GraphFile.Change], to output: any SoundFileWriter, block: Int, tail: Double?)
    {
        self.graph = graph
        self.changes = changes
        self.output = output
        self.block = block
        self.tail = tail
        let format = graph.format
        rendered = AudioBuffer(channelCount: format.channelCount, frameCapacity: block)
        held = AudioBuffer(
            channelCount: format.channelCount, frameCapacity: Self.frames(Self.patience, format) + block)
        meter = LoudnessMeter(
            sampleRate: format.sampleRate, channelCount: format.channelCount, measuresTruePeak: false)
    }

    private static func frames(_ seconds: Double, _ format: AudioFormat) -> Int {
        Int((seconds * format.sampleRate).rounded(.up))
    }

    /// - Parameter progress: called now and then with the seconds rendered, and the total seconds as far as known.
    mutating func run(progress: (Double, Double) -> Void) throws -> Result {
        let clock = ContinuousClock()
        let start = clock.now
        let format = graph.format
        let inputs = Self.frames(graph.sources.compactMap(\.end).max() ?? 0, format)
        let total = inputs + Self.frames(tail ?? (graph.isEndless ? 0 : Self.longestTail), format)
        let isOpen = tail == nil && !graph.isEndless
        let shown = Double(tail == nil ? inputs : total) / format.sampleRate
        var at = 0
        while at < total {
            if Interrupt.isRequested { throw ExitCodes.interrupted }
            let count = min(blockBeforeChanges(at), (at < inputs ? inputs : total) - at)
            try schedule(before: at + count)
            try graph.engine.renderOffline(rendered.channels, frameCount: count)
            for source in graph.sources { if let error = source.player.error { throw error } }
            if at < inputs || !isOpen {
                try write(rendered.channels, count)
            } else {
                try hold(count)
            }
            at += count
            progress(Double(at) / format.sampleRate, shown)
            if at > inputs, isOpen, isOver { break }
        }
        result.isTailCut = isOpen && !isOver
        let late = changes.drop { frame(of: $0) < result.frameCount }
        (result.lateChanges, result.firstLateChange) = (late.count, late.first)
        result.inputFrameCount = inputs
        (result.peak, result.loudness) = (meter.measurement.peak, meter.measurement.integrated)
        result.elapsed = (clock.now - start) / .seconds(1)
        return result
    }

    private var isOver: Bool {
        heldCount >= Self.frames(Self.patience, graph.format)
            && graph.sources.allSatisfy { $0.end == nil || $0.player.isFinished }
    }

    private func frame(of change: GraphFile.Change) -> Int {
        Int((change.time * graph.format.sampleRate).rounded())
    }

    /// Returns the frames of the next block, fewer if it has more changes of one node than can be pending.
    private func blockBeforeChanges(_ at: Int) -> Int {
        var waiting = ChangeCount()
        let window = ChangeCount.window(graph.format)
        // Changes that a slower part of the graph has not reached yet are pending too.
        for change in changes[..<nextChange].reversed() {
            guard frame(of: change) > at - window else { break }
            _ = waiting.add(change)
        }
        for change in changes[nextChange...] {
            let frame = frame(of: change)
            guard frame < at + block else { break }
            if !waiting.add(change), frame > at { return frame - at }
        }
        return block
    }

    /// Schedules the changes before a frame.
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

    /// Holds silence back until sound follows, so that a file does not end in it.
    private mutating func hold(_ count: Int) throws {
        let sounding = lastSound(count)
        if sounding > 0 {
            if heldCount > 0 { try write(held.channels, heldCount) }
            heldCount = 0
            try write(rendered.channels, sounding)
        }
        let room = held.frameCapacity - heldCount
        let kept = min(room, count - sounding)
        for c in 0..<held.channels.count {
            copySamples(held.channels[c] + heldCount, rendered.channels[c] + sounding, kept)
        }
        heldCount += kept
    }

    /// Returns the frame after the last one above silence.
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
        /// The bus; nil for the node itself.
        var bus: Int?
    }

    /// The maximum pending changes of each.
    static let limit = 256
    /// The seconds within which a change is applied, at the lowest rate.
    static let span = 0.001
    private var counts: [Target: Int] = [:]

    /// Returns the frames of ``span``.
    static func window(_ format: AudioFormat) -> Int { Int(span * format.sampleRate) }

    private static func targets(_ change: GraphFile.Change) -> [Target] {
        let buses: [Int?] = change.buses.isEmpty ? [nil] : change.buses
        return buses.map { Target(node: change.node, bus: $0) }
    }

    /// Adds a change. Returns false if there are too many.
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
    /// Throws if more changes are due at one time than a node can store. Call it before anything is written.
    func checkChanges() throws(GraphFileError) {
        var waiting = ChangeCount()
        var first = 0
        for change in changes {
            while changes[first].time < change.time - ChangeCount.span {
                waiting.remove(changes[first])
                first += 1
            }
            guard waiting.add(change) else {
                throw GraphFileError(
                    file: path, place: change.place,
                    problem: "'\(change.node)' has more than \(ChangeCount.limit) changes within a millisecond; "
                        + "leave some of them out")
            }
        }
    }
}
