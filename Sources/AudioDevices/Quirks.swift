/// What servers and drivers do against expectation, each with where it was seen. Backends take the numbers from here.
enum Quirks {
    // MARK: JACK

    /// By how many frames jackd's counter is ahead at the first cycle of a new block: it adds the new block's length for
    /// the last cycle of the old one. jackd 1.9.21, dummy driver: 64 to 1,024 frames, the counter says 960 were lost while
    /// the calls follow without a gap.
    @_noLocks
    static func jackCountedTooMany(_ frameCount: UInt32, after last: UInt32) -> Int64 {
        Int64(frameCount) &- Int64(last)
    }
}
