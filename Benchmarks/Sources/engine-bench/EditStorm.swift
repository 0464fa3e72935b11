import AudioBase
import AudioEngine
import Foundation
import TestSupport

/// A thousand edits a minute of a graph that sounds, in virtual time. The sources are sines of known phase, the rest is gains,
/// so what must be heard after each edit is known to the sample; and whatever is heard above 2 kHz is a click.
final class EditStorm {
    private static let sources = 6
    private static let interval = 2_880  // 60 ms
    private static let fade = 960
    private let engine = AudioEngine()
    private let side = AudioMixerNode(name: "side")
    private var channels: [Channel] = []
    private var random = SeededRandom(seed: 4)
    private let output = AudioBuffer(channelCount: 2, frameCapacity: 64)
    private var clicks = ClickMeter()
    private var made: [String: Int] = [:]

    /// One source, and where it goes.
    private struct Channel {
        enum Route { case none, direct, throughGain, throughSide }
        let number: Int
        let table: [Float]
        var source: AudioSourceNode
        var gain = AudioUnitEffect(.gain)
        var route = Route.none
        var factor: Float = 1  // of the gain node
        var volume: Float = 1  // at the mixer

        var amplitude: Float {
            switch route {
            case .none: 0
            case .direct, .throughSide: volume
            case .throughGain: volume * factor
            }
        }
    }

    static func figures(minutes: Int) throws -> [Report] { try EditStorm().run(minutes: minutes) }

    private init() throws {
        try engine.attach(side)
        try engine.connect(side, to: engine.mainMixerNode, bus: Self.sources)
        for number in 0..<Self.sources {
            let table = (0..<960).map { Float(0.1 * sin(2 * Double.pi * Double($0 * (number + 1)) / 960)) }
            channels.append(Channel(number: number, table: table, source: Self.source(table)))
        }
        try engine.enableManualRendering(
            format: AudioFormat(sampleRate: 48_000, channelCount: 2), maximumFrameCount: 64)
    }

    private static func source(_ table: [Float]) -> AudioSourceNode {
        AudioSourceNode(format: AudioFormat(sampleRate: 48_000, channelCount: 1)) { time, count, output in
            var at = Int(time % 960)
            for i in 0..<count {
                output[0][i] = table[at]
                at = at == 959 ? 0 : at + 1
            }
            return count
        }
    }

    private func run(minutes: Int) throws -> [Report] {
        let count = minutes * 1_000
        var missed = 0
        var worst: Float = 0
        let start = HostTime.now()
        for edit in 0..<count {
            try change(&channels[Int(random.next() % UInt64(Self.sources))])
            let amplitudes = channels.map(\.amplitude)
            var error: Float = 0
            for block in 0..<(Self.interval / 64) {
                try engine.renderOffline(output.channels, frameCount: 64)
                clicks.take(output.channels[0], 64)
                guard block * 64 >= Self.fade + 64 else { continue }
                let time = edit * Self.interval + block * 64
                for i in 0..<64 {
                    var wanted: Float = 0
                    for (k, a) in amplitudes.enumerated() { wanted += a * channels[k].table[(time + i) % 960] }
                    error = max(error, abs(output.channels[0][i] - wanted), abs(output.channels[1][i] - wanted))
                }
            }
            if error > 1e-4 { missed += 1 }
            worst = max(worst, error)
        }
        let seconds = HostTime.now().seconds(since: start)
        let kinds = made.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
        let whole = "\(count) edits in \(minutes) minutes (\(kinds); rendered in \(decimal(seconds)) s)"
        return [
            Report("\(whole), missed", Double(missed), "", .atMost(0), against: "the sum of sines that is due"),
            Report(
                "the same, from what is due after each fade", 20 * log10(Double(max(worst, 1e-9))), "dBFS",
                .atMost(-80),
                against: "the sum of sines that is due"),
            Report(
                "the same, heard above 2 kHz", 20 * log10(max(clicks.top, 1e-9)), "dBFS", .atMost(-60),
                against: "silence"),
        ]
    }

    private func count(_ kind: String) { made[kind, default: 0] += 1 }

    private func change(_ channel: inout Channel) throws {
        let mixer = engine.mainMixerNode
        let bus = channel.number
        switch (channel.route, random.next() % 5) {
        case (.none, 0...2):
            let (source, gain) = (channel.source, channel.gain)
            try engine.edit { edit throws(AudioEngineError) in
                try edit.attach(source)
                try edit.attach(gain)
                try edit.connect(source, to: mixer, bus: bus)
            }
            channel.route = .direct
            count("connected")
        case (.none, _):
            // Detached and made anew.
            let old = channel.source
            if engine.attachedNodes.contains(where: { $0 === old }) { try engine.detach(old) }
            channel.source = Self.source(channel.table)
            let new = channel.source
            try engine.edit { edit throws(AudioEngineError) in
                try edit.attach(new)
                try edit.connect(new, to: mixer, bus: bus)
            }
            channel.route = .direct
            count("attached anew")
        case (.direct, 0):
            let (source, gain) = (channel.source, channel.gain)
            try engine.edit { edit throws(AudioEngineError) in
                try edit.attach(gain)
                try edit.connect(source, to: gain)
                try edit.connect(gain, to: mixer, bus: bus)
            }
            channel.route = .throughGain
            count("put through a gain")
        case (.throughGain, 0):
            let (source, gain) = (channel.source, channel.gain)
            try engine.edit { edit throws(AudioEngineError) in
                try edit.connect(source, to: mixer, bus: bus)
                try edit.detach(gain)
            }
            channel.route = .direct
            count("gains detached")
        case (.throughGain, 1...2):
            let decibels = -Float(random.next() % 25)
            channel.factor = Float(pow(10, Double(decibels) / 20))
            try channel.gain.parameter("gain").value = decibels
            count("gains moved")
        case (.direct, 1), (.throughGain, 3):
            try engine.disconnectNodeInput(mixer, bus: bus)
            let gain = channel.gain
            if channel.route == .throughGain { try engine.disconnectNodeInput(gain) }
            channel.route = .none
            count("disconnected")
        case (.direct, 2):
            let (source, side) = (channel.source, side)
            try engine.edit { edit throws(AudioEngineError) in
                try edit.disconnectNodeInput(mixer, bus: bus)
                try edit.connect(source, to: side, bus: bus)
            }
            side.input(bus).volume = channel.volume
            channel.route = .throughSide
            count("led through another mixer")
        case (.throughSide, 0...2):
            let (source, side) = (channel.source, side)
            try engine.edit { edit throws(AudioEngineError) in
                try edit.disconnectNodeInput(side, bus: bus)
                try edit.connect(source, to: mixer, bus: bus)
            }
            mixer.input(bus).volume = channel.volume
            channel.route = .direct
            count("led back")
        default:
            channel.volume = Float(random.next() % 101) / 100
            let input = channel.route == .throughSide ? side.input(bus) : mixer.input(bus)
            input.volume = channel.volume
            count("volumes moved")
        }
    }
}

/// The loudest sample of what lies above 2 kHz, by a high-pass of the third order.
struct ClickMeter {
    private var last = SIMD3<Double>(repeating: 0)
    private var held = SIMD3<Double>(repeating: 0)
    private let pole = 1 / (1 + 2 * Double.pi * 2_000 / 48_000)
    private(set) var top = 0.0

    mutating func take(_ samples: UnsafePointer<Float>, _ count: Int) {
        for i in 0..<count {
            var x = Double(samples[i])
            for k in 0..<3 {
                held[k] = pole * (held[k] + x - last[k])
                last[k] = x
                x = held[k]
            }
            top = max(top, abs(x))
        }
    }
}
