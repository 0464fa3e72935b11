// SPDX-License-Identifier: Apache-2.0

import Glibc

/// An opaque sRGB colour with components from 0 to 1.
struct Colour: Equatable, Sendable {
    var red: Double
    var green: Double
    var blue: Double

    init(_ red: Double, _ green: Double, _ blue: Double) {
        self.red = red
        self.green = green
        self.blue = blue
    }

    /// Creates a colour of the perceptual colour space OKLab in polar form (B. Ottosson, "A perceptual color space for image
    /// processing", 2020); `degrees` is the hue. Components outside sRGB are clamped.
    init(lightness: Double, chroma: Double, degrees: Double) {
        let a = chroma * cos(degrees * .pi / 180)
        let b = chroma * sin(degrees * .pi / 180)
        let long = pow(lightness + 0.396_337_777_4 * a + 0.215_803_757_3 * b, 3)
        let medium = pow(lightness - 0.105_561_345_8 * a - 0.063_854_172_8 * b, 3)
        let short = pow(lightness - 0.089_484_177_5 * a - 1.291_485_548 * b, 3)
        func encoded(_ linear: Double) -> Double {
            let x = max(0, min(1, linear))
            return x <= 0.003_130_8 ? 12.92 * x : 1.055 * pow(x, 1 / 2.4) - 0.055
        }
        red = encoded(4.076_741_662_1 * long - 3.307_711_591_3 * medium + 0.230_969_929_2 * short)
        green = encoded(-1.268_438_004_6 * long + 2.609_757_401_1 * medium - 0.341_319_396_5 * short)
        blue = encoded(-0.004_196_086_3 * long - 0.703_418_614_7 * medium + 1.707_614_701 * short)
    }

    /// The colour as a 32-bit pixel, 0x00RRGGBB.
    var pixel: UInt32 {
        let parts = [red, green, blue].map { UInt32(max(0, min(255, ($0 * 255).rounded()))) }
        return parts[0] << 16 | parts[1] << 8 | parts[2]
    }
}

/// Colours for levels: nearly white for silence, then yellow and red, and a violet near black for the loudest.
///
/// The map is perceptually even: OKLab lightness falls linearly, so that equal steps in decibels look equal, also in print and to
/// colour-blind users. The hue turns evenly from yellow to violet, and the chroma is 0 at both ends.
struct ColourMap: Sendable {
    private let table: [Colour]

    init() {
        table = (0..<256).map { step in
            let t = Double(step) / 255
            return Colour(lightness: 0.985 - 0.805 * t, chroma: 0.19 * pow(sin(.pi * t), 0.8), degrees: 95 - 160 * t)
        }
    }

    /// The colour of a level from 0 (silence) to 1 (the loudest).
    subscript(level: Double) -> Colour {
        table[level.isNaN ? 0 : Int((max(0, min(1, level)) * 255).rounded())]
    }
}
