// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// Plays one received stream: orders its packets, decodes them, conceals missing ones, and keeps the least delay at which no more
/// packets are late than the latency profile allows.
///
/// The media thread passes packets through ``packets``; the render callback owns the rest and pulls blocks through ``renderer``.
/// The delay follows the distribution of the packets' delays, by ``latencyProfile`` (plus ``PlayoutConfiguration/margin``): by
/// playing up to 0.5 % slower or 0.2 % faster, by periods of a voice or silence that are repeated or removed, and at once during
/// concealment. The same resampler converts the stream to the device's rate and follows the drift between both clocks.
public final class Playout: Sendable {
    /// The configuration.
    public let configuration: PlayoutConfiguration
    /// The queue into which the media thread pushes packets.
    public let packets: PacketQueue
    /// The render thread's handle; must not outlive the playout.
    public let renderer: Renderer

    private let decoder: RenderDecoder
    private let fallback: RenderDecoder?
    private let published: LatestValue<PlayoutStatistics>
    private let forecasts: LatestValue<PlayoutForecast>
    private let sharedProfile: SharedLatencyProfile

    /// - Throws: if the decoder cannot be created.
    public init(_ configuration: PlayoutConfiguration) throws(CodecError) {
        self.configuration = configuration
        packets = PacketQueue(
            capacity: configuration.packetCapacity, payloadCapacity: configuration.payloadCapacity)
        let (rate, channelCount) = (configuration.streamRate, configuration.channelCount)
        decoder = try configuration.coding.makeDecoder(sampleRate: rate, channelCount: channelCount)
        fallback = try configuration.fallback?.makeDecoder(sampleRate: rate, channelCount: channelCount)
        published = LatestValue(PlayoutStatistics())
        forecasts = LatestValue(PlayoutForecast())
        sharedProfile = SharedLatencyProfile(configuration.latencyProfile)
        renderer = Renderer(
            state: PlayoutState(
                configuration: configuration, queue: packets.storage, decoder: decoder.handle,
                fallback: fallback?.handle, latencyProfile: sharedProfile),
            statistics: published.writer, forecast: forecasts.writer)
    }

    deinit {
        renderer.deallocate()
        sharedProfile.deallocate()
    }

    /// The trade of delay against gaps. A change takes effect without a click, usually within a second. Any thread except the
    /// render thread.
    public var latencyProfile: LatencyProfile {
        get { LatencyProfile(position: sharedProfile.value) ?? .talk }
        set { sharedProfile.store(newValue) }
    }

    /// The forecast for each depth, at most a second old. For one thread, not the render thread.
    package var forecast: PlayoutForecast { forecasts.load() }

    /// The statistics so far. For one thread, not the render thread.
    public var statistics: PlayoutStatistics { published.load() }

    /// The render thread's handle.
    public struct Renderer: @unchecked Sendable {  // one thread pulls; the owner frees once that has stopped
        private let state: UnsafeMutablePointer<PlayoutState>
        private let statistics: LatestValue<PlayoutStatistics>.Writer
        private let forecast: LatestValue<PlayoutForecast>.Writer

        init(
            state: consuming PlayoutState, statistics: LatestValue<PlayoutStatistics>.Writer,
            forecast: LatestValue<PlayoutForecast>.Writer
        ) {
            self.state = .allocate(capacity: 1)
            self.state.initialize(to: state)
            self.statistics = statistics
            self.forecast = forecast
        }

        func deallocate() {
            state.deinitialize(count: 1)
            state.deallocate()
        }

        /// The seconds concealed since the last received sound.
        package var concealedTime: Double { @_noLocks get { state.pointee.concealedTime } }

        /// The stream's frame at which the last block began; nil before the first sound.
        package var position: Double? {
            @_noLocks get { state.pointee.statistics.isStarted ? state.pointee.statistics.position : nil }
        }

        /// Renders one block of the stream at the device's rate. Safe on the render thread.
        /// - Parameters:
        ///   - output: at least the stream's channels, with `frameCount` frames each, all overwritten.
        ///   - sampleTime: the device's frame counter at the first frame.
        ///   - hostTime: the nominal start of the cycle.
        @_noLocks
        public func pull(_ output: Channels, frameCount: Int, sampleTime: Int64, hostTime: HostTime) {
            state.pointee.pull(output, frameCount: frameCount, sampleTime: sampleTime, hostTime: hostTime)
            statistics.store(state.pointee.statistics)
            if state.pointee.forecastIsDue(sampleTime) { forecast.store(state.pointee.forecast) }
        }
    }
}
