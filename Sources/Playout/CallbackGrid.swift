/// When callbacks look for packets, against when these come.
///
/// What comes between two callbacks is found by the second of them. It is in time if the first did not need it yet, so
/// the delay must reach from the callback *before* a packet's coming to the packet's first frame, and no further: it
/// may be shorter by the time from that callback to the coming, the *slack*. Where blocks and packets have a common
/// length (64 and 64 frames, 64 and 960) packets come at the same places between callbacks for as long as the clocks
/// agree, and at places that move slowly where they do not; so that slack is known. Without it a delay that fits any
/// phase is half a block longer on average.
struct CallbackGrid {
    private var step = 0.0  // seconds; the longest time that blocks and packets are both made of
    private var slack = 0.0
    private var (block, packet) = (0, 0)  // frames
    private var steadyCount = 0

    /// Callbacks of one length that make a grid; a device that varies its blocks has none.
    private static var steady: Int { @_noLocks get { 64 } }
    /// Seconds below which a common length is not worth looking at.
    private static var shortestStep: Double { @_noLocks get { 0.000_5 } }

    /// Takes note of a callback.
    /// - Parameters:
    ///   - block: its frames, `deviceRate` of them a second.
    ///   - packet: frames of the stream's packets, `streamRate` of them a second.
    @_noLocks
    mutating func note(block: Int, deviceRate: Double, packet: Int, streamRate: Double) {
        if block == self.block, packet == self.packet {
            if steadyCount < Self.steady { steadyCount &+= 1 }
            return
        }
        (self.block, self.packet) = (block, packet)
        steadyCount = 0
        slack = 0
        // Both in frames of a rate that both rates divide.
        var (a, b) = (block &* Int(streamRate), packet &* Int(deviceRate))
        while b > 0 { (a, b) = (b, a % b) }
        step = Double(a) / (streamRate * deviceRate)
    }

    /// Seconds from the callback before the coming of the latest packets to it: less than the common length, 0 where
    /// there is none.
    /// - Parameters:
    ///   - coming: when one of them comes or came, in seconds of the device's clock.
    ///   - now: the beginning of a callback.
    @_noLocks
    mutating func slack(coming: Double, now: Double) -> Double {
        guard steadyCount == Self.steady, step >= Self.shortestStep else { return 0 }
        let turns = (coming - now) / step
        let whole = Int(turns)
        let found = (turns - Double(whole < 0 || turns < 0 ? whole &- 1 : whole)) * step
        // More delay as soon as it is needed; less only when a quarter of a step away from needing it again.
        slack = slack < step / 2 && found > 0.75 * step ? 0 : min(found, step)
        return slack
    }
}
