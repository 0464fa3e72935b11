// SPDX-License-Identifier: Apache-2.0

import Glibc

extension DirectionDrawing {
    /// Draws a waveform: in each pixel column, a line from the minimum to the maximum sample. Samples of ±`peak` nearly reach the
    /// edges of the box.
    func waveform(
        _ signal: TimedSignal, start: Double, in box: Box, time: Axis, peak: Double, colour: Colour
    ) {
        canvas.frame(box, Style.rule)
        let level = Axis(values: -peak * 1.05...peak * 1.05, from: box.bottom, to: box.y)
        canvas.line(box.x, level.pixel(0), box.right, level.pixel(0), Style.rule)
        let columns = (0..<Int(box.width)).map { column -> ClosedRange<Float>? in
            let columnX = box.x + Double(column)
            let first = (time.value(columnX) - start) * signal.sampleRate
            let end = (time.value(columnX + 1) - start) * signal.sampleRate
            let from = max(0, Int(first.rounded(.down)))
            let to = min(signal.samples.count, max(from + 1, Int(end.rounded(.down))))
            guard end > 0, from < to else { return nil }
            var range = signal.samples[from]...signal.samples[from]
            for sample in signal.samples[from..<to] {
                if sample < range.lowerBound { range = sample...range.upperBound }
                if sample > range.upperBound { range = range.lowerBound...sample }
            }
            return range
        }
        canvas.waveform(columns, in: box, level: level, colour)
        for value in level.ticks(atLeast: 26) {
            let y = level.pixel(value)
            canvas.line(box.x - 5, y, box.x - 1, y, Style.rule)
            canvas.text(Axis.label(value, digits: 4), box.x - 8, y + 4, size: 11, Style.faint, align: .right)
        }
    }

    /// Draws a spectrogram: the colour of each pixel shows the mean power in its range of time and frequency.
    func spectrogram(
        _ spectrum: Spectrogram, start: Double, in box: Box, time: Axis, frequency: Axis, scale: LevelScale
    ) {
        let (columns, rows) = (Int(box.width), Int(box.height))
        var pixels = [UInt32](repeating: Colour(1, 1, 1).pixel, count: columns * rows)
        let bins = (0..<rows).map { row -> ClosedRange<Int> in
            let low = frequency.value(box.y + Double(row) + 1) / spectrum.binInterval
            let high = frequency.value(box.y + Double(row)) / spectrum.binInterval
            let first = Int(((low + high) / 2 - max(0, (high - low) / 2 - 0.5)).rounded())
            return first...max(first, Int(((low + high) / 2 + max(0, (high - low) / 2 - 0.5)).rounded()))
        }
        for column in 0..<columns where spectrum.columnCount > 0 {
            func place(_ pixel: Int) -> Double {
                (time.value(box.x + Double(pixel)) - start - spectrum.firstColumnTime) / spectrum.columnInterval
            }
            // The spectrogram's columns whose middle lies in this pixel column; the nearest one if there is none.
            let first = Int(place(column).rounded(.up))
            let last = max(first, Int(place(column + 1).rounded(.up)) - 1)
            let edge = max(1, Int((spectrum.firstColumnTime / spectrum.columnInterval).rounded()))
            guard last >= -edge, first < spectrum.columnCount + edge else { continue }
            let low = min(max(0, first), spectrum.columnCount - 1)
            let high = min(max(low, last), spectrum.columnCount - 1)
            for row in 0..<rows where bins[row].lowerBound < spectrum.binCount {
                let range = bins[row].lowerBound...min(bins[row].upperBound, spectrum.binCount - 1)
                var sum: Float = 0
                for frame in low...high { for bin in range { sum += spectrum[frame, bin] } }
                let power = sum / Float((high - low + 1) * range.count)
                pixels[row * columns + column] = scale.colour(power).pixel
            }
        }
        canvas.image(pixels, width: columns, height: rows, x: box.x, y: box.y)
        canvas.frame(box, Style.rule)
        for value in frequency.ticks(atLeast: 34) {
            let y = frequency.pixel(value)
            canvas.line(box.x - 5, y, box.x - 1, y, Style.rule)
            let label = Axis.label(value / 1000) + (value == frequency.values.lowerBound ? " kHz" : "")
            canvas.text(label, box.x - 8, y + 4, size: 11, Style.faint, align: .right)
        }
    }
}

/// The mapping of powers to colours, which is linear in decibels.
struct LevelScale {
    /// The power at the top of the scale.
    let loudest: Float
    /// The decibels from the top of the scale to its bottom, which is nearly white.
    let range: Double
    private let map = ColourMap()

    init(loudest: Float, range: Double) {
        self.loudest = loudest
        self.range = range
    }

    func colour(_ power: Float) -> Colour { map[1 + 10 * log10(max(1e-30, Double(power / loudest))) / range] }

    /// Draws the scale vertically, labelled in decibels relative to full scale.
    func draw(_ canvas: Canvas, x: Double, y: Double, height: Double) {
        let top = 10 * log10(Double(loudest))
        let axis = Axis(values: top - range...top, from: y + height, to: y)
        for row in 0..<Int(height) {
            let level = 1 - (Double(row) + 0.5) / height
            canvas.fill(Box(x: x, y: y + Double(row), width: 12, height: 1), map[level])
        }
        canvas.frame(Box(x: x, y: y, width: 12, height: height), Style.rule)
        for value in axis.ticks(atLeast: 40) {
            let tickY = axis.pixel(value)
            canvas.line(x + 13, tickY, x + 16, tickY, Style.rule)
            canvas.text(Axis.label(value, digits: 0), x + 19, tickY + 4, size: 11, Style.faint)
        }
        canvas.text("dBFS", x + 32, y - 6, size: 11, Style.faint, align: .right)
    }
}
