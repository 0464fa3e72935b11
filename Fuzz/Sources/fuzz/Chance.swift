// SPDX-License-Identifier: Apache-2.0

/// Numbers that are the same in each run.
struct Counter: RandomNumberGenerator {
    private var state: UInt64 = 0
    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        return state ^ state >> 29
    }
}

/// OpenSSL's RAND_METHOD, which `RAND_bytes` calls.
private struct RandomMethod {
    typealias Fill = @convention(c) (UnsafeMutablePointer<UInt8>?, CInt) -> CInt
    var seed: (@convention(c) (UnsafeRawPointer?, CInt) -> CInt)?
    var bytes: Fill?
    var cleanup: (@convention(c) () -> Void)?
    var add: (@convention(c) (UnsafeRawPointer?, CInt, Double) -> CInt)?
    var pseudoBytes: Fill?
    var status: (@convention(c) () -> CInt)?
}

@_silgen_name("RAND_set_rand_method")
private func setRandomMethod(_ method: UnsafePointer<RandomMethod>?) -> CInt

// Used only by the thread that fuzzes.
private nonisolated(unsafe) var counter = Counter()

/// Gives OpenSSL the same keys and nonces in each run. OpenSSL keeps the method's address.
func makeOpenSSLPredictable() {
    let fill: RandomMethod.Fill = { bytes, count in
        guard let bytes else { return 0 }
        for i in 0..<Int(count) { bytes[i] = UInt8(truncatingIfNeeded: counter.next() >> 24) }
        return 1
    }
    let method = UnsafeMutablePointer<RandomMethod>.allocate(capacity: 1)
    method.initialize(
        to: RandomMethod(
            seed: { _, _ in 1 }, bytes: fill, cleanup: {}, add: { _, _, _ in 1 }, pseudoBytes: fill, status: { 1 }))
    precondition(setRandomMethod(method) == 1)
}
