// SPDX-License-Identifier: Apache-2.0

import CEarshotALSA
import CEarshotRealtime
import EarshotAudioBase
import Synchronization

extension ALSALoop {
    /// Waits until all streams have a block, and handles it. Returns false if the thread must end.
    func cycle() -> Bool {
        let (capture, playback) = (state.pointee.capture, state.pointee.playback)
        let block = state.pointee.blockFrameCount
        var waitedNanoseconds: Int64 = 0
        var wakeCount = 0
        var arrival: HostTime?  // when the captured block was complete
        while !isStopping {
            // The frames beyond one block in each stream: how long ago the block was complete. Negative while the block is
            // incomplete.
            var captureExcess = 0
            var playbackExcess = 0
            if let capture {
                let available = capture.available()
                guard available >= 0 else { return recover(available, .wait) }
                captureExcess = available - block
                if captureExcess >= 0, arrival == nil { arrival = timeAgo(captureExcess) }
            }
            if let playback {
                let available = playback.available()
                guard available >= 0 else { return recover(available, .wait) }
                playbackExcess = excess(playback, available)
            }
            if let playback, playbackExcess >= 0, state.pointee.prerollCount > 0 {
                state.pointee.prerollCount &-= 1
                let code = writeSilence(playback, block)
                return code >= 0 ? true : recover(code, .write)
            }
            if captureExcess >= 0, playbackExcess >= 0 {
                if state.pointee.isFirstCycle { return align() }
                return handleBlock(arrival ?? timeAgo(playbackExcess), playbackExcess)
            }
            let before = HostTime.now()
            let code = waitForFrames(captureExcess, playbackExcess, wakeCount)
            guard code >= 0 else { return recover(code, .wait) }
            waitedNanoseconds &+= min(HostTime.now().nanoseconds &- before.nanoseconds, Self.longestWait)
            wakeCount &+= 1
            if Double(waitedNanoseconds) > Self.stallSeconds * 1e9 { return fail(-Int(ETIME), .wait) }
        }
        return false
    }

    /// Returns the frames played since a block fitted into the playback buffer below the fill level; negative while none fits.
    private func excess(_ playback: ALSAStream, _ available: Int) -> Int {
        let fill = state.pointee.fillFrameCount.load(ordering: .relaxed)
        return available &- (playback.bufferFrameCount &- (fill &- state.pointee.blockFrameCount))
    }

    private func timeAgo(_ frameCount: Int) -> HostTime {
        HostTime.now().advanced(bySeconds: -Double(min(frameCount, 1 << 20)) / state.pointee.sampleRate)
    }

    /// Reads a block, runs the callback, and writes a block. Returns false if the thread must end.
    private func handleBlock(_ due: HostTime, _ playbackExcess: Int) -> Bool {
        let block = state.pointee.blockFrameCount
        if state.pointee.isFillingUp, let playback = state.pointee.playback {
            state.pointee.isFillingUp = false
            let code = writeSilence(playback, playbackExcess)
            guard code >= 0 else { return recover(code, .write) }
        }
        if let capture = state.pointee.capture {
            let code = transfer(block) {
                snd_pcm_readi(capture.handle, capture.bytes + $0 * capture.frameByteCount, $1)
            }
            guard code >= 0 else { return recover(code, .read) }
        }
        switch state.pointee.flow.add(block, at: due, sampleRate: state.pointee.sampleRate) {
        case .steady: break
        case .slow:
            if let playback = state.pointee.playback, !isStrict(playback) { return adapt(playback) }
        case .unpaced: return fail(-Int(ENOTSUP), .wait)
        }
        // libasound is called only outside of this real-time section: its functions for cards are ioctls, and those for plug-ins
        // lock (pcm_local.h) and exchange messages with a server.
        earshot_realtime_enter()
        ALSACycle.run(state, due)
        earshot_realtime_exit()
        if let playback = state.pointee.playback {
            let code = transfer(block) {
                snd_pcm_writei(playback.handle, playback.bytes + $0 * playback.frameByteCount, $1)
            }
            guard code >= 0 else { return recover(code, .write) }
        }
        state.pointee.recoveryCount = 0
        if state.pointee.cycleCount & 0x1FF == 0 { measureLatency() }
        state.pointee.cycleCount &+= 1
        return !isStopping
    }

    /// Aligns two streams that are not linked and start at different times, so that the difference adds no delay: drops the
    /// frames captured before both streams ran, and lets the next cycle write silence for the frames played meanwhile.
    private func align() -> Bool {
        state.pointee.isFirstCycle = false
        state.pointee.cycleCount = 0
        guard let capture = state.pointee.capture, state.pointee.playback != nil, !state.pointee.isLinked else {
            return true
        }
        state.pointee.isFillingUp = true
        let block = state.pointee.blockFrameCount
        for _ in 0...capture.bufferFrameCount / block {
            let count = snd_pcm_readi(capture.handle, capture.bytes, snd_pcm_uframes_t(block))
            if count == 0 || count == -Int(EAGAIN) { break }
            guard count > 0 else { return recover(count, .read) }
        }
        return true
    }

    /// Reads or writes a whole block in as many calls as needed. Returns a negative errno, or 0, also after the device was
    /// stopped.
    /// - Parameter call: gets the first frame and the number of frames; returns the frames transferred or a negative errno.
    private func transfer(_ frameCount: Int, _ call: (Int, snd_pcm_uframes_t) -> snd_pcm_sframes_t) -> Int {
        var transferred = 0
        var waitedNanoseconds: Int64 = 0
        while transferred < frameCount {
            let count = call(transferred, snd_pcm_uframes_t(frameCount - transferred))
            if count > 0 {
                transferred += count
            } else if count == 0 || count == -Int(EAGAIN) {
                if isStopping { return 0 }
                guard Double(waitedNanoseconds) < Self.stallSeconds * 1e9 else { return -Int(ETIME) }
                wait(500_000)
                waitedNanoseconds += 500_000
            } else {
                return count
            }
        }
        return 0
    }

    func writeSilence(_ playback: ALSAStream, _ frameCount: Int) -> Int {
        let block = state.pointee.blockFrameCount
        snd_pcm_format_set_silence(
            playback.sampleType.alsaFormat, playback.bytes, CUnsignedInt(block * playback.channelCount))
        var remaining = frameCount
        while remaining > 0 {
            let count = snd_pcm_writei(playback.handle, playback.bytes, snd_pcm_uframes_t(min(remaining, block)))
            if count == -Int(EAGAIN) || count == 0 { return 0 }  // the buffer is full
            guard count > 0 else { return count }
            remaining -= count
        }
        return 0
    }

    /// Measures the delay of the driver or plug-in outside of ALSA's buffer: a USB queue, a converter's filter, a sound server.
    private func measureLatency() {
        func extra(_ stream: ALSAStream, _ buffered: Int) -> Int? {
            var delay: snd_pcm_sframes_t = 0
            guard snd_pcm_delay(stream.handle, &delay) >= 0 else { return nil }
            return max(0, min(delay - buffered, Int(10 * state.pointee.sampleRate)))
        }
        if let capture = state.pointee.capture, let extra = extra(capture, max(0, capture.available())) {
            state.pointee.inputExtra.store(extra, ordering: .relaxed)
        }
        if let playback = state.pointee.playback,
            let extra = extra(playback, playback.bufferFrameCount - max(0, playback.available()))
        {
            state.pointee.outputExtra.store(extra, ordering: .relaxed)
        }
    }

    // MARK: Waiting

    /// Sleeps until a stream that lacks frames may have them, the device is stopped, or ``longestWait`` has passed. Returns 0, or
    /// a negative errno if the stream reports a failure.
    private func waitForFrames(_ captureExcess: Int, _ playbackExcess: Int, _ wakeCount: Int) -> Int {
        let descriptors = state.pointee.descriptors
        descriptors[0] = pollfd(fd: state.pointee.stopDescriptor, events: Int16(POLLIN), revents: 0)
        var timeout = Self.longestWait
        let lacking: ALSAStream?
        if captureExcess < 0 {
            lacking = state.pointee.capture
        } else if let playback = state.pointee.playback, isStrict(playback) {
            lacking = playback
        } else {
            // A plug-in's buffer always has room for a block, so polling the stream would not sleep. A sound server reads whole
            // quanta at unknown times, so the loop checks several times per block.
            lacking = nil
            timeout = nanoseconds(min(-playbackExcess, max(12, state.pointee.blockFrameCount / 8)))
        }
        guard let lacking else {
            earshot_alsa_poll(descriptors, 1, timeout)
            return 0
        }
        let room = CUnsignedInt(ALSAState.descriptorCapacity - 1)
        let count = snd_pcm_poll_descriptors(lacking.handle, descriptors + 1, room)
        guard count >= 0 else { return Int(count) }
        // A stream that wakes the thread again and again without frames would use the whole processor, so the thread sleeps
        // first.
        if wakeCount > 8 {
            earshot_alsa_poll(descriptors, 1, nanoseconds(max(1, state.pointee.blockFrameCount / 4)))
            timeout = 0
        }
        guard earshot_alsa_poll(descriptors, CUnsignedInt(count) + 1, timeout) > 0, count > 0 else { return 0 }
        var events: CUnsignedShort = 0
        let code = snd_pcm_poll_descriptors_revents(lacking.handle, descriptors + 1, CUnsignedInt(count), &events)
        return code < 0 ? Int(code) : 0
    }

    /// Returns true if the stream is a card's own, which wakes the thread exactly, and not a plug-in's.
    func isStrict(_ playback: ALSAStream) -> Bool { snd_pcm_type(playback.handle) == SND_PCM_TYPE_HW }

    private func nanoseconds(_ frameCount: Int) -> Int64 {
        Int64(max(100_000, min(Double(frameCount) / state.pointee.sampleRate * 1e9, Double(Self.longestWait))))
    }

    /// Sleeps for this many nanoseconds, or until the device is stopped.
    func wait(_ nanoseconds: Int64) {
        state.pointee.descriptors[0] = pollfd(fd: state.pointee.stopDescriptor, events: Int16(POLLIN), revents: 0)
        earshot_alsa_poll(state.pointee.descriptors, 1, nanoseconds)
    }
}
