// SPDX-License-Identifier: Apache-2.0

import EarshotAudioEngine

/// The effects of the local voice.
extension LiveCall {
    /// Creates the effects of a command on the caller's thread, because plug-ins may take a second; nil for another command.
    func prepareEffects(for command: LiveCallCommand) throws(CommandRefusal) -> PreparedEffects? {
        guard case .setEffects(let texts) = command, !texts.isEmpty, let media else { return nil }
        if let refusal = snapshot.refusal(of: command.kind) { throw refusal }
        do throws(AudioEngineError) {
            return try PreparedEffects(texts, format: media.voiceFormat)
        } catch {
            throw .effect(error)
        }
    }
}
