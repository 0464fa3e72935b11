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
        if configuration.customMode > 0, customEnd >= 0 {
            var missing = min((header.position &- customEnd) / length, 8)
            while missing > 0 {
                _ = opusCustom.conceal(into: stage, offset: 0)
                missing &-= 1
            }
        }
        var done = 0
        for frame in 0..<count {
            let decoded = opusCustom.decode(bytes + frame &* size, byteCount: size, into: stage, offset: done)
            guard decoded > 0 else { break }
            done &+= decoded
        }
        customEnd = header.position &+ done
        return done
    }
}
