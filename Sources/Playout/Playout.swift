import AudioBase
import AudioCodecs

/// Plays one received stream: orders its packets, decodes, bridges what is missing, and holds the least delay at which
/// what the network did in the last seconds would have been in time.
///
/// The media thread hands packets over through ``packets``; the render callback owns the rest and pulls blocks through
/// ``renderer``. The delay follows the latest packet of the last 12 s but for the worst second of them, so that one stall is a fault
/// and not a delay (``PlayoutConfiguration/margin`` beyond it), by
/// playing up to 0.5 % slower or 0.2 % faster, at once where sound is being made up anyway, and by leaving frames out
/// when it is more than 30 ms too long. The same resampler carries the stream to the device's rate and follows the drift
/// between the two devices' clocks.
public final class Playout: Sendable {
    /// What the playout was made for.
    public let configuration: PlayoutConfiguration
    /// Where the media thread puts packets.
    public let packets: PacketQueue
    /// The render side; must not outlive the playout.
    public let renderer: Renderer

    private let opus: OpusDecoder?
    private let opusCustom: OpusCustomDecoder?
    private let published: LatestValue<PlayoutStatistics>

    /// - Throws: when the decoder cannot be made.
    public init(_ configuration: PlayoutConfiguration) throws(CodecError) {
        self.configuration = configuration
        packets = PacketQueue(capacity: 256, payloadCapacity: configuration.payloadCapacity)
        opus = configuration.coding == .opus ? try OpusDecoder(channelCount: configuration.channelCount) : nil
        opusCustom =
            configuration.coding == .opusCustom
            ? try OpusCustomDecoder(
                sampleRate: configuration.streamRate, channelCount: configuration.channelCount) : nil
        published = LatestValue(PlayoutStatistics())
        renderer = Renderer(
            state: PlayoutState(
                configuration: configuration, queue: packets.storage, opus: opus?.renderer,
                opusCustom: opusCustom?.renderer),
            statistics: published.writer)
    }

    deinit { renderer.deallocate() }

    /// What playout did so far. For one thread, not the render thread.
    public var statistics: PlayoutStatistics { published.load() }

    /// What the render callback holds.
    public struct Renderer: @unchecked Sendable {  // one thread pulls; the owner frees once that has stopped
        private let state: UnsafeMutablePointer<PlayoutState>
        private let statistics: LatestValue<PlayoutStatistics>.Writer

        init(state: consuming PlayoutState, statistics: LatestValue<PlayoutStatistics>.Writer) {
            self.state = .allocate(capacity: 1)
            self.state.initialize(to: state)
            self.statistics = statistics
        }

        func deallocate() {
            state.deinitialize(count: 1)
            state.deallocate()
        }

        /// Renders one block of the stream at the device's rate. Render-safe.
        /// - Parameters:
        ///   - output: at least the stream's channels, `frameCount` frames each, all written.
        ///   - sampleTime: the device's frame counter at the first frame.
        ///   - hostTime: the nominal start of the cycle.
        @_noLocks
        public func pull(_ output: Channels, frameCount: Int, sampleTime: Int64, hostTime: HostTime) {
            state.pointee.pull(output, frameCount: frameCount, sampleTime: sampleTime, hostTime: hostTime)
            statistics.store(state.pointee.statistics)
        }
    }
}
