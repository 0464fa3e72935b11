import AudioPlugIns
import AudioDSP
import AudioBase
import Testing
import Foundation

@Suite struct SurveyTests {
    @Test func survey() {
        let clock = ContinuousClock()
        let t = clock.measure { _ = PlugInCatalog.installed.plugIns.count }
        print("all", PlugInCatalog.installed.plugIns.count, "runnable", PlugInCatalog.installed.units.count, t)
        for p in PlugInCatalog.installed.plugIns {
            if let e = p.problem { print("PROBLEM \(p.uri): \(e)"); continue }
            FileHandle.standardError.write(Data("TRY \(p.uri)\n".utf8))
            var line = "\(p.uri) \(p.audioInputCount)/\(p.audioOutputCount) rt \(p.isRealTimeCapable) params \(p.description.parameters.count) presets \(p.description.presets.count)"
            for n in [1, 2] {
                do {
                    let u = try p.makeUnit(sampleRate: 48000, channelCount: n)
                    let i = AudioBuffer(channelCount: n, frameCapacity: 4096), o = AudioBuffer(channelCount: n, frameCapacity: 4096)
                    for c in 0..<n { for k in 0..<4096 { i.channels[c][k] = sin(Float(k) * 0.1) * 0.5 } }
                    var at = 0
                    while at < 4096 { let m = min(300, 4096 - at); u.process(i.channels, o.channels, offset: at, frameCount: m); at += m }
                    var peak: Float = 0
                    for k in 0..<4096 { peak = max(peak, abs(o.channels[0][k])) }
                    line += " | \(n): latency \(u.latency) peak \(peak)"
                    u.reset()
                } catch { line += " | \(n): \(error)" }
            }
            if p.scrubbedSampleCount > 0 { line += " SCRUBBED \(p.scrubbedSampleCount)" }
            print(line)
        }
    }
}
