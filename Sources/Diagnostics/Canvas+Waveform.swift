// SPDX-License-Identifier: Apache-2.0

extension Canvas {
    /// Draws a line in each pixel column of a box, from the minimum to the maximum sample.
    /// - Parameter columns: the samples of each column from the left; nil without sound.
    func waveform(_ columns: [ClosedRange<Float>?], in box: Box, level: Axis, _ colour: Colour) {
        var previousRange: ClosedRange<Float>?
        for (column, range) in columns.enumerated() {
            if let range {
                // Extend the line to the previous column's, so that a steep slope has no gap.
                let low = previousRange.map { min(range.lowerBound, $0.upperBound) } ?? range.lowerBound
                let high = previousRange.map { max(range.upperBound, $0.lowerBound) } ?? range.upperBound
                let top = max(box.y, level.pixel(Double(high)) - 0.5)
                let bottom = min(box.bottom, level.pixel(Double(low)) + 0.5)
                fill(Box(x: box.x + Double(column), y: top, width: 1, height: max(1, bottom - top)), colour)
            }
            previousRange = range
        }
    }

    /// Draws the ticks of a time axis at `y`, and their seconds below. `step` is the minimum distance in pixels.
    func timeAxis(_ time: Axis, y: Double, step: Double, unit: Bool) {
        for value in time.ticks(atLeast: step) {
            let tickX = time.pixel(value)
            line(tickX, y - 4, tickX, y + 2, Style.faint)
            text(Axis.label(value) + (unit ? " s" : ""), tickX, y + 16, size: 12, Style.faint, align: .centre)
        }
    }
}
