// SPDX-License-Identifier: Apache-2.0

@testable import EarshotMediaTransport
@testable import TLS

private func credentials() -> TLSCredentials {
    let identity = try! Identity.generate(at: 1_795_305_600)
    return try! TLSCredentials(
        certificatePEM: Array(identity.certificatePEM.utf8), privateKeyPEM: Array(identity.privateKeyPEM.utf8))
}

private let clientContext = try! TLSContext(.client, credentials())
private let serverContext = try! TLSContext(.server, credentials())

/// A client and a server after `steps` flights of their handshake, and the bytes of each flight.
private struct TLSPair {
    let client = try! TLSEngine(clientContext) { _ in true }
    let server = try! TLSEngine(serverContext) { _ in true }
    private(set) var flights: [[UInt8]] = []

    init(steps: Int) {
        client.start()
        server.start()
        for step in 0..<steps {
            let (from, to) = step.isMultiple(of: 2) ? (client, server) : (server, client)
            flights.append(output(of: from))
            feed(flights[step], to)
        }
    }
}

private func output(of engine: TLSEngine) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: engine.outputSize)
    let count = bytes.withUnsafeMutableBytes { engine.readOutput(into: $0) }
    return Array(bytes.prefix(count))
}

/// Copies the bytes to an allocation of exactly this size, so that the address sanitizer detects reads beyond it.
private func feed(_ bytes: some Collection<UInt8>, _ engine: TLSEngine) {
    let exact = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
    exact.copyBytes(from: bytes)
    engine.receive(UnsafeRawBufferPointer(exact)) { _ in preconditionFailure("content that nobody has sent") }
    exact.deallocate()
}

/// The first byte selects the side and the state of its handshake; then pieces follow for that side, each after a byte of its
/// length.
func fuzzTLS(_ input: UnsafeRawBufferPointer) -> CInt {
    guard let first = input.first else { return 0 }
    let pair = TLSPair(steps: Int(first >> 1) % 5)
    let engine = first & 1 == 0 ? pair.server : pair.client
    _ = output(of: engine)
    let (before, key) = (engine.state, engine.peerKey)
    var rest = input.dropFirst()
    while let size = rest.first {
        let piece = rest.dropFirst().prefix(Int(size))
        rest = rest.dropFirst(1 + piece.count)
        feed(piece, engine)
        precondition(engine.outputSize < 20_000)
    }
    switch engine.state {
    case .failed: break
    case let state: precondition(state == before, "nobody but the peer can establish or close a connection")
    }
    precondition(engine.peerKey == key)
    return 0
}

/// Returns a handshake's flights to either side, from each of its steps.
func tlsSeeds() -> [[UInt8]] {
    let flights = TLSPair(steps: 5).flights
    return (0..<4).map { step -> [UInt8] in
        var pieces: [UInt8] = []
        for flight in stride(from: step, to: 5, by: 2).map({ flights[$0] }) {
            for start in stride(from: 0, to: flight.count, by: 255) {
                let piece = flight[start..<min(flight.count, start + 255)]
                pieces += [UInt8(piece.count)] + piece
            }
        }
        return [UInt8(step << 1 | step & 1)] + pieces
    }
}
