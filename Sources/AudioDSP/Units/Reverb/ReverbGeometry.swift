// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime

/// The layout of a tank's samples, the same for all tanks of a unit.
///
/// A ring's length is a power of two. Its first frames are repeated after its end, so that ``chunk`` frames can always be read in
/// one piece.
struct ReverbGeometry: BitwiseCopyable {
    /// The maximum frames that pass all parts together: no delay is shorter.
    static var chunk: Int { @_noLocks get { 16 } }
    /// The distance between rows of a piece's scratch; a whole number of groups of four.
    static var row: Int { @_noLocks get { 20 } }
    /// The frames after a ring's end; an odd number of cache lines, so that rings do not compete for the same lines.
    static var margin: Int { @_noLocks get { 80 } }

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

/// The memory for a piece of sixteen frames on its way through a tank. Each row has ``ReverbGeometry/row`` samples; those beyond
/// the piece are meaningless.
struct ReverbScratch: BitwiseCopyable {
    private let memory: UnsafeMutablePointer<Float>
    /// The input of the pair.
    let left: UnsafeMutablePointer<Float>
    let right: UnsafeMutablePointer<Float>
    /// The chains of all-passes, 4 rows.
    let chains: UnsafeMutablePointer<Float>
    /// The lines, 16 rows, and another 16 for the matrix.
    let lines: UnsafeMutablePointer<Float>
    let mixed: UnsafeMutablePointer<Float>
    /// The sums of the lines.
    let lateLeft: UnsafeMutablePointer<Float>
    let lateRight: UnsafeMutablePointer<Float>
    /// The weights of the fades of pre-delay and size, and the low-passes' coefficients, frame by frame.
    let preDelayWeight: UnsafeMutablePointer<Float>
    let sizeWeight: UnsafeMutablePointer<Float>
    let lowPole: UnsafeMutablePointer<Float>
    let highPole: UnsafeMutablePointer<Float>
    /// The output's gains, frame by frame.
    let dry: UnsafeMutablePointer<Float>
    let late: UnsafeMutablePointer<Float>
    let early: UnsafeMutablePointer<Float>
    let same: UnsafeMutablePointer<Float>
    let cross: UnsafeMutablePointer<Float>

    init() {
        let row = ReverbGeometry.row
        memory = .allocate(capacity: 52 * row)
        memory.initialize(repeating: 0, count: 52 * row)
        left = memory
        right = memory + row
        lateLeft = memory + 2 * row
        lateRight = memory + 3 * row
        preDelayWeight = memory + 4 * row
        sizeWeight = memory + 5 * row
        lowPole = memory + 6 * row
        highPole = memory + 7 * row
        dry = memory + 8 * row
        late = memory + 9 * row
        early = memory + 10 * row
        same = memory + 11 * row
        cross = memory + 12 * row
        chains = memory + 13 * row
        lines = memory + 17 * row
        mixed = memory + 33 * row
    }

    func deallocate() { memory.deallocate() }

    /// Writes the next values of a ramp.
    @_noLocks
    static func fill(_ row: UnsafeMutablePointer<Float>, _ glide: inout LinearRamp, _ count: Int) {
        if glide.remaining == 0 {
            let value = SIMD4(repeating: glide.value)
            var i = 0
            while i < count {
                store4(value, row + i)
                i &+= 4
            }
        } else {
            for i in 0..<count { row[i] = glide.next() }
        }
    }

    /// Writes the next weights of a fade.
    @_noLocks
    static func fill(_ row: UnsafeMutablePointer<Float>, _ fade: inout TapFade, _ count: Int) {
        for i in 0..<count {
            row[i] = fade.weight
            fade.advance()
        }
    }
}
