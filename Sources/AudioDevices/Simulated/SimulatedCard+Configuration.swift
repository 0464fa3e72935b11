import AudioBase

extension SimulatedCard {
    /// What a simulated card is like.
    public struct Configuration: Sendable {
        /// Hertz, nominal; 8,000 to 384,000.
        public var sampleRate: Double
        /// Frames in a call; 1 to 8,192.
        public var blockFrameCount: Int
        /// 0 to 32.
        public var inputChannelCount: Int
        /// 0 to 32.
        public var outputChannelCount: Int
        /// How much faster than nominal its crystal runs against `CLOCK_MONOTONIC`, in parts per million; −10,000 to
        /// 10,000.
        public var driftPPM: Double
        /// What the air brings to its microphone; silence where the ring is empty, and always without one. It has at most
        /// as many channels as the card has inputs, and outlives the card.
        public var source: AudioRing.Reader?
        /// What its loudspeaker says. It has at most as many channels as the card has outputs, and outlives the card. A
        /// block that finds it full is a gap for its reader.
        public var sink: AudioRing.Writer?

        /// A card with one input, one output and a perfect crystal, unless said otherwise.
        public init(
            sampleRate: Double, blockFrameCount: Int, inputChannelCount: Int = 1, outputChannelCount: Int = 1,
            driftPPM: Double = 0, source: AudioRing.Reader? = nil, sink: AudioRing.Writer? = nil
        ) {
            self.sampleRate = sampleRate
            self.blockFrameCount = blockFrameCount
            self.inputChannelCount = inputChannelCount
            self.outputChannelCount = outputChannelCount
            self.driftPPM = driftPPM
            self.source = source
            self.sink = sink
        }

        /// Hertz on `CLOCK_MONOTONIC`, drift included.
        public var trueSampleRate: Double { sampleRate * (1 + driftPPM * 1e-6) }

        func validate() throws(AudioDeviceError) {
            func bad(_ detail: String) -> AudioDeviceError { .unsupportedFormat(detail: detail) }
            guard AudioFormat.sampleRates.contains(sampleRate) else {
                throw bad("\(sampleRate) Hz; use 8000 to 384000")
            }
            guard (1...IOCycle.maximumFrameCount).contains(blockFrameCount) else {
                throw bad("blocks of \(blockFrameCount) frames; use 1 to 8192")
            }
            let counts = 0...AudioFormat.channelCounts.upperBound
            guard counts.contains(inputChannelCount), counts.contains(outputChannelCount) else {
                throw bad("\(inputChannelCount) inputs, \(outputChannelCount) outputs; use 0 to \(counts.upperBound)")
            }
            guard abs(driftPPM) <= 10_000 else { throw bad("a drift of \(driftPPM) ppm; use −10000 to 10000") }
        }
    }
}
