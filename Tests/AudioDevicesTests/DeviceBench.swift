// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDevices
import Foundation
import TestSupport
import Testing

/// A sound system of one kind with a test's own devices, and the operations that a test needs.
struct DeviceBench {
    /// A kind of sound system.
    enum Kind: String, CaseIterable, CustomTestStringConvertible {
        case simulated, jack, pipewire, alsa
        var testDescription: String { rawValue }

        /// The blocks with which its devices can be opened.
        var blocks: [Int] {
            switch self {
            case .simulated: [16, 64, 256, 470, 4_096]
            case .jack: [16, 64, 256, 4_096]
            case .pipewire: [16, 64, 256, 4_096]
            case .alsa: [64, 256, 470, 4_096]
            }
        }
    }

    /// The properties of the server.
    struct Setup {
        var block = 256
        /// The device's input and output channels.
        var channelCount = 2
        /// True if devices are connected to the server's, where that is optional.
        var connects = true
    }

    let kind: Kind
    let setup: Setup
    let system: any AudioSystem
    /// The request for a device.
    var request: AudioDeviceRequest
    /// Connects a running device's output to its own input, channel by channel.
    let closeLoop: (any AudioDevice) throws -> Void
    /// Changes the server's block; nil if each device has its own.
    var changeBlock: ((Int) throws -> Void)?
    /// Ends the server like a crash.
    let kill: () throws -> Void
    /// Starts the server again.
    let revive: () throws -> Void
    /// Removes the device; nil if it only disappears with the server.
    var unplug: (() throws -> Void)?

    /// Opens the bench's device.
    func open(inputs: Int = 1, outputs: Int = 2, _ change: (inout AudioDeviceRequest) -> Void = { _ in }) throws
        -> any AudioDevice
    {
        var request = request
        request.inputChannelCount = inputs
        request.outputChannelCount = outputs
        if inputs == 0 { request.input = .none }
        if outputs == 0 { request.output = .none }
        change(&request)
        return try system.open(request)
    }

    /// Runs a test on a bench with its own server. No device may leave `body`.
    static func with(_ kind: Kind, _ setup: Setup = Setup(), _ body: (DeviceBench) throws -> Void) throws {
        switch kind {
        case .simulated: try withSimulated(setup, body)
        case .jack: try withJACK(setup, body)
        case .pipewire: try withPipeWire(setup, body)
        case .alsa: try withALSA(setup, body)
        }
    }
}

extension DeviceBench.Setup {
    /// A server with this block.
    static func block(_ block: Int) -> Self { Self(block: block) }
}
