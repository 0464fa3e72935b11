import AudioBase
import Foundation
import TestSupport
import Testing

@testable import AudioDevices

/// Against real programs that play.
@Suite("PipeWireSystem.setOtherStreams", .serialized) struct PipeWireStreamsTests {
    private static let level = Float(0x4040) / 32_768

    /// Half a minute of one value, mono, 16 bit.
    private func writeConstant(to path: String) throws {
        func bytes(_ value: UInt32, _ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(value >> (8 * UInt32($0)) & 255) }
        }
        let size = UInt32(30 * 48_000 * 2)
        var file = Data("RIFF".utf8) + bytes(36 + size, 4) + Data("WAVEfmt ".utf8)
        file +=
            bytes(16, 4) + bytes(1, 2) + bytes(1, 2) + bytes(48_000, 4) + bytes(96_000, 4) + bytes(2, 2) + bytes(16, 2)
        file += Data("data".utf8) + bytes(size, 4) + Data(repeating: 0x40, count: Int(size))
        try file.write(to: URL(fileURLWithPath: path))
    }

    @Test("others are lowered, those that come later too, and restored at the end")
    func lowerAndRestore() throws {
        let path = "\(NSTemporaryDirectory())earshot-half-\(getpid()).wav"
        try writeConstant(to: path)
        defer { unlink(path) }
        try PipeWireServer.running(devices: [.sink("speakers")]) { server in
            let environment = server.environment.mapValues(Optional.some)
            var system: PipeWireSystem? = try PipeWireSystem(remote: server.remote)
            let ears = try PipeWireSystem(remote: server.remote)
            var request = AudioDeviceRequest()
            request.input = .device(id: "speakers.monitor")
            request.output = .none
            let hearer = try ears.open(request)
            let probe = CycleProbe()
            try hearer.start(probe.callback)
            defer { withExtendedLifetime(probe) { hearer.stop() } }
            func hears(_ share: Float) -> Bool {
                eventually {
                    let latest = probe.notes.suffix(5)
                    return latest.count == 5 && latest.allSatisfy { abs($0.firstInput - share * Self.level) < 0.001 }
                }
            }
            let first = try ChildProcess(["pw-play", path], environment: environment)
            #expect(hears(1))
            system?.setOtherStreams(volume: 0.25)
            #expect(hears(0.25))
            let second = try ChildProcess(["pw-play", path], environment: environment)
            #expect(hears(0.5))
            system?.setOtherStreams(volume: 1)
            #expect(hears(2))
            system?.setOtherStreams(volume: 0)
            #expect(hears(0))
            // What the user does meanwhile stays.
            let streams = try server.run(["pactl", "list", "short", "sink-inputs"]).split(separator: "\n")
            let id = try #require(streams.first?.split(separator: "\t").first)
            try server.run(["pactl", "set-sink-input-mute", String(id), "1"])
            #expect(hears(0))
            system = nil
            #expect(hears(1))
            first.stop()
            second.stop()
            #expect(hears(0))
        }
    }
}
