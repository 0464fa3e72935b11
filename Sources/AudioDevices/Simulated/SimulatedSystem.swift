// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Synchronization

/// Sound cards in this process, which can be plugged, unplugged, occupied and broken, without hardware or a server.
///
/// Two devices on one card have separate clocks. The device that starts first has the card's rings until it stops. The next
/// device continues in the rings as if there had been no pause: frames of the pause are discarded from the source and are a gap
/// in the sink. So ``SimulatedCard/firstInputFrameTime`` of the first device is right for all frames of the rings.
public final class SimulatedSystem: AudioSystem {
    /// The current devices and their changes.
    public let registry = AudioDeviceRegistry()

    private struct Entry {
        var card: Card
        let slot: Slot
        var open: [Weak] = []
        var isPulled = false

        var devices: [SimulatedDevice] { open.compactMap(\.device) }
    }

    private struct Weak {
        weak var device: SimulatedDevice?
        var isExclusive: Bool
    }

    private struct State {
        var entries: [Entry] = []
        var chosenInput: String?
        var chosenOutput: String?
        var isDown = false
    }

    private let state: Mutex<State>

    /// Creates a system with cards. The defaults are the cards that are marked as such, or else the first suitable ones.
    public init(_ cards: [Card] = []) {
        state = Mutex(State())
        for card in cards { add(card) }
    }

    /// Returns a system of one card with an input and two outputs at any usual rate.
    public static func standard(_ configuration: SimulatedCard.Configuration? = nil) -> SimulatedSystem {
        SimulatedSystem([
            Card(
                AudioDeviceDescription(
                    id: "simulated", backend: .simulated, name: "Simulated card", transport: .virtual,
                    inputChannelCount: configuration?.inputChannelCount ?? 1,
                    outputChannelCount: configuration?.outputChannelCount ?? 2,
                    sampleRate: configuration?.sampleRate ?? 48_000,
                    sampleRates: [8_000, 16_000, 32_000, 44_100, 48_000, 88_200, 96_000, 176_400, 192_000]),
                configuration: configuration)
        ])
    }

    /// The simulated backend.
    public var backend: AudioBackend { .simulated }

    /// The reason that no card can be opened: the system was killed; nil while it runs.
    public var failure: AudioDeviceError? { state.withLock { $0.isDown ? Self.gone : nil } }

    private static let gone = AudioDeviceError.serverGone(.simulated, reason: "killed")

    /// Plugs a card in, or replaces the card with the same id, whose open devices fail.
    public func add(_ card: Card) {
        let id = card.description.id
        let slot = Slot { [weak self] slot, start in
            self?.follow(card.configuration.script, of: id, slot, from: start)
        }
        change { state in
            let entry = Entry(card: card, slot: slot)
            if let at = state.entries.firstIndex(where: { $0.card.description.id == id }) {
                for device in state.entries[at].devices { device.fail(.deviceGone(name: device.name)) }
                state.entries.remove(at: at)
            }
            state.entries.append(entry)
            if card.description.isDefaultInput { state.chosenInput = id }
            if card.description.isDefaultOutput { state.chosenOutput = id }
        }
    }

    /// Unplugs a card: its devices fail with ``AudioDeviceError/deviceGone(name:)``. Does nothing if no card has this id.
    public func remove(_ id: String) { setPulled(id, true) }

    /// Replugs a card that was removed or has vanished. Does nothing for a present or unknown card.
    public func putBack(_ id: String) { setPulled(id, false) }

    /// Changes a card's description, such as the port in use. The card's devices run on. Does nothing if no card has this id.
    package func updateDescription(of id: String, _ update: (inout AudioDeviceDescription) -> Void) {
        change { state in
            guard let at = state.entries.firstIndex(where: { $0.card.description.id == id }) else { return }
            update(&state.entries[at].card.description)
        }
    }

    /// Sets the ids of the default cards; nil leaves that direction unchanged. An absent card becomes the default when it
    /// appears.
    public func setDefault(input: String? = nil, output: String? = nil) {
        change { state in
            state.chosenInput = input ?? state.chosenInput
            state.chosenOutput = output ?? state.chosenOutput
        }
    }

    /// Ends the system: every device fails, and the list becomes empty.
    public func kill() {
        change { state in
            state.isDown = true
            for device in state.entries.flatMap(\.devices) { device.fail(Self.gone) }
        }
    }

    /// Restarts the system with the plugged cards.
    public func restart() { change { $0.isDown = false } }

    /// Unplugs or replugs a card, and fails the open devices of an unplugged card.
    /// - Parameter slot: the state of the card that is meant; does nothing if another card has replaced it. nil for any card.
    private func setPulled(_ id: String, _ isPulled: Bool, _ slot: Slot? = nil) {
        change { state in
            guard let at = state.entries.firstIndex(where: { $0.card.description.id == id }),
                slot == nil || state.entries[at].slot === slot
            else { return }
            state.entries[at].isPulled = isPulled
            guard isPulled else { return }
            for device in state.entries[at].devices { device.fail(.deviceGone(name: device.name)) }
        }
    }

    /// Changes the state and the list in one step, so that lists are published in the order of the changes.
    private func change(_ body: (inout State) -> Void) {
        state.withLock { state in
            body(&state)
            registry.replace(with: Self.list(state))
        }
    }

    private static func list(_ state: State) -> [AudioDeviceDescription] {
        guard !state.isDown else { return [] }
        var list = state.entries.filter { !$0.isPulled }.map(\.card.description)
        let input = list.first { $0.id == state.chosenInput && $0.has(.input) } ?? list.first { $0.has(.input) }
        let output = list.first { $0.id == state.chosenOutput && $0.has(.output) } ?? list.first { $0.has(.output) }
        for i in list.indices {
            list[i].isDefaultInput = list[i].id == input?.id
            list[i].isDefaultOutput = list[i].id == output?.id
        }
        return list
    }

    /// Unplugs and replugs a card at the times of its script, in real time.
    private func follow(_ script: [SimulatedCard.Event], of id: String, _ slot: Slot, from start: HostTime) {
        for case .vanish(let at, let length) in script {
            Task { [weak self] in
                try? await Task.sleep(for: .seconds(at - HostTime.now().seconds(since: start)))
                self?.setPulled(id, true, slot)
                guard let length else { return }
                try? await Task.sleep(for: .seconds(at + length - HostTime.now().seconds(since: start)))
                self?.setPulled(id, false, slot)
            }
        }
    }
}

extension SimulatedSystem {
    /// Opens a card, or two cards as one device, without starting it.
    /// - Throws: ``AudioDeviceError/unsupportedFormat(detail:)`` with the supported values; ``AudioDeviceError/busy(device:)`` if
    ///   a card is taken, ``AudioDeviceError/deviceGone(name:)`` if a card was unplugged,
    ///   ``AudioDeviceError/noDevice(name:near:)``, ``AudioDeviceError/noDefaultDevice(_:)``, and ``failure``.
    public func open(_ request: AudioDeviceRequest) throws(AudioDeviceError) -> any AudioDevice {
        let request = try request.validated()
        return try state.withLock { state throws(AudioDeviceError) in
            if state.isDown { throw Self.gone }
            let list = Self.list(state)
            let input = try Self.resolve(request.input, .input, request.inputChannelCount, list, state)
            let output = try Self.resolve(request.output, .output, request.outputChannelCount, list, state)
            switch (input, output) {
            case (nil, nil):
                guard request.input == .none, request.output == .none else { throw .noDefaultDevice(.output) }
                throw .unsupportedFormat(detail: "no input and no output channels")
            case (let input?, let output?) where input != output:
                let own = request.ofItsOwn(list.first { $0.id == input })
                let microphone = try Self.open(input, own, inputs: request.inputChannelCount, outputs: 0, &state)
                let loudspeaker = try Self.open(output, request, inputs: 0, outputs: request.outputChannelCount, &state)
                return try AggregateDevice(input: microphone, output: loudspeaker)
            case (let input, let output):
                guard let id = output ?? input else { throw .noDefaultDevice(.output) }
                return try Self.open(
                    id, request, inputs: input == nil ? 0 : request.inputChannelCount,
                    outputs: output == nil ? 0 : request.outputChannelCount, &state)
            }
        }
    }

    /// Returns the id of the card for a request's side; nil for no card, or if there is no default.
    private static func resolve(
        _ side: AudioDeviceRequest.Side, _ direction: AudioDirection, _ channelCount: Int,
        _ list: [AudioDeviceDescription], _ state: borrowing State
    ) throws(AudioDeviceError) -> String? {
        guard channelCount > 0 else { return nil }
        switch side {
        case .none: return nil
        case .systemDefault:
            return list.first { direction == .input ? $0.isDefaultInput : $0.isDefaultOutput }?.id
        case .device(let id):
            if let found = list.first(where: { $0.id == id }), found.has(direction) { return id }
            if let pulled = state.entries.first(where: { $0.card.description.id == id && $0.isPulled }) {
                throw .deviceGone(name: pulled.card.description.name)
            }
            return try list.device(named: id, direction).id
        }
    }

    private static func open(
        _ id: String, _ request: AudioDeviceRequest, inputs: Int, outputs: Int, _ state: inout State
    ) throws(AudioDeviceError) -> SimulatedDevice {
        guard let at = state.entries.firstIndex(where: { $0.card.description.id == id }) else {
            throw .noDevice(name: id, near: [])
        }
        var entry = state.entries[at]
        entry.open.removeAll { $0.device == nil }
        let isExclusive = request.isExclusive || entry.card.isExclusive
        if entry.open.contains(where: { isExclusive || $0.isExclusive }) {
            throw .busy(device: entry.card.description.name)
        }
        var granted = try entry.card.configuration(for: request, inputs: inputs, outputs: outputs)
        granted.script = entry.slot.remaining(of: granted.script)
        let device = try SimulatedDevice(
            granted, name: entry.card.description.name, monitor: request.monitor, slot: entry.slot)
        entry.open.append(Weak(device: device, isExclusive: isExclusive))
        state.entries[at] = entry
        return device
    }
}
