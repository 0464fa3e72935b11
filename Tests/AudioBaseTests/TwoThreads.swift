import Foundation

/// Runs both on threads of their own, and returns when both have returned.
func onTwoThreads(_ first: @escaping @Sendable () -> Void, _ second: @escaping @Sendable () -> Void) {
    let group = DispatchGroup()
    for body in [first, second] {
        group.enter()
        Thread.detachNewThread {
            body()
            group.leave()
        }
    }
    group.wait()
}

/// Now and then gives up the core or sleeps for up to 0.3 ms, so that threads meet in ever new ways.
func stall(_ random: inout SplitMix64) {
    switch Int.random(in: 0..<64, using: &random) {
    case 0: usleep(UInt32.random(in: 1...300, using: &random))
    case 1..<6: sched_yield()
    default: break
    }
}
