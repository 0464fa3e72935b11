// SPDX-License-Identifier: Apache-2.0

extension DelayTracker {
    /// The seconds for which a fault, the only stall of its size, is remembered.
    private static var faultMemory: Double { @_noLocks get { 12 } }
    /// The maximum seconds from the first late packet of a stall to the last, or three packets if they are longer. A longer run
    /// is a lasting change of the network.
    private static var longestRun: Double { @_noLocks get { 0.06 } }

    /// Returns true if a late packet belongs to a stall, whose packets arrive together when it ends.
    @_noLocks
    mutating func isStall(at now: Double) -> Bool {
        if openStall.isEmpty {
            openStall.start = now
            return true
        }
        if now - openStall.start <= max(Self.longestRun, 3 * packetLength) { return true }
        openStall = counted(openStall)
        return false
    }

    /// Adds a late packet to the open stall.
    @_noLocks
    mutating func addToStall(_ level: Double) {
        let bin = cappedBin(level)
        histogram.add(bin, row: openStall.row, counts: false)
        openStall.add(level, bin: bin)
        isStale = true
    }

    /// Ends the open stall: stores the stall as a fault if no known delay is half as long, otherwise counts its packets.
    @_noLocks
    mutating func endStall() {
        let size = openStall.most - least
        let faultSize = fault.isEmpty ? 0 : fault.most - least
        var known = faultSize
        for age in 0..<windows.count where !windows[age].pointee.isEmpty {
            known = max(known, windows[age].pointee.most - least)
        }
        if known < size / 2 {
            let empty = counted(fault)
            fault = openStall
            openStall = empty
        } else {
            if faultSize <= 2 * size { fault = counted(fault) }
            openStall = counted(openStall)
        }
    }

    @_noLocks
    mutating func expireFault(at now: Double) {
        if !fault.isEmpty, now - fault.start > Self.faultMemory { fault = cleared(fault) }
    }

    /// Counts the packets of a stall in the newest window.
    /// - Returns: the stall, emptied.
    @_noLocks
    private mutating func counted(_ stall: DelayWindow) -> DelayWindow {
        guard !stall.isEmpty else { return stall }
        histogram.move(from: stall.row, to: windows.newest.pointee.row, stall.low, stall.high)
        windows.newest.pointee.merge(stall)
        isStale = true
        return DelayWindow(row: stall.row)
    }

    /// Forgets the packets of a stall.
    /// - Returns: the stall, emptied.
    @_noLocks @inline(__always)
    func cleared(_ stall: DelayWindow) -> DelayWindow {
        histogram.clear(row: stall.row, stall.low, stall.high, counts: false)
        return DelayWindow(row: stall.row)
    }
}
