// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP
import EarshotAudioEngine
import EarshotAudioStreams

/// The properties of a player.
extension AudioPlayer {
    /// The speed at its own pitch, ¼ to 4; heard within 0.3 s.
    public var rate: Double {
        get { state.withLock { $0.timeline.speed } }
        set {
            state.withLock { $0.timeline.speed = newValue }
            broadcast.send(.changed(.rate(Float(rate))))
        }
    }

    /// A factor, 0 to 8.
    public var volume: Float {
        get { queue.volume }
        set { queue.volume = newValue }
    }

    /// Moves ``volume`` within so many seconds (`setVolume(_:fadeDuration:)`).
    public func setVolume(_ volume: Float, fadeDuration: Double) throws(AudioEngineError) {
        try queue.setVolume(volume, fadeDuration: fadeDuration)
    }

    /// −1 is left, 1 is right, for two channels.
    public var pan: Float {
        get { queue.pan }
        set { queue.pan = newValue }
    }

    /// Peak and mean square of what it gave last.
    public var level: Level { queue.level }
    /// Returns true if it plays: from ``play(at:)`` to a pause, a stop or the end.
    public var isPlaying: Bool { state.withLock { $0.isPlaying } }
    /// The item that is heard, counted from 0.
    public var currentItem: Int { place.item }
    /// The frame of the present item that is heard next, at the player's rate.
    public var framePosition: Int { place.frame }
    /// Seconds of the present item that were heard.
    public var currentTime: Double { Double(framePosition) / format.sampleRate }

    /// Frames of an item at the player's rate, by its header, 0 if it has none; nil for the present one.
    public func frameCount(ofItem item: Int? = nil) -> Int {
        let index = item ?? currentItem
        return state.withLock { state in
            state.timeline.items.indices.contains(index) ? state.timeline.items[index].source.frameCount : 0
        }
    }
    /// Seconds of the present item; 0 if unknown.
    public var duration: Double { Double(frameCount()) / format.sampleRate }

    /// Returns true if an item is seekable, nil for the present one: a file is; over HTTP if its length is known and the server
    /// sends any part of it, which its answer tells.
    public func isSeekable(item: Int? = nil) -> Bool {
        let index = item ?? currentItem
        return state.withLock { state in
            state.timeline.items.indices.contains(index) && state.timeline.items[index].source.isSeekable
        }
    }

    /// Frames of an item that were heard, over all its loops; silence while a stream had nothing to give does not count.
    public func framesHeard(ofItem item: Int) -> Int {
        let place = queue.renderer.controls.place
        return state.withLock { state in
            _ = state.position(at: place)
            return state.timeline.items.indices.contains(item) ? state.timeline.items[item].framesHeard : 0
        }
    }

    /// Returns the state, source and statistics of a stream; nil for a file.
    public func stream(
        ofItem item: Int
    ) -> (state: AudioStreamState, source: AudioStreamSource?, statistics: AudioStreamStatistics)? {
        state.withLock { state in
            guard state.timeline.items.indices.contains(item),
                let stream = state.timeline.items[item].source as? StreamSource
            else { return nil }
            return (stream.state, stream.source, stream.statistics)
        }
    }

    /// The events from now on; the newest 256 are kept for a slow reader.
    public var events: AsyncStream<AudioPlayerEvent> { broadcast.stream(keeping: 256) }

    private var place: PlayerTimeline.Place {
        let place = queue.renderer.controls.place
        return state.withLock { $0.position(at: place) }
    }
}
