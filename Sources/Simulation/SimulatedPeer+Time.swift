// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDevices
import EarshotCall
import EarshotMediaTransport

extension SimulatedPeer {
    /// Stops the card's cycles for this number of seconds. The card then reports skipped frames.
    package func skipCycles(for seconds: Double) {
        held = card.renderer.nextCallTime.advanced(bySeconds: seconds)
    }

    /// The virtual time of the card's next cycle.
    var nextCallTime: HostTime { hostClock.virtualTime(of: max(callTime, held)) }
    /// The virtual time of the peer's next work.
    var nextTime: HostTime { min(nextCallTime, hostClock.virtualTime(of: mediaTime)) }

    /// Runs the card's next cycle: microphone, callback, loudspeaker. The media thread is due at once afterwards.
    /// - Parameter virtual: the virtual time.
    func runCycle(at virtual: HostTime, elapsed: Double) throws {
        let now = max(hostClock.hostTime(at: virtual), max(callTime, held))  // conversion rounds
        let frames = preferences.deviceBlock
        // The microphone's sound continues while the card skips cycles.
        repeat {
            try sound.fill(block.channels, fed, frames)
            if !echo.isEmpty { addEcho(frames) }
            fed += frames
            air.writer.write(block.channels, frameCount: frames)
            try tape?.microphone.write(block.channels, frameCount: frames)
        } while timeOfCall(fed / frames + 1) <= now
        var cycle = card.renderer.beginCycle(at: now)
        processor.callback(&cycle)
        card.renderer.endCycle(at: now)
        callTime = card.renderer.nextCallTime
        if let voice, !voiceStalls.contains(where: { $0.contains(elapsed) }) { voice.runPending() }
        if room != nil { try listen(frames, elapsed) }
        if keepsHistory, let playout = playout(of: firstOther) { history.append((elapsed, playout.statistics)) }
        observe(cycle, elapsed: elapsed)
        mediaTime = now
    }

    private func listen(_ frames: Int, _ elapsed: Double) throws {
        while let slice = room?.reader.read(block.channels, frameCount: frames), slice.frameCount > 0 {
            try tape?.loudspeaker.write(block.channels, frameCount: slice.frameCount)
            guard let keepsFrom, elapsed >= keepsFrom else {
                heardFrom += slice.frameCount
                continue
            }
            for c in 0..<heard.count {
                heard[c].append(contentsOf: UnsafeBufferPointer(start: block.channels[c], count: slice.frameCount))
            }
        }
    }

    private func addEcho(_ frames: Int) {
        for c in 0..<block.channels.count {
            for i in 0..<frames {
                for path in echo {
                    let from = fed + i - path.frames - heardFrom
                    if heard[c].indices.contains(from) { block.channels[c][i] += path.gain * heard[c][from] }
                }
            }
        }
    }

    private func timeOfCall(_ call: Int) -> HostTime {
        card.time(ofFrame: Int64(call * preferences.deviceBlock)) ?? HostTime(nanoseconds: 0)
    }

    /// Receives a datagram from another peer. The datagram waits while the media thread does not run.
    func receive(_ datagram: UnsafeRawBufferPointer, from peer: PeerID, at virtual: HostTime, elapsed: Double) {
        let now = hostClock.hostTime(at: virtual)
        if !stalls.isEmpty, stall(at: elapsed) != nil {
            inbox.append((Array(datagram), peer))
        } else {
            core.receive(datagram, from: peer, at: now)
            updateDeadline()
        }
    }

    /// Receives a datagram from the first other peer, at the media thread's next turn.
    package func receive(_ datagram: [UInt8]) {
        inbox.append((datagram, firstOther))
        mediaTime = HostTime(nanoseconds: 0)
    }

    /// Returns true if the media thread has work.
    func hasMedia(at virtual: HostTime) -> Bool { hostClock.virtualTime(of: mediaTime) <= virtual }

    /// Runs one turn of the media thread.
    func runMedia(at virtual: HostTime, elapsed: Double, transmit: MediaCore.Transmit) throws {
        let now = max(hostClock.hostTime(at: virtual), mediaTime)  // conversion rounds
        if let stall = stall(at: elapsed) {
            mediaTime = now.advanced(bySeconds: max(1e-9, stall.upperBound - elapsed))
            return
        }
        for (datagram, from) in inbox { datagram.withUnsafeBytes { core.receive($0, from: from, at: now) } }
        inbox.removeAll(keepingCapacity: true)
        try core.sendCaptured(at: now, transmit: transmit)
        core.tick(at: now, transmit: transmit)
        mediaTime = Self.never
        updateDeadline()
        mediaTime = max(mediaTime, HostTime(nanoseconds: now.nanoseconds + 1))
    }

    func updateDeadline() { if let due = core.nextDeadline { mediaTime = min(mediaTime, due) } }

    private func stall(at elapsed: Double) -> Range<Double>? { stalls.first { $0.contains(elapsed) } }
}
