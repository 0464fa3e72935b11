// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDevices
import Foundation
import Synchronization
import TestSupport
import TestTraits
import Testing

@testable import EarshotAudioSession

/// Tests a session's effect on a real program's sound on a real PipeWire, and on clients of a simulated card.
@Suite("AudioSession.OtherAudio", .serialized, .realTime, .needs("pipewire")) struct OtherSoundTests {
    /// Captures what a sink plays.
    final class Ears: Sendable {
        private struct Memory: @unchecked Sendable {  // atomic
            let peak: UnsafeMutablePointer<Atomic<UInt32>>
        }
        private let memory = Memory(peak: .allocate(capacity: 1))
        private let device = Mutex<(any AudioDevice)?>(nil)

        init() { memory.peak.initialize(to: Atomic(0)) }

        deinit {
            device.withLock { $0 = nil }
            memory.peak.deinitialize(count: 1)
            memory.peak.deallocate()
        }

        func listen(_ system: PipeWireSystem) throws {
            var request = AudioDeviceRequest()
            request.input = .device(id: "speakers.monitor")
            request.output = .none
            let new = try system.open(request)
            try new.start(
                RenderCallback(context: memory.peak) { context, cycle in
                    guard let peak = context?.assumingMemoryBound(to: Atomic<UInt32>.self),
                        let cycle = cycle?.assumingMemoryBound(to: IOCycle.self).pointee
                    else { return }
                    var largest: Float = 0
                    for i in 0..<cycle.frameCount { largest = max(largest, abs(cycle.input[0][i])) }
                    peak.pointee.store(largest.bitPattern, ordering: .relaxed)
                })
            device.withLock { $0 = new }
        }

        /// The last callback's largest sample, in decibels.
        var level: Double { decibels(Double(Float(bitPattern: memory.peak.pointee.load(ordering: .relaxed)))) }

        /// Returns true if the level comes within half a decibel and stays there for 0.1 s; below −100 dB any value is accepted.
        func hears(_ level: Double) -> Bool {
            waits {
                for _ in 0..<10 {
                    if abs(max(-100, self.level) - level) > 0.5 { return false }
                    usleep(10_000)
                }
                return true
            }
        }
    }

    /// Another program plays a sine of −6 dB.
    private func withPlayer(_ body: (PipeWireServer, PipeWireSystem, Ears, () throws -> ChildProcess) throws -> Void)
        throws
    {
        let path = "\(NSTemporaryDirectory())earshot-sine-\(getpid()).wav"
        let sox = ["sox", "-n", "-r", "48000", "-b", "16", path, "synth", "60", "sine", "1500", "vol", "0.5"]
        #expect(try ChildProcess(sox).wait() == .exit(0))
        defer { unlink(path) }
        try PipeWireServer.running(devices: [.sink("speakers"), .source("mic")]) { server in
            let system = try PipeWireSystem(remote: server.remote)
            let ears = Ears()
            try ears.listen(system)
            try body(server, system, ears) {
                try ChildProcess(["pw-play", path], environment: server.environment.mapValues(Optional.some))
            }
        }
    }

    private let whole = -6.0
    private let ducked = -20.0

    @Test("duck and exclude lower other programs while the session is active, and mix restores them")
    func wishes() throws {
        try withPlayer { _, system, ears, play in
            let player = try play()
            #expect(ears.hears(whole))
            var configuration = AudioSession.Configuration()
            configuration.otherAudio = .duck
            var session: AudioSession? = AudioSession(system, configuration)
            #expect(ears.hears(whole))
            try session?.activate()
            #expect(ears.hears(ducked))
            session?.configuration.otherAudio = .exclude
            #expect(ears.hears(-100))
            session?.configuration.otherAudio = .mix
            #expect(ears.hears(whole))
            session?.configuration.otherAudio = .duck
            #expect(ears.hears(ducked))
            // Two sessions.
            let second = AudioSession(system, configuration)
            try second.activate()
            second.deactivate()
            #expect(ears.hears(ducked))
            session?.deactivate()
            #expect(ears.hears(whole))
            try session?.activate()
            #expect(ears.hears(ducked))
            session = nil
            #expect(ears.hears(whole))
            player.stop()
        }
    }

    @Test("other programs are ducked again after the sound system restarts")
    func restart() throws {
        try withPlayer { server, system, ears, play in
            var configuration = AudioSession.Configuration()
            configuration.otherAudio = .duck
            let session = AudioSession(system, configuration)
            try session.activate()
            server.stop()
            #expect(waits { session.interruption != nil })
            try server.start()
            #expect(waits { system.devices.contains { $0.id == "speakers" } })
            #expect(waits { (try? ears.listen(system)) != nil })
            let player = try play()
            #expect(ears.hears(ducked))
            session.deactivate()
            #expect(ears.hears(whole))
            player.stop()
        }
    }

    @Test("a simulated card becomes exclusive when requested during a session, and is shared again later")
    func exclusive() throws {
        let system = SimulatedSystem([AudioSessionTests.card("card", isDefault: true)])
        let session = AudioSession(system)
        try session.activate()
        let second = AudioSession(system)
        try second.activate()
        second.deactivate()
        func isShared() -> Bool {
            guard let other = try? system.open(AudioDeviceRequest()) else { return false }
            other.stop()
            return true
        }
        session.configuration.otherAudio = .exclude
        #expect(waits { !isShared() && session.interruption == nil })
        session.configuration.otherAudio = .duck
        #expect(waits { isShared() })
        #expect(session.interruption == nil)
    }

    @Test("a session that requests exclusive access waits while another session uses the device")
    func waiting() throws {
        let system = SimulatedSystem([AudioSessionTests.card("card", isDefault: true)])
        let session = AudioSession(system)
        try session.activate()
        var other: AudioSession? = AudioSession(system)
        try other?.activate()
        session.configuration.otherAudio = .exclude
        #expect(waits { session.interruption?.kind == .deviceTaken(.busy(device: "the card")) })
        other = nil
        #expect(waits { session.currentRoute.output?.id == "card" })
        #expect(throws: AudioDeviceError.busy(device: "the card")) { try AudioSession(system).activate() }
    }
}
