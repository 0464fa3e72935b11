// SPDX-License-Identifier: Apache-2.0

/// The queue before the narrowest link of a path. It computes the exact time at which each datagram has left the queue, because
/// the link's rate at any time is known in advance.
struct LinkQueue {
    private struct Step {
        var from: Double  // seconds of the call
        var bitsPerSecond: Double  // infinite where there is no limit
    }
    private let steps: [Step]
    private let queueBytes: Int?
    private var busyUntil = -Double.infinity
    private var currentStep = 0  // index in `steps` at the time of the last call

    /// True if the link never has a limit, so that no datagram waits.
    let isUnlimited: Bool

    init(_ capacity: LinkCapacity, events: [NetworkEvent]) {
        var steps = [Step(from: -.infinity, bitsPerSecond: capacity.bitsPerSecond ?? .infinity)]
        for event in events {
            if case .capacity(let bits, let at) = event {
                steps.append(Step(from: at, bitsPerSecond: bits ?? .infinity))
            }
        }
        steps.sort { $0.from < $1.from }
        self.steps = steps
        queueBytes = capacity.queueBytes
        isUnlimited = steps.allSatisfy { $0.bitsPerSecond == .infinity }
    }

    /// Returns the second of the call at which a datagram has left the queue completely; nil if the queue was full.
    /// - Parameters:
    ///   - byteCount: the bytes of the datagram with its headers.
    ///   - now: seconds of the call; never less than before.
    mutating func departure(byteCount: Int, at now: Double) -> Double? {
        if isUnlimited { return now }
        while currentStep + 1 < steps.count, steps[currentStep + 1].from <= now { currentStep += 1 }
        if busyUntil > now {
            let bits = bits(from: now, to: busyUntil)
            let limit = queueBytes ?? max(3_000, Int(min(1e9, 0.2 * steps[currentStep].bitsPerSecond / 8)))
            // Half a byte compensates rounding errors.
            if bits / 8 + Double(byteCount) > Double(limit) + 0.5 { return nil }
        }
        busyUntil = end(of: Double(8 * byteCount), from: max(now, busyUntil))
        return busyUntil
    }

    /// Returns the bits that the link carries in a period, which begins in the current step.
    private func bits(from: Double, to: Double) -> Double {
        var sum = 0.0
        var time = from
        var index = currentStep
        while time < to {
            let next = index + 1 < steps.count ? min(to, steps[index + 1].from) : to
            if next > time { sum += (next - time) * steps[index].bitsPerSecond }
            time = max(time, next)
            index += 1
        }
        return sum
    }

    /// Returns the time at which the link has carried these bits, beginning at `from`, which is not before the current step.
    private func end(of bits: Double, from: Double) -> Double {
        var remainingBits = bits
        var time = from
        var index = currentStep
        while index + 1 < steps.count, steps[index + 1].from <= time { index += 1 }
        while true {
            let next = index + 1 < steps.count ? steps[index + 1].from : Double.infinity
            let needed = remainingBits / steps[index].bitsPerSecond
            if time + needed <= next { return time + needed }
            remainingBits -= (next - time) * steps[index].bitsPerSecond
            time = next
            index += 1
        }
    }
}
