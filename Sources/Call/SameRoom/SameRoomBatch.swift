// SPDX-License-Identifier: Apache-2.0

/// A second of two sounds, for ``SameRoomDetector``.
struct SameRoomBatch {
    /// The mean square below which a sound is digital silence: −90 dBFS. A muted microphone says nothing.
    private static let silence: Float = 1e-9

    private(set) var microphone: [Float] = []
    private(set) var voice: [Float] = []

    /// Appends a sample of each sound; one that no converter produces counts as 0. Returns true if the batch is full.
    mutating func append(_ microphone: Float, _ voice: Float) -> Bool {
        self.microphone.append(Self.cleaned(microphone))
        self.voice.append(Self.cleaned(voice))
        return self.voice.count >= SameRoomDetector.batchFrames
    }

    mutating func removeAll() {
        microphone.removeAll(keepingCapacity: true)
        voice.removeAll(keepingCapacity: true)
    }

    /// True if both microphones have a sound.
    var isAudible: Bool { Self.isAudible(microphone) && Self.isAudible(voice) }

    private static func isAudible(_ samples: [Float]) -> Bool {
        samples.reduce(0) { $0 + $1 * $1 } > silence * Float(samples.count)
    }

    private static func cleaned(_ sample: Float) -> Float { sample.isFinite ? max(-16, min(16, sample)) : 0 }
}
