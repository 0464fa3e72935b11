// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioQueues

/// Runs a ``SoundCheck`` on a call's device before the call. A face calls ``update(at:)`` at least 20 times per second, shows the
/// notices, and passes on the user's commands. For one thread.
package final class SoundCheckSession {
    private let calls: CallDeviceSession
    private let device: SoundCheckDevice
    private var check: SoundCheck

    /// - Parameter calls: the active device, which must not be started yet. It stays open after the check.
    package init(on calls: CallDeviceSession) throws(AudioQueueError) {
        self.calls = calls
        device = try SoundCheckDevice(calls)
        check = SoundCheck(calls.description.route, sampleRate: device.sampleRate)
    }

    /// The current part of the check.
    package var step: SoundCheck.Step { check.step }
    /// The judgement of the recording; nil before.
    package var finding: SoundCheck.Finding? { check.finding }
    /// The peak of the captured sound, 1 being full scale; it falls by 20 dB per second.
    package var inputPeak: Float { check.inputPeak }

    /// Starts the device and begins the check. After an error nothing runs.
    package func begin(at now: HostTime) throws(AudioQueueError) -> [SoundCheck.Notice] {
        try device.start()
        return execute(check.begin(at: now))
    }

    /// Advances the check. A change of the route begins it again.
    package func update(at now: HostTime) -> [SoundCheck.Notice] {
        calls.update()
        var actions = check.changeRoute(calls.description.route, at: now)
        let samples = device.takeCapturedSamples()
        if !samples.isEmpty { actions += check.capture(samples, at: now) }
        actions += check.advance(to: now)
        return execute(actions)
    }

    /// Executes a command of the user.
    package func perform(_ command: SoundCheck.Command, at now: HostTime) -> [SoundCheck.Notice] {
        execute(check.perform(command, at: now))
    }

    /// Stops the device, and leaves it open.
    package func close() { device.stop() }

    private func execute(_ actions: [SoundCheck.Action]) -> [SoundCheck.Notice] {
        var notices: [SoundCheck.Notice] = []
        for action in actions {
            switch action {
            case .play(let samples): device.play(samples)
            case .stopPlaying: device.stopPlaying()
            case .notify(let notice): notices.append(notice)
            }
        }
        return notices
    }
}
