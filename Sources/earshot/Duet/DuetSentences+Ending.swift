// SPDX-License-Identifier: Apache-2.0

import EarshotLiveCall

/// The sentences about takes without a mix, at the end of the program.
extension DuetSentences {
    /// Returns a sentence for each take that has no mix.
    /// - Parameter hasBegun: true if a song has begun. Without a file, nothing of it was saved.
    static func withoutMix(_ results: [DuetTakeResult], hasBegun: Bool) -> [String] {
        if results.isEmpty { return hasBegun ? [nothing] : [] }
        return results.compactMap { result in
            switch result {
            case .mix: nil
            case .voices(let folder): "No mix was saved. The voices are in \(folder)."
            case .recording(let folder): "No mix was saved. Your voice is in \(folder)."
            case .nothing: results.count == 1 ? nothing : "Nothing of another take was saved."
            }
        }
    }

    private static let nothing = "Nothing was saved."
}
