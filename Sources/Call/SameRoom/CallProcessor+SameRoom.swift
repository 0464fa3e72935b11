// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport

/// Copies the sound for ``SameRoomListener``. For one thread at a time.
extension CallProcessor {
    /// Begins or ends the copying of sound.
    package func setListening(_ isOn: Bool) {
        for tap in [roomTap, mixer.tap] { if isOn { tap.begin() } else { tap.end() } }
    }

    /// Adds the sound since the last call to a listener.
    /// - Parameter path: returns the way of a voice; nil if it is not known.
    package func feed(_ listener: inout SameRoomListener, path: (PeerMixer.Place) -> SameRoomListener.Path?) {
        let block = AudioBuffer(channelCount: 1, frameCapacity: IOCycle.maximumFrameCount)
        func samples(_ tapped: TappedBlock) -> [Float] {
            Array(UnsafeBufferPointer(start: block.channels[0], count: tapped.cycle.frameCount))
        }
        while let tapped = roomTap.readBlock(block.channels) {
            listener.addMicrophone(samples(tapped), at: tapped.cycle.sampleTime)
        }
        while let tapped = mixer.tap.readBlock(block.channels) {
            guard let path = path(PeerMixer.Place(index: tapped.voice)) else { continue }
            listener.addVoice(
                samples(tapped), at: tapped.cycle.sampleTime, position: tapped.streamPosition, path: path)
        }
    }
}

extension CallSession {
    /// Begins or ends the copying of sound for ``feed(_:captureDelays:)``.
    package func setListening(_ isOn: Bool) { processor.setListening(isOn) }

    /// Adds the sound of the microphone and of the voices since the last call to a listener. Does nothing with a separate microphone,
    /// which has no common cycle with the loudspeaker.
    /// - Parameter captureDelays: the seconds from the microphone of each remote peer to its cycle, with the processing of the voice.
    package func feed(_ listener: inout SameRoomListener, captureDelays: [PeerID: Double]) {
        guard microphone == nil else { return }
        let (inputLatency, outputLatency) = (device.inputLatency, device.outputLatency)
        var paths: [PeerMixer.Place: SameRoomListener.Path] = [:]
        for (peer, captureDelay) in captureDelays {
            // Before the round trip is measured, it counts as 0: peers in one room have a short one.
            guard let place = roster.place(of: peer), let statistics = statistics(of: peer),
                let mouthToEar = statistics.mouthToEar
                    ?? statistics.mouthToEar(roundTrip: 0, outputLatency: outputLatency)
            else { continue }
            paths[place] = SameRoomListener.Path(
                peer: peer, mouthToEar: mouthToEar, captureDelay: captureDelay, inputLatency: inputLatency,
                outputLatency: outputLatency, streamRate: statistics.configuration.streamRate,
                driftPPM: statistics.playout.driftPPM)
        }
        processor.feed(&listener) { paths[$0] }
    }
}
