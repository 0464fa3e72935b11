// SPDX-License-Identifier: Apache-2.0

/// The answer to other participants who want to record the local voice.
public enum RecordingConsent: String, Hashable, Sendable, CaseIterable {
    /// The user is asked, once per room: ``LiveCallSnapshot/isRecordingConsentRequested``.
    case ask
    /// Others may record the local voice.
    case yes
    /// Others may not record the local voice.
    case no
}
