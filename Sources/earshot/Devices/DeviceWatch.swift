// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import EarshotAudioDevices
import Foundation
import Synchronization

/// Prints devices that come, go and change, until Ctrl-C, the key q, or until standard output is closed.
struct DeviceWatch {
    /// A change of a sound system's state, or of one of its devices.
    private enum News {
        case state(AudioDeviceError?)
        case change(AudioDeviceChange)
    }

    private final class Inbox: Sendable {
        let news = Mutex<[(AudioBackend, AudioDeviceChange)]>([])
    }

    private let systems: [any AudioSystem]
    private let isJSON: Bool
    private let hasColour = Terminal.outputHasColour

    init(_ systems: [any AudioSystem], isJSON: Bool) {
        self.systems = systems
        self.isJSON = isJSON
    }

    func run() throws {
        let keys = Terminal.isInteractive && !isJSON ? KeyboardInput() : nil
        let inbox = Inbox()
        // Listening begins before the first list, so that no change is missed. Changes that the list contains are not printed.
        let listeners = systems.map { system in
            let (backend, changes) = (system.backend, system.changes())
            return Task { for await change in changes { inbox.news.withLock { $0.append((backend, change)) } } }
        }
        defer { for listener in listeners { listener.cancel() } }
        let first = systems.map(DeviceListing.init)
        var known = Dictionary(uniqueKeysWithValues: first.map { ($0.backend, Known($0)) })
        try begin(first, hint: keys == nil ? "Ctrl-C stops." : CommonKeys.hint)
        while !Interrupt.isRequested {
            if Terminal.isOutputClosed { throw ExitCode(128 + SIGPIPE) }
            if keys == nil { Thread.sleep(forTimeInterval: 0.05) }
            switch keys?.next(within: 0.05).flatMap(CommonKeys.action) {
            case .quit: return
            case .help: Terminal.say(CommonKeys.help)
            case .status: try begin(systems.map(DeviceListing.init), hint: nil)
            case nil: break
            }
            let news = inbox.news.withLock { news in
                defer { news = [] }
                return news
            }
            for (backend, change) in news where known[backend]?.take(change) ?? false {
                try notify(.change(change), of: backend)
            }
            for system in systems where known[system.backend]?.take(system.failure) ?? false {
                try notify(.state(system.failure), of: system.backend)
            }
        }
        try EndReason.interrupted.throwUnlessSuccessful(endsByInterrupt: true)
    }

    /// Prints all devices: as a table, or in JSON as one event for each sound system, device and default device.
    private func begin(_ listings: [DeviceListing], hint: String?) throws {
        guard isJSON else {
            try Terminal.output(DeviceTable(listings, hasColour: hasColour).text)
            if let missing = DeviceListing.noDeviceFailure(listings) { Terminal.error(missing.line) }
            if let hint { Terminal.say("Watching. \(hint)") }
            return
        }
        for listing in listings {
            try notify(.state(listing.failure), of: listing.backend)
            for device in listing.devices { try notify(.change(.added(device)), of: listing.backend) }
            if let device = listing.devices.first(where: \.isDefaultInput) {
                try notify(.change(.defaultInput(device)), of: listing.backend)
            }
            if let device = listing.devices.first(where: \.isDefaultOutput) {
                try notify(.change(.defaultOutput(device)), of: listing.backend)
            }
        }
    }

    private func notify(_ news: News, of backend: AudioBackend) throws {
        try Terminal.output(isJSON ? event(news, backend).json(isPretty: false) : line(news, backend))
    }

    private func event(_ news: News, _ backend: AudioBackend) -> DeviceReport.Event {
        func event(_ name: String, _ device: AudioDeviceDescription?, reason: String? = nil) -> DeviceReport.Event {
            let time = Date().formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
            return DeviceReport.Event(
                time: time, system: backend.rawValue, event: name, device: device.map { DeviceReport.Device($0) },
                reason: reason)
        }
        switch news {
        case .state(let failure):
            return event(failure == nil ? "running" : "gone", nil, reason: failure.map { ErrorText.text($0) })
        case .change(.added(let device)): return event("added", device)
        case .change(.removed(let device)): return event("removed", device)
        case .change(.changed(let device)): return event("changed", device)
        case .change(.defaultInput(let device)): return event("defaultInput", device)
        case .change(.defaultOutput(let device)): return event("defaultOutput", device)
        }
    }

    private func line(_ news: News, _ backend: AudioBackend) -> String {
        func line(_ sign: String, _ colour: Int, _ words: String) -> String {
            let time = ClockTime.text(Date())
            let mark = hasColour ? "\u{1B}[\(colour)m\(sign)\u{1B}[0m" : sign
            let system = systems.count > 1 ? "\(backend)  " : ""
            return "\(time)  \(system)\(mark) \(words)\n"
        }
        func named(_ device: AudioDeviceDescription) -> String {
            "\(DeviceFormatting.name(device)) (\(DeviceFormatting.summary(device)))"
        }
        func taken(_ device: AudioDeviceDescription?) -> String { device.map(DeviceFormatting.name) ?? "none" }
        switch news {
        case .state(nil): return line("+", 32, "\(backend) runs")
        case .state(let failure?): return line("-", 31, ErrorText.text(failure))
        case .change(.added(let device)):
            let advice = DeviceFormatting.advice(device).map { line("!", 33, $0) } ?? ""
            return line("+", 32, named(device)) + advice
        case .change(.removed(let device)): return line("-", 31, named(device))
        case .change(.changed(let device)): return line("~", 33, named(device))
        case .change(.defaultInput(let device)): return line("●", 32, "default microphone: \(taken(device))")
        case .change(.defaultOutput(let device)): return line("●", 32, "default loudspeaker: \(taken(device))")
        }
    }
}

extension DeviceWatch {
    /// The state and the devices of a sound system as last printed.
    private struct Known {
        private var devices: [String: AudioDeviceDescription]
        private var defaultInput: String?
        private var defaultOutput: String?
        private var failure: AudioDeviceError?

        init(_ listing: DeviceListing) {
            devices = Dictionary(listing.devices.map { ($0.id, $0) }) { first, _ in first }
            defaultInput = listing.devices.first(where: \.isDefaultInput)?.id
            defaultOutput = listing.devices.first(where: \.isDefaultOutput)?.id
            failure = listing.failure
        }

        /// Applies a change of the devices. Returns true if the change is new.
        mutating func take(_ change: AudioDeviceChange) -> Bool {
            switch change {
            case .added(let device), .changed(let device):
                defer { devices[device.id] = device }
                return devices[device.id] != device
            case .removed(let device):
                return devices.removeValue(forKey: device.id) != nil
            case .defaultInput(let device):
                defer { defaultInput = device?.id }
                return defaultInput != device?.id
            case .defaultOutput(let device):
                defer { defaultOutput = device?.id }
                return defaultOutput != device?.id
            }
        }

        /// Applies the state of the sound system: its failure, or nil if it runs. Returns true if a failure began or ended.
        mutating func take(_ failure: AudioDeviceError?) -> Bool {
            defer { self.failure = failure }
            return (self.failure == nil) != (failure == nil)
        }
    }
}
