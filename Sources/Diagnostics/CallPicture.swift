// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Glibc

/// A picture of a call: for each direction the sent sound above the received one, on one clock, as waveforms and spectrograms,
/// and an enlarged half second in which the delay can be seen.
///
/// Colours show levels relative to the loudest sound of the direction; the scale beside them is in decibels of full scale.
/// Directions are drawn side by side.
package struct CallPicture: Sendable {
    /// One direction of a call.
    package struct Direction: Sendable {
        /// The title, with speaker, listener and format: "A to B, AAC-LC 64 kb/s".
        package var title: String
        /// The name of the sent file.
        package var sentName: String
        /// The name of the received file.
        package var heardName: String
        /// The sent sound.
        package var sent: TimedSignal
        /// The received sound.
        package var heard: TimedSignal
        /// The delay to mark; nil if it could not be measured.
        package var delay: DelayMeasurement?

        /// - Parameter title: speaker, listener and format: "A to B, AAC-LC 64 kb/s".
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

    /// The title of the picture.
    package var title: String
    /// The directions of the call, usually one or two; at most 8.
    package var directions: [Direction]
    /// The width of each direction's panels in pixels, 100 to 8,000.
    package var panelWidth = 1000

    /// - Parameter title: the title of the picture.
    package init(title: String, directions: [Direction]) {
        self.title = title
        self.directions = directions
    }

    /// The width of the whole picture in pixels.
    package var width: Int { Layout.columnWidth(panelWidth) * max(1, directions.count) + 2 * Int(Layout.edge) }
    /// The height of the whole picture in pixels.
    package var height: Int { Layout.height }

    /// Draws the picture and writes it as a PNG file. A new file has mode 0600; an existing file is overwritten. Takes some
    /// seconds for an hour of sound. Safe on any thread except a render thread.
    package func write(to path: String) throws(CallPictureError) {
        precondition((100...8000).contains(panelWidth) && directions.count <= 8)
        let signals = directions.flatMap { [$0.sent, $0.heard] }.filter { !$0.samples.isEmpty }
        guard let zero = signals.map(\.firstFrameTime).min() else { throw .nothingToShow }
        let end = signals.map { $0.firstFrameTime.seconds(since: zero) + $0.duration }.max() ?? 1
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

/// The layout of the picture: positions and sizes in pixels.
enum Layout {
    static let edge = 10.0
    static let left = 62.0  // for the axis labels of a column
    static let right = 78.0  // for the colour scale of a column
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
