// SPDX-License-Identifier: Apache-2.0

import CEarshotPipeWire
import EarshotAudioBase

/// Lowers and restores the volume of other programs. Under the loop's lock.
///
/// This class sets a stream's soft volumes, which the session manager does not store: should this program crash, only the streams
/// that play at that time stay quiet. When the user or the session manager sets a stream's volume or mutes the stream, its soft
/// volumes are replaced; they are then set again, computed from the user's volumes. If another program has set lower soft
/// volumes, they are not changed.
final class PipeWireStreams {
    /// The volumes of a stream's channels; 1 is full volume.
    struct Volumes: Hashable {
        /// The volumes that the user sees, by channel.
        var user: [Float] = []
        /// The effective volumes by channel, or those before the user's latest change.
        var soft: [Float] = []
        var isMuted = false
    }

    private struct Stream {
        var watch: PipeWireProxy?
        var volumes = Volumes()
        var setAt = HostTime(nanoseconds: 0)
    }

    /// Time limits in seconds.
    private enum Limit {
        /// The time after this program's change in which a report of unchanged volumes is the answer to that change.
        static let echo = 0.1
        /// The time after which a new stream's volumes are set again, because the session manager restores them meanwhile.
        static let settling = 0.3
    }

    private let main: UnsafeMutablePointer<pw_loop>
    private var timer: UnsafeMutablePointer<spa_source>?
    private var streams: [UInt32: Stream] = [:]
    private var gains: [Int: Float] = [:]
    private var count = 0

    init(_ loop: PipeWireLoop) { main = loop.main }

    /// The factor for the volume of each stream: the lowest of the gains, or 1 without a gain.
    var gain: Float { gains.values.min() ?? 1 }

    /// Adds a gain, a factor from 0 to 1. Call ``update(_:_:)`` afterwards.
    /// - Returns: the number for ``removeGain(_:)``.
    func addGain(_ gain: Float) -> Int {
        count += 1
        gains[count] = gain
        return count
    }

    func removeGain(_ number: Int) { gains[number] = nil }

    /// Sets the volumes of all watched streams after a change of ``gain``. Unless the gain is 1, begins to watch the others too.
    /// - Parameter others: the numbers of all streams of other programs.
    func update(_ registry: OpaquePointer?, _ others: [UInt32]) {
        for id in streams.keys { apply(to: id) }
        guard gain != 1, let registry else { return }
        for id in others where streams[id] == nil { watch(registry, id) }
    }

    /// Handles a new stream of another program.
    func appeared(_ registry: OpaquePointer, _ id: UInt32) {
        if gain != 1 { watch(registry, id) }
    }

    func disappeared(_ id: UInt32) { streams.removeValue(forKey: id)?.watch?.destroy() }

    /// Removes all streams. Call it before the connection is destroyed.
    func removeAll() {
        for stream in streams.values { stream.watch?.destroy() }
        streams = [:]
        if let timer { earshot_pw_remove_source(main, timer) }
        timer = nil
    }

    /// Sets the volumes again when the timer ends, after new streams have settled.
    fileprivate func settle() {
        guard gain != 1 else { return }
        for id in streams.keys { apply(to: id) }
    }

    private func watch(_ registry: OpaquePointer, _ id: UInt32) {
        streams[id] = Stream()
        streams[id]?.watch = .stream(registry, id) { [unowned self] in changed(id, $0) }
        if timer == nil {
            timer = earshot_pw_add_timer(main, pipeWireSettle, Unmanaged.passUnretained(self).toOpaque())
        }
        if let timer { earshot_pw_set_timer(main, timer, Int(Limit.settling * 1e9)) }
    }

    private func changed(_ id: UInt32, _ new: Volumes) {
        guard let stream = streams[id] else { return }
        let old = stream.volumes
        streams[id]?.volumes = new
        guard gain != 1 else { return }
        if old.user != new.user || old.isMuted != new.isMuted { return apply(to: id) }
        let differences = zip(new.soft, new.user.map { $0 * gain }).map { $0 - $1 }
        let isLower = differences.contains { $0 < -1e-6 }
        let isRaised = old.soft != new.soft && differences.contains { $0 > 1e-6 }
        let isEcho = HostTime.now().seconds(since: stream.setAt) < Limit.echo
        if isRaised || !isEcho && !isLower { apply(to: id) }
    }

    private func apply(to id: UInt32) {
        guard let stream = streams[id], let watch = stream.watch, !stream.volumes.user.isEmpty else { return }
        let volumes = stream.volumes.user.map { $0 * gain }
        streams[id]?.setAt = .now()
        earshot_pw_set_soft_volumes(watch.proxy, volumes, UInt32(volumes.count), stream.volumes.isMuted)
    }
}

// Called on the loop's thread; `data` is the `PipeWireStreams` object.
private func pipeWireSettle(_ data: UnsafeMutableRawPointer?, _ expirations: UInt64) {
    data.map { Unmanaged<PipeWireStreams>.fromOpaque($0).takeUnretainedValue() }?.settle()
}
