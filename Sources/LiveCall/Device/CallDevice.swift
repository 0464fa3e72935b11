// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDevices
import EarshotAudioSession

/// The sound device of a call.
public struct CallDevice: Hashable, Sendable {
    /// The sound system.
    public var backend: AudioBackend
    /// The device's name.
    public var name: String
    /// Frames per second.
    public var sampleRate: Double
    /// Frames per block.
    public var blockFrameCount: Int
    /// Seconds from the microphone to the callback.
    public var inputLatency: Double
    /// Seconds from the callback to the loudspeaker.
    public var outputLatency: Double
    /// The priority of the callback's thread; nil if it is scheduled normally.
    public var realTimePriority: Int?
    /// The converters' sample type.
    public var sampleType: SampleType
    /// The microphone and the loudspeaker.
    public var route: AudioRoute
    /// True if microphone and loudspeaker are separate devices, each with its own clock.
    public var hasSeparateInput = false
    /// The knowledge of the delays beyond their report.
    package var delayKnowledge = DelayKnowledge.reported

    /// Creates the description of a session's device.
    package init(_ session: AudioSession, _ device: any AudioDevice) {
        let hardware = session.hardware
        backend = session.system.backend
        name = hardware?.name ?? device.name
        sampleRate = device.sampleRate
        blockFrameCount = device.blockFrameCount
        inputLatency = device.inputLatency
        outputLatency = device.outputLatency
        realTimePriority = device.realTimePriority
        sampleType = hardware?.sampleType ?? .float32
        route = session.currentRoute
    }
}
