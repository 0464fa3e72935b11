// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// Learns how late packets are that a later packet recovers.
///
/// Recovered packets do not show the network's jitter. But while there are more of them than may be missing, waiting for them is
/// worth the delay. The last `windowCount` half seconds are kept, each with its number of recovered packets and their greatest
/// offset (see ``DelayTracker``).
struct RecoveryTracker: ~Copyable {
    private struct Window: BitwiseCopyable {
        var start = 0.0
        var recovered = 0  // packets
        var most = -Double.infinity  // their greatest offset in seconds
    }
    private static var windowCount: Int { @_noLocks get { 24 } }
    private static var windowLength: Double { @_noLocks get { 0.5 } }  // seconds
    /// The windows with recovered packets from which on the one with the greatest offset is ignored.
    private static var outlierCount: Int { @_noLocks get { 4 } }
    /// The maximum recovered packets, in the 12 s of all windows, that are not worth a longer delay.
    private static var indifference: Int { @_noLocks get { 2 } }
    private let windows: UnsafeMutablePointer<Window>
    private var count = 0
    private var newest = 0

    init() {
        windows = .allocate(capacity: 24)
        windows.initialize(repeating: Window(), count: 24)
    }

    deinit { windows.deallocate() }

    /// Advances to the time at which a packet arrived that was not recovered.
    @_noLocks
    mutating func add(at now: Double) { roll(now) }

    /// Adds a recovered packet by its offset in seconds.
    @_noLocks
    mutating func add(recovered offset: Double, at now: Double) {
        roll(now)
        windows[newest].recovered &+= 1
        if offset > windows[newest].most { windows[newest].most = offset }
    }

    /// Returns the offset at which recovered packets are in time, extrapolated to `now` by the drift; nil if there are too few
    /// recovered packets to wait for. If four or more windows have recovered packets, the window with the greatest offset is
    /// ignored as an exception.
    /// - Parameter drift: the sender's clock relative to the receiver's.
    @_noLocks
    func offset(at now: Double, drift: Double) -> Double? {
        var recovered = 0
        var occupiedWindows = 0
        var (greatest, secondGreatest) = (-Double.infinity, -Double.infinity)
        for i in 0..<count where windows[i].recovered > 0 {
            recovered &+= windows[i].recovered
            occupiedWindows &+= 1
            let carried = windows[i].most - drift * (now - windows[i].start)
            if carried > greatest {
                secondGreatest = greatest
                greatest = carried
            } else if carried > secondGreatest {
                secondGreatest = carried
            }
        }
        guard recovered > Self.indifference else { return nil }
        return occupiedWindows >= Self.outlierCount ? secondGreatest : greatest
    }

    @_noLocks
    mutating func reset() { count = 0 }

    @_noLocks
    private mutating func roll(_ now: Double) {
        guard count == 0 || now - windows[newest].start >= Self.windowLength else { return }
        newest = count == 0 ? 0 : (newest &+ 1) % Self.windowCount
        windows[newest] = Window(start: now)
        count = min(count &+ 1, Self.windowCount)
    }
}
