import Foundation

/// Parts of lines that show how something stands while it goes on.
enum LiveLine {
    /// Ten steps of 6 dB below full scale, and a mark for clipping.
    static func meter(_ peak: Float) -> String {
        let steps = peak <= 0 ? 0 : max(0, min(10, Int((20 * log10(Double(peak)) + 60) / 6)))
        return "[" + String(repeating: "#", count: steps) + String(repeating: "-", count: 10 - steps)
            + (peak >= 1 ? "!" : "]")
    }
}
