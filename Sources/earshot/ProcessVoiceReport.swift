import Foundation
import VoiceProcessing

/// What `earshot process-voice --json` prints. Milliseconds and decibels, but for what is named otherwise.
struct ProcessVoiceReport: Codable {
    var earshot = CallReport.version
    var output: String
    var rate: Int
    var seconds: Double
    var ended: String
    /// Silence that was put behind the shorter file.
    var micPaddingSeconds: Double
    var referencePaddingSeconds: Double
    /// Echo return loss enhancement after 2 s of far end; nil where none was heard. Who talks meanwhile lowers it.
    var enhancementDb: Double?
    var echoReturnLossDb: Double?
    /// From reference to echo; nil where there is none.
    var echoDelayMs: Int?
    /// Of the processing itself, taken out of the output.
    var delayMs: Double
    /// Of 10 ms of sound.
    var costMs: Double
    var worstCostMs: Double
    /// What a call would leave voice processing for.
    var finding: String?

    var words: String {
        func line(_ name: String, _ text: String) -> String {
            name + String(repeating: " ", count: max(1, 16 - name.count)) + text + "\n"
        }
        var text = line("output", output)
        text += line("", String(format: "%.2f s at %d Hz", seconds, rate))
        if micPaddingSeconds > 0 {
            text += line("", String(format: "the microphone's file ends %.2f s before the other", micPaddingSeconds))
        }
        if referencePaddingSeconds > 0 {
            text += line("", String(format: "the reference ends %.2f s before the other", referencePaddingSeconds))
        }
        let lowered = enhancementDb.map { String(format: "microphone lowered by %.1f dB while the far end talks, after 2 s (ERLE, where nobody else does)", $0) }
        text += line("echo", lowered ?? "the far end is silent, or shorter than 2 s: nothing to measure")
        if let echoDelayMs { text += line("", "\(echoDelayMs) ms behind the reference") }
        text += line(
            "cost", String(format: "%.1f ms of delay of its own, in a call 10 ms and a block more; %.2f ms for 10 ms of sound", delayMs, costMs))
        return text
    }
}
