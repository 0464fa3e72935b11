import Synchronization

/// The list of a sound system's devices, and who is told of its changes. Any thread but the render thread.
///
/// A backend hands in the whole list whenever anything may have changed; what did change is found here.
public final class AudioDeviceRegistry: Sendable {
    private struct State {
        var devices: [AudioDeviceDescription] = []
        var listeners: [Int: AsyncStream<AudioDeviceChange>.Continuation] = [:]
        var nextListener = 0
    }
    private let state = Mutex(State())
    private let count = Atomic<Int>(0)

    /// An empty list.
    public init() {}

    deinit { state.withLock { for listener in $0.listeners.values { listener.finish() } } }

    /// What is there now, in the backend's order.
    public var devices: [AudioDeviceDescription] { state.withLock { $0.devices } }

    /// Rises with every change of the list: a look that costs nothing.
    public var revision: Int { count.load(ordering: .acquiring) }

    /// The changes from this call on, in order; the stream keeps them until they are read.
    public func changes() -> AsyncStream<AudioDeviceChange> {
        AsyncStream { continuation in
            let number = state.withLock { state in
                state.nextListener += 1
                state.listeners[state.nextListener] = continuation
                return state.nextListener
            }
            continuation.onTermination = { [weak self] _ in
                self?.state.withLock { _ = $0.listeners.removeValue(forKey: number) }
            }
        }
    }

    /// Takes the list as it is now. For backends; ids are unique.
    public func replace(with devices: [AudioDeviceDescription]) {
        state.withLock { state in
            let changes = Self.changes(from: state.devices, to: devices)
            state.devices = devices
            guard !changes.isEmpty else { return }
            count.add(1, ordering: .acquiringAndReleasing)
            for listener in state.listeners.values { for change in changes { listener.yield(change) } }
        }
    }

    /// Removals first, then what stayed and changed, then arrivals, then the defaults.
    static func changes(
        from old: [AudioDeviceDescription], to new: [AudioDeviceDescription]
    ) -> [AudioDeviceChange] {
        let before = Dictionary(old.map { ($0.id, $0) }) { first, _ in first }
        let after = Dictionary(new.map { ($0.id, $0) }) { first, _ in first }
        var changes = old.filter { after[$0.id] == nil }.map { AudioDeviceChange.removed($0) }
        for device in new {
            guard var was = before[device.id] else { continue }
            was.isDefaultInput = device.isDefaultInput
            was.isDefaultOutput = device.isDefaultOutput
            if was != device { changes.append(.changed(device)) }
        }
        changes += new.filter { before[$0.id] == nil }.map { .added($0) }
        let (input, output) = (new.first(where: \.isDefaultInput), new.first(where: \.isDefaultOutput))
        if old.first(where: \.isDefaultInput)?.id != input?.id { changes.append(.defaultInput(input)) }
        if old.first(where: \.isDefaultOutput)?.id != output?.id { changes.append(.defaultOutput(output)) }
        return changes
    }
}
