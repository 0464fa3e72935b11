// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDevices

/// A ``SimulatedCard`` as the device of a call. The simulation runs its cycles.
final class StackDevice: AudioDevice, @unchecked Sendable {  // used by one thread only
    let name = "simulated"
    let monitor = CallbackMonitor()
    private let card: SimulatedCard
    private let begin: () -> HostTime
    private var callback: RenderCallback?
    private(set) var nextCallTime = HostTime.never

    convenience init(_ configuration: SimulatedCard.Configuration, startingAt begin: HostTime) throws {
        try self.init(configuration) { begin }
    }

    /// - Parameter begin: returns the time at which the card's first block begins, when the device is started.
    init(
        _ configuration: SimulatedCard.Configuration, startingAt begin: @escaping () -> HostTime
    ) throws(AudioDeviceError) {
        card = try SimulatedCard(configuration, monitor: monitor)
        self.begin = begin
    }

    var sampleRate: Double { card.configuration.sampleRate }
    var blockFrameCount: Int { card.configuration.blockFrameCount }
    var inputChannelCount: Int { card.configuration.inputChannelCount }
    var outputChannelCount: Int { card.configuration.outputChannelCount }
    var inputLatency: Double { Double(blockFrameCount) / sampleRate }
    var outputLatency: Double { Double(blockFrameCount) / sampleRate }
    var realTimePriority: Int? { nil }
    var failure: AudioDeviceError? { nil }

    func start(_ callback: RenderCallback) throws(AudioDeviceError) {
        self.callback = callback
        card.renderer.start(at: begin())
        nextCallTime = card.renderer.nextCallTime
    }

    func stop() {
        callback = nil
        nextCallTime = .never
    }

    func runCycle(at now: HostTime) {
        guard let callback else { return }
        var cycle = card.renderer.beginCycle(at: now)
        callback(&cycle)
        card.renderer.endCycle(at: now)
        nextCallTime = card.renderer.nextCallTime
        while monitor.nextRecord() != nil {}
    }
}
