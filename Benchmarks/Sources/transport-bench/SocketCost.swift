// SPDX-License-Identifier: Apache-2.0

import BenchReports
import BenchScenes

@testable import EarshotAudioBase
@testable import EarshotMediaTransport

/// The cost of a packet from one program's memory to another's over loopback, with all of our code, compared with plain `sendto`
/// and `recvfrom`.
struct SocketCost {
    let size: Int
    private static let packets = 64
    private static let repetitions = 81

    func reports() throws -> [Report] {
        let pair = try EndpointPair()
        let (from, to) = (pair.ends[0], pair.ends[1])
        let out = try MediaSocket(address: .loopback, port: 0)
        let into = try MediaSocket(address: .loopback, port: 0)
        let target = into.localAddress
        let (plainOut, plainInto) = (PlainSocket(), PlainSocket())
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 4_096, alignment: 16)
        defer { buffer.deallocate() }
        let packet = NumberedPacket(size: size)
        let plain = NumberedPacket(size: size + SRTPProfile.aeadAES128GCM.overhead)
        let now = pair.now
        var (sent, received, sentPlain, receivedPlain) = (Times(), Times(), Times(), Times())

        func send() {
            for _ in 0..<Self.packets {
                from.endpoint.send(packet.next(), to: EndpointPair.peer) { bytes, _, _ in
                    precondition((try? out.send(bytes, to: target, from: .loopback)) == true, "not sent")
                }
            }
        }
        func receive() {
            var count = 0
            while let datagram = try? into.receive(into: buffer) {
                to.endpoint.receive(
                    UnsafeMutableRawBufferPointer(rebasing: buffer[..<datagram.size]), from: from.address,
                    to: to.address.address, at: now, transmit: { _, _, _ in },
                    deliver: { _, event in if case .packet = event { count += 1 } })
            }
            precondition(count == Self.packets, "a packet was lost")
        }
        func sendPlain() {
            for _ in 0..<Self.packets {
                precondition(plainOut.send(UnsafeRawBufferPointer(plain.bytes), to: plainInto.port), "not sent")
            }
        }
        func receivePlain() {
            var count = 0
            while plainInto.receive(into: buffer) != nil { count += 1 }
            precondition(count == Self.packets, "a packet was lost")
        }
        for _ in 0..<Self.repetitions {
            sent.add(Self.packets, send)
            received.add(Self.packets, receive)
            sentPlain.add(Self.packets, sendPlain)
            receivedPlain.add(Self.packets, receivePlain)
        }
        return [
            beyond("sent, beyond sendto", sent, sentPlain, "sendto"),
            beyond("received, beyond recvfrom", received, receivedPlain, "recvfrom"),
        ]
    }

    private func beyond(_ word: String, _ ours: Times, _ plain: Times, _ call: String) -> Report {
        let pairs = zip(ours.all, plain.all).map { $0 - $1 }.sorted()
        return Report(
            "\(size) bytes over loopback \(word)", pairs[pairs.count / 2], least: pairs[pairs.count / 10], "µs",
            .atMost(5),
            against: "\(call) alone takes \(decimal(plain.median, 2)) µs, all of ours \(decimal(ours.median, 2)) µs")
    }
}
