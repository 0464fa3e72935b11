// SPDX-License-Identifier: Apache-2.0

import CEarshotALSA
import EarshotAudioBase
import Foundation
import Synchronization

/// The machine's sound cards, and the PCM `default` if it opens.
///
/// A card's id is libasound's name, `hw:CARD=x,DEV=n`, which does not depend on the port. Cards that another program uses stay in
/// the list. Changes are detected in `/dev/snd`; PCMs of a sound server, such as PipeWire's, are checked every three seconds. The
/// default of each direction is the PCM `default`, otherwise the first card.
package final class ALSASystem: AudioSystem {
    /// The kind of sound system: ALSA.
    package var backend: AudioBackend { .alsa }
    /// The devices: the PCM `default`, the other named PCMs, then the PCMs of the cards in the kernel's order.
    package let registry = AudioDeviceRegistry()

    private let names: [String]
    /// The named PCMs whose changes cause no event of the kernel. The mutex also lets only one thread at a time check or open
    /// devices, because a check makes a card busy.
    private let unwatchedPCMs = Mutex<Set<String>>([])
    private let watcher: ALSAWatcher
    private let jackWatcher = ALSAJackWatcher()
    /// The cards of the listed PCMs, by the PCM's id.
    private let cards = Mutex<[String: ALSACard]>([:])

    /// Lists the devices and starts watching.
    /// - Parameter extraNames: further PCMs to list if they open: `pipewire`, `plug:dmix`, those of `.asoundrc`.
    package convenience init(extraNames: [String] = []) { self.init(extraNames: extraNames, watcher: ALSAWatcher()) }

    init(extraNames: [String], watcher: ALSAWatcher) {
        names = ["default"] + extraNames.filter { $0 != "default" }
        self.watcher = watcher
        earshot_alsa_quiet()
        refresh()
        watcher.start(
            tick: { [weak self] in
                self?.refresh(onlyUnwatched: true)
                self?.refreshPorts()  // drivers miss events
            }, look: { [weak self] in self?.refresh() })
    }

    deinit {
        watcher.stop()
        jackWatcher.stop()
    }

    /// The reason that the list of devices is empty: ``AudioDeviceError/notPermitted(device:)`` if the machine has cards that the
    /// user may not open, otherwise ``AudioDeviceError/noServer(_:server:onPipeWire:)``. nil if there is a device.
    package var failure: AudioDeviceError? {
        guard registry.devices.isEmpty else { return nil }
        if let path = ALSANodes().forbiddenPath(nil) { return .notPermitted(device: path) }
        return .noServer(.alsa, server: nil, onPipeWire: JACKProcess.isPipeWirePresent)
    }

    /// Updates the list of devices.
    package func refresh() { refresh(onlyUnwatched: false) }

    private func refresh(onlyUnwatched: Bool) {
        unwatchedPCMs.withLock { unwatchedPCMs in
            guard !onlyUnwatched || !unwatchedPCMs.isEmpty else { return }
            let present = registry.devices
            let known = Dictionary(present.map { ($0.id, $0) }) { first, _ in first }
            let cards = ALSACard.all()
            var devices: [AudioDeviceDescription] = []
            var owners = Dictionary(cards.map { ($0.id, $0) }) { first, _ in first }
            for name in names {
                guard !onlyUnwatched || unwatchedPCMs.contains(name) else {
                    owners[name] = self.cards.withLock { $0[name] }
                    if let device = known[name] { devices.append(device) }
                    continue
                }
                let probe = ALSAProbe(name)
                let isWatched = probe.isBusy || probe.sides.contains { !$0.isServer }
                if isWatched { unwatchedPCMs.remove(name) } else { unwatchedPCMs.insert(name) }
                owners[name] = probe.isBusy ? self.cards.withLock { $0[name] } : Self.card(of: probe, cards)
                if let device = Self.describe(name, probe, cards, known[name]) { devices.append(device) }
            }
            // Cards are not opened for the check of unwatched PCMs, since opening a card may cause a click.
            devices +=
                onlyUnwatched
                ? present.filter { !names.contains($0.id) } : cards.map { Self.describe($0, known[$0.id]) }
            for i in devices.indices { (devices[i].isDefaultInput, devices[i].isDefaultOutput) = (false, false) }
            if let i = devices.firstIndex(where: { $0.has(.input) }) { devices[i].isDefaultInput = true }
            if let i = devices.firstIndex(where: { $0.has(.output) }) { devices[i].isDefaultOutput = true }
            self.cards.withLock { $0 = owners }
            updatePorts(&devices)
            registry.replace(with: devices)
            watchJacks()
        }
    }

    /// Reads the cards' jacks.
    private func refreshPorts() {
        unwatchedPCMs.withLock { _ in
            var devices = registry.devices
            updatePorts(&devices)
            registry.replace(with: devices)
            watchJacks()
        }
    }

    private func watchJacks() {
        let numbers = cards.withLock { Set($0.values.map(\.number)) }
        jackWatcher.watch(numbers) { [weak self] in self?.refreshPorts() }
    }

    private func updatePorts(_ devices: inout [AudioDeviceDescription]) {
        let cards = cards.withLock { $0 }
        var jacks: [Int: ALSAJacks] = [:]
        for i in devices.indices {
            guard let card = cards[devices[i].id] else { continue }
            let states = jacks[card.number] ?? ALSAJacks(ofCard: card.number)
            jacks[card.number] = states
            states.apply(to: &devices[i], card)
        }
    }

    /// Opens a card, or any PCM whose name in libasound is the id. A requested sample rate must be supported exactly; of the
    /// supported blocks the nearest is used.
    /// - Throws: ``AudioDeviceError``: busy, not permitted, gone, unknown, or an unsupported format.
    package func open(_ request: AudioDeviceRequest) throws(AudioDeviceError) -> any AudioDevice {
        let request = try request.validated()
        let input = request.inputChannelCount == 0 ? nil : id(request.input, .input)
        let output = request.outputChannelCount == 0 ? nil : id(request.output, .output)
        guard input != nil || output != nil else {
            if request.inputChannelCount > 0, request.input == .systemDefault { throw .noDefaultDevice(.input) }
            if request.outputChannelCount > 0, request.output == .systemDefault { throw .noDefaultDevice(.output) }
            throw .unsupportedFormat(detail: "no input and no output channels")
        }
        for (id, direction) in [(input, AudioDirection.input), (output, .output)] {
            guard let id, let device = devices.first(where: { $0.id == id }), !device.has(direction) else { continue }
            throw .unsupportedFormat(detail: "\(device.name) has no \(direction.rawValue)")
        }
        if let input, let output, !Self.shareClock(input, output) { return try aggregate(input, output, request) }
        return try device(input: input, output: output, request)
    }

    /// Opens two cards with separate clocks as one device. The request's monitor records the output's callbacks, which include
    /// the client's work.
    private func aggregate(
        _ input: String, _ output: String, _ request: AudioDeviceRequest
    ) throws(AudioDeviceError) -> any AudioDevice {
        let own = request.ofItsOwn(devices.first { $0.id == input })
        let source = try device(input: input, output: nil, own)
        let sink = try device(input: nil, output: output, request)
        return try AggregateDevice(input: source, output: sink)
    }

    private func device(
        input: String?, output: String?, _ request: AudioDeviceRequest
    ) throws(AudioDeviceError) -> ALSADevice {
        let all = devices
        let listed = all.filter { $0.id == input || $0.id == output }
        let names = listed.isEmpty ? [input, output].compactMap { $0 } : listed.map(\.name)
        defer { refreshPorts() }  // a driver may notice plugs only while a PCM is open
        do {
            return try unwatchedPCMs.withLock { _ throws(AudioDeviceError) in
                try ALSADevice(
                    name: names.reduce(into: [String]()) { if !$0.contains($1) { $0.append($1) } }.joined(
                        separator: " + "),
                    capture: input, playback: output, request: request,
                    periodCount: listed.contains { $0.transport == .usb } ? Quirks.alsaUSBPeriods : 2)
            }
        } catch .noDevice(let name, _) {
            // The search throws an error with similar names unless it finds the device.
            _ = try all.device(named: name, input == nil ? .output : .input)
            throw .deviceGone(name: name)
        }
    }

    private func id(_ side: AudioDeviceRequest.Side, _ direction: AudioDirection) -> String? {
        switch side {
        case .none: nil
        case .device(let id): id
        case .systemDefault:
            devices.first { direction == .input ? $0.isDefaultInput : $0.isDefaultOutput }?.id
        }
    }

    /// Returns true if two PCMs share a clock: they are the same PCM, or belong to the same card.
    static func shareClock(_ a: String, _ b: String) -> Bool {
        guard a != b else { return true }
        guard let card = ALSACard.cardID(of: a) else { return false }
        return card == ALSACard.cardID(of: b)
    }

    // MARK: Descriptions

    /// Returns the card to which a PCM of ALSA's configuration leads; nil if it leads to none.
    private static func card(of probe: ALSAProbe, _ cards: [ALSACard]) -> ALSACard? {
        probe.sides.first.flatMap { side in cards.first { $0.number == side.card } }
    }

    private static func describe(_ card: ALSACard, _ known: AudioDeviceDescription?) -> AudioDeviceDescription {
        let probe = ALSAProbe(card.id, capture: card.hasCapture, playback: card.hasPlayback)
        if probe.isBusy, let known { return known }
        var description = AudioDeviceDescription(
            id: card.id, backend: .alsa, name: card.name, transport: card.transport, form: card.form,
            inputChannelCount: card.hasCapture ? 2 : 0, outputChannelCount: card.hasPlayback ? 2 : 0)
        probe.fill(&description)
        return description
    }

    /// Returns the description of a PCM of ALSA's configuration: the known one while the PCM is busy; nil if it does not open.
    private static func describe(
        _ name: String, _ probe: ALSAProbe, _ cards: [ALSACard], _ known: AudioDeviceDescription?
    ) -> AudioDeviceDescription? {
        if probe.isBusy, let known { return known }
        guard !probe.sides.isEmpty else { return nil }
        let card = Self.card(of: probe, cards)
        var description = AudioDeviceDescription(
            id: name, backend: .alsa, name: card.map { "\(name) (\($0.cardName))" } ?? name,
            transport: card?.transport ?? .virtual, form: card?.form ?? .unknown,
            inputChannelCount: 0, outputChannelCount: 0)
        probe.fill(&description)
        return description
    }
}

extension ALSASystem: RecordPermissionSource {
    /// Returns the permission by the card's device node, its mixer and its sockets; `granted` for a PCM without a card.
    package func recordPermission(ofListed device: AudioDeviceDescription) -> RecordPermission {
        guard let card = cards.withLock({ $0[device.id] }) else { return .granted }
        if let path = ALSANodes().forbiddenPath(.input, card: card.number, device: card.device) {
            return .denied(.noAccess(path: path))
        }
        if let obstacle = ALSACaptureMixer(ofCard: card.number).obstacle { return .denied(obstacle) }
        let jacks = ALSAJacks(ofCard: card.number)
        let isEmpty = card.device == 0 && jacks.hasMicrophone == false && !jacks.hasInternalMicrophone
        return isEmpty ? .unknown(.notPluggedIn) : .granted
    }

    package func recordPermissionWithoutDevice() -> RecordPermission? {
        ALSANodes().forbiddenPath(.input).map { .denied(.noAccess(path: $0)) }
    }
}
