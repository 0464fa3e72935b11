// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDevices
import Glibc
import Testing

@Suite("AudioDeviceRegistry") struct AudioDeviceRegistryTests {
    static func device(_ id: String, input: Bool = false, output: Bool = false, rate: Double = 48_000)
        -> AudioDeviceDescription
    {
        AudioDeviceDescription(
            id: id, backend: .simulated, name: "Card \(id)", inputChannelCount: 1, outputChannelCount: 2,
            sampleRate: rate, isDefaultInput: input, isDefaultOutput: output)
    }

    @Test("a wake-up is signalled only when the device list changes")
    func wakes() {
        func isWoken(_ wakeup: Wakeup) -> Bool {
            var descriptor = pollfd(fd: wakeup.fileDescriptor, events: Int16(POLLIN), revents: 0)
            let isReadable = poll(&descriptor, 1, 0) > 0
            wakeup.wokeUp(isSignalled: isReadable)
            return isReadable
        }
        let registry = AudioDeviceRegistry()
        let wakeup = Wakeup()
        registry.wake(wakeup)
        registry.wake(wakeup)
        do {
            let gone = Wakeup()
            registry.wake(gone)
        }
        for (devices, wakes) in [([Self.device("a")], true), ([Self.device("a")], false), ([], true)] {
            wakeup.prepareToSleep()
            registry.replace(with: devices)
            #expect(isWoken(wakeup) == wakes)
        }
    }

    @Test("added, removed, changed and new default devices are reported in order")
    func changes() async {
        let registry = AudioDeviceRegistry()
        var news = registry.changes().makeAsyncIterator()
        let speakers = Self.device("speakers", input: true, output: true)
        registry.replace(with: [speakers])
        #expect(await news.next() == .added(speakers))
        #expect(await news.next() == .defaultInput(speakers))
        #expect(await news.next() == .defaultOutput(speakers))
        let headset = Self.device("headset", input: true, output: true)
        registry.replace(with: [Self.device("speakers"), headset])
        #expect(await news.next() == .added(headset))
        #expect(await news.next() == .defaultInput(headset))
        #expect(await news.next() == .defaultOutput(headset))
        registry.replace(with: [Self.device("speakers", rate: 44_100)])
        #expect(await news.next() == .removed(headset))
        #expect(await news.next() == .changed(Self.device("speakers", rate: 44_100)))
        #expect(await news.next() == .defaultInput(nil))
        #expect(await news.next() == .defaultOutput(nil))
        registry.replace(with: registry.devices)  // no news
        registry.replace(with: [])
        #expect(await news.next() == .removed(Self.device("speakers", rate: 44_100)))
    }

    @Test("a change stream ends when its registry is deallocated")
    func end() async throws {
        var registry: AudioDeviceRegistry? = AudioDeviceRegistry()
        let news = try #require(registry?.changes())
        registry?.replace(with: [Self.device("a")])
        registry = nil
        var count = 0
        for await _ in news { count += 1 }
        #expect(count == 1)
    }

    @Test(
        "a device is found by its name, its id or a part of them",
        arguments: [
            ("headset", "usb-headset"), ("USB", "usb-headset"), ("built-in", "built-in"), ("Card HDMI", "hdmi"),
        ])
    func found(_ name: String, id: String) throws {
        let devices = [Self.device("built-in"), Self.device("usb-headset"), Self.device("hdmi")]
        var hdmi = devices[2]
        hdmi.name = "Card HDMI"
        #expect(try [devices[0], devices[1], hdmi].device(named: name, .output).id == id)
    }

    @Test("an unknown or ambiguous name is an error that lists the closest names")
    func notFound() {
        let devices = [Self.device("speakers"), Self.device("headset"), Self.device("headphones")]
        #expect(throws: AudioDeviceError.noDevice(name: "hedset", near: ["Card headset"])) {
            try devices.device(named: "hedset", .input)
        }
        #expect(throws: AudioDeviceError.noDevice(name: "head", near: ["Card headset", "Card headphones"])) {
            try devices.device(named: "head", .output)
        }
        #expect(throws: AudioDeviceError.noDevice(name: "", near: [])) { try devices.device(named: "", .output) }
        var deaf = devices[1]
        deaf.inputChannelCount = 0
        #expect(throws: AudioDeviceError.noDevice(name: "headset", near: [])) {
            try [deaf].device(named: "headset", .input)
        }
    }

    @Test("a partial name matches a monitor only if it says so")
    func monitors() throws {
        var monitor = Self.device("speakers.monitor")
        (monitor.form, monitor.outputChannelCount) = (.monitor, 0)
        var sink = Self.device("speakers")
        sink.inputChannelCount = 0
        let devices = [sink, monitor]
        #expect(throws: AudioDeviceError.self) { try devices.device(named: "speak", .input) }
        for name in ["speakers.monitor", "Monitor", monitor.name] {
            #expect(try devices.device(named: name, .input) == monitor)
        }
        #expect(try devices.device(named: "speak", .output) == sink)
    }

    @Test("a name shared by two devices is ambiguous, and the error lists their ids")
    func sharedName() throws {
        var devices = [Self.device("usb-1"), Self.device("usb-2"), Self.device("hdmi")]
        for i in 0..<2 { devices[i].name = "Headset" }
        for name in ["Headset", "head"] {
            #expect(throws: AudioDeviceError.noDevice(name: name, near: ["usb-1", "usb-2"])) {
                try devices.device(named: name, .output)
            }
        }
        #expect(try devices.device(named: "usb-2", .output).id == "usb-2")
        devices[1].outputChannelCount = 0
        #expect(try devices.device(named: "Headset", .output).id == "usb-1")
    }

    @Test("requests that no device can fulfil are rejected by validation")
    func requests() throws {
        var request = AudioDeviceRequest()
        try request.validate()
        #expect(request.wantedBlock(at: 48_000) == 240)
        #expect(request.wantedBlock(at: 44_100) == 221)
        request.inputChannelMap = [0, 1]
        #expect(throws: AudioDeviceError.self) { try request.validate() }
        request.inputChannelMap = [-1]
        #expect(throws: AudioDeviceError.self) { try request.validate() }
        request = AudioDeviceRequest()
        request.blockFrameCount = 15
        #expect(throws: AudioDeviceError.self) { try request.validate() }
        request.blockFrameCount = nil
        request.sampleRate = .nan
        #expect(throws: AudioDeviceError.self) { try request.validate() }
        request.sampleRate = nil
        request.ioDuration = .nan
        #expect(throws: AudioDeviceError.self) { try request.validate() }
        request.ioDuration = 0.005
        request.outputChannelCount = 33
        #expect(throws: AudioDeviceError.self) { try request.validate() }
    }
}
