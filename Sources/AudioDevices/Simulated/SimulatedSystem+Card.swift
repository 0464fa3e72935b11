// SPDX-License-Identifier: Apache-2.0

extension SimulatedSystem {
    /// A card of a simulated system.
    public struct Card: Sendable {
        /// The description in the list; its ``AudioDeviceDescription/id`` is the card's.
        public var description: AudioDeviceDescription
        /// The card's events and sound. The rate, the block and the channels come from the description and from the program that
        /// opens it, except ``SimulatedCard/Configuration/blockFrameCounts``, which always applies. Its script is played once,
        /// from the first start of a device on the card; a device opened later gets the remainder.
        public var configuration: SimulatedCard.Configuration
        /// True if only one device at a time can open it, like a sound card without a server.
        public var isExclusive: Bool

        /// Creates a card as described, by default with a perfect crystal.
        public init(
            _ description: AudioDeviceDescription, configuration: SimulatedCard.Configuration? = nil,
            isExclusive: Bool = false
        ) {
            self.description = description
            self.description.backend = .simulated
            self.configuration =
                configuration ?? SimulatedCard.Configuration(sampleRate: description.sampleRate, blockFrameCount: 256)
            self.isExclusive = isExclusive
        }

        /// Creates a card that is described by its configuration.
        public init(
            id: String, name: String, configuration: SimulatedCard.Configuration, isExclusive: Bool = false
        ) {
            self.init(
                AudioDeviceDescription(
                    id: id, backend: .simulated, name: name, transport: .virtual,
                    inputChannelCount: configuration.inputChannelCount,
                    outputChannelCount: configuration.outputChannelCount, sampleRate: configuration.sampleRate),
                configuration: configuration, isExclusive: isExclusive)
        }

        /// Returns the configuration of a device on this card for a request, with these numbers of inputs and outputs.
        func configuration(
            for request: AudioDeviceRequest, inputs: Int, outputs: Int
        ) throws(AudioDeviceError) -> SimulatedCard.Configuration {
            let rate = request.sampleRate ?? description.sampleRate
            guard description.sampleRates.contains(rate) else {
                let offered = description.sampleRates.map { "\(Int($0))" }.joined(separator: ", ")
                throw .unsupportedFormat(detail: "\(description.name) at \(Int(rate)) Hz; it has \(offered) Hz")
            }
            let range = description.blockFrameCounts
            if let block = request.blockFrameCount, !range.contains(block) {
                throw .unsupportedFormat(
                    detail: "\(description.name) in blocks of \(block) frames; it has \(range.lowerBound) to "
                        + "\(range.upperBound)")
            }
            var granted = configuration
            granted.sampleRate = rate
            granted.blockFrameCount = max(range.lowerBound, min(range.upperBound, request.wantedBlock(at: rate)))
            granted.inputChannelCount = description.inputChannelCount
            granted.outputChannelCount = description.outputChannelCount
            granted.inputChannelMap = request.inputChannelMap.map { Array($0.prefix(inputs)) } ?? Array(0..<inputs)
            granted.outputChannelMap =
                request.outputChannelMap.map { $0.prefix(outputs).map { [$0] } }
                ?? (outputs == 1 ? [[0, 1]] : (0..<outputs).map { [$0] })
            return granted
        }
    }
}
