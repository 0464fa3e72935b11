// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDevices
import Foundation
import Synchronization
import TestSupport
import TestTraits
import Testing

@testable import EarshotAudioSession

/// Complete sessions in real time, on simulated cards that come, go and are taken by other programs.
@Suite("AudioSession", .serialized, .realTime) struct AudioSessionTests {
    static func card(
        _ id: String, form: AudioDeviceDescription.Form = .speaker, rate: Double = 48_000, isDefault: Bool = false,
        isExclusive: Bool = false, script: [SimulatedCard.Event] = []
    ) -> SimulatedSystem.Card {
        var configuration = SimulatedCard.Configuration(sampleRate: rate, blockFrameCount: 256)
        configuration.script = script
        return SimulatedSystem.Card(
            AudioDeviceDescription(
                id: id, backend: .simulated, name: "the \(id)", form: form, inputChannelCount: 1,
                outputChannelCount: 2, sampleRate: rate, isDefaultInput: isDefault, isDefaultOutput: isDefault),
            configuration: configuration, isExclusive: isExclusive)
    }

    /// A client that counts its callbacks and checks that the frame counter advances.
    final class Client: Sendable {
        private struct State: ~Copyable {
            let calls = Atomic<Int>(0)
            let backward = Atomic<Int>(0)
            var next: Int64 = .min
        }
        private struct Memory: @unchecked Sendable {  // `next` is the calling thread's, the rest atomic
            let state: UnsafeMutablePointer<State>
        }
        private let memory: Memory

        init() {
            memory = Memory(state: .allocate(capacity: 1))
            memory.state.initialize(to: State())
        }

        deinit {
            memory.state.deinitialize(count: 1)
            memory.state.deallocate()
        }

        var calls: Int { memory.state.pointee.calls.load(ordering: .acquiring) }
        /// Callbacks whose frame counter was before the end of the previous one.
        var backward: Int { memory.state.pointee.backward.load(ordering: .acquiring) }

        var callback: RenderCallback {
            RenderCallback(context: memory.state) { context, cycle in
                guard let state = context?.assumingMemoryBound(to: State.self),
                    let cycle = cycle?.assumingMemoryBound(to: IOCycle.self).pointee
                else { return }
                if state.pointee.next != .min, cycle.sampleTime < state.pointee.next {
                    state.pointee.backward.add(1, ordering: .relaxed)
                }
                state.pointee.next = cycle.sampleTime + Int64(cycle.frameCount)
                state.pointee.calls.add(1, ordering: .releasing)
            }
        }
    }

    private func reasons(_ session: AudioSession) -> [RouteChange.Reason] {
        session.history.compactMap { if case .routeChanged(let change) = $0 { change.reason } else { nil } }
    }

    /// Runs a session. More callbacks arrive while the body waits for a condition.
    private func running(
        _ system: SimulatedSystem, _ configuration: AudioSession.Configuration = .init(),
        _ body: (AudioSession, any AudioDevice, Client) throws -> Void
    ) throws {
        let session = AudioSession(system, configuration)
        let device = try session.activate()
        let client = Client()
        try device.start(client.callback)
        #expect(eventually { client.calls > 10 })
        try body(session, device, client)
        device.stop()
        session.deactivate()
        let calls = client.calls
        usleep(30_000)
        #expect(client.calls == calls)
        #expect(client.backward == 0)
    }

    private func goesOn(_ client: Client) -> Bool {
        let calls = client.calls
        return eventually { client.calls > calls + 10 }
    }

    @Test(
        "the session follows a headset that is connected and removed, and the client keeps running",
        arguments: [48_000.0, 44_100])
    func headset(rate: Double) throws {
        let system = SimulatedSystem([Self.card("speakers", isDefault: true)])
        try running(system) { session, device, client in
            #expect(eventually { session.currentRoute.output?.id == "speakers" })
            for _ in 0..<3 {
                system.add(Self.card("headset", form: .headset, rate: rate, isDefault: true))
                #expect(eventually { session.currentRoute.output?.id == "headset" && session.hardware != nil })
                #expect(goesOn(client))
                #expect(device.sampleRate == 48_000)
                system.remove("headset")
                system.setDefault(input: "speakers", output: "speakers")
                #expect(eventually { session.currentRoute.output?.id == "speakers" })
                #expect(goesOn(client))
            }
            #expect(reasons(session).count == 7)
            #expect(reasons(session).dropFirst().first == .newDeviceAvailable)
            #expect(reasons(session).last == .oldDeviceUnavailable)
            #expect(session.interruption == nil)
            #expect(session.lastRouteChange?.previous.output?.id == "headset")
        }
    }

    @Test("a killed sound system interrupts the session, which resumes after a restart")
    func server() throws {
        let system = SimulatedSystem([Self.card("speakers", isDefault: true)])
        try running(system) { session, _, client in
            for _ in 0..<3 {
                system.kill()
                #expect(eventually { session.interruption?.kind == .serverGone })
                #expect(session.currentRoute.isEmpty)
                system.restart()
                #expect(eventually { session.interruption == nil && !session.currentRoute.isEmpty })
                #expect(goesOn(client))
            }
            #expect(reasons(session) == [.activated, .serverRestarted, .serverRestarted, .serverRestarted])
            #expect(session.lostFrameCount > 0)
        }
    }

    @Test("a stalled card interrupts the session, which resumes by itself")
    func stall() throws {
        let system = SimulatedSystem([
            Self.card("speakers", isDefault: true, script: [.stall(at: 0.3, for: 1.2)])
        ])
        try running(system) { session, device, client in
            #expect(eventually { session.interruption?.kind == .stalled })
            #expect(eventually { session.interruption == nil })
            #expect(goesOn(client))
            #expect(device.monitor.skippedFrameCount > 48_000)
        }
    }

    @Test("a player pauses when its headphones are removed, until it is resumed")
    func pause() throws {
        let system = SimulatedSystem([
            Self.card("speakers"), Self.card("headphones", form: .headphones, isDefault: true),
        ])
        var configuration = AudioSession.Configuration()
        configuration.category = .playback
        try running(system, configuration) { session, device, client in
            #expect(device.inputChannelCount == 0)
            system.remove("headphones")
            #expect(eventually { session.isPaused })
            let calls = client.calls
            usleep(100_000)
            #expect(client.calls == calls)
            session.resume()
            #expect(goesOn(client))
            #expect(session.currentRoute.output?.id == "speakers")
        }
    }

    /// Moves the sound of a card to another port, as its hardware does.
    private func usePort(_ form: AudioDeviceDescription.Form, of id: String, in system: SimulatedSystem) {
        system.updateDescription(of: id) { card in
            card.form = form
            card.ports = [.init(name: "speaker", form: .speaker)]
            card.ports.append(
                .init(
                    name: "headphones", form: .headphones,
                    availability: form == .headphones ? .available : .unavailable))
            card.portName = form.rawValue
        }
    }

    @Test("headphones in a card's socket change the route on the same device, and pause a player when pulled out")
    func ports() throws {
        let system = SimulatedSystem([Self.card("laptop", isDefault: true)])
        usePort(.speaker, of: "laptop", in: system)
        try running(system) { session, _, client in
            let hardware = session.hardware
            usePort(.headphones, of: "laptop", in: system)
            #expect(eventually { session.currentRoute.output?.isWorn == true })
            usePort(.speaker, of: "laptop", in: system)
            #expect(eventually { session.currentRoute.output?.isWorn == false })
            #expect(eventually { reasons(session) == [.activated, .newDeviceAvailable, .oldDeviceUnavailable] })
            #expect(goesOn(client) && session.hardware === hardware && session.lostFrameCount == 0)
        }
        usePort(.headphones, of: "laptop", in: system)
        var configuration = AudioSession.Configuration()
        configuration.category = .playback
        try running(system, configuration) { session, _, client in
            usePort(.speaker, of: "laptop", in: system)
            #expect(eventually { session.isPaused && session.hardware == nil })
            session.resume()
            #expect(goesOn(client))
        }
    }

    @Test("a preferred output is used while it is set")
    func override() throws {
        let system = SimulatedSystem([Self.card("speakers", isDefault: true), Self.card("headset", form: .headset)])
        try running(system) { session, _, client in
            session.configuration.preferredOutput = "headset"
            #expect(eventually { session.currentRoute.output?.id == "headset" })
            #expect(session.currentRoute.input?.id == "speakers", "two cards, two clocks")
            #expect(goesOn(client))
            session.configuration.preferredOutput = nil
            #expect(eventually { session.currentRoute.output?.id == "speakers" })
            #expect(eventually { reasons(session) == [.activated, .override, .override] })
        }
    }

    @Test("activation throws at once if a device cannot be opened")
    func refused() throws {
        let nothing = AudioSession(SimulatedSystem())
        #expect(throws: AudioDeviceError.noDefaultDevice(.output)) { try nothing.activate() }
        let system = SimulatedSystem([Self.card("card", isDefault: true, isExclusive: true)])
        let first = AudioSession(system)
        try first.activate()
        #expect(throws: AudioDeviceError.busy(device: "the card")) { try AudioSession(system).activate() }
        first.deactivate()
        var configuration = AudioSession.Configuration()
        configuration.preferredSampleRate = 96_000
        #expect(throws: AudioDeviceError.self) { try AudioSession(system, configuration).activate() }
        system.kill()
        #expect(throws: AudioDeviceError.self) { try first.activate() }
        system.restart()
        let device = try first.activate()
        #expect(try first.activate() === device)
    }

    @Test("a session can be reactivated after its end, and leaks no thread when freed while active")
    func lifeCycle() throws {
        let system = SimulatedSystem([Self.card("speakers", isDefault: true)])
        let session = AudioSession(system)
        for _ in 0..<20 {
            let device = try session.activate()
            let client = Client()
            try device.start(client.callback)
            #expect(throws: AudioDeviceError.alreadyRunning) { try device.start(client.callback) }
            #expect(eventually { client.calls > 0 })
            device.stop()
            session.deactivate()
        }
        for _ in 0..<20 { _ = try AudioSession(system).activate() }
        let threads = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")
        let names = threads.compactMap { try? String(contentsOfFile: "/proc/self/task/\($0)/comm", encoding: .utf8) }
        #expect(!names.contains("session\n") && !names.contains("simulated-card\n"))
    }

    @Test("session events are delivered to a listener")
    func events() async throws {
        let system = SimulatedSystem([Self.card("speakers", isDefault: true)])
        let session = AudioSession(system)
        var events = session.events().makeAsyncIterator()
        try session.activate()
        guard case .routeChanged(let change)? = await events.next() else { return #expect(Bool(false)) }
        #expect(change.reason == .activated)
        system.kill()
        #expect(await events.next() == .interruptionBegan(.serverGone))
        system.restart()
        guard case .interruptionEnded(.serverGone, _)? = await events.next() else { return #expect(Bool(false)) }
    }
}

/// Waits only for events, so that a pause of the machine is no excuse.
@Suite("AudioSession when settled") struct SettledSessionTests {
    @Test("a settled session is woken by a device change, without polling")
    func wakes() throws {
        let hour = 3_600_000
        let system = SimulatedSystem([AudioSessionTests.card("speakers", isDefault: true)])
        let session = AudioSession(system, .init(), players: .shared, settledInterval: hour)
        let device = try session.activate()
        let client = AudioSessionTests.Client()
        try device.start(client.callback)
        defer { session.deactivate() }
        for id in ["headset", "phones"] {
            let isSettled = eventually {
                let looks = session.inspectionCount
                usleep(300_000)
                return session.inspectionCount == looks
            }
            #expect(isSettled)
            system.add(AudioSessionTests.card(id, form: .headset, isDefault: true))
            #expect(eventually { session.currentRoute.output?.id == id })
            let calls = client.calls
            #expect(eventually { client.calls > calls + 10 })
        }
    }
}
