// SPDX-License-Identifier: Apache-2.0

import CEarshotLilv

/// The LV2 features that Earshot offers to the plug-in instances of one unit. This object must outlive the instances.
final class PlugInFeatures {
    /// The list of features for an instantiation, terminated by nil.
    let list: UnsafeMutablePointer<UnsafePointer<LV2_Feature>?>
    private let arena = Arena()
    private let logBuffer: UnsafeMutablePointer<earshot_lv2_words>

    /// The URIs of the features that a plug-in may require.
    static let offered = Set(
        [
            earshot_lv2_urid_map, earshot_lv2_urid_unmap, earshot_lv2_options, earshot_lv2_log,
            earshot_lv2_bounded_block,
            earshot_lv2_fixed_block, earshot_lv2_power_of_two_block, earshot_lv2_hard_realtime,
            earshot_lv2_in_place_broken,
            earshot_lv2_is_live,
        ].map { String(cString: $0) })
    /// The URIs of the options that a plug-in may require.
    static let offeredOptions = Set(
        [
            earshot_lv2_minimum_block, earshot_lv2_maximum_block, earshot_lv2_nominal_block, earshot_lv2_sequence_size,
            earshot_lv2_rate_option,
        ].map { String(cString: $0) })

    init(sampleRate: Double, blocks: PlugInBlocks) {
        logBuffer = arena.one(earshot_lv2_words())
        logBuffer.pointee.isOpen = 1
        let (shortest, longest) =
            switch blocks {
            case .asCalled: (1, PlugInBlocks.longest)
            case .fixed(let count): (count, count)
            }
        var features: [(UnsafePointer<CChar>, UnsafeMutableRawPointer?)] = [
            (earshot_lv2_urid_map, UnsafeMutableRawPointer(URIDTable.shared.map)),
            (earshot_lv2_urid_unmap, UnsafeMutableRawPointer(URIDTable.shared.unmap)),
            (
                earshot_lv2_options,
                UnsafeMutableRawPointer(
                    Self.options(arena, sampleRate: sampleRate, shortest: shortest, longest: longest))
            ),
            (earshot_lv2_log, UnsafeMutableRawPointer(arena.one(earshot_lv2_log_to(logBuffer)))),
            (earshot_lv2_bounded_block, nil),
        ]
        if case .fixed = blocks { features += [(earshot_lv2_fixed_block, nil), (earshot_lv2_power_of_two_block, nil)] }
        list = arena.array(of: UnsafePointer<LV2_Feature>?.none, count: features.count + 1)
        for (i, (uri, data)) in features.enumerated() {
            list[i] = UnsafePointer(arena.one(LV2_Feature(URI: uri, data: data)))
        }
    }

    /// Returns the last logged line and stops logging.
    func closeLog() -> String {
        logBuffer.pointee.isOpen = 0
        return withUnsafePointer(to: &logBuffer.pointee.text) {
            $0.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: logBuffer.pointee.text)) {
                printable(String(cString: $0))
            }
        }
    }

    private static func options(
        _ arena: Arena, sampleRate: Double, shortest: Int, longest: Int
    ) -> UnsafeMutablePointer<LV2_Options_Option> {
        func number(_ uri: UnsafePointer<CChar>) -> UInt32 { URIDTable.shared.identifier(of: uri) }
        func option(_ key: UnsafePointer<CChar>, _ value: Int) -> LV2_Options_Option {
            LV2_Options_Option(
                context: LV2_OPTIONS_INSTANCE, subject: 0, key: number(key), size: 4,
                type: number(earshot_lv2_atom_int), value: UnsafeRawPointer(arena.one(Int32(value))))
        }
        let options = [
            option(earshot_lv2_minimum_block, shortest), option(earshot_lv2_maximum_block, longest),
            option(earshot_lv2_nominal_block, longest), option(earshot_lv2_sequence_size, 8_192),
            LV2_Options_Option(
                context: LV2_OPTIONS_INSTANCE, subject: 0, key: number(earshot_lv2_rate_option), size: 4,
                type: number(earshot_lv2_atom_float), value: UnsafeRawPointer(arena.one(Float(sampleRate)))),
        ]
        let list = arena.array(of: LV2_Options_Option(), count: options.count + 1)
        for (i, option) in options.enumerated() { list[i] = option }
        return list
    }
}

/// Memory for plain values that are all freed together.
final class Arena {
    private var pieces: [UnsafeMutableRawPointer] = []

    deinit { for piece in pieces { piece.deallocate() } }

    /// Allocates memory for a single value.
    func one<Value: BitwiseCopyable>(_ value: Value) -> UnsafeMutablePointer<Value> { array(of: value, count: 1) }

    /// Allocates an array of `count` copies of a value, aligned to a cache line for plug-ins with vector instructions.
    func array<Value: BitwiseCopyable>(of value: Value, count: Int) -> UnsafeMutablePointer<Value> {
        let bytes = max(1, count) * MemoryLayout<Value>.stride
        let piece = UnsafeMutableRawPointer.allocate(byteCount: bytes, alignment: 64)
        pieces.append(piece)
        return piece.initializeMemory(as: Value.self, repeating: value, count: max(1, count))
    }
}
