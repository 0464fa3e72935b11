// SPDX-License-Identifier: Apache-2.0

import EarshotAudioFiles

/// The output files of a mix. New ones have mode 0600, because they contain voices.
enum MixOutput {
    /// Writes a file that has its name when it is complete. An existing file is replaced and keeps its mode.
    /// - Parameter write: writes the file with the path that it gets; its errors should name `path`.
    static func write<Result>(
        _ path: String, _ write: (String) throws(MixError) -> Result
    ) throws(MixError) -> Result {
        let replacement = try output { () throws(AudioFileError) in
            try AtomicFileReplacement(of: path, isPrivate: true)
        }
        let result = try write(replacement.path)
        try output { () throws(AudioFileError) in try replacement.commit() }
        return result
    }

    /// Runs work that writes; its error names a file as the user knows it.
    static func output<Value>(
        _ name: String = "", insteadOf path: String = "", _ work: () throws(AudioFileError) -> Value
    ) throws(MixError) -> Value {
        do { return try work() } catch { throw .output(path.isEmpty ? error : error.named(name, insteadOf: path)) }
    }
}
