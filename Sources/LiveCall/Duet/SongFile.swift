// SPDX-License-Identifier: Apache-2.0

import EarshotAudioContainers
import EarshotAudioFiles
import EarshotDuet
import EarshotMediaTransport
import Foundation
import Glibc

/// A song's file, or a beat in its place, as a duet announces it. Functions with a path wait for the disk.
package enum SongFile {
    /// Reads a song's hash and length.
    /// - Parameter beat: nil if unknown.
    package static func describe(_ path: String, beat: Beat? = nil) throws(DuetProblem) -> DuetSong {
        let (hash, byteCount) = try hash(path, limit: DuetSong.largestFile)
        let duration = try duration(path)
        guard duration >= DuetSong.shortestDuration else {
            throw .tooShort(path: path, limit: DuetSong.shortestDuration)
        }
        guard duration <= DuetSong.longestDuration else {
            throw .tooLong(path: path, limit: DuetSong.longestDuration)
        }
        return DuetSong(
            name: PathText.fileName(path), byteCount: byteCount, hash: hash, duration: duration, beat: beat)
    }

    /// Reads the hash and the length of a song's guide vocal.
    package static func describeGuide(_ path: String, of song: DuetSong) throws(DuetProblem) -> DuetGuide {
        let (hash, byteCount) = try hash(path, limit: DuetSong.largestFile)
        let duration = try duration(path)
        guard hash != song.hash else { throw .guideIsSong(path: path) }
        guard abs(duration - song.duration) <= guideTolerance else {
            throw .guideLength(path: path, seconds: duration, song: song.duration)
        }
        return DuetGuide(byteCount: byteCount, hash: hash)
    }

    /// The seconds by which the lengths of a song and its guide vocal may differ.
    private static let guideTolerance = 1.0

    /// Describes a beat in place of a song.
    /// - Parameter duration: in seconds, ``DuetSong/shortestDuration`` to ``DuetSong/longestDuration``.
    package static func describe(_ beat: Beat, duration: Double) -> DuetSong {
        var hasher = SHA256Hasher()
        Array("beat \(beat.tempo) \(beat.beatsPerBar) \(duration)".utf8).withUnsafeBytes { hasher.update($0) }
        return DuetSong(
            name: String(format: "Beat %g", beat.tempo), byteCount: 0, hash: hasher.finish().hex, duration: duration,
            beat: beat)
    }

    /// Returns the length of a file in seconds.
    private static func duration(_ path: String) throws(DuetProblem) -> Double {
        do throws(AudioFileError) {
            let (rate, frameCount) = try length(path)
            return Double(frameCount) / rate
        } catch { throw .song(error) }
    }

    /// Returns the rate in hertz and the frames of a song.
    /// - Throws: the errors of opening; ``AudioFileError/notAudio(path:reason:)`` for a file without a frame.
    static func length(_ path: String) throws(AudioFileError) -> (rate: Double, frameCount: Int) {
        let song = try SoundFiles.open(path)
        guard song.frameCount > 0 else { throw .notAudio(path: path, reason: "it contains no sound") }
        return (song.processingFormat.sampleRate, song.frameCount)
    }

    /// Returns a file's SHA-256 and its size.
    static func hash(_ path: String, limit: Int64) throws(DuetProblem) -> (hash: String, byteCount: Int64) {
        let descriptor = open(PathText.bytes(path), O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .unreadable(path: path, code: errno) }
        defer { close(descriptor) }
        var hasher = SHA256Hasher()
        var total: Int64 = 0
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
        defer { buffer.deallocate() }
        while true {
            let count = read(descriptor, buffer.baseAddress, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .unreadable(path: path, code: errno) }
            if count == 0 { return (hasher.finish().hex, total) }
            total += Int64(count)
            guard total <= limit else { throw .tooLarge(path: path, limit: limit) }
            hasher.update(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        }
    }
}
