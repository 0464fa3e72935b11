// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDevices
import EarshotAudioSession
import EarshotCall
import EarshotMediaTransport
import EarshotNearby
import EarshotRooms

extension LiveCall {
    /// Creates a call on a sound device and opens its port, without a room: perform ``LiveCallCommand/host(_:)`` or
    /// ``LiveCallCommand/join(_:pin:purpose:)`` next.
    /// - Parameters:
    ///   - room: the local participant's name, port and key. This method sets its `media` and `isMuted`.
    ///   - audio: an inactive session of the sound device; nil for the system's default devices.
    ///   - change: changes the codec and other preferences from the defaults of `CallPreferences`.
    /// - Throws: ``LiveCallOpeningError/device(_:)`` or ``LiveCallOpeningError/session(_:)``.
    public static func open(
        _ room: NearbySession.Configuration, on audio: AudioSession? = nil, _ configuration: Configuration = .init(),
        preferences change: (inout CallPreferences) -> Void = { _ in }
    ) async throws(LiveCallOpeningError) -> LiveCall {
        let device = try openDevice(audio)
        var preferences = CallPreferences(
            deviceRate: device.device.sampleRate, deviceBlock: device.device.blockFrameCount)
        change(&preferences)
        // The CNAME (RFC 7022) is random, so that it identifies the local peer in one call only.
        let name = String(UInt64.random(in: .min ... .max), radix: 36)
        let voice =
            configuration.voiceProcessing == .off
            ? nil
            : CallVoice(
                canProcess: true, sampleRate: device.device.sampleRate,
                blockFrameCount: device.device.blockFrameCount)
        let media = CallSession(preferences, device: device.device, cname: name, voice: voice)
        var room = room
        room.media = media
        room.isMuted = configuration.isMuted
        do throws(NearbyError) {
            return try LiveCall(configuration, room: try await NearbySession(room), sound: (media, device))
        } catch {
            device.close()
            throw .session(error)
        }
    }

    private static func openDevice(_ audio: AudioSession?) throws(LiveCallOpeningError) -> CallDeviceSession {
        do throws(AudioDeviceError) {
            guard let audio else { return try CallDeviceSession(AudioSession(AudioSystems.make())) }
            return try CallDeviceSession(audio)
        } catch {
            throw .device(error)
        }
    }
}
