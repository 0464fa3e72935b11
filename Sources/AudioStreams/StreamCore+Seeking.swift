// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioFiles

/// Seeks in files, and suspends a live stream after a long pause.
extension StreamCore {
    /// The maximum number of corrections of one seek. The position of a frame in an Ogg file is estimated and then corrected.
    private static let maximumCorrections = 8

    /// The error of a seek: the stream has failed, or it is not seekable. nil if a seek is possible, or if that is not known yet.
    var refusal: AudioStreamError? {
        if case .failed(let error) = state { return error }
        let reason: String
        if address.isPipe {
            reason = "a pipe can only be played as its data arrives"
        } else if let file, !file.isSeekable {
            reason = file.isLive ? "a station can only be played live" : "the server sends files only as a whole"
        } else {
            return nil
        }
        return .notSeekable(address: address.description, reason: reason)
    }

    /// Seeks to a frame of a file: at once, or as soon as the stream is known to be seekable. If the stream is not seekable,
    /// playback continues unchanged and ``takeRefusals()`` has the reason.
    /// - Parameters:
    ///   - frame: at the output's sample rate; clamped to the beginning and the end.
    ///   - number: the number by which the playout identifies the seek.
    mutating func seek(to frame: Int, number: Int, at time: HostTime) {
        goal = (StreamGoal.bounded(frame), number)
        goAbout(at: time)
    }

    /// Begins the pending seek if the target's byte offset is known, or refuses the seek if the stream is not seekable.
    mutating func goAbout(at time: HostTime) {
        guard let goal else { return }
        if let refusal {
            refusals.append(refusal)
        } else {
            guard phase != .stopped else { return }
            let frame = min(goal.frame, decoder.frameCount ?? goal.frame)
            let hint = file == nil ? nil : decoder.hint(for: frame, byteCount: file?.byteCount)
            // When all data has been received, the offset may still be unknown. Then the file is decoded from its beginning.
            guard hint != nil || phase == .draining || phase == .over else { return }
            (hasDrained, wasOpen, corrections) = (false, false, 0)
            playout.isComplete = false
            playout.isOpen = false
            playout.discardHeld()
            go(to: hint, for: frame, at: time)
            playout.shift = decoder.shift
        }
        self.goal = nil
        playout.endSeek(goal.number)
    }

    private mutating func go(to hint: SeekHint?, for frame: Int, at time: HostTime) {
        decoder.seek(to: frame, at: hint)
        received = hint?.byteOffset ?? 0
        if let length = file?.byteCount, received >= length {
            actions.append(.disconnect)
            phase = .draining
            return
        }
        if case .waiting = phase { return }
        connect(at: time)
    }

    /// Seeks again if the first frame after a seek is far from the target.
    mutating func correct(at time: HostTime) {
        guard corrections < Self.maximumCorrections, let frame = decoder.goalFrame,
            let hint = decoder.betterHint(byteCount: file?.byteCount)
        else { return }
        corrections += 1
        go(to: hint, for: frame, at: time)
    }

    /// Disconnects from a live stream when the client has paused for longer than the ring holds, and connects again when playback
    /// resumes, so that the sound is live.
    mutating func suspendIfPaused(at time: HostTime) {
        let pulls = playout.pulls
        if pulls != attention.pulls {
            attention = (pulls, time)
            guard phase == .suspended else { return }
            playout.isSuspended = false
            enter(.buffering)
            return connect(at: time)
        }
        switch phase {
        case .connecting, .receiving, .waiting: break
        case .suspended, .draining, .stopped, .over: return
        }
        guard file?.isLive == true,
            time.seconds(since: attention.since) > Double(playout.ring.capacity) / format.sampleRate
        else { return }
        actions.append(.disconnect)
        phase = .suspended
        statistics.framesDropped += playout.heldFrames
        playout.isSuspended = true
        playout.isOpen = false
        playout.discardHeld()
        decoder.forget()
        (received, attempt, wasOpen) = (0, 0, false)
        enter(.suspended)
    }
}
