// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// The gain of a voice over time: the volumes that the recording participant had set. A change fades within 5 ms, as in the recording's own
/// mix.
struct VolumeCurve {
    /// The maximum gain: that of a call's volume is 8.
    static let maximumGain: Float = 8
    /// No recording is as long: 700 years at 48 kHz.
    private static let maximumFrame = 1 << 50
    private let points: [RecordingManifest.Volume]
    private let rampLength: Int
    private var next = 0
    private var gain: Float = 1
    private var target: Float = 1
    private var rampPast = 0

    /// - Parameter volumes: of a file, so in any order and of any value.
    init(_ volumes: [RecordingManifest.Volume], sampleRate: Double) {
        points = volumes.filter { $0.gain.isFinite && $0.frame < Self.maximumFrame }
            .map { .init(frame: max(0, $0.frame), gain: $0.gain) }.sorted { $0.frame < $1.frame }
        rampLength = max(1, Int(RecordedVoice.rampTime * sampleRate))
        rampPast = rampLength
    }

    /// Scales frames of the recording's timeline. Each call continues where the last one ended.
    mutating func apply(_ channels: Channels, frameCount: Int, at frame: Int) {
        var position = 0
        while position < frameCount {
            while next < points.count, points[next].frame <= frame + position {
                begin(points[next], at: frame + position)
            }
            var count = frameCount - position
            if next < points.count { count = min(count, points[next].frame - (frame + position)) }
            let isMoving = rampPast < rampLength
            if isMoving { count = min(count, rampLength - rampPast) }
            let step = (target - gain) / Float(rampLength)
            for c in 0..<channels.count {
                let samples = channels[c] + position
                if isMoving {
                    scaleSamples(samples, samples, count, gain: gain, step: step, past: rampPast)
                } else if target != 1 {
                    scaleSamples(samples, samples, count, gain: target)
                }
            }
            if isMoving {
                rampPast += count
                if rampPast == rampLength { gain = target }
            }
            position += count
        }
    }

    private mutating func begin(_ point: RecordingManifest.Volume, at frame: Int) {
        next += 1
        gain += (target - gain) * Float(rampPast) / Float(rampLength)
        target = max(0, min(Self.maximumGain, point.gain))
        rampPast = 0
        // A voice begins with its volume, also one that is moved before the beginning.
        if point.frame <= 0 || frame >= point.frame + rampLength { (gain, rampPast) = (target, rampLength) }
    }
}
