// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime

/// The layout of the memory of a ``ReverbTank``, the same for all tanks of a unit.
///
/// A ring's length is a power of two. Its first frames are repeated after its end, so that ``chunk`` frames can always be read in
/// one piece.
struct ReverbGeometry: BitwiseCopyable {
    /// The maximum frames that are processed together: no delay is shorter.
    static var chunk: Int { @_noLocks get { 16 } }
    /// The distance between the rows of a ``ReverbScratch`` in floats: ``chunk`` frames and four floats of room.
    static var row: Int { @_noLocks get { 20 } }
    /// The number of floats after a ring's end: an odd number of cache lines, so that rings do not compete for the same cache
    /// lines.
    static var margin: Int { @_noLocks get { 80 } }

    /// The frames of a ring minus one: of a delay line, of an all-pass, and of the pre-delay.
    let lineMask: Int
    let diffuserMask: Int
    let preDelayMask: Int

    init(lengths: ReverbLengths, longestPreDelay: Int) {
        lineMask = Self.mask(lengths.longestLine)
        diffuserMask = Self.mask(lengths.longestDiffuser)
        preDelayMask = Self.mask(longestPreDelay)
    }

    private static func mask(_ length: Int) -> Int {
        var capacity = 64
        while capacity < length + 2 * chunk { capacity *= 2 }
        return capacity - 1
    }
}

/// The memory for a piece of up to sixteen frames on its way through a tank. Each row has ``ReverbGeometry/row`` floats; those
/// beyond the piece are meaningless.
struct ReverbScratch: BitwiseCopyable {
    private let memory: UnsafeMutablePointer<Float>
    /// The input of a pair of channels, and at the end their output.
    let left: UnsafeMutablePointer<Float>
    let right: UnsafeMutablePointer<Float>
    /// The signals of the four chains of all-passes, in 4 rows.
    let chains: UnsafeMutablePointer<Float>
    /// The signals of the delay lines in 16 rows, and 16 rows for the intermediate results of the matrix.
    let lines: UnsafeMutablePointer<Float>
    let mixed: UnsafeMutablePointer<Float>
    /// The sums of the delay lines for the left and for the right output.
    let lateLeft: UnsafeMutablePointer<Float>
    let lateRight: UnsafeMutablePointer<Float>
    /// The weights of the new pre-delay and of the new size in a fade, and the low-passes' coefficients, frame by frame.
    let preDelayWeight: UnsafeMutablePointer<Float>
    let sizeWeight: UnsafeMutablePointer<Float>
    let lowPole: UnsafeMutablePointer<Float>
    let highPole: UnsafeMutablePointer<Float>
    /// The gains of the output's parts, frame by frame: of the input, the late sound, the early sound, and a side's wet sound on
    /// the same and on the other side.
    let dry: UnsafeMutablePointer<Float>
    let late: UnsafeMutablePointer<Float>
    let early: UnsafeMutablePointer<Float>
    let same: UnsafeMutablePointer<Float>
    let cross: UnsafeMutablePointer<Float>

    init() {
        let rowStride = ReverbGeometry.row
        memory = .allocate(capacity: 52 * rowStride)
        memory.initialize(repeating: 0, count: 52 * rowStride)
        left = memory
        right = memory + rowStride
        lateLeft = memory + 2 * rowStride
        lateRight = memory + 3 * rowStride
        preDelayWeight = memory + 4 * rowStride
        sizeWeight = memory + 5 * rowStride
        lowPole = memory + 6 * rowStride
        highPole = memory + 7 * rowStride
        dry = memory + 8 * rowStride
        late = memory + 9 * rowStride
        early = memory + 10 * rowStride
        same = memory + 11 * rowStride
        cross = memory + 12 * rowStride
        chains = memory + 13 * rowStride
        lines = memory + 17 * rowStride
        mixed = memory + 33 * rowStride
    }

    func deallocate() { memory.deallocate() }

    /// Writes the next `count` values of a ramp to a row, and advances the ramp.
    @_noLocks
    static func fill(_ row: UnsafeMutablePointer<Float>, _ ramp: inout LinearRamp, _ count: Int) {
        if ramp.remaining == 0 {
            let value = SIMD4(repeating: ramp.value)
            var i = 0
            while i < count {
                store4(value, row + i)
                i &+= 4
            }
        } else {
            for i in 0..<count { row[i] = ramp.next() }
        }
    }

    /// Writes the next `count` weights of a fade to a row, and advances the fade.
    @_noLocks
    static func fill(_ row: UnsafeMutablePointer<Float>, _ fade: inout TapFade, _ count: Int) {
        for i in 0..<count {
            row[i] = fade.weight
            fade.advance()
        }
    }
}
