import AudioBase
import AudioDSP
import AudioEngine
import BenchReports
import CKernels
import PairedTimes

/// What nodes cost that do nothing: the engine's own work.
///
/// Nanoseconds are the machine's as much as ours, and one that others use is half as fast: so the same figure stands beside
/// the least that a host in C does, and a miss is decided only where that is missed too.
enum NodeCost {
    static let limit = 20.0
    /// Times the duration of ``ck_visit``.
    private static let ratioLimit = 2.0
    private static let count = 64

    static func figures() throws -> [Report] {
        let none = try EngineRun(chain(0) { emptyUnit() })
        return try empty(beside: none) + [
            try figure("a converter that has nothing to convert", beside: none) {
                AudioConverterNode(to: AudioFormat(sampleRate: 48_000, channelCount: 2))
            },
            try figure("a unit of one gain", beside: none, limit: nil) { AudioUnitEffect(.gain) },
            try idle(),
        ]
    }

    private static func empty(beside none: EngineRun) throws -> [Report] {
        let run = try EngineRun(chain(count) { emptyUnit() })
        var times: [(node: Double, visit: Double)] = []
        for _ in 0..<201 {
            let more = nanoseconds(200) { run.blocks(200) }
            let less = nanoseconds(200) { none.blocks(200) }
            let visit = nanoseconds(200) {
                for _ in 0..<200 where ck_visit(count, run.input.channels.pointers, run.frameCount) != 0 {
                    fatalError()
                }
            }
            times.append(((more - less) / Double(count), visit / Double(count)))
        }
        let (node, visit) = (PairedTimes.median(times.map(\.node)), PairedTimes.median(times.map(\.visit)))
        let ratio = PairedTimes.median(times.map { $0.node / $0.visit })
        let name = "a unit that does nothing, a node and block of 64 stereo frames"
        return [
            Report(
                name, node, excuse: ratio <= ratioLimit ? "the machine is slow, C takes \(decimal(visit)) ns" : nil,
                "ns", .atMost(limit),
                against: "the graph without them, \(count) in a row"),
            Report(
                "\(name), \(decimal(node)) ns beside \(decimal(visit)) ns", ratio, "times the duration",
                .atMost(ratioLimit),
                against: "a call by a pointer that looks whether all samples are numbers, in C, clang -O3"),
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
        let visits = (0..<51).map { _ in
            nanoseconds(200 * count) {
                for _ in 0..<200 where ck_visit(count, silent.input.channels.pointers, 64) != 0 { fatalError() }
            }
        }
        let (node, visit) = (times.median / Double(count), PairedTimes.median(visits))
        return Report(
            "an idle equalizer, a node and block of 64 stereo frames", node, least: times.least / Double(count),
            excuse: node <= ratioLimit * visit ? "the machine is slow, C takes \(decimal(visit)) ns" : nil, "ns",
            .atMost(limit), against: "the graph without them, \(count) in a row")
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
