// SPDX-License-Identifier: Apache-2.0

import EarshotCall
import EarshotLiveCall

extension CallReport.Voice {
    init(_ voice: CallVoice, _ state: VoiceProcessingState?) {
        self.init(
            effects: voice.effects?.names ?? [], effectsMs: (voice.effects?.latency ?? 0) * 1e3, processing: "off",
            processingMs: 0, lateFrames: voice.lateFrameCount)
        if case .chosen(let choice, _)? = state { reason = choice.reason }
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
