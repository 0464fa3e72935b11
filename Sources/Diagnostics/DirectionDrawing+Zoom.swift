// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

extension DirectionDrawing {
    /// Draws the enlarged waveforms of the sent and the received sound around the mark, each scaled to its own peak, with the
    /// delay as an arrow between them.
    func zoom(_ mark: Mark, peak: Double, main: Axis) {
        let top = Box(x: x, y: Layout.zoomTop, width: width, height: Layout.zoomHeight)
        let bottom = Box(x: x, y: top.bottom + 6, width: width, height: Layout.zoomHeight)
        let time = Axis(values: mark.range, from: x, to: x + width)
        funnel(mark, to: top, main: main)
        for (box, signal, colour) in [
            (top, direction.sent, Style.sent), (bottom, direction.heard, Style.heard),
        ] {
            waveform(
                signal, start: signal.firstFrameTime.seconds(since: zero), in: box, time: time,
                peak: localPeak(signal, mark.range), colour: colour)
        }
        caption(top, "Sent, enlarged", Style.sent)
        caption(bottom, "Received, enlarged", Style.heard)

        let (said, heard) = (time.pixel(mark.said), time.pixel(mark.heard))
        canvas.line(said, top.y, said, bottom.bottom, Style.sent, width: 1.5, dash: 5)
        canvas.line(heard, top.y, heard, bottom.bottom, Style.heard, width: 1.5, dash: 5)
        arrow(from: said, to: heard, y: (top.bottom + bottom.y) / 2, Axis.label(mark.milliseconds, digits: 1) + " ms")
        canvas.timeAxis(time, y: bottom.bottom + 6, step: 90, unit: true)
        canvas.text(
            "time on the call's clock", x + width / 2, bottom.bottom + 42, size: 12, Style.faint, align: .centre)
    }

    /// Fills the area between the enlarged range on the axis `main` and the enlargement `box`, which links the two.
    private func funnel(_ mark: Mark, to box: Box, main: Axis) {
        let from = max(x, main.pixel(mark.range.lowerBound))
        let to = min(x + width, main.pixel(mark.range.upperBound))
        let y = Layout.axisTop + 26
        let pale = Colour(0.99, 0.94, 0.80)
        canvas.polygon([(from, y), (to, y), (box.right, box.y), (box.x, box.y)], pale)
    }

    private func caption(_ box: Box, _ word: String, _ colour: Colour) {
        let width = canvas.measure(word, size: 12, bold: true)
        canvas.fill(
            Box(x: box.right - width - 14, y: box.y + 4, width: width + 10, height: 18), Colour(1, 1, 1), alpha: 0.8)
        canvas.text(word, box.right - 9, box.y + 17, size: 12, colour, align: .right, bold: true)
    }

    private func arrow(from: Double, to: Double, y: Double, _ label: String) {
        let width = canvas.measure(label, size: 17, bold: true)
        let beside = to - from < width + 50  // the label does not fit between the lines at `from` and `to`
        canvas.line(from, y, to - 2, y, Style.ink, width: 2)
        canvas.polygon([(to, y), (to - 9, y - 5), (to - 9, y + 5)], Style.ink)
        canvas.line(from, y - 6, from, y + 6, Style.ink, width: 2)
        let left = beside ? to + 10 : (from + to - width) / 2
        canvas.fill(Box(x: left - 5, y: y - 12, width: width + 10, height: 24), Colour(1, 1, 1))
        canvas.text(label, left, y + 6, size: 17, Style.ink, bold: true)
    }

    private func localPeak(_ signal: TimedSignal, _ range: ClosedRange<Double>) -> Double {
        let start = signal.firstFrameTime.seconds(since: zero)
        func index(_ seconds: Double) -> Int {
            Int(max(0, min(Double(signal.samples.count), (seconds - start) * signal.sampleRate)))
        }
        let part = signal.samples[index(range.lowerBound)..<index(range.upperBound)]
        return max(1e-4, Double(part.reduce(0) { max($0, $1.magnitude) }))
    }
}
