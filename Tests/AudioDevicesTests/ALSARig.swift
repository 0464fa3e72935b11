// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Foundation
import TestSupport

@testable import EarshotAudioDevices

/// A PipeWire server for ALSA's plug-in, with a stereo loudspeaker, a stereo microphone and a configuration of ALSA with further
/// PCMs.
enum ALSARig {
    /// PCMs for tests, besides libasound's own: each sample type as the only one, one sample rate, one block.
    static let configuration = """
        pcm.u8 { type pipewire format "U8" }
        pcm.s16 { type pipewire format "S16_LE" }
        pcm.s24packed { type pipewire format "S24_3LE" }
        pcm.s24 { type pipewire format "S24_LE" }
        pcm.s32 { type pipewire format "S32_LE" }
        pcm.f32 { type pipewire format "FLOAT_LE" }
        pcm.f64 { type lfloat slave { pcm "pipewire" format S32_LE } }
        pcm.speaker { type pipewire channels 2 }
        pcm.studio { type pipewire rate 96000 }
        pcm.cd { type pipewire rate 44100 }
        pcm.quad { type pipewire channels 4 }
        pcm.fixed { type plug slave { pcm "pipewire" rate 44100 format S16_LE } }
        """

    /// Runs a test with a server, which clients of this process find by themselves.
    /// - Parameter isLooped: true if the microphone captures the loudspeaker's output.
    static func running(isLooped: Bool = false, _ body: (PipeWireServer) throws -> Void) throws {
        try PipeWireServer.running(devices: [.sink("speaker"), .source("microphone", channelCount: 2)]) { server in
            if isLooped {
                for channel in ["FL", "FR"] {
                    try link(server, "speaker:monitor_\(channel)", "microphone:input_\(channel)")
                }
            }
            try withConfiguration {
                setenv("PIPEWIRE_REMOTE", server.remote, 1)
                defer { unsetenv("PIPEWIRE_REMOTE") }
                try body(server)
            }
        }
    }

    /// Links the ports once they exist.
    private static func link(_ server: PipeWireServer, _ from: String, _ to: String) throws {
        for _ in 0..<100 {
            if (try? server.link(from, to)) != nil { return }
            usleep(20_000)
        }
        try server.link(from, to)
    }

    /// Runs a test with ``configuration``, with or without a server.
    static func withConfiguration(_ more: String = "", _ body: () throws -> Void) throws {
        // A unique name: libasound detects a changed file by its inode and the second of its change.
        let path = "\(NSTemporaryDirectory())earshot-asoundrc-\(UUID().uuidString)"
        try (configuration + "\n" + more).write(toFile: path, atomically: true, encoding: .utf8)
        setenv("ALSA_CONFIG_PATH", "/usr/share/alsa/alsa.conf:\(path)", 1)
        defer {
            unsetenv("ALSA_CONFIG_PATH")
            unlink(path)
        }
        try body()
    }

    /// A device on PCMs of libasound, without a system.
    static func device(
        capture: String? = "pipewire", playback: String? = "pipewire", block: Int? = 256, inputs: Int = 1,
        outputs: Int = 2,
        rate: Double? = 48_000, sampleTypes: [SampleType] = SampleType.alsaPreference
    ) throws -> ALSADevice {
        var request = AudioDeviceRequest()
        request.blockFrameCount = block
        request.inputChannelCount = inputs
        request.outputChannelCount = outputs
        request.sampleRate = rate
        return try ALSADevice(
            name: playback ?? capture ?? "none", capture: capture, playback: playback, request: request,
            sampleTypes: sampleTypes)
    }
}
