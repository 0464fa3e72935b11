import AudioBase
import AudioCodecs
import Glibc
import TestSupport
import Testing

@testable import Playout

/// What a second listener costs, in processor time: printed and not judged. With EARSHOT_FIGURES only.
@Suite(.enabled(if: printsFigures)) struct ListenerCostTests {
    private func processorTime(_ work: () throws -> Void) rethrows -> Double {
        func now() -> Double {
            var time = timespec()
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
            return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
        }
        let begin = now()
        try work()
        return now() - begin
    }

    @Test(arguments: PlayoutListenerTests.forms) func `figures`(form: PlayoutConfiguration) throws {
        let frames = form.framesPerPacket
        let ears = try Playout(form)
        let recorder = try RecordingRig(form, lag: 1_000)
        var rig = PlayoutRig(configuration: form, seconds: 5)
        rig.says = voice
        rig.keepsOutput = false
        var (alone, both, first, second) = (0.0, 0.0, 0.0, 0.0)
        alone = try processorTime { _ = try rig.run() }
        rig.before = { playout, now in first += processorTime { recorder.follow(playout, now) } }
        both = try processorTime { _ = try rig.run() } - first
        second = processorTime { recorder.pull(until: 5) }
        let packets = Double(recorder.statistics.packets)
        let payload = [UInt8](repeating: 0, count: min(1_200, form.payloadCapacity))
        let header = PacketHeader(
            sequence: 0, position: 0, frameCount: frames, byteCount: payload.count, arrival: HostTime(nanoseconds: 0))
        let copy = processorTime {
            for _ in 0..<256 { _ = payload.withUnsafeBytes { ears.packets.push(header, payload: $0) } }
        }
        print(
            "\(form.coding) \(frames) frames: sender, ears and all else \(alone / 5 * 100) % of a core, with a second",
            "listener \(both / 5 * 100) %; its reader \(second / 5 * 100) %, \(second / packets * 1e6) µs a packet;",
            "a push \(copy / 256 * 1e9) ns")
    }
}
