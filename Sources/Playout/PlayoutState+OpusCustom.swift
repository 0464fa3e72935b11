import AudioBase
import AudioCodecs

extension PlayoutState {
    /// Decodes a packet of Opus Custom to the stage: as many frames of one size as its header's length tells.
    /// - Returns: the frames of sound, 0 where none decodes.
    @_noLocks
    mutating func decodeCustom(_ bytes: UnsafePointer<UInt8>, _ header: PacketHeader) -> Int {
        guard let opusCustom, header.frameCount <= stageCapacity else { return 0 }
        let length = opusCustom.frameCount
        let count = header.frameCount / length
        guard count > 0 else { return 0 }
        let size = header.byteCount / count
        if customEnd >= 0 { followLoss((header.position &- customEnd) / length, opusCustom) }
        var done = 0
        for frame in 0..<count {
            let decoded = opusCustom.decode(bytes + frame &* size, byteCount: size, into: stage, offset: done)
            guard decoded > 0 else { break }
            done &+= decoded
        }
        customEnd = header.position &+ done
        return done
    }

    /// Lets the decoder make up what was lost, unheard (linear prediction is what is heard), so that what it decodes next joins
    /// what it knows. After eight frames it knows nothing more that lasts.
    @_noLocks
    private mutating func followLoss(_ missing: Int, _ opusCustom: OpusCustomDecoder.Renderer) {
        var left = min(missing, 8)
        while left > 0 {
            _ = opusCustom.conceal(into: stage, offset: 0)
            left &-= 1
        }
    }
}
