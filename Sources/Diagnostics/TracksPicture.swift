// SPDX-License-Identifier: Apache-2.0

/// A picture of several tracks above one another on one time axis, and below it of a short enlarged part.
package struct TracksPicture: Sendable {
    /// A part of the time axis.
    package struct Panel: Sendable {
        /// The seconds of the panel.
        package var seconds: ClosedRange<Double>
        /// For each track, the samples of each pixel column; nil without sound. There are ``TracksPicture/columnCount`` columns.
        package var columns: [[ClosedRange<Float>?]]

        package init(seconds: ClosedRange<Double>, columns: [[ClosedRange<Float>?]]) {
            (self.seconds, self.columns) = (seconds, columns)
        }
    }

    /// A track.
    package struct Track: Sendable {
        package var name: String
        /// The parts without sound, in seconds.
        package var gaps: [ClosedRange<Double>]
        /// True for a track that is drawn as the reference of the others.
        package var isReference: Bool

        package init(name: String, gaps: [ClosedRange<Double>], isReference: Bool) {
            (self.name, self.gaps, self.isReference) = (name, gaps, isReference)
        }
    }

    /// The width of the panels in pixels.
    package static let columnCount = 1_200
    private static let (left, right, top, rowHeight, rowDistance) = (150.0, 30.0, 64.0, 74.0, 82.0)
    private static let axisHeight = 62.0

    package var title: String
    package var tracks: [Track]
    /// The whole, and the enlarged part; nil for no such part.
    package var whole: Panel
    package var enlarged: Panel?

    package init(title: String, tracks: [Track], whole: Panel, enlarged: Panel?) {
        (self.title, self.tracks, self.whole, self.enlarged) = (title, tracks, whole, enlarged)
    }

    private var panelHeight: Double { Double(tracks.count) * Self.rowDistance + Self.axisHeight }
    package var width: Int { Self.columnCount + Int(Self.left + Self.right) }
    package var height: Int { Int(Self.top + panelHeight * (enlarged == nil ? 1 : 2)) }

    /// Draws the picture and writes it as a PNG file. A new file has mode 0600; an existing file is overwritten. Safe on any thread
    /// except a render thread.
    package func write(to path: String) throws(CallPictureError) {
        if tracks.isEmpty { throw .nothingToShow }
        let canvas = try Canvas(width: width, height: height)
        let headline = canvas.fitted(title, width: Double(width) - 40, size: 21, bold: true)
        canvas.text(headline, 20, 36, size: 21, Style.ink, bold: true)
        if let enlarged {
            let time = axis(whole)
            let (from, to) = (time.pixel(enlarged.seconds.lowerBound), time.pixel(enlarged.seconds.upperBound))
            let rows = Box(x: from, y: Self.top - 8, width: max(2, to - from), height: panelHeight - Self.axisHeight)
            canvas.fill(rows, Style.zoom, alpha: 0.5)
            draw(enlarged, canvas, y: Self.top + panelHeight)
        }
        draw(whole, canvas, y: Self.top)
        try canvas.save(to: path)
    }

    private func axis(_ panel: Panel) -> Axis {
        Axis(values: panel.seconds, from: Self.left, to: Self.left + Double(Self.columnCount))
    }

    private func draw(_ panel: Panel, _ canvas: Canvas, y: Double) {
        let time = axis(panel)
        for (index, track) in tracks.enumerated() {
            let box = Box(
                x: Self.left, y: y + Double(index) * Self.rowDistance, width: Double(Self.columnCount),
                height: Self.rowHeight)
            let columns = index < panel.columns.count ? panel.columns[index] : []
            for gap in track.gaps where gap.overlaps(panel.seconds) {
                let shown = gap.clamped(to: panel.seconds)
                let (from, to) = (time.pixel(shown.lowerBound), time.pixel(shown.upperBound))
                canvas.fill(
                    Box(x: from, y: box.y, width: max(1, to - from), height: box.height), Style.rule, alpha: 0.45)
            }
            let peak = columns.reduce(Float(1e-4)) {
                max($0, $1?.upperBound.magnitude ?? 0, $1?.lowerBound.magnitude ?? 0)
            }
            // Each track fills its row, since times are compared, not levels.
            let level = Axis(values: -Double(peak) * 1.05...Double(peak) * 1.05, from: box.bottom, to: box.y)
            canvas.line(box.x, level.pixel(0), box.right, level.pixel(0), Style.rule)
            canvas.waveform(columns, in: box, level: level, track.isReference ? Style.heard : Style.sent)
            canvas.frame(box, Style.rule)
            let name = canvas.fitted(track.name, width: Self.left - 40, size: 14, bold: true)
            canvas.text(name, box.x - 12, box.y + box.height / 2 + 5, size: 14, Style.ink, align: .right, bold: true)
        }
        canvas.timeAxis(time, y: y + panelHeight - Self.axisHeight + 4, step: 70, unit: true)
    }
}
