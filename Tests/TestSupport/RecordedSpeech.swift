// SPDX-License-Identifier: Apache-2.0

/// Recorded sentences from the package pocketsphinx-testdata.
public enum RecordedSpeech {
    /// Files of one speaker's sentences, 16 kHz, 7 and 5 s.
    public static let sentences = ["0870", "0890"].map {
        "/usr/share/pocketsphinx/test/data/librivox/sense_and_sensibility_01_austen_64kb-\($0).wav"
    }
}
