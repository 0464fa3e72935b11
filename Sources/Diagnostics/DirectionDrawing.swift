// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Glibc

/// Draws one direction of a call into its column of the canvas.
struct DirectionDrawing {
    let canvas: Canvas
    let direction: CallPicture.Direction
    /// The time of 0 s on the time axis.
    let zero: HostTime
    /// The length of the time axis in seconds.
    let duration: Double
    /// The left edge of the panels in pixels.
    let x: Double
    let width: Double

    /// The start of a sound: the times at which it was sent and heard, in seconds after `zero`.
    struct Mark {
        var said: Double
        var heard: Double
        var milliseconds: Double { (heard - said) * 1000 }
        /// The enlarged range of time around the mark, in seconds after ``DirectionDrawing/zero``; at least half a second long.
        var range: ClosedRange<Double> {
            let delay = heard - said
            let lead = max(0.12, delay * 0.3)
            return said - lead...said - lead + max(0.5, delay * 2 + lead)
        }
    }

    func draw() {
        let time = Axis(values: 0...duration, from: x, to: x + width)
        let mark = mark()
        title()
        let spectra = [Spectrogram(direction.sent), Spectrogram(direction.heard)]
        let loudest = max(spectra[0].powers.max() ?? 0, spectra[1].powers.max() ?? 0, 1e-10)
        let topFrequency = max(4000, spectra.map { $0.highestFrequency(reaching: loudest * 1e-8) }.max() ?? 0)
        let peak = max(peakLevel(direction.sent), peakLevel(direction.heard), 1e-4)
        let scale = LevelScale(loudest: loudest, range: 80)
        let sides = [
            (Layout.sentTop, "Sent", direction.sentName, direction.sent, Style.sent, spectra[0]),
            (Layout.heardTop, "Received", direction.heardName, direction.heard, Style.heard, spectra[1]),
        ]
        for (y, word, name, signal, colour, spectrum) in sides {
            let start = signal.firstFrameTime.seconds(since: zero)
            let waveBox = Box(x: x, y: y, width: width, height: Layout.waveHeight)
            let below = Box(x: x, y: waveBox.bottom + 6, width: width, height: Layout.spectrumHeight)
            caption(word, name, signal, colour, y - 8)
            if let mark { shade(mark, waveBox, below, time) }
            waveform(signal, start: start, in: waveBox, time: time, peak: peak, colour: colour)
            let frequency = Axis(values: 0...(topFrequency / 1000).rounded(.up) * 1000, from: below.bottom, to: below.y)
            spectrogram(spectrum, start: start, in: below, time: time, frequency: frequency, scale: scale)
            scale.draw(canvas, x: below.right + 12, y: below.y, height: below.height)
            if let mark {
                let markX = time.pixel(colour == Style.sent ? mark.said : mark.heard)
                canvas.line(markX, waveBox.y, markX, below.bottom, colour, width: 1.2, alpha: 0.9)
            }
        }
        canvas.timeAxis(time, y: Layout.axisTop, step: 70, unit: true)
        if let mark { zoom(mark, peak: peak, main: time) } else { noDelay() }
    }

    /// Marks the enlarged range with a tint behind the waveform and a bar above the spectrogram, where a tint would look like a
    /// level.
    private func shade(_ mark: Mark, _ wave: Box, _ spectrum: Box, _ time: Axis) {
        let from = max(wave.x, time.pixel(mark.range.lowerBound))
        let to = min(wave.right, time.pixel(mark.range.upperBound))
        canvas.fill(Box(x: from, y: wave.y, width: to - from, height: wave.height), Style.zoom, alpha: 0.35)
        canvas.fill(Box(x: from, y: spectrum.y - 5, width: to - from, height: 4), Style.zoom)
    }

    private func title() {
        var room = width
        if let delay = direction.delay {
            let text =
                "mouth to ear \(Axis.label(delay.milliseconds, digits: 1)) ms   (95 % of windows at most "
                + "\(Axis.label(delay.p95, digits: 1)), confidence \(Axis.label(delay.confidence, digits: 2)))"
            room -= 20 + canvas.text(text, x + width, Layout.titleTop, size: 13, Style.faint, align: .right)
        }
        let text = canvas.fitted(direction.title, width: room, size: 15, bold: true)
        canvas.text(text, x, Layout.titleTop, size: 15, Style.ink, bold: true)
    }

    private func caption(_ word: String, _ name: String, _ signal: TimedSignal, _ colour: Colour, _ y: Double) {
        let used = 10 + canvas.text(word, x, y, size: 13, colour, bold: true)
        let rate = "  ·  \(Axis.label(signal.sampleRate / 1000, digits: 2)) kHz"
        let room = width - used - canvas.measure(rate, size: 13)
        canvas.text(canvas.fitted(name, width: room, size: 13) + rate, x + used, y, size: 13, Style.faint)
    }

    private func noDelay() {
        canvas.text("No delay could be measured.", x, Layout.zoomTop, size: 14, Style.faint)
    }

    private func peakLevel(_ signal: TimedSignal) -> Double {
        Double(signal.samples.reduce(0) { max($0, $1.magnitude) })
    }

    /// Returns the clearest onset of the sent sound within the windows whose confidence is at least 80 % of the highest; nil if
    /// no delay was measured or no onset was found.
    private func mark() -> Mark? {
        guard let delay = direction.delay else { return nil }
        let length = delay.windows.count > 1 ? delay.windows[1].start - delay.windows[0].start : 1
        let best = delay.windows.map(\.confidence).max() ?? 0
        let sure = delay.windows.filter { $0.confidence >= best * 0.8 }
        let ranges = sure.map { $0.start...$0.start + min(1, max(0.1, length)) }
        guard let onset = Onset.mostSalient(in: direction.sent, ranges: ranges),
            let window = sure.last(where: { $0.start <= onset })
        else { return nil }
        let said = direction.sent.firstFrameTime.seconds(since: zero) + onset
        return Mark(said: said, heard: said + window.milliseconds / 1000)
    }
}
