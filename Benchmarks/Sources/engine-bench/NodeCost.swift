import AudioBase
import AudioDSP
import AudioEngine
import UnitMeasures

/// What nodes cost that do nothing: the engine's own work.
enum NodeCost {
    static let limit = 20.0
    private static let count = 64

    static func figures() throws -> [Report] {
        let none = try EngineRun(chain(0) { emptyUnit() })
        return [
            try figure("a unit that does nothing", beside: none) { emptyUnit() },
            try figure("a converter that has nothing to convert", beside: none) {
                AudioConverterNode(to: AudioFormat(sampleRate: 48_000, channelCount: 2))
            },
            try figure("a unit of one gain", beside: none, limit: nil) { AudioUnitEffect(.gain) },
            try idle(),
        ]
    }

    private static func figure(
        _ name: String, beside none: EngineRun, limit: Double? = limit, node: () -> AudioNode
    ) throws -> Report {
        let run = try EngineRun(chain(count, node))
        let times = Difference(repetitions: 201, operations: 200) {
            run.blocks(200)
        } less: {
            none.blocks(200)
        }
        return Report(
            "\(name), a node and block of 64 stereo frames", times.median / Double(count),
            least: times.least / Double(count), "ns", limit.map { .atMost($0) },
            against: "the graph without them, \(count) in a row")
    }

    /// Silence goes by what has nothing to say.
    private static func idle() throws -> Report {
        let silent = try EngineRun(chain(count) { AudioUnitEffect(.equalizer) })
        let none = try EngineRun(chain(0) { emptyUnit() })
        for run in [silent, none] { for c in 0..<2 { clearSamples(run.input.channels[c], 4_096) } }
        silent.blocks(48_000 * 10 / 64)  // until the last of them has heard nothing for long enough
        let times = Difference(repetitions: 51, operations: 200) {
            silent.blocks(200)
        } less: {
            none.blocks(200)
        }
        return Report(
            "an idle equalizer, a node and block of 64 stereo frames", times.median / Double(count),
            least: times.least / Double(count), "ns", .atMost(limit),
            against: "the graph without them, \(count) in a row")
    }

    static func chain(_ count: Int, _ node: () -> AudioNode) throws -> AudioEngine {
        let engine = AudioEngine()
        try engine.edit { edit throws(AudioEngineError) in
            var last: AudioNode = engine.inputNode
            for _ in 0..<count {
                let next = node()
                try edit.attach(next)
                try edit.connect(last, to: next)
                last = next
            }
            try edit.connect(last, to: engine.outputNode)
        }
        return engine
    }

    static func emptyUnit() -> AudioUnitEffect {
        let description = UnitDescription(
            component: AudioComponentDescription(type: .effect, subtype: "nothing", manufacturer: "bench"),
            name: "Nothing", summary: "Leaves the sound alone.", parameters: [])
        return AudioUnitEffect(unit: description) { rate, channels in
            UnitInstance(
                description: description,
                functions: UnitFunctions(set: { _, _, _ in }, process: { _, _ in }, reset: { _ in }),
                state: UnsafeMutableRawPointer.allocate(byteCount: 16, alignment: 16), sampleRate: rate,
                inputChannelCount: channels, outputChannelCount: channels, latency: 0, memory: 0
            ) { $0.deallocate() }
        }
    }
}
