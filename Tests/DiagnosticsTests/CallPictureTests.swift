// SPDX-License-Identifier: Apache-2.0

import CEarshotCairo
import EarshotAudioBase
import EarshotDiagnostics
import Foundation
import Testing

@Suite struct CallPictureTests {
    private let start = HostTime(nanoseconds: 1_000_000_000)

    /// A direction of a call whose sound has this delay.
    private func direction(_ delay: Double, rate: Double = 16_000, seed: UInt64 = 1) throws -> CallPicture.Direction {
        let voice = Voice(seed: seed)
        let sent = voice.recorded(3, rate: 16_000, at: start)
        let heard = voice.recorded(3.2, rate: rate, at: start) { _ in delay }
        return CallPicture.Direction(
            title: "A to B", sentName: "a.wav", sent: sent, heardName: "b.wav", heard: heard,
            delay: try DelayMeasurement(sent: sent, heard: heard))
    }

    @Test("One or two directions are drawn with all their panels", arguments: [1, 2])
    func panels(count: Int) throws {
        let directions = try (0..<count).map { try direction(0.083 + 0.02 * Double($0), seed: UInt64($0 + 1)) }
        var picture = CallPicture(title: "A call", directions: directions)
        picture.panelWidth = 500
        let path = temporary()
        defer { try? FileManager.default.removeItem(atPath: path) }
        try picture.write(to: path)
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
        let image = try Image(path: path)
        #expect(image.width == picture.width && image.height == picture.height)
        #expect(image.width > 500 * count)
        // Every column of panels has dark pixels in each of six bands: four panels and the two of the enlargement.
        let column = picture.width / count
        for i in 0..<count {
            for (top, bottom) in [(100, 210), (216, 426), (468, 578), (584, 794), (892, 1022), (1028, 1158)] {
                let colours = image.colours(x: i * column + 100..<i * column + 500, y: top + 4..<bottom - 4)
                #expect(colours.count > ((top, bottom) == (216, 426) || (top, bottom) == (584, 794) ? 50 : 2))
            }
        }
    }

    @Test func theDelayIsMarkedWhereItIs() throws {
        var one = CallPicture(title: "A call", directions: [try direction(0.1, rate: 44_100)])
        one.panelWidth = 1000
        let path = temporary()
        defer { try? FileManager.default.removeItem(atPath: path) }
        try one.write(to: path)
        let image = try Image(path: path)
        // The line of the arrival, in the colour of the received sound, crosses the panel of the sent sound, and vice versa.
        let panel = 70..<1070
        let arrival = panel.filter { x in (890..<1010).contains { image.warmth(x: x, y: $0) > 100 } }
        let onset = panel.filter { x in (1030..<1150).contains { image.warmth(x: x, y: $0) < -100 } }
        let (said, heard) = (try #require(onset.first), try #require(arrival.first))
        #expect(onset.count <= 3 && arrival.count <= 3)
        #expect(abs(Double(heard - said) / 1000 * 0.5 - 0.1) < 0.002)
    }

    @Test func aCallWithoutADelayOrWithOneEmptySideIsStillDrawn() throws {
        var direction = try direction(0.05)
        direction.delay = nil
        direction.heard.samples = []
        let path = temporary()
        defer { try? FileManager.default.removeItem(atPath: path) }
        try CallPicture(title: "Ünïcode ♫ " + String(repeating: "long ", count: 99), directions: [direction])
            .write(to: path)
        #expect(try Image(path: path).width == 1160)
    }

    @Test func brokenSamplesAreDrawnWithoutATrap() throws {
        var direction = try direction(0.05)
        for i in 0..<direction.heard.samples.count where i % 50 == 0 {
            direction.heard.samples[i] = [.nan, .infinity, -.infinity, 1e38][i / 50 % 4]
        }
        let path = temporary()
        defer { try? FileManager.default.removeItem(atPath: path) }
        try CallPicture(title: "Broken", directions: [direction]).write(to: path)
        #expect(try Image(path: path).width == 1160)
    }

    @Test func whatCannotBeWrittenSaysWhy() throws {
        let direction = try direction(0.05)
        let picture = CallPicture(title: "A call", directions: [direction])
        #expect(throws: CallPictureError.notWritten(path: "/none/a.png", code: ENOENT)) {
            try picture.write(to: "/none/a.png")
        }
        #expect(throws: CallPictureError.notWritten(path: "/dev/full", code: ENOSPC)) {
            try picture.write(to: "/dev/full")
        }
        #expect(throws: CallPictureError.nothingToShow) {
            try CallPicture(title: "None", directions: []).write(to: temporary())
        }
    }

    private func temporary() -> String {
        FileManager.default.temporaryDirectory.appendingPathComponent("picture-\(UUID().uuidString).png").path
    }
}

/// A PNG file, decoded by Cairo.
struct Image {
    let width: Int
    let height: Int
    private var pixels: [UInt32] = []

    init(path: String) throws {
        let surface = try #require(cairo_image_surface_create_from_png(path))
        defer { cairo_surface_destroy(surface) }
        #expect(cairo_surface_status(surface) == CAIRO_STATUS_SUCCESS)
        width = Int(cairo_image_surface_get_width(surface))
        height = Int(cairo_image_surface_get_height(surface))
        let stride = Int(cairo_image_surface_get_stride(surface))
        let data = try #require(cairo_image_surface_get_data(surface))
        for y in 0..<height {
            for x in 0..<width {
                let pixel = UnsafeRawPointer(data + y * stride + 4 * x).load(as: UInt32.self)
                pixels.append(pixel & 0xFF_FFFF)
            }
        }
    }

    func colours(x: Range<Int>, y: Range<Int>) -> Set<UInt32> {
        var found: Set<UInt32> = []
        for row in y { for column in x { found.insert(pixels[row * width + column]) } }
        return found
    }

    /// Returns red minus blue.
    func warmth(x: Int, y: Int) -> Int {
        let pixel = pixels[y * width + x]
        return Int(pixel >> 16 & 255) - Int(pixel & 255)
    }
}
