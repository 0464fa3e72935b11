// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioFiles

/// Reads a damaged file as far as it can be decoded. Reading continues after a damage if the reader can, and ends otherwise.
package final class DamageTolerantReader: SoundFileReader {
    /// The first damage; nil if there was none.
    package private(set) var damage: AudioFileError?

    /// The file's own reader.
    let file: any DetailedSoundFileReader
    private var lastDamagePosition = -1

    init(_ file: any DetailedSoundFileReader) { self.file = file }

    /// Opens a file as ``SoundFiles/open(_:)`` does.
    package convenience init(path: String) throws(AudioFileError) { self.init(try SoundFiles.openDetailed(path)) }

    package var path: String { file.path }
    package var processingFormat: AudioFormat { file.processingFormat }
    package var frameCount: Int { file.frameCount }
    package var framePosition: Int { file.framePosition }
    package var faultCount: Int { file.faultCount }
    package func seek(to frame: Int) throws(AudioFileError) {
        try file.seek(to: frame)
        lastDamagePosition = -1
    }

    package func read(into channels: Channels, frameCount: Int, offset: Int) throws(AudioFileError) -> Int {
        var done = 0
        while done < frameCount {
            let start = file.framePosition
            do {
                let wanted = frameCount - done
                let got = try file.read(into: channels, frameCount: wanted, offset: offset + done)
                if got < wanted, file.isCutOff {
                    damage = damage ?? .damaged(path: path, reason: "its end is missing")
                }
                return done + got
            } catch {
                guard case .damaged = error else { throw error }
                damage = damage ?? error
                done += file.framePosition - start
                // A second damage at one place: the reader cannot continue.
                if file.framePosition == lastDamagePosition { break }
                lastDamagePosition = file.framePosition
            }
        }
        return done
    }
}
