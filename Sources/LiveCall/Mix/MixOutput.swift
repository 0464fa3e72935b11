// SPDX-License-Identifier: Apache-2.0

import EarshotAudioFiles

/// The files of a mix. They have voices of people: a new one can be read only by the user.
enum MixOutput {
    /// Writes a file that has its name when it is complete. An existing file is replaced and keeps its mode.
    /// - Parameter write: writes the file with the path that it gets; its errors should name `path`.
    static func write<Result>(
        _ path: String, _ write: (String) throws(MixError) -> Result
    ) throws(MixError) -> Result {
        let isNew = PathText.status(path) == nil
        do throws(MixError) {
            // The replacement has the mode of the file that it replaces: 0600.
            if isNew { try output { () throws(AudioFileError) in try AppendingFile(path: path).close() } }
            let replacement = try output { () throws(AudioFileError) in try AtomicFileReplacement(of: path) }
            let result = try write(replacement.path)
            try output { () throws(AudioFileError) in try replacement.commit() }
            return result
        } catch {
            if isNew { OutputPath.remove(path) }
            throw error
        }
    }

    /// Runs work that writes; its error names a file as the user knows it.
    static func output<Value>(
        _ name: String = "", insteadOf path: String = "", _ work: () throws(AudioFileError) -> Value
    ) throws(MixError) -> Value {
        do { return try work() } catch { throw .output(path.isEmpty ? error : error.named(name, insteadOf: path)) }
    }
}
