// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioFiles

/// Reads a damaged file as far as it can be decoded. Reading continues after a damage if the reader can, and ends otherwise.
final class DamageTolerantReader: SoundFileReader {
    /// The first damage; nil if there was none.
    private(set) var damage: AudioFileError?

    private let source: any SoundFileReader
    private var hasEnded = false
    /// The position of the last damage. A second one there ends reading.
    private var lastDamage = -1
    /// The maximum frames per read. At the end of a cut M4A file up to this number are lost, as the error does not say how many
    /// were decoded before it.
    private let sliceFrames: Int

    init(_ source: any SoundFileReader) {
        self.source = source
        sliceFrames = source is AudioFileReader ? Int.max : 512
    }

    var path: String { source.path }
    var processingFormat: AudioFormat { source.processingFormat }
    var frameCount: Int { source.frameCount }
    var framePosition: Int { source.framePosition }
    var faultCount: Int { source.faultCount }

    func seek(to frame: Int) throws(AudioFileError) {
        try source.seek(to: frame)
        hasEnded = false
    }

    func read(into channels: Channels, frameCount: Int, offset: Int) throws(AudioFileError) -> Int {
        var done = 0
        while done < frameCount, !hasEnded {
            let start = source.framePosition
            let wanted = min(frameCount - done, sliceFrames)
            do {
                let got = try source.read(into: channels, frameCount: wanted, offset: offset + done)
                done += got
                if got < wanted { finish() }
            } catch {
                guard case .damaged = error else { throw error }
                damage = damage ?? error
                let position = source.framePosition
                // At the end of a file that was cut off the position jumps to the declared length.
                guard position - start <= wanted, position < source.frameCount, position != lastDamage else {
                    hasEnded = true
                    break
                }
                done += position - start
                lastDamage = position
            }
        }
        return done
    }

    private func finish() {
        hasEnded = true
        guard damage == nil, (source as? AudioFileReader)?.isCutOff == true else { return }
        damage = .damaged(path: path, reason: "its end is missing")
    }
}
