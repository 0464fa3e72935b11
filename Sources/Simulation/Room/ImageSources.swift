// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The mirror images of a source in the walls of a shoebox room.
struct ImageSources {
    let size: SimulatedRoom.Point
    let source: SimulatedRoom.Point
    let microphone: SimulatedRoom.Point

    /// Calls `body` with the distance in metres and the number of reflections of each image that is nearer than `limit`.
    @inline(__always)
    func forEach(within limit: Double, _ body: (_ distance: Double, _ order: Int) -> Void) {
        let xs = Self.offsets(size.x, source.x, microphone.x, limit)
        let ys = Self.offsets(size.y, source.y, microphone.y, limit)
        let zs = Self.offsets(size.z, source.z, microphone.z, limit)
        for x in xs {
            for y in ys {
                let square = x.offset * x.offset + y.offset * y.offset
                guard square < limit * limit else { continue }
                for z in zs {
                    let distance = (square + z.offset * z.offset).squareRoot()
                    if distance < limit { body(distance, x.order + y.order + z.order) }
                }
            }
        }
    }

    /// Returns the offsets of the images from the microphone along one axis, each with its reflections.
    private static func offsets(
        _ length: Double, _ source: Double, _ microphone: Double, _ limit: Double
    ) -> [(offset: Double, order: Int)] {
        let reach = Int(limit / (2 * length)) + 1
        var result: [(offset: Double, order: Int)] = []
        for period in -reach...reach {
            let corner = 2 * Double(period) * length - microphone
            result.append((corner + source, abs(2 * period)))
            result.append((corner - source, abs(2 * period - 1)))
        }
        return result
    }
}
