// SPDX-License-Identifier: Apache-2.0

import EarshotVoiceProcessing
import Foundation

/// The report of `earshot process-voice --json`, in milliseconds and decibels unless named otherwise.
struct ProcessVoiceReport: Codable {
    var earshot = CallReport.version
    var output: String
    var rate: Int
    var seconds: Double
    var ended: String
    /// The seconds of silence appended to the microphone's file, and (``referencePaddingSeconds``) to the reference; 0 for the
    /// longer file.
    var micPaddingSeconds: Double
    var referencePaddingSeconds: Double
    var echoCancellation: Bool
    /// The echo return loss enhancement after the first 2 s of far-end sound; nil if there was less far-end sound. Simultaneous
    /// near-end speech lowers the value.
    var enhancementDb: Double?
    var echoReturnLossDb: Double?
    /// The delay from reference to echo; nil without an echo.
    var echoDelayMs: Int?
    /// The processing delay, which is removed from the output.
    var delayMs: Double
    /// The mean processing time of 10 ms of sound.
    var costMs: Double
    var worstCostMs: Double
    /// The number of input samples that were NaN or infinite, and were replaced by silence.
    var faultSamples: Int
    /// The finding for which a call would stop voice processing; nil if there is none.
    var finding: String?

    var summary: String {
        func line(_ name: String, _ text: String) -> String {
            name + String(repeating: " ", count: max(1, 16 - name.count)) + text + "\n"
        }
        var text = line("output", output)
        text += line("", String(format: "%.2f s at %d Hz", seconds, rate))
        if micPaddingSeconds > 0 {
            text += line(
                "", String(format: "the microphone's file ends %.2f s before the reference", micPaddingSeconds))
        }
        if referencePaddingSeconds > 0 {
            text += line(
                "", String(format: "the reference ends %.2f s before the microphone's file", referencePaddingSeconds))
        }
        if !echoCancellation {
            text += line("echo", "left in")
        } else if let enhancementDb {
            text += line("echo", String(format: "%.1f dB less while the far end talks (ERLE,", enhancementDb))
            text += line("", "after 2 s; speech at the near end lowers it)")
        } else {
            text += line("echo", "the far end is silent, or shorter than 2 s: nothing to measure")
        }
        if let echoDelayMs { text += line("", "\(echoDelayMs) ms behind the reference") }
        text += line("cost", String(format: "%.1f ms of delay; a call adds 10 ms and one block", delayMs))
        text += line("", String(format: "%.2f ms of work for 10 ms of sound", costMs))
        if faultSamples > 0 {
            text += line(
                "faults",
                "\(faultSamples) invalid input sample\(faultSamples == 1 ? "" : "s") (NaN or infinite), now silence")
        }
        return text
    }
}
