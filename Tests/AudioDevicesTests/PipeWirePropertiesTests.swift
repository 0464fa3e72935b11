// SPDX-License-Identifier: Apache-2.0

import CEarshotPipeWire
import Testing

/// A stream's Props, as its program sends them.
@Suite("PipeWire properties") struct PipeWirePropertiesTests {
    /// Props with channel volumes whose array declares this element size.
    private func volumes(_ values: [Float], size: UInt32, type: UInt32 = UInt32(SPA_TYPE_Float)) -> [UInt32] {
        let array = [size, type] + values.map(\.bitPattern)
        let property = [
            SPA_PROP_channelVolumes.rawValue, 0, UInt32(array.count * 4), UInt32(SPA_TYPE_Array),
        ]
        let body = [UInt32(SPA_TYPE_OBJECT_Props), SPA_PARAM_Props.rawValue] + property + array
        return [UInt32(body.count * 4), UInt32(SPA_TYPE_Object)] + body
    }

    private func read(_ pod: [UInt32], capacity: UInt32) -> [Float] {
        // Elements beyond the capacity would show a write there.
        var values = [Float](repeating: -1, count: 64)
        let count = pod.withUnsafeBytes { bytes in
            bytes.baseAddress.map {
                earshot_pw_floats(
                    $0.assumingMemoryBound(to: spa_pod.self), SPA_PROP_channelVolumes.rawValue, &values, capacity)
            } ?? 0
        }
        #expect(values.dropFirst(Int(capacity)).allSatisfy { $0 == -1 })
        return Array(values.prefix(Int(count)))
    }

    @Test("volumes are read up to the buffer's capacity")
    func floats() {
        #expect(read(volumes([0.5, 0.25], size: 4), capacity: 4) == [0.5, 0.25])
        #expect(read(volumes([0.5, 0.25, 1, 1], size: 4), capacity: 2) == [0.5, 0.25])
        #expect(read(volumes([], size: 4), capacity: 4) == [])
    }

    @Test("values with a wrong declared size are ignored", arguments: [0, 1, 8, 32, 4_096, UInt32.max])
    func otherSize(_ size: UInt32) {
        #expect(read(volumes([Float](repeating: 0.5, count: 32), size: size), capacity: 2) == [])
    }

    @Test("values of another type are ignored")
    func otherType() {
        #expect(read(volumes([0.5], size: 4, type: UInt32(SPA_TYPE_Int)), capacity: 2) == [])
    }
}
