// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP
import EarshotAudioEngine
import EarshotAudioStreams

/// The properties of a player.
extension AudioPlayer {
    /// The speed at unchanged pitch, ¼ to 4; a change is heard within 0.3 s.
    public var rate: Double {
        get { state.withLock { $0.timeline.speed } }
        set {
            state.withLock { $0.timeline.speed = newValue }
            broadcast.send(.changed(.rate(Float(rate))))
        }
    }

    /// The gain, 0 to 8.
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
    /// Returns true from ``play(at:)`` to a pause, a stop or the end.
    public var isPlaying: Bool { state.withLock { $0.isPlaying } }
    /// The index of the item that is heard, from 0.
    public var currentItem: Int { place.item }
    /// The frame of the current item that is heard next, at the player's rate.
    public var framePosition: Int { place.frame }
    /// The seconds of the current item that were heard.
    public var currentTime: Double { Double(framePosition) / format.sampleRate }

    /// The frames of an item at the player's rate by its header, 0 if unknown; nil selects the current item.
    public func frameCount(ofItem item: Int? = nil) -> Int {
        let index = item ?? currentItem
        return state.withLock { state in
            state.timeline.items.indices.contains(index) ? state.timeline.items[index].source.frameCount : 0
        }
    }
    /// The duration of the current item in seconds; 0 if unknown.
    public var duration: Double { Double(frameCount()) / format.sampleRate }

    /// Returns true if an item is seekable; nil selects the current item. A file is. A stream over HTTP is if its length is known
    /// and the server's answer accepts ranges.
    public func isSeekable(item: Int? = nil) -> Bool {
        let index = item ?? currentItem
        return state.withLock { state in
            state.timeline.items.indices.contains(index) && state.timeline.items[index].source.isSeekable
        }
    }

    /// The frames of an item that were heard, over all its loops, without the silence while a stream had no data.
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

    /// The events from now on. For a slow reader the newest 256 are kept.
    public var events: AsyncStream<AudioPlayerEvent> { broadcast.stream(keeping: 256) }

    private var place: PlayerTimeline.Place {
        let place = queue.renderer.controls.place
        return state.withLock { $0.position(at: place) }
    }
}
