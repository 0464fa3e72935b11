// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioFiles

/// Seeks in a file, and leaves a station that is paused for long.
extension StreamCore {
    /// In Ogg a place is found by looking, at most so often more.
    private static let mostCorrections = 8

    /// The reason that the stream is not seekable; nil if it is, or while unknown.
    var refusal: AudioStreamError? {
        if case .failed(let error) = state { return error }
        let reason: String
        if address.isPipe {
            reason = "what a pipe gives is heard as it comes"
        } else if let file, !file.isSeekable {
            reason = file.isLive ? "a station is heard as it comes" : "the server sends files only as a whole"
        } else {
            return nil
        }
        return .notSeekable(address: address.description, reason: reason)
    }

    /// Seeks to a frame of a file: at once, or as soon as the stream is known to be seekable. If it is not, playback goes on as it
    /// was, and ``takeRefusals()`` says why.
    /// - Parameters:
    ///   - frame: at the output's rate; one before the beginning is the beginning, one behind the end is the end.
    ///   - number: by which the playout knows the seek.
    mutating func seek(to frame: Int, number: Int, at time: HostTime) {
        goal = (StreamGoal.bounded(frame), number)
        goAbout(at: time)
    }

    /// Does what was sought, once it is known how.
    mutating func goAbout(at time: HostTime) {
        guard let goal else { return }
        if let refusal {
            refusals.append(refusal)
        } else {
            guard phase != .stopped else { return }
            let frame = min(goal.frame, decoder.frameCount ?? goal.frame)
            let hint = file == nil ? nil : decoder.hint(for: frame, byteCount: file?.byteCount)
            // A file may end before the server has answered.
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
        guard corrections < Self.mostCorrections, let frame = decoder.goalFrame,
            let hint = decoder.betterHint(byteCount: file?.byteCount)
        else { return }
        corrections += 1
        go(to: hint, for: frame, at: time)
    }

    /// Leaves a station that has been paused for longer than the ring holds, and reconnects when playback resumes, so that the
    /// sound is live.
    mutating func attend(at time: HostTime) {
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
