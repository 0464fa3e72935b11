// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

extension SimulatedCard {
    /// The properties of a simulated card.
    public struct Configuration: Sendable {
        /// The nominal rate in hertz; 8,000 to 384,000.
        public var sampleRate: Double
        /// The frames of each callback, 1 to 8,192.
        public var blockFrameCount: Int
        /// The frames of successive callbacks, as a repeated pattern; empty if all have ``blockFrameCount``.
        public var blockFrameCounts: [Int] = []
        /// The number of the card's input channels, 0 to 32.
        public var inputChannelCount: Int
        /// The number of the card's output channels, 0 to 32.
        public var outputChannelCount: Int
        /// The card's channel, from 0, for each of a cycle's inputs; nil for the card's order. A missing channel is silent.
        public var inputChannelMap: [Int]?
        /// The card's channels, from 0, for each of a cycle's outputs; nil for the card's order. Missing channels are not heard.
        public var outputChannelMap: [[Int]]?
        /// The parts per million by which the card's crystal is faster than `CLOCK_MONOTONIC`; −10,000 to 10,000.
        public var driftPPM: Double
        /// The deviation of the card's callbacks from their due times. With jitter a cycle's host time is estimated by a
        /// ``DelayLockedLoop``.
        public var jitter = Jitter.none
        /// The seed of the jitter: the same seed gives the same deviations.
        public var seed: UInt64 = 1
        /// The scripted events, in any order.
        public var script: [Event] = []
        /// The microphone's sound; silence while the ring is empty, or without a ring. The ring has at most as many channels as
        /// the card has inputs. The card retains the ring and is its only reader.
        public var source: AudioRing?
        /// True if the microphone's sound begins with the first sound of the loudspeaker, at the same instant at both converters: a
        /// singer who begins with the song.
        package var sourceFollowsSound = false
        /// The loudspeaker's sound. The ring has at most as many channels as the card has outputs. The card retains the ring and
        /// is its only writer. A block that does not fit becomes a gap in the ring.
        public var sink: AudioRing?

        /// Creates a configuration; by default of one input, one output and a perfect crystal.
        public init(
            sampleRate: Double, blockFrameCount: Int, inputChannelCount: Int = 1, outputChannelCount: Int = 1,
            driftPPM: Double = 0, source: AudioRing? = nil, sink: AudioRing? = nil
        ) {
            self.sampleRate = sampleRate
            self.blockFrameCount = blockFrameCount
            self.inputChannelCount = inputChannelCount
            self.outputChannelCount = outputChannelCount
            self.driftPPM = driftPPM
            self.source = source
            self.sink = sink
        }

        /// The sample rate in hertz by `CLOCK_MONOTONIC`, with the initial drift.
        package var trueSampleRate: Double { sampleRate * (1 + driftPPM * 1e-6) }
        /// The maximum frames of a callback.
        package var longestBlock: Int { blockFrameCounts.max() ?? blockFrameCount }

        func validate() throws(AudioDeviceError) {
            func bad(_ detail: String) -> AudioDeviceError { .unsupportedFormat(detail: detail) }
            guard AudioFormat.sampleRates.contains(sampleRate) else {
                throw bad("\(sampleRate) Hz; supported: 8000 to 384000")
            }
            for count in blockFrameCounts + [blockFrameCount] {
                guard (1...IOCycle.maximumFrameCount).contains(count) else {
                    throw bad("blocks of \(count) frames; supported: 1 to 8192")
                }
            }
            let counts = 0...AudioFormat.channelCounts.upperBound
            let (inputs, outputs) = (
                inputChannelMap?.count ?? inputChannelCount, outputChannelMap?.count ?? outputChannelCount
            )
            guard counts.contains(inputChannelCount), counts.contains(outputChannelCount), counts.contains(inputs),
                counts.contains(outputs)
            else {
                throw bad(
                    "\(inputChannelCount) inputs, \(outputChannelCount) outputs; supported: 0 to \(counts.upperBound)")
            }
            guard abs(driftPPM) <= 10_000 else { throw bad("a drift of \(driftPPM) ppm; supported: −10000 to 10000") }
            try jitter.validate()
            for event in script { try event.validate() }
        }
    }
}
