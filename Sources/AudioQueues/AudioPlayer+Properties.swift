// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP
import EarshotAudioEngine
import EarshotAudioStreams

/// The properties of a player.
extension AudioPlayer {
    /// The speed as a factor at unchanged pitch, ¼ to 4; a change is heard within 0.3 s.
    public var rate: Double {
        get { state.withLock { $0.timeline.speed } }
        set {
            state.withLock { $0.timeline.speed = newValue }
            broadcast.send(.changed(.rate(Float(rate))))
        }
    }

    /// The player's gain as a factor, 0 to 8.
    public var volume: Float {
        get { queue.volume }
        set { queue.volume = newValue }
    }

    /// Fades to a ``volume`` within this number of seconds (`setVolume(_:fadeDuration:)`).
    public func setVolume(_ volume: Float, fadeDuration: Double) throws(AudioEngineError) {
        try queue.setVolume(volume, fadeDuration: fadeDuration)
    }

    /// The pan of two channels: −1 is left, 1 is right.
    public var pan: Float {
        get { queue.pan }
        set { queue.pan = newValue }
    }

    /// The peak and mean square of the last output block.
    public var level: Level { queue.level }
    /// True from ``play(at:)`` to a pause, a stop or the end.
    public var isPlaying: Bool { state.withLock { $0.isPlaying } }
    /// The index in the playlist of the item that is heard, from 0.
    public var currentItem: Int { place.item }
    /// The frame of the current item that is heard next, at the player's rate.
    public var framePosition: Int { place.frame }
    /// The position in the current item in seconds.
    public var currentTime: Double { Double(framePosition) / format.sampleRate }

    /// Returns the number of frames of an item at the player's rate, as the item's header states; 0 if unknown. nil selects the
    /// current item.
    public func frameCount(ofItem item: Int? = nil) -> Int {
        let index = item ?? currentItem
        return state.withLock { state in
            state.timeline.items.indices.contains(index) ? state.timeline.items[index].source.frameCount : 0
        }
    }
    /// The duration of the current item in seconds; 0 if unknown.
    public var duration: Double { Double(frameCount()) / format.sampleRate }

    /// Returns true if an item is seekable; nil selects the current item. A file is seekable. A stream over HTTP is seekable if
    /// its length is known and the server accepts requests for ranges.
    public func isSeekable(item: Int? = nil) -> Bool {
        let index = item ?? currentItem
        return state.withLock { state in
            state.timeline.items.indices.contains(index) && state.timeline.items[index].source.isSeekable
        }
    }

    /// Returns the number of frames of an item that were heard, over all its repetitions, without the silence while a stream had
    /// no data.
    public func framesHeard(ofItem item: Int) -> Int {
        let place = queue.renderer.controls.place
        return state.withLock { state in
            _ = state.position(at: place)
            return state.timeline.items.indices.contains(item) ? state.timeline.items[item].framesHeard : 0
        }
    }

    /// Returns the state, source and statistics of a stream; nil for a file or an index without an item.
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

    /// The events from now on. For a slow reader the newest 256 are kept.
    public var events: AsyncStream<AudioPlayerEvent> { broadcast.stream(keeping: 256) }

    private var place: PlayerTimeline.Place {
        let place = queue.renderer.controls.place
        return state.withLock { $0.position(at: place) }
    }
}
