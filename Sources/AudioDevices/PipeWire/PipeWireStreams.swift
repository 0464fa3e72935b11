import CPipeWire

/// What other programs play, made quieter and restored. Under the loop's lock.
///
/// A stream's soft volumes are set, of which neither its user nor its session manager takes note, so that nothing stays
/// quiet should this program end in between but what plays at that moment. When the user changes a stream's volume or mutes
/// it, its soft volumes no longer count; they are set anew from the user's.
final class PipeWireStreams {
    private struct Stream {
        var watch: PipeWireProxy?
        var volumes: [Float] = []
        var isMuted = false
    }

    /// What each stream is multiplied by, 0 to 1.
    private(set) var volume: Float = 1
    private var streams: [UInt32: Stream] = [:]

    static func isStream(_ properties: [String: String]) -> Bool {
        properties[PW_KEY_MEDIA_CLASS] == "Stream/Output/Audio"
    }

    /// - Parameter others: the streams that there are.
    func setVolume(_ volume: Float, _ registry: OpaquePointer?, _ others: [UInt32]) {
        self.volume = volume
        for id in streams.keys { apply(to: id) }
        guard volume != 1, let registry else { return }
        for id in others where streams[id] == nil { watch(registry, id) }
    }

    /// A stream came.
    func appeared(_ registry: OpaquePointer, _ id: UInt32) {
        if volume != 1 { watch(registry, id) }
    }

    func disappeared(_ id: UInt32) { streams.removeValue(forKey: id)?.watch?.destroy() }

    /// Before the connection is taken apart.
    func removeAll() {
        for stream in streams.values { stream.watch?.destroy() }
        streams = [:]
    }

    private func watch(_ registry: OpaquePointer, _ id: UInt32) {
        streams[id] = Stream()
        streams[id]?.watch = .stream(registry, id) { [unowned self] volumes, isMuted in
            // Our own change comes back as the same.
            guard let stream = streams[id], stream.volumes != volumes || stream.isMuted != isMuted else { return }
            streams[id]?.volumes = volumes
            streams[id]?.isMuted = isMuted
            if volume != 1 { apply(to: id) }
        }
    }

    private func apply(to id: UInt32) {
        guard let stream = streams[id], let watch = stream.watch, !stream.volumes.isEmpty else { return }
        let volumes = stream.volumes.map { $0 * volume }
        earshot_pw_set_soft_volumes(watch.proxy, volumes, UInt32(volumes.count), stream.isMuted)
    }
}
