// SPDX-License-Identifier: Apache-2.0

import CEarshotLilv
import Synchronization

/// The numbers that stand for URIs in LV2 (URIDs), the same in the whole process. Safe on any thread except a render thread;
/// plug-ins may use the table on their own threads.
final class URIDTable: Sendable {
    static let shared = URIDTable()

    private struct Table: @unchecked Sendable {  // the strings are never changed or freed
        var numbers: [String: UInt32] = [:]
        var strings: [UnsafePointer<CChar>] = []
    }
    private let table = Mutex(Table())
    /// The functions from URI to number and back, for plug-ins and lilv. Their memory lives as long as the process.
    nonisolated(unsafe) let map = UnsafeMutablePointer<LV2_URID_Map>.allocate(capacity: 1)
    nonisolated(unsafe) let unmap = UnsafeMutablePointer<LV2_URID_Unmap>.allocate(capacity: 1)

    private init() {
        map.initialize(
            to: LV2_URID_Map(handle: nil) { _, uri in uri.map { URIDTable.shared.identifier(of: $0) } ?? 0 })
        unmap.initialize(to: LV2_URID_Unmap(handle: nil) { _, number in URIDTable.shared.uri(of: number) })
    }

    /// Returns a URI's number, 1 or more; a new URI gets the next number.
    func identifier(of uri: UnsafePointer<CChar>) -> UInt32 {
        let text = String(cString: uri)
        return table.withLock { table in
            if let number = table.numbers[text] { return number }
            let permanentCopy = UnsafeMutableBufferPointer<CChar>.allocate(capacity: text.utf8.count + 1)
            _ = permanentCopy.initialize(from: text.utf8CString)
            table.strings.append(UnsafePointer(permanentCopy.baseAddress!))
            let number = UInt32(table.strings.count)
            table.numbers[text] = number
            return number
        }
    }

    private func uri(of number: UInt32) -> UnsafePointer<CChar>? {
        table.withLock { $0.strings.indices.contains(Int(number) - 1) ? CString($0.strings[Int(number) - 1]) : nil }?
            .pointer
    }

    private struct CString: @unchecked Sendable {
        let pointer: UnsafePointer<CChar>
        init(_ pointer: UnsafePointer<CChar>) { self.pointer = pointer }
    }
}
