// SPDX-License-Identifier: Apache-2.0

import EarshotAudioContainers
import EarshotAudioFiles
import EarshotDuet
import EarshotMediaTransport
import Foundation
import Glibc

/// A song's file as a duet announces it. Both functions wait for the disk.
package enum SongFile {
    /// Reads a song's hash and length.
    package static func describe(_ path: String) throws(DuetProblem) -> DuetSong {
        let (hash, byteCount) = try hash(path, limit: DuetSong.largestFile)
        let duration: Double
        do throws(AudioFileError) {
            let file = try DamageTolerantReader(path: path)
            duration = Double(file.frameCount) / file.processingFormat.sampleRate
        } catch { throw .song(error) }
        guard duration > 0 else { throw .song(.notAudio(path: path, reason: "it contains no sound")) }
        guard duration <= DuetSong.longestDuration else {
            throw .tooLong(path: path, limit: DuetSong.longestDuration)
        }
        let name = path.split(separator: "/").last.map(String.init) ?? path
        return DuetSong(name: name, byteCount: byteCount, hash: hash, duration: duration)
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
