import AudioBase
import Foundation
import TestSupport
import Testing

@testable import AudioDevices

@Suite("Experiment", .serialized) struct Experiment {
    func report(_ device: ALSADevice, _ probe: CycleProbe, _ seconds: Double, _ note: String) {
        print(note, "granted", device.blockFrameCount, device.sampleRate, device.sampleType,
                    "calls", probe.count, "of", Int(48000*seconds)/device.blockFrameCount, "xruns", device.monitor.xrunCount, "skipped", device.monitor.skippedFrameCount,
                    "lat", device.inputLatency, device.outputLatency, "fail", device.failure as Any)
                let n = probe.notes
                let worst = zip(n, n.dropFirst()).map { abs($1.hostTime.seconds(since: $0.hostTime) - Double($1.sampleTime - $0.sampleTime) / 48_000) }.max() ?? 0
                print("   worst", worst, 0.1 * Double(device.blockFrameCount) / 48000)
    }
    @Test func first() throws {
        try ALSARig.running { server in
            for (c, p, b) in [(nil, "pipewire", 1024), (nil, "pipewire", 256), ("pipewire", "pipewire", 1024)] as [(String?, String?, Int)] {
                let device = try ALSARig.device(capture: c, playback: p, block: b)
                let probe = CycleProbe()
                try device.start(probe.callback)
                usleep(1_000_000)
                device.stop()
                report(device, probe, 1, "\(c ?? "-") \(p ?? "-")")
            }
        }
    }
    @Test func quantum() throws {
        try ALSARig.running { server in
            try server.forceQuantum(1024)
            for (c, p, b) in [(nil, "pipewire", 64), ("pipewire", "pipewire", 64), ("pipewire", nil, 64)] as [(String?, String?, Int)] {
                let device = try ALSARig.device(capture: c, playback: p, block: b)
                let probe = CycleProbe()
                try device.start(probe.callback)
                usleep(2_000_000)
                device.stop()
                report(device, probe, 2, "forced \(c ?? "-") \(p ?? "-")")
            }
        }
    }
    @Test func killed() throws {
        for (c, p, b) in [(nil, "pipewire", 64), ("pipewire", "pipewire", 64), ("pipewire", nil, 64)] as [(String?, String?, Int)] {
        try ALSARig.running { server in
                let device = try ALSARig.device(capture: c, playback: p, block: b)
                let probe = CycleProbe()
                try device.start(probe.callback)
                usleep(500_000)
                let t = HostTime.now()
                server.stop()
                _ = eventually { device.failure != nil }
                print("failed after", HostTime.now().seconds(since: t))
                device.stop()
                report(device, probe, 0.5, "killed \(c ?? "-") \(p ?? "-")")
            }
        }
    }
    @Test func stopped() throws {
        for (c, p, b) in [(nil, "pipewire", 64), ("pipewire", "pipewire", 64), ("pipewire", nil, 64)] as [(String?, String?, Int)] {
        try ALSARig.running { server in
                let device = try ALSARig.device(capture: c, playback: p, block: b)
                let probe = CycleProbe()
                try device.start(probe.callback)
                usleep(500_000)
                let t = HostTime.now()
                server.signal(SIGSTOP)
                _ = eventually { device.failure != nil }
                print("failed after", HostTime.now().seconds(since: t))
                let t1 = HostTime.now()
                device.stop()
                print("stop took", HostTime.now().seconds(since: t1))
                server.signal(SIGCONT)
                report(device, probe, 0.5, "frozen \(c ?? "-") \(p ?? "-")")
            }
        }
    }
    @Test func types() throws {
        try ALSARig.running { server in
            for pcm in ["u8", "s16", "s24", "s24packed", "s32", "f32", "f64", "cd", "quad", "fixed", "null", "default", "nonsense", "hw:CARD=Gone,DEV=0", "plug:pipewire", "hw:0"] {
                do {
                    let device = try ALSARig.device(capture: pcm, playback: pcm, block: 256, rate: nil)
                    print(pcm, device.sampleType, device.sampleRate, device.blockFrameCount)
                } catch { print(pcm, error) }
            }
        }
        do { _ = try ALSARig.device() } catch { print("no server:", error) }
    }
}
