// SPDX-License-Identifier: Apache-2.0

import CEarshotJACK
import EarshotAudioBase
import Foundation
import TestSupport
import TestTraits
import Testing

@testable import EarshotAudioDevices

/// A real server that is stopped (SIGSTOP): libjack's calls wait for it, but the owners of its clients do not.
@Suite("JACK: suspended server", .serialized, .realTime, .needs("jackd")) struct JACKStandstillTests {
    private static let stalled = AudioDeviceError.stalled(device: "the JACK server", seconds: 2)

    private func expectCalls(of system: JACKSystem) throws {
        #expect(eventually { system.failure == nil && !system.devices.isEmpty })
        #expect(eventually { (try? system.open(AudioDeviceRequest())) != nil })
        let device = try system.open(AudioDeviceRequest())
        let probe = CycleProbe()
        try device.start(probe.callback)
        #expect(eventually { probe.count >= 10 })
        device.stop()
        #expect(device.failure == nil)
    }

    @Test(
        "calls return while the server is suspended, and all works once it resumes or restarts",
        arguments: [false, true])
    func standsStill(isKilled: Bool) throws {
        try JACKServer.running(blockFrameCount: 256) { server in
            let system = JACKSystem(serverName: server.name)
            var device: (any AudioDevice)? = try system.open(AudioDeviceRequest())
            var idle: (any AudioDevice)? = try system.open(AudioDeviceRequest())
            let probe = CycleProbe()
            try device?.start(probe.callback)
            #expect(eventually { probe.count >= 10 })
            server.signal(SIGSTOP)
            device?.stop()
            #expect(device?.failure == Self.stalled)
            #expect(throws: Self.stalled) { try device?.start(probe.callback) }
            let count = probe.count
            #expect(throws: Self.stalled) { try system.open(AudioDeviceRequest()) }
            #expect(system.failure == Self.stalled && system.devices.isEmpty)
            #expect(throws: Self.stalled) { try idle?.start(probe.callback) }
            #expect(idle?.failure == Self.stalled)
            (device, idle) = (nil, nil)
            var other: JACKSystem? = JACKSystem(serverName: server.name)
            #expect(other?.failure == Self.stalled)
            other = nil
            if isKilled {
                server.kill()
                try server.start()
            } else {
                server.signal(SIGCONT)
            }
            try expectCalls(of: system)
            #expect(probe.count == count, "no call comes after stop() has returned")
        }
    }

    @Test("an open or start that times out is undone when the server resumes", arguments: [false, true])
    func lateResult(isOpen: Bool) throws {
        try JACKServer.running(blockFrameCount: 256) { server in
            func open() throws(AudioDeviceError) -> JACKDevice {
                try JACKDevice(name: "probe", serverName: server.name, inputChannelCount: 1, outputChannelCount: 1)
            }
            let probe = CycleProbe()
            let device = isOpen ? try open() : nil
            server.signal(SIGSTOP)
            if let device {
                #expect(throws: Self.stalled) { try device.start(probe.callback) }
            } else {
                #expect(throws: Self.stalled) { try open() }
            }
            server.signal(SIGCONT)
            // The late call was undone: the name is free.
            #expect(eventually { (try? open())?.name == "probe" })
            #expect(probe.count == 0)
        }
    }

    @Test("a block size changed while a device was stopped is known when it starts")
    func changesWhileStopped() throws {
        try JACKServer.running(blockFrameCount: 256) { server in
            let device = try JACKDevice(
                name: "probe", serverName: server.name, inputChannelCount: 1, outputChannelCount: 1)
            #expect(device.blockFrameCount == 256)
            for block in [512, 128] {
                try server.setBlock(block)
                let probe = CycleProbe()
                try device.start(probe.callback)
                #expect(device.blockFrameCount == block)
                #expect(eventually { probe.count >= 10 })
                device.stop()
                #expect(probe.notes.allSatisfy { $0.frameCount == block })
            }
        }
    }

    @Test("a client expelled by the server does not affect other clients")
    func thrownOut() throws {
        try JACKServer.running { server in
            func open(_ name: String) throws -> JACKDevice {
                try JACKDevice(name: name, serverName: server.name, inputChannelCount: 1, outputChannelCount: 1)
            }
            let out = try open("out")
            let other = try open("other")
            let probe = CycleProbe()
            try other.start(probe.callback)
            jackShutdown(JackFailure, "thrown out", out.client.end.memory)
            #expect(out.failure == .serverGone(.jack, reason: "thrown out"))
            let new = try open("new")
            #expect(other.failure == nil && new.failure == nil)
            let count = probe.count
            #expect(eventually { probe.count >= count + 10 })
            other.stop()
            out.stop()
        }
    }
}
