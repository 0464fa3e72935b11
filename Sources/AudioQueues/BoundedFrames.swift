// SPDX-License-Identifier: Apache-2.0

import EarshotAudioEngine

/// Whole frames of any number that a caller gives: within ±2⁵⁰, thousands of years, so that they can be counted on without
/// overflow; NaN is 0.
func boundedFrames(_ frames: Double) -> Int64 {
    frames.isNaN ? 0 : Int64(max(-0x1p50, min(0x1p50, frames.rounded())))
}

extension AudioQueueTime {
    /// The engine's frame, which is not known at the queue's rate before the engine is started; `Int64.min` for now.
    func frame(of engine: AudioEngine) -> Int64 {
        switch self {
        case .now: .min
        case .sample(let sample): boundedFrames(Double(sample))
        case .host(let instant): engine.sampleTime(at: instant).map { boundedFrames(Double($0)) } ?? .min
        }
    }
}

extension AudioQueueFormat {
    /// Frames of so many seconds, the last one begun; at least one.
    func frameCount(ofSeconds seconds: Double) -> Int {
        max(1, Int(boundedFrames((seconds * processingFormat.sampleRate).rounded(.up))))
    }

    /// Packets that hold so many frames.
    func packetCount(ofFrames frames: Int) -> Int { 1 + (frames - 1) / framesPerPacket }

    /// Frames that so many packets hold.
    /// - Throws: ``AudioQueueError/bufferTooLarge(maximum:)``.
    func frameCapacity(ofPackets packets: Int) throws(AudioQueueError) -> Int {
        let (frames, isTooMany) = packets.multipliedReportingOverflow(by: framesPerPacket)
        guard !isTooMany, frames <= AudioQueueBuffer.maximumFrameCapacity else {
            throw .bufferTooLarge(maximum: AudioQueueBuffer.maximumFrameCapacity)
        }
        return frames
    }
}
