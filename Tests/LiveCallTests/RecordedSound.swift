// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioContainers

@testable import EarshotLiveCall

/// Reads the first channel of a file.
func readSamples(_ path: String) throws -> [Float] {
    let reader = try SoundFiles.open(path)
    let block = AudioBuffer(channelCount: reader.processingFormat.channelCount, frameCapacity: 4_096)
    var all: [Float] = []
    while true {
        let count = try reader.read(into: block.channels, frameCount: block.frameCapacity)
        all += UnsafeBufferPointer(start: block.channels[0], count: count)
        if count < block.frameCapacity { return all }
    }
}

extension CallRecordingSettings {
    /// Files with the exact samples.
    static var exact: CallRecordingSettings {
        var settings = CallRecordingSettings()
        settings.encoding.sampleFormat = .float32
        return settings
    }
}
