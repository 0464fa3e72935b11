// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

extension SimulatedCard {
    /// The mapping between the card's channels and the cycle's channels.
    final class Wiring: @unchecked Sendable {  // written by `init` only, but for samples, which the driving thread uses
        /// The mapping as the render thread uses it.
        struct View: @unchecked Sendable {  // memory that the wiring owns
            /// The channels of the card's converters.
            let captured: Channels
            let played: Channels
            let silence: Channels
            /// The cycle's buffers.
            let input: Channels
            let output: Channels
            /// Pairs of a cycle's output and a card's channel that plays it; not used if ``isDirect``.
            let routes: UnsafeMutablePointer<(from: Int, to: Int)>
            let routeCount: Int
            let isDirect: Bool  // true if `played` is `output`: output n is played on the card's channel n
        }

        let view: View
        private let capturedBuffer: AudioBuffer
        private let silenceBuffer: AudioBuffer
        private let playedBuffer: AudioBuffer
        private let outputBuffer: AudioBuffer
        private let pointers: UnsafeMutablePointer<UnsafeMutablePointer<Float>>

        init(_ configuration: Configuration) {
            let frames = configuration.longestBlock
            let (inputs, outputs) = (configuration.inputChannelCount, configuration.outputChannelCount)
            capturedBuffer = AudioBuffer(channelCount: inputs + 1, frameCapacity: frames)  // the last stays silent
            silenceBuffer = AudioBuffer(channelCount: max(1, outputs), frameCapacity: frames)
            playedBuffer = AudioBuffer(channelCount: max(1, outputs), frameCapacity: frames)
            let inputMap = configuration.inputChannelMap ?? Array(0..<inputs)
            let outputMap = configuration.outputChannelMap ?? (0..<outputs).map { [$0] }
            outputBuffer = AudioBuffer(channelCount: max(1, outputMap.count), frameCapacity: frames)
            pointers = .allocate(capacity: max(1, inputMap.count))
            for (i, channel) in inputMap.enumerated() {
                let from = (0..<inputs).contains(channel) ? channel : inputs
                (pointers + i).initialize(to: capturedBuffer.channels[from])
            }
            var routes: [(from: Int, to: Int)] = []
            for (from, channels) in outputMap.enumerated() {
                for to in channels where (0..<outputs).contains(to) { routes.append((from, to)) }
            }
            let isDirect = outputMap == (0..<outputs).map { [$0] }
            let memory = UnsafeMutablePointer<(from: Int, to: Int)>.allocate(capacity: max(1, routes.count))
            memory.initialize(from: routes, count: routes.count)
            view = View(
                captured: Channels(capturedBuffer.channels.pointers, count: inputs),
                played: Channels((isDirect ? outputBuffer : playedBuffer).channels.pointers, count: outputs),
                silence: Channels(silenceBuffer.channels.pointers, count: outputs),
                input: Channels(pointers, count: inputMap.count),
                output: Channels(outputBuffer.channels.pointers, count: outputMap.count), routes: memory,
                routeCount: routes.count, isDirect: isDirect)
        }

        deinit {
            pointers.deallocate()
            view.routes.deallocate()
        }
    }
}

extension SimulatedCard.Wiring.View {
    /// Mixes the cycle's outputs into the card's channels on which they are played.
    @_noLocks
    func mix(_ frameCount: Int) {
        guard !isDirect else { return }
        for c in 0..<played.count { clearSamples(played[c], frameCount) }
        for r in 0..<routeCount {
            let (from, to) = (output[routes[r].from], played[routes[r].to])
            for i in 0..<frameCount { to[i] += from[i] }
        }
    }
}
