// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Glibc

/// One picture of a call: for each direction, what was sent above what was received, on one clock, each as waveform and
/// as spectrogram, and half a second enlarged in which the delay can be seen.
///
/// Levels are in decibels below the loudest of the direction; the scale is in the picture. Directions stand side by side.
package struct CallPicture: Sendable {
    /// One way of a call.
    package struct Direction: Sendable {
        /// The title, with speaker, listener and format: "A to B, AAC-LC 64 kb/s".
        package var title: String
        /// Names the sent file.
        package var sentName: String
        /// Names the received file.
        package var heardName: String
        /// The sent sound.
        package var sent: TimedSignal
        /// The heard sound.
        package var heard: TimedSignal
        /// The delay to mark; nil if it could not be measured.
        package var delay: DelayMeasurement?

        /// - Parameter title: who speaks to whom, and how: "A to B, AAC-LC 64 kb/s".
        package init(
            title: String, sentName: String, sent: TimedSignal, heardName: String, heard: TimedSignal,
            delay: DelayMeasurement?
        ) {
            self.title = title
            self.sentName = sentName
            self.heardName = heardName
            self.sent = sent
            self.heard = heard
            self.delay = delay
        }
    }

    /// The headline.
    package var title: String
    /// One or two, as a rule.
    package var directions: [Direction]
    /// Width of each direction's panels, in pixels.
    package var panelWidth = 1000

    /// - Parameter title: the headline.
    package init(title: String, directions: [Direction]) {
        self.title = title
        self.directions = directions
    }

    /// Width of the whole picture, in pixels.
    package var width: Int { Layout.columnWidth(panelWidth) * max(1, directions.count) + 2 * Int(Layout.edge) }
    /// Height of the whole picture, in pixels.
    package var height: Int { Layout.height }

    /// Draws the picture and writes it as PNG: a new file with mode 0600, an existing one is overwritten.
    /// Takes some seconds for an hour of sound; any thread but a render thread.
    package func write(to path: String) throws(CallPictureError) {
        precondition((100...8000).contains(panelWidth) && directions.count <= 8)
        let starts = directions.flatMap { [$0.sent, $0.heard] }.filter { !$0.samples.isEmpty }
        guard let zero = starts.map(\.firstFrameTime).min() else { throw .nothingToShow }
        let end = starts.map { $0.firstFrameTime.seconds(since: zero) + $0.duration }.max() ?? 1
        let canvas = try Canvas(width: width, height: height)
        let headline = canvas.fitted(title, width: Double(width) - 2 * Layout.left, size: 21, bold: true)
        canvas.text(headline, Layout.edge + Layout.left, 36, size: 21, Style.ink, bold: true)
        for (i, given) in directions.enumerated() {
            var direction = given
            direction.sent = given.sent.cleaned
            direction.heard = given.heard.cleaned
            let column = DirectionDrawing(
                canvas: canvas, direction: direction, zero: zero, duration: max(0.01, end),
                x: Layout.edge + Double(i * Layout.columnWidth(panelWidth)) + Layout.left, width: Double(panelWidth))
            column.draw()
        }
        try canvas.save(to: path)
    }
}

/// The layout, in pixels.
enum Layout {
    static let edge = 10.0
    static let left = 62.0  // for the axis labels of a column
    static let right = 78.0  // for its colour scale
    static let titleTop = 68.0
    static let sentTop = 100.0
    static let waveHeight = 110.0
    static let spectrumHeight = 210.0
    static let heardTop = sentTop + waveHeight + spectrumHeight + 48
    static let axisTop = heardTop + waveHeight + spectrumHeight + 6
    static let zoomTop = axisTop + 92
    static let zoomHeight = 130.0
    static let height = Int(zoomTop + 2 * zoomHeight + 6 + 58)

    static func columnWidth(_ panel: Int) -> Int { panel + Int(left + right) }
}

/// The colours of lines and text.
enum Style {
    static let ink = Colour(0.13, 0.13, 0.16)
    static let faint = Colour(0.42, 0.42, 0.46)
    static let rule = Colour(0.72, 0.72, 0.75)
    static let sent = Colour(0.10, 0.36, 0.66)
    static let heard = Colour(0.76, 0.27, 0.08)
    static let zoom = Colour(0.95, 0.75, 0.20)
}
