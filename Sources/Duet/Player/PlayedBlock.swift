// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// A part of a block that a device played: frames of a song's ring, or silence.
package struct PlayedBlock: BitwiseCopyable, Hashable, Sendable {
    /// The block.
    package var block: DeviceBlock
    /// The first frame of the part in the block.
    package var offset: Int
    /// The frames of the part.
    package var frameCount: Int
    /// The ring frame of the part's first frame.
    package var ringFrame: Int
    /// The reason for silence; nil if the song was played.
    package var silence: SongGapReason?

    @_noLocks
    package init(_ block: DeviceBlock, offset: Int, frameCount: Int, ringFrame: Int, silence: SongGapReason?) {
        self.block = block
        self.offset = offset
        self.frameCount = frameCount
        self.ringFrame = ringFrame
        self.silence = silence
    }

    /// True if the numbers are ones that no arithmetic here overflows.
    var isValid: Bool {
        block.isValid && frameCount > 0 && (0...1 << 40).contains(ringFrame) && offset >= 0
            && offset <= block.frameCount - frameCount
    }

    /// The ring frame that is due after the part, also if frames are missing; nil if the song is stopped.
    package var dueFrame: Int? { silence == .stopped ? nil : ringFrame + frameCount }
}

/// A block of a device, with the times of one direction.
package struct DeviceBlock: BitwiseCopyable, Hashable, Sendable {
    /// The device's frame counter at the first frame.
    package var sampleTime: Int64
    package var frameCount: Int
    /// The nominal start of the cycle.
    package var hostTime: HostTime
    /// The seconds between the cycle's start and the converter: before it for captured sound, after it for played sound.
    package var latency: Double
    /// The device's own counter at ``hostTime``. It differs from ``sampleTime`` in converted sound.
    package var clockFrame: Double
    /// The seconds from the due time of the device's callback to its beginning.
    package var lateness: Double

    /// - Parameter clockFrame: nil for `sampleTime`.
    @_noLocks
    package init(
        sampleTime: Int64, frameCount: Int, hostTime: HostTime, latency: Double, clockFrame: Double? = nil,
        lateness: Double = 0
    ) {
        self.sampleTime = sampleTime
        self.frameCount = frameCount
        self.hostTime = hostTime
        self.latency = latency
        if let clockFrame { self.clockFrame = clockFrame } else { self.clockFrame = Double(sampleTime) }
        self.lateness = lateness
    }

    /// Returns the time at which the first frame passes the converter.
    func converterTime(isPlaying: Bool) -> HostTime { hostTime.advanced(bySeconds: isPlaying ? latency : -latency) }

    /// Returns true if another block has nearly the same latency: a resampler holds fractions of a frame.
    func hasLatency(of other: DeviceBlock) -> Bool { abs(latency - other.latency) < 1e-4 }

    /// True if the numbers are ones that no arithmetic here overflows.
    var isValid: Bool {
        (-(1 << 40)...1 << 40).contains(sampleTime) && (1...65_536).contains(frameCount)
            && (-(1 << 61)...1 << 61).contains(hostTime.nanoseconds) && (-1...10).contains(latency)
    }
}

/// A captured block that was written to a take's file.
package struct CapturedBlock: BitwiseCopyable, Hashable, Sendable {
    package var block: DeviceBlock
    /// The frame of the file that is the block's first frame.
    package var takeFrame: Int64

    @_noLocks
    package init(_ block: DeviceBlock, takeFrame: Int64) {
        self.block = block
        self.takeFrame = takeFrame
    }

    /// True if the numbers are ones that no arithmetic here overflows.
    var isValid: Bool { block.isValid && (0...SongPosition.frameLimit).contains(takeFrame) }
}
