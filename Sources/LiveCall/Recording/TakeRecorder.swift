// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioFiles
import EarshotCall
import EarshotDuet

/// Writes the map of a take while a call is recorded: the position in the song that was heard at each frame of the local voice's
/// track. For one thread at a time; it waits for the disk.
final class TakeRecorder {
    private let log: SongLog
    private let writer: TakeWriter
    private var mapper: TakeMapper
    /// The error that ended the map early; nil if there is none.
    private(set) var error: AudioFileError?

    /// Creates the map's file.
    /// - Parameter clock: the clock that relates the microphone to the loudspeaker.
    init(path: String, _ description: TakeDescription, _ log: SongLog, _ clock: DeviceClock) throws(AudioFileError) {
        writer = try TakeWriter(path: path, description)
        self.log = log
        mapper = TakeMapper(clock, sampleRate: description.sampleRate)
    }

    /// Notes captured frames that are in the track.
    func add(_ block: CapturedBlock) { mapper.add(block) }

    /// Appends the entries that became known to the file.
    func write() { write(log.takeEntries()) }

    private func write(_ entries: [SongLog.Entry]) {
        for entry in entries {
            switch entry {
            case .ring(let piece): mapper.add(ring: piece)
            case .played(let part): mapper.add(part)
            }
        }
        append()
    }

    /// Completes the file and closes it. The map of two devices is replaced by one with smoothed clocks.
    func finish() {
        write(log.end())
        mapper.finish()
        append()
        if error == nil, let entries = mapper.smoothedEntries() {
            do throws(AudioFileError) { try writer.replace(by: entries) } catch { self.error = error }
        }
        do throws(AudioFileError) { try writer.close() } catch { self.error = self.error ?? error }
    }

    private func append() {
        let entries = mapper.takeEntries()
        guard error == nil else { return }
        do throws(AudioFileError) { try writer.write(entries) } catch { self.error = error }
    }
}
