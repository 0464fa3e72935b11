// SPDX-License-Identifier: Apache-2.0

import CEarshotALSA
import EarshotAudioBase

/// One direction of a PCM, opened non-blocking; closed when released.
final class ALSAPCM: @unchecked Sendable {  // its handle is used by one thread at a time
    /// The PCM's name in libasound.
    let name: String
    let direction: AudioDirection
    let handle: OpaquePointer

    /// - Throws: the error of ``AudioDeviceError/alsa(_:call:device:)``.
    init(_ name: String, _ direction: AudioDirection) throws(AudioDeviceError) {
        earshot_alsa_quiet()
        var handle: OpaquePointer?
        let stream = direction == .input ? SND_PCM_STREAM_CAPTURE : SND_PCM_STREAM_PLAYBACK
        let code = snd_pcm_open(&handle, name, stream, SND_PCM_NONBLOCK)
        guard code >= 0, let handle else {
            throw .alsa(code < 0 ? code : -ENODEV, call: ALSACall.open.name, device: name)
        }
        self.name = name
        self.direction = direction
        self.handle = handle
    }

    deinit { snd_pcm_close(handle) }

    /// True if the PCM is the kernel driver's own and not a plug-in's, so that periods and wake-ups are the card's.
    var isHardware: Bool { snd_pcm_type(handle) == SND_PCM_TYPE_HW }
    /// True if the PCM is a plug-in for a sound server, such as PipeWire, whose changes cause no event of the kernel.
    var isServer: Bool { snd_pcm_type(handle) == SND_PCM_TYPE_IOPLUG }

    /// The kernel's number of the PCM's card; nil if the PCM has no card.
    var card: Int? {
        var info: OpaquePointer?
        guard snd_pcm_info_malloc(&info) == 0, let info else { return nil }
        defer { snd_pcm_info_free(info) }
        guard snd_pcm_info(handle, info) == 0 else { return nil }
        let card = snd_pcm_info_get_card(info)
        return card >= 0 ? Int(card) : nil
    }

    /// Sets the available frames at which the stream wakes its thread, and those at which an xrun stops it: the whole buffer. The
    /// stream starts only explicitly.
    func setThresholds(availableMinimum: Int, bufferFrameCount: Int) throws(AudioDeviceError) {
        let code = Self.setThresholds(handle, availableMinimum: availableMinimum, bufferFrameCount: bufferFrameCount)
        if code < 0 { throw .alsa(code, call: "snd_pcm_sw_params", device: name) }
    }

    /// Sets the available frames at which a stream wakes its thread, and those at which an xrun stops it: the whole buffer. Call
    /// it while the stream does not run. Returns 0 or a negative errno.
    static func setThresholds(_ handle: OpaquePointer, availableMinimum: Int, bufferFrameCount: Int) -> CInt {
        var software: OpaquePointer?
        var boundary: snd_pcm_uframes_t = 0
        guard snd_pcm_sw_params_malloc(&software) == 0, let software else { return -ENOMEM }
        defer { snd_pcm_sw_params_free(software) }
        var code = snd_pcm_sw_params_current(handle, software)
        if code >= 0 { code = snd_pcm_sw_params_get_boundary(software, &boundary) }
        if code >= 0 { code = snd_pcm_sw_params_set_start_threshold(handle, software, boundary) }
        if code >= 0 {
            code = snd_pcm_sw_params_set_stop_threshold(handle, software, snd_pcm_uframes_t(bufferFrameCount))
        }
        if code >= 0 {
            code = snd_pcm_sw_params_set_avail_min(handle, software, snd_pcm_uframes_t(availableMinimum))
        }
        return code >= 0 ? snd_pcm_sw_params(handle, software) : code
    }
}
