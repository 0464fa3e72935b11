// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDevices
import Foundation
import TestSupport
import TestTraits
import Testing

/// Tests every device and its system when something disappears.
@Suite("AudioDevice: faults", .serialized, .realTime, .needs("jackd", "pipewire")) struct AudioDeviceFaultTests {
    typealias Kind = DeviceBench.Kind

    @Test("opening an unknown device is rejected", arguments: Kind.allCases)
    func unknownDevice(_ kind: Kind) throws {
        try DeviceBench.with(kind) { bench in
            do throws(AudioDeviceError) {
                var request = bench.request
                (request.input, request.output) = (.device(id: "no-such-device"), .none)
                _ = try bench.system.open(request)
                Issue.record("it was opened")
            } catch {
                guard case .noDevice("no-such-device", _) = error else {
                    Issue.record("\(error)")
                    return
                }
            }
        }
    }

    @Test(
        "devices fail and the list empties when the server dies; all works again after a restart",
        arguments: Kind.allCases)
    func serverEnds(_ kind: Kind) throws {
        try DeviceBench.with(kind) { bench in
            let device = try bench.open()
            let idle = try bench.open()
            let probe = CycleProbe()
            try device.start(probe.callback)
            #expect(eventually { probe.count >= 10 })
            try bench.kill()
            #expect(eventually { device.failure != nil })
            device.stop()
            device.stop()
            #expect(throws: AudioDeviceError.self) { try device.start(probe.callback) }
            // A device that is not running notices at its start or right after.
            do { try idle.start(probe.callback) } catch { #expect(error is AudioDeviceError) }
            if idle.failure == nil { #expect(eventually { idle.failure != nil }) }
            idle.stop()
            #expect(eventually { bench.system.devices.isEmpty && bench.system.failure != nil })
            #expect(throws: AudioDeviceError.self) { try bench.open() }
            try bench.revive()
            #expect(eventually { bench.system.failure == nil && !bench.system.devices.isEmpty })
            #expect(eventually { (try? bench.open()) != nil })
            let new = try bench.open()
            let again = CycleProbe()
            try new.start(again.callback)
            #expect(eventually { again.count >= 10 })
            new.stop()
            #expect(device.failure != nil && new.failure == nil)
        }
    }

    @Test("an unplugged device fails and is removed from the list", arguments: [Kind.simulated, .pipewire])
    func deviceGone(_ kind: Kind) throws {
        try DeviceBench.with(kind) { bench in
            let unplug = try #require(bench.unplug)
            let device = try bench.open()
            let probe = CycleProbe()
            try device.start(probe.callback)
            #expect(eventually { probe.count >= 10 })
            let count = bench.system.devices.count
            try unplug()
            #expect(eventually { device.failure != nil })
            guard case .deviceGone? = device.failure else {
                Issue.record("failure is \(String(describing: device.failure))")
                return
            }
            device.stop()
            #expect(eventually { bench.system.devices.count < count })
            #expect(throws: AudioDeviceError.self) { try bench.open() }
        }
    }

    @Test("fifty starts and stops and ten openings leak no threads, descriptors or memory", arguments: Kind.allCases)
    func leaks(_ kind: Kind) throws {
        try DeviceBench.with(kind, .block(64)) { bench in
            func startAndStop(_ device: any AudioDevice) throws {
                let probe = CycleProbe()
                try device.start(probe.callback)
                #expect(eventually { probe.count >= 1 })
                device.stop()
            }
            let device = try bench.open()
            for _ in 0..<5 { try startAndStop(device) }
            for _ in 0..<2 { try startAndStop(try bench.open()) }
            let before = ProcessFootprint.now()
            for _ in 0..<50 { try startAndStop(device) }
            let running = ProcessFootprint.now()
            for _ in 0..<10 { try startAndStop(try bench.open()) }
            // A joined thread may still be listed for a moment.
            #expect(eventually { ProcessFootprint.now().threads <= before.threads })
            #expect(eventually { ProcessFootprint.now().descriptors <= before.descriptors })
            #expect(running.anonymousBytes - before.anonymousBytes < 1 << 20)
            // Libraries keep memory from opening: 0.5 MB for each of the first devices if a plug-in has a server.
            #expect(ProcessFootprint.now().anonymousBytes - running.anonymousBytes < 8 << 20)
        }
    }
}
