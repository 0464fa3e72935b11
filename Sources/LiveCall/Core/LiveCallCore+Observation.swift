// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotCall
import EarshotRooms

/// The regular observation of media and device, and the timers.
extension LiveCallCore {
    mutating func observe(_ observation: Observation) {
        reportSlowHosts()
        observeCalls(observation)
        silence(observation.nearbySingers)
        storeVolumes(unlessChangedWithin: Self.volumeStorageDelay)
        sendWaitingMuteNotice()
        guard case .running(let since) = next.sound else { return }
        if let device = observation.device { next.device = device }
        next.interruption = observation.interruption?.kind
        if observation.microphone != next.microphone {
            next.microphone = observation.microphone
            notify(.microphone(observation.microphone))
        }
        reportFeedback(observation.feedback)
        chooseVoiceProcessing(observation)
        chooseMonitor(observation)
        if let error = observation.failure { return end(.codec(error)) }
        if let (kind, began) = observation.interruption {
            let seconds = now.seconds(since: max(began, since))
            if seconds > configuration.interruptionTimeout { return end(.noSound(kind, seconds: seconds)) }
        }
        if let duration = configuration.duration, now.seconds(since: since) >= duration { end(.duration) }
    }

    /// Reports feedback that was damped, at most every ten seconds.
    private mutating func reportFeedback(_ report: FeedbackReport) {
        guard report.count > feedback.count else { return }
        if let last = feedback.reported, now.seconds(since: last) < Self.feedbackInterval { return }
        feedback = (report.count, now)
        notify(.feedback(hertz: Double(report.frequency)))
    }

    private mutating func reportSlowHosts() {
        if let (since, isReported) = hostLost, !isReported, now.seconds(since: since) > Self.hostLossTolerance {
            hostLost = (since, true)
            notify(.hostLost)
        }
        if let (since, isReported) = hostAsked, !isReported, now.seconds(since: since) > Self.hostAnswerTolerance {
            hostAsked = (since, true)
            notify(.hostSlow)
        }
    }

    private mutating func observeCalls(_ observation: Observation) {
        for member in roster?.members ?? [] where member.id != memberID {
            let call = observation.calls[member.id]
            guard call != nil || links[member.id] != nil else { continue }
            var link = links[member.id] ?? Link()
            if let call, link.format != call.format {
                link.negotiationFailure = nil
                link.mismatch = nil
            }
            let oldFormat = link.format
            link.format = call?.format
            link.missingCodecs = call?.missingCodecs ?? []
            let step = call?.rate.map { $0.isTooSlow ? Int.max : $0.index } ?? 0
            let isNewStep = call != nil && step != link.reportedStep
            if isNewStep { (link.reportedStep, link.rate) = (step, call?.rate) }
            links[member.id] = link
            reportFormat(member, since: oldFormat)
            if isNewStep { notify(.linkRate(participant(member), step == 0 ? nil : call?.rate)) }
        }
        reportBeginnings()
    }

    private mutating func chooseVoiceProcessing(_ observation: Observation) {
        guard let voice = observation.voice, let device = observation.device, !device.hasSeparateInput else { return }
        if case .left(let error) = voice.processing {
            if next.voiceProcessing != .failed(error) {
                next.voiceProcessing = .failed(error)
                notify(.voiceProcessing(.failed(error)))
            }
            return
        }
        // The route is empty during a change of the device. Then there is nothing to choose.
        guard !device.route.isEmpty, next.voiceProcessingMode != .off || next.voiceProcessing != nil else { return }
        let choice = VoiceProcessingChoice(
            next.voiceProcessingMode, input: device.route.input, output: device.route.output,
            channelCount: voice.channelCount,
            blockFrameCount: observation.hardwareBlockFrameCount, maximumBlockFrameCount: voice.maximumBlockFrameCount)
        if case .chosen(choice, _)? = next.voiceProcessing { return }
        let state = VoiceProcessingState.chosen(choice, latency: choice.isOn ? voice.latency : 0)
        next.voiceProcessing = state
        act(.media(.setVoiceProcessing(choice.isOn)))
        notify(.voiceProcessing(state))
    }
}
