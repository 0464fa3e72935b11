// SPDX-License-Identifier: Apache-2.0

import EarshotAudioDevices

/// The user's choice of voice processing.
public enum VoiceProcessingMode: String, Hashable, Sendable, CaseIterable {
    /// On for a mono call with a loudspeaker and an open microphone.
    case auto
    /// On, except with blocks that are too long.
    case on
    /// Never on.
    case off
}

/// The choice for a route, and its reason: voice processing on or off, or the monitor on or off.
public struct VoiceProcessingChoice: Hashable, Sendable {
    /// True if voice processing or the monitor is on.
    public let isOn: Bool
    /// The reason in a few words.
    public let reason: String

    /// Chooses voice processing.
    /// - Parameters:
    ///   - input: the microphone's device; nil if nothing is captured.
    ///   - output: the loudspeaker's device; nil if nothing is played.
    ///   - channelCount: the channels of the call.
    ///   - blockFrameCount: the frames of a block of the open device.
    ///   - maximumBlockFrameCount: the maximum frames of a block, with which voice processing was created.
    public init(
        _ mode: VoiceProcessingMode, input: AudioDeviceDescription?, output: AudioDeviceDescription?,
        channelCount: Int, blockFrameCount: Int, maximumBlockFrameCount: Int
    ) {
        var (isOn, reason) =
            switch mode {
            case .on: (true, "as asked")
            case .off: (false, "as asked")
            case .auto: Self.automatic(input, output, channelCount)
            }
        if isOn, blockFrameCount > maximumBlockFrameCount {
            isOn = false
            reason =
                "the device's blocks of \(blockFrameCount) frames are longer than \(maximumBlockFrameCount)"
        }
        (self.isOn, self.reason) = (isOn, reason)
    }

    private static func automatic(
        _ input: AudioDeviceDescription?, _ output: AudioDeviceDescription?, _ channelCount: Int
    ) -> (Bool, String) {
        guard let input, let output else { return (false, "one of microphone and loudspeaker is missing") }
        switch (input.form, output.form) {
        case (_, .headphones), (_, .headset):
            return (false, "\(output.form.rawValue): nothing gets into the microphone")
        case (.monitor, _), (.line, _): return (false, "\(input.name) is not a microphone")
        case (_, .speaker):
            // Two channels are music or a room, and voice processing would make them mono.
            return channelCount == 1
                ? (true, "a loudspeaker and an open microphone") : (false, "it would turn stereo into mono")
        default: return (false, "'\(output.name)' reports no type")
        }
    }
}
