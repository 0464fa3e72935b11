// SPDX-License-Identifier: Apache-2.0

import EarshotAudioEngine

/// Rounds a number of frames and clamps it to ±2⁵⁰, thousands of years, so that sums cannot overflow; NaN becomes 0.
func boundedFrames(_ frames: Double) -> Int64 {
    frames.isNaN ? 0 : Int64(max(-0x1p50, min(0x1p50, frames.rounded())))
}

extension AudioQueueTime {
    /// Returns the time on the engine's frame counter; `Int64.min` for now, and for a host time while the engine does not render.
    func frame(of engine: AudioEngine) -> Int64 {
        switch self {
        case .now: .min
        case .sample(let sample): boundedFrames(Double(sample))
        case .host(let instant): engine.sampleTime(at: instant).map { boundedFrames(Double($0)) } ?? .min
        }
    }
}

extension AudioQueueFormat {
    /// Returns a duration as a number of frames, rounded up; at least 1.
    func frameCount(ofSeconds seconds: Double) -> Int {
        max(1, Int(boundedFrames((seconds * processingFormat.sampleRate).rounded(.up))))
    }

    /// Returns the number of packets that hold `frames` frames.
    func packetCount(ofFrames frames: Int) -> Int { 1 + (frames - 1) / framesPerPacket }

    /// Returns the number of frames that `packets` packets hold.
    /// - Throws: ``AudioQueueError/bufferTooLarge(maximum:)``.
    func frameCapacity(ofPackets packets: Int) throws(AudioQueueError) -> Int {
        let (frames, isTooMany) = packets.multipliedReportingOverflow(by: framesPerPacket)
        guard !isTooMany, frames <= AudioQueueBuffer.maximumFrameCapacity else {
            throw .bufferTooLarge(maximum: AudioQueueBuffer.maximumFrameCapacity)
        }
        return frames
    }
}
