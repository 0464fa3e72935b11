// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP
import EarshotAudioEngine
import Glibc
import TestSupport

/// Applies random edits to a playing graph on virtual time: are they audible, and is the final sound the requested one?
///
/// A tone of 100 Hz passes from a source to the main mixer all the time and is never changed. Around it sources of several sample
/// rates and channel counts, gains and mixers are attached, connected, moved and detached. A plain model records the requests:
/// which edits must be refused, and the sound of a new engine built like the final graph.
public final class EditStorm {
    /// The measurements.
    public struct Report: Sendable {
        /// The requested edits of the graph and of parameters.
        public var edits = 0
        /// The edits that would close a cycle or name a missing node, and were rightly refused.
        public var refused = 0
        /// Seconds of virtual time.
        public var seconds = 0.0
        /// Edits that were wrongly accepted or refused; empty if all is well.
        public var missed: [String] = []
        /// The loudest click in dBFS; see ``ClickMeter``.
        public var clickLevel = 0.0
        /// The lowest and the highest level of the unchanged tone over 20 ms, in dB relative to its nominal level.
        public var toneLevels = (least: 240.0, greatest: -240.0)
        /// The number of pauses between edits in which every source was measured, and the largest deviation from the requested
        /// level, in dBFS.
        public var pauses = (count: 0, error: -240.0)
        /// The difference of the final sound from that of a new engine with the same graph, in dB.
        public var finalError = 0.0
        /// Frames through the unchanged path, and rendered frames.
        public var frames = (heard: 0, rendered: 0)
    }

    private enum Kind {
        case source(rate: Double, channels: Int, frequency: Double)
        case gain
        case mixer
    }
    private struct Bus: Hashable {
        var node: Int
        var bus: Int
    }

    private let kinds: [Kind]
    private let nodes: [AudioNode]
    private let engine = AudioEngine()
    private var attached: Set<Int> = []
    private var connections: [Bus: Int] = [:]  // by destination; node −1 is the main mixer
    private var gains: [Int: Float] = [:]
    private var bypassed: Set<Int> = []
    private var volumes: [Bus: Float] = [:]
    private var random: SeededRandom
    private var report = Report()

    private static let rate = 48_000.0
    private static let toneAmplitude = 0.2
    private static let sourceAmplitude = 0.01
    private static let mixerVolume: Float = 0.4  // so that mixers behind each other do not grow without bound
    /// Frames after which an edit is audible: the fades before it, its own fade, and the delays of conversions.
    private static let pause = 8_640

    private init(seed: UInt64) {
        random = SeededRandom(seed: seed)
        let rates = [48_000.0, 44_100, 96_000, 32_000, 48_000, 8_000]
        var kinds: [Kind] = rates.enumerated().map {
            .source(rate: $1, channels: $0 % 2 + 1, frequency: 150 + 50 * Double($0))
        }
        kinds += [Kind](repeating: .gain, count: 12) + [Kind](repeating: .mixer, count: 4)
        self.kinds = kinds
        nodes = kinds.indices.map { Self.make(kinds[$0], $0) }
    }

    private static func make(_ kind: Kind, _ index: Int) -> AudioNode {
        switch kind {
        case .source(let rate, let channels, let frequency):
            return tone(frequency, rate: rate, channels: channels, amplitude: sourceAmplitude, name: "source \(index)")
        case .gain: return AudioUnitEffect(.gain, name: "gain \(index)")
        case .mixer:
            let mixer = AudioMixerNode(name: "mixer \(index)")
            mixer.outputVolume = mixerVolume
            return mixer
        }
    }

    private static func tone(
        _ frequency: Double, rate: Double, channels: Int, amplitude: Double, name: String
    ) -> AudioSourceNode {
        let format = AudioFormat(sampleRate: rate, channelCount: channels)
        let period = (0..<Int(rate)).map { sine($0, frequency: frequency, rate: rate, amplitude: amplitude) }
        return AudioSourceNode(format: format, name: name) { time, count, output in
            for c in 0..<output.count {
                for i in 0..<count { output[c][i] = period[Int((time + Int64(i)) % Int64(period.count))] }
            }
            return count
        }
    }

    /// Makes edits at random times for this many seconds of virtual time.
    public static func run(
        seconds: Int, editsPerMinute: Double = 1_000, seed: UInt64, blockFrameCount: Int = 64
    ) throws -> Report {
        let storm = EditStorm(seed: seed)
        try storm.begin(storm.engine)
        try storm.rage(frames: seconds * Int(rate), gap: 60 * rate / editsPerMinute, block: blockFrameCount)
        return storm.report
    }

    private func begin(_ engine: AudioEngine) throws {
        let anchor = Self.tone(100, rate: Self.rate, channels: 1, amplitude: Self.toneAmplitude, name: "untouched")
        try engine.attach(anchor)
        try engine.connect(anchor, to: engine.mainMixerNode, bus: 0)
        try engine.enableManualRendering(format: AudioFormat(sampleRate: Self.rate, channelCount: 2))
    }

    private func rage(frames: Int, gap: Double, block: Int) throws {
        let buffer = AudioBuffer(channelCount: 2, frameCapacity: 4_096)
        var meter = ClickMeter()
        var tone = ToneMeter()
        var done = 0
        var next = gap
        var edited = 0
        func render(_ count: Int) throws {
            try engine.renderOffline(buffer.channels, frameCount: count)
            for i in 0..<count {
                meter.add(buffer.channels[0][i])
                guard let levels = tone.add(buffer.channels[0][i]), done + i >= 2 * ToneMeter.frameCount else {
                    continue
                }
                let level = decibels(levels[0] / Self.toneAmplitude)
                report.toneLevels = (min(report.toneLevels.least, level), max(report.toneLevels.greatest, level))
                if done + i - edited > Self.pause + ToneMeter.frameCount { compare(levels) }
            }
            done += count
        }
        while done < frames {
            while Double(done) >= next {
                try change()
                edited = done
                next -= gap * log(1 - random.unit())
            }
            try render(min(block, frames - done))
        }
        for _ in 0..<Int(Self.rate) / 480 { try render(480) }  // to settle, up to a whole second
        report.clickLevel = meter.level
        report.seconds = Double(done) / Self.rate
        report.frames = (Int(engine.sampleTime) + 480, done)
        report.finalError = try compare()
    }

    /// Compares each source's level in a pause with the requested one. All paths of a source have the same delay, since each
    /// converts it once.
    private func compare(_ levels: [Double]) {
        report.pauses.count += 1
        for (node, kind) in kinds.enumerated() {
            guard case .source(_, _, let frequency) = kind else { continue }
            let wanted = Self.sourceAmplitude * Double(gain(behind: node))
            let error = levels[Int(frequency / 50) - 2] - wanted
            report.pauses.error = max(report.pauses.error, decibels(abs(error)))
        }
    }

    /// Returns the gain from a node's output to the engine's.
    private func gain(behind node: Int) -> Float {
        connections.filter { $0.value == node }.keys.sorted { ($0.node, $0.bus) < ($1.node, $1.bus) }.reduce(0) {
            let way = $1.node < 0 ? 1 : gain(of: $1.node) * gain(behind: $1.node)
            return $0 + way * (volumes[$1] ?? 1)
        }
    }

    private func gain(of node: Int) -> Float {
        if case .mixer = kinds[node] { return Self.mixerVolume }
        return bypassed.contains(node) ? 1 : decibelsToGain(gains[node] ?? 0)
    }

    /// Compares the current sound with that of an engine that was built with this graph.
    private func compare() throws -> Double {
        let other = AudioEngine()
        let twins = kinds.indices.map { Self.make(kinds[$0], $0) }
        for node in attached { try other.attach(twins[node]) }
        for (bus, source) in connections {
            try other.connect(twins[source], to: bus.node < 0 ? other.mainMixerNode : twins[bus.node], bus: bus.bus)
        }
        for (node, gain) in gains { (twins[node] as? AudioUnitEffect)?["gain"]?.value = gain }
        for node in bypassed { (twins[node] as? AudioUnitEffect)?.bypass = true }
        for (bus, volume) in volumes {
            let mixer = bus.node < 0 ? other.mainMixerNode : twins[bus.node] as? AudioMixerNode
            mixer?.input(bus.bus).volume = volume
        }
        // Unconnected inputs are an error only when an engine starts.
        for (node, kind) in kinds.enumerated() where attached.contains(node) {
            if case .gain = kind, connections[Bus(node: node, bus: 0)] == nil { try other.detach(twins[node]) }
        }
        try begin(other)
        let count = Int(Self.rate)
        let mine = AudioBuffer(channelCount: 2, frameCapacity: count)
        let its = AudioBuffer(channelCount: 2, frameCapacity: count)
        func render(_ engine: AudioEngine, _ buffer: AudioBuffer) throws {
            var at = 0
            let part = AudioBuffer(channelCount: 2, frameCapacity: 480)
            while at < count {
                try engine.renderOffline(part.channels, frameCount: 480)
                for c in 0..<2 { copySamples(buffer.channels[c] + at, part.channels[c], 480) }
                at += 480
            }
        }
        try render(other, its)
        try render(other, its)
        try render(engine, mine)
        return (0..<2).map { c in
            errorDecibels(
                Array(UnsafeBufferPointer(start: its.channels[c], count: count)),
                Array(UnsafeBufferPointer(start: mine.channels[c], count: count)))
        }.max() ?? 0
    }

    // MARK: Edits

    private func pick(_ count: Int) -> Int { Int(random.next() % UInt64(count)) }

    private func change() throws {
        report.edits += 1
        switch pick(12) {
        case 0, 1: detachOrAttach(pick(nodes.count))
        case 2, 3, 4, 5, 6: connect()
        case 7: disconnect()
        case 8: try tap(pick(nodes.count))
        default: turn()
        }
    }

    private func expect(_ words: String, _ shouldWork: Bool, _ edit: () throws -> Void) -> Bool {
        do {
            try edit()
            if !shouldWork { report.missed.append("\(words) was taken") }
            return true
        } catch {
            report.refused += 1
            if shouldWork { report.missed.append("\(words): \(error)") }
            return false
        }
    }

    private func detachOrAttach(_ node: Int) {
        if attached.contains(node) {
            guard expect("detach \(node)", true, { try engine.detach(nodes[node]) }) else { return }
            attached.remove(node)
            connections = connections.filter { $0.key.node != node && $0.value != node }
        } else if expect("attach \(node)", true, { try engine.attach(nodes[node]) }) {
            attached.insert(node)
        }
    }

    private func connect() {
        let source = pick(nodes.count)
        var target = pick(nodes.count + 4)
        if case .source = kinds[min(target, nodes.count - 1)], target < nodes.count { target = nodes.count }
        let node = target < nodes.count ? target : -1
        var bus = 1 + pick(6)
        if node >= 0 {
            if case .gain = kinds[node] { bus = 0 } else { bus = pick(3) }
        }
        let there = attached.contains(source) && (node < 0 || attached.contains(node))
        let works = there && !(node >= 0 && reaches(from: node, source))
        let destination = node < 0 ? engine.mainMixerNode : nodes[node]
        if expect(
            "connect \(source) to \(node)", works, { try engine.connect(nodes[source], to: destination, bus: bus) })
        {
            connections[Bus(node: node, bus: bus)] = source
        }
    }

    /// Returns true if there is a path from `node` to `other`.
    private func reaches(from node: Int, _ other: Int) -> Bool {
        if node == other { return true }
        return connections.contains { $0.value == node && $0.key.node >= 0 && reaches(from: $0.key.node, other) }
    }

    private func disconnect() {
        let keys = connections.keys.sorted { ($0.node, $0.bus) < ($1.node, $1.bus) }
        guard !keys.isEmpty else { return }
        let bus = keys[pick(keys.count)]
        let node = bus.node < 0 ? engine.mainMixerNode : nodes[bus.node]
        if expect("disconnect \(bus)", true, { try engine.disconnectNodeInput(node, bus: bus.bus) }) {
            connections[bus] = nil
        }
    }

    private func tap(_ node: Int) throws {
        guard attached.contains(node) else { return }
        if pick(2) == 0 { return engine.removeTap(from: nodes[node]) }
        try engine.installTap(on: nodes[node], bufferSize: 512) { _, _, _ in }
    }

    private func turn() {
        let node = pick(nodes.count)
        if let gain = nodes[node] as? AudioUnitEffect {
            if pick(2) == 0 {
                gain.bypass.toggle()
                bypassed.formSymmetricDifference([node])
                return
            }
            let value = -12 + 12 * Float(random.unit())
            gains[node] = value
            gain["gain"]?.value = value
            return
        }
        let bus = Bus(node: nodes[node] is AudioMixerNode ? node : -1, bus: 1 + pick(2))
        let mixer = bus.node < 0 ? engine.mainMixerNode : nodes[node] as? AudioMixerNode
        volumes[bus] = Float(random.unit())
        mixer?.input(bus.bus).volume = volumes[bus] ?? 1
    }
}
