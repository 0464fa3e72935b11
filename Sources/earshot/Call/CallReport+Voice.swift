// SPDX-License-Identifier: Apache-2.0

import EarshotCall
import EarshotLiveCall

extension CallReport.Voice {
    /// - Parameter voice: the voice processing; nil for none.
    /// - Returns: nil for a voice that has neither voice processing nor effects at the end of the call.
    init?(_ voice: CallVoice?, _ snapshot: LiveCallSnapshot) {
        if voice == nil, snapshot.effects == nil { return nil }
        self.init(
            effects: snapshot.effects?.names ?? [], effectsMs: (snapshot.effects?.latency ?? 0) * 1e3,
            processing: "off", processingMs: 0, lateFrames: voice?.lateFrameCount ?? 0)
        guard let voice else { return }
        if case .chosen(let choice, _)? = snapshot.voiceProcessing { reason = choice.reason }
        switch voice.processing {
        case .off: break
        case .on:
            processing = "on"
            processingMs = voice.processingLatency * 1e3
        case .left(let error): (processing, reason) = ("left", ErrorText.text(error))
        }
        guard let statistics = voice.statistics, statistics.frames > 0 else { return }
        costPer10Ms = statistics.cost
        echoReductionDb = statistics.enhancement
    }
}
