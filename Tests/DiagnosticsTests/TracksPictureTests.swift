// SPDX-License-Identifier: Apache-2.0

import EarshotDiagnostics
import Foundation
import Testing

@Suite struct TracksPictureTests {
    private let count = TracksPicture.columnCount

    private func temporary() -> String { NSTemporaryDirectory() + "tracks-\(UUID().uuidString).png" }

    /// Returns a panel in which the second track begins to sound in the middle.
    private func panel(_ seconds: ClosedRange<Double>) -> TracksPicture.Panel {
        let whole = [ClosedRange<Float>?](repeating: -0.5...0.5, count: count)
        let half = (0..<count).map { $0 < count / 2 ? nil : -0.1...0.1 } as [ClosedRange<Float>?]
        return .init(seconds: seconds, columns: [whole, half])
    }

    @Test func `tracks are drawn above one another, on one time axis, with their gaps`() throws {
        let picture = TracksPicture(
            title: "Anna & Ben",
            tracks: [
                .init(name: "Song", gaps: [], isReference: true),
                .init(name: "Anna", gaps: [0...4], isReference: false),
            ], whole: panel(0...8), enlarged: panel(4...4.4))
        let path = temporary()
        defer { try? FileManager.default.removeItem(atPath: path) }
        try picture.write(to: path)
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
        let image = try Image(path: path)
        #expect(image.width == picture.width && image.height == picture.height)
        // The song is drawn in a warm colour over its whole row; Anna, in a cold one, in the second half. The first half is a gap.
        for x in [200, 700, 900, 1_300] {
            #expect(image.warmth(x: x, y: 80) > 50)
            #expect((image.warmth(x: x, y: 162) < -50) == (x > 750))
        }
        #expect(image.colours(x: 200..<700, y: 150..<170) != image.colours(x: 200..<700, y: 142..<144))
    }

    @Test func `without tracks there is no picture`() throws {
        let picture = TracksPicture(
            title: "", tracks: [], whole: .init(seconds: 0...1, columns: []), enlarged: nil)
        #expect(throws: CallPictureError.nothingToShow) { try picture.write(to: temporary()) }
    }
}
