// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// The path of the sound from the reader through the time scaler and the resampler.
extension DelaySteering {
    /// Renders one block of the device.
    @_noLocks
    mutating func render(
        _ output: Channels, frameCount: Int, _ reader: inout StreamReader, _ intake: inout PacketIntake,
        _ statistics: inout PlayoutStatistics
    ) {
        let needed = resampler.inputNeeded(for: frameCount)
        scaler.reserve(needed &+ scaler.longest &+ scaler.fade)
        read(until: needed, &reader, &intake, &statistics)
        if stretchPlan.limit != 0, !reader.isConcealing {
            stretch(needed, &reader, &intake, &statistics)
            read(until: needed, &reader, &intake, &statistics)
        }
        scaler.read(resampler.input, offset: resampler.inputOffset, frameCount: needed)
        resampler.render(output, frameCount: frameCount, adding: needed)
    }

    @_noLocks
    private mutating func read(
        until wanted: Int, _ reader: inout StreamReader, _ intake: inout PacketIntake,
        _ statistics: inout PlayoutStatistics
    ) {
        let count = wanted &- scaler.lead
        guard count > 0 else { return }
        reader.read(scaler.channels, offset: scaler.end, frameCount: count, &intake, &statistics)
        scaler.append(count)
    }

    /// Removes or repeats a stretch of sound, as soon as enough is decoded for the longest stretch.
    @_noLocks
    private mutating func stretch(
        _ needed: Int, _ reader: inout StreamReader, _ intake: inout PacketIntake,
        _ statistics: inout PlayoutStatistics
    ) {
        let isShorter = stretchPlan.limit > 0
        let limit = min(isShorter ? stretchPlan.limit : 0 &- stretchPlan.limit, scaler.longest)
        let wanted = isShorter ? scaler.fade &+ limit : scaler.fade
        guard isShorter || scaler.lead <= needed &+ 2 &* scaler.longest else { return }
        if readAhead(wanted, needed, &reader, &intake, &statistics), scaler.lead < wanted { return }
        let similarity = stretchPlan.similarity
        let count =
            isShorter
            ? scaler.shorten(by: limit, similarity: similarity) : scaler.lengthen(by: limit, similarity: similarity)
        if count > 0 {
            statistics.stretchedFrames &+= count
            stretchPlan.noteStretch()
        } else if scaler.lead >= wanted {
            stretchPlan.noteFailure()
        }
    }

    /// Decodes ahead, only packets that arrived, and at most one packet more than the block needs.
    /// - Returns: true if any frames were decoded.
    @_noLocks
    private mutating func readAhead(
        _ wanted: Int, _ needed: Int, _ reader: inout StreamReader, _ intake: inout PacketIntake,
        _ statistics: inout PlayoutStatistics
    ) -> Bool {
        let before = scaler.lead
        while scaler.lead < wanted, scaler.lead &- before <= needed {
            let ready = reader.readyFrames(intake)
            guard ready > 0 else { break }
            read(until: min(wanted, scaler.lead &+ ready), &reader, &intake, &statistics)
        }
        return scaler.lead > before
    }
}
