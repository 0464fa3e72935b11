// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDevices
import TestSupport

@testable import EarshotAudioSession
@testable import EarshotSimulation

/// The sound cards of a person in a ``ChangedCall``, which are opened on virtual time. Their microphones hear the person's tone.
///
/// A card needs a drawn time to open, and another one until its first block. Another program uses the last card.
final class ChangedCards: AudioSystem, @unchecked Sendable {  // used by one thread only
    /// The names of all cards; the first is the system's default.
    static let names = ["built-in", "headset", "interface", "taken"]
    static let takenName = "taken"
    /// The seconds that a card may need to open, and until its first block begins.
    private static let (openTime, startTime) = (0.05, 0.005...0.2)

    let backend = AudioBackend.simulated
    let registry = AudioDeviceRegistry()
    /// The sound of the loudspeakers since the beginning.
    private(set) var heard = HeardTimeline()
    private unowned let call: ChangedCall
    private let person: Int
    private let start: HostTime
    private var cards: [OpenCard] = []
    /// The time at which the running card's next block is due.
    private var nextBlockTime: HostTime?

    init(_ person: Int, in call: ChangedCall) {
        (self.person, self.call, start) = (person, call, call.now)
        let formats = [
            (48_000, [64, 128, 256]), (48_000, [64, 128, 256, 512]), ([44_100, 96_000][call.draw(2)], [96, 128, 441]),
            (48_000, [128]),
        ]
        registry.replace(
            with: zip(Self.names, formats).map { name, format in
                let block = format.1[call.draw(format.1.count)]
                return AudioDeviceDescription(
                    id: name, backend: .simulated, name: name, form: .speaker, inputChannelCount: 1,
                    outputChannelCount: 1, sampleRate: Double(format.0), sampleRates: [Double(format.0)],
                    blockFrameCounts: block...block, isDefaultInput: name == Self.names[0],
                    isDefaultOutput: name == Self.names[0])
            })
    }

    var failure: AudioDeviceError? { nil }

    /// The clock of the person's session.
    var clock: SessionClock {
        SessionClock(now: { self.call.now }, wait: { self.call.wait($0) }, slept: { 0 }, hasThread: false)
    }

    var nextCallTime: HostTime { cards.map(\.device.nextCallTime).min() ?? .never }

    /// True while the person is in the call with these cards.
    private var isInUse: Bool { call.peers[person]?.cards === self }

    func open(_ request: AudioDeviceRequest) throws(AudioDeviceError) -> any AudioDevice {
        guard case .device(let id) = request.output, let description = devices.first(where: { $0.id == id }) else {
            throw .noDefaultDevice(.output)
        }
        let isFirst = cards.isEmpty
        if !isFirst { call.wait(Self.openTime * call.random.unit()) }
        if id == Self.takenName { throw .busy(device: description.name) }
        let blockTime = Double(description.blockFrameCounts.lowerBound) / description.sampleRate
        let card = try OpenCard(description, ChangedCall.frequencies[person], drift: call.random.unit() - 0.5) {
            [unowned self] in
            let span = Self.startTime
            let delay =
                isFirst
                ? span.lowerBound * call.random.unit()
                : span.lowerBound + (span.upperBound - span.lowerBound) * call.random.unit()
            let begin = call.now.advanced(bySeconds: delay)
            if let nextBlockTime, isInUse {
                let gap = begin.advanced(bySeconds: blockTime).seconds(since: nextBlockTime)
                call.noteMove(of: person, gap: gap, blockTime: blockTime)
            }
            return begin
        }
        cards.append(card)
        if !isFirst, isInUse { call.beginMove(of: person) }
        return card.device
    }

    /// Runs the next cycle of the running card.
    func runCycle(at now: HostTime) {
        for (index, card) in cards.enumerated() where card.device.nextCallTime <= now {
            if card.isNew {
                let gap = nextBlockTime.map { now.seconds(since: $0) } ?? 0
                card.begin(atSecond: now.seconds(since: start))
                heard.begin(rate: card.device.sampleRate, gap: gap)
                if index > 0 { call.endMove(of: person) }
            }
            card.runCycle(at: now, &heard)
            nextBlockTime = card.device.nextCallTime
        }
    }

    /// A card that a person has opened.
    private final class OpenCard {
        let device: StackDevice
        private let microphone = AudioRing(channelCount: 1, capacity: 8_192)
        private let loudspeaker = AudioRing(channelCount: 1, capacity: 8_192)
        private let block: AudioBuffer
        private let tone: [Float]
        private var capturedFrames: Int?

        init(
            _ description: AudioDeviceDescription, _ frequency: Int, drift: Double, begin: @escaping () -> HostTime
        ) throws(AudioDeviceError) {
            let (rate, frameCount) = (description.sampleRate, description.blockFrameCounts.lowerBound)
            block = AudioBuffer(channelCount: 1, frameCapacity: frameCount)
            tone = ChangedCall.tone(frequency: frequency, rate: rate)
            device = try StackDevice(
                SimulatedCard.Configuration(
                    sampleRate: rate, blockFrameCount: frameCount, driftPPM: 100 * drift, source: microphone,
                    sink: loudspeaker),
                startingAt: begin)
        }

        var isNew: Bool { capturedFrames == nil }

        /// The microphone hears the tone from some second on.
        func begin(atSecond second: Double) { capturedFrames = Int(second * device.sampleRate) }

        func runCycle(at now: HostTime, _ heard: inout HeardTimeline) {
            let (first, frameCount) = (capturedFrames ?? 0, block.frameCapacity)
            for i in 0..<frameCount { block.channels[0][i] = tone[(first + i) % tone.count] }
            capturedFrames = first + frameCount
            microphone.writer.write(block.channels, frameCount: frameCount)
            device.runCycle(at: now)
            while true {
                let count = loudspeaker.reader.read(block.channels, frameCount: frameCount).frameCount
                guard count > 0 else { break }
                heard.append(UnsafeBufferPointer(start: block.channels[0], count: count))
            }
        }
    }
}
